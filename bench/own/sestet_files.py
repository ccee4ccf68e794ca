"""Sestet with its own ``fs_list``, which reads a real directory."""

from contextlib import AbstractAsyncContextManager

from bench.own.sestet import Sestet, start_with
from bench.script import LIST_TOOL, Stage


def start(stage: Stage) -> AbstractAsyncContextManager[Sestet]:
    return start_with(stage, LIST_TOOL)
