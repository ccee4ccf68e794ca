"""Opens the embedded router for a trial, and measures how long it takes until it is ready."""

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sestet.core.agent import AgentSpec
from sestet.core.tool import Tool
from sestet.evals.attempts import Chooser
from sestet.evals.result import DIRECT, Subject
from sestet.models.lexical import route

_FIRST_REQUEST = "hello"


class OpenedRouter(NamedTuple):
    router: Chooser
    subject: Subject


class _Route(NamedTuple):
    agent: str
    confidence: float
    sure: bool


class _LexicalRouter:
    variant = "words"
    threshold = 0.5

    def __init__(self, specs: Sequence[AgentSpec], tools: Mapping[str, Sequence[Tool]]) -> None:
        self._specs = specs
        self._tools = tools

    def route(self, request: str) -> _Route:
        found = route(request, self._specs, self._tools)
        return _Route(found.agent, found.score, True) if found else _Route(DIRECT, 0.0, False)


def open_embedded(specs: Sequence[AgentSpec], tools: Mapping[str, Sequence[Tool]]) -> OpenedRouter:
    """The router, loaded: it has routed a request."""
    started, worked = time.perf_counter(), time.process_time()
    router = _LexicalRouter(specs, tools)
    router.route(_FIRST_REQUEST)
    subject = Subject(
        "router",
        router.variant,
        router.threshold,
        load_milliseconds=(time.perf_counter() - started) * 1000,
        load_cpu_milliseconds=(time.process_time() - worked) * 1000,
    )
    return OpenedRouter(router, subject)
