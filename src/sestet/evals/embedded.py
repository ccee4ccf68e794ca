"""Opens the embedded router for a trial, and measures how long it takes until it is ready."""

import time
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from sestet.core.agent import AgentSpec
from sestet.evals.result import Subject
from sestet.models.router import Router, open_router
from sestet.models.router.weights import FILE

_FIRST_REQUEST = "hello"


class OpenedRouter(NamedTuple):
    router: Router
    subject: Subject


def open_embedded(specs: Sequence[AgentSpec], light: bool = False) -> OpenedRouter:
    """The router, loaded: it has routed a request. The light one does without the sentence encoder."""
    started, worked = time.perf_counter(), time.process_time()
    router = open_router(specs, with_encoder=not light)
    router.route(_FIRST_REQUEST)
    subject = Subject(
        "router",
        router.variant,
        router.threshold,
        load_milliseconds=(time.perf_counter() - started) * 1000,
        load_cpu_milliseconds=(time.process_time() - worked) * 1000,
        basis_digest=sha256(FILE.read_bytes()).hexdigest(),
    )
    return OpenedRouter(router, subject)
