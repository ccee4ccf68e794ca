"""Sestet whose specialist calls the same trivial function as the peers', and not its own ``fs_list``."""

from contextlib import AbstractAsyncContextManager

from bench.own.sestet import Sestet, start_with
from bench.script import SPECIALIST_PREFIX, Stage


def start(stage: Stage) -> AbstractAsyncContextManager[Sestet]:
    added = next(tool.name for tool in stage.tree.spare if tool.name.startswith(SPECIALIST_PREFIX))
    return start_with(stage, added)
