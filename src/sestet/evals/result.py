"""What one trial gave, and all trials of one run."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from sestet.core.model import Usage
from sestet.core.record import Record

Eval: TypeAlias = Literal["routing", "tools", "multipart"]

#: Given: neither an agent nor a direct answer; the detail says what.
OTHER = "other"
#: Given: no tool was called.
NO_CALL = "no call"


class Result(Record):
    """One request, what was expected, and what was given."""

    request: str
    expected: str
    given: str
    right: bool
    #: What the set calls this sort of request; may be empty.
    kind: str = ""
    #: Whose tools were offered; empty when the orchestrator was asked.
    agent: str = ""
    #: What was wrong, where expected and given do not say it.
    detail: str = ""
    milliseconds: float = 0.0
    #: Of the router, calibrated; a model has none.
    confidence: float | None = None
    #: Above the threshold. A model does not say how sure it is, so it always counts as sure.
    sure: bool = True
    usage: Usage = Usage()


class Subject(Record):
    """Who is tried."""

    #: ``router`` or ``provider/model``.
    name: str
    #: Which of several builds of the router.
    variant: str = ""
    threshold: float | None = None
    #: Until the first request could be routed: on the clock, and of the processor.
    load_milliseconds: float | None = None
    load_cpu_milliseconds: float | None = None
    #: Of what it goes by: the weights of the router, the prompts that a model is shown.
    basis_digest: str = ""

    @property
    def title(self) -> str:
        return f"{self.name} ({self.variant})" if self.variant else self.name


class RunInfo(Record):
    """What was tried, on whom."""

    eval: Eval
    subject: Subject
    set_name: str
    set_digest: str
    cases: int


class Run(NamedTuple):
    info: RunInfo
    results: Sequence[Result]
