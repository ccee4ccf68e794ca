"""The facts of a turn: one closed union, each written to the journal before anybody sees it."""

from typing import ClassVar, Literal, NamedTuple, TypeAlias, get_args

from sestet.core.errors import FailureKind
from sestet.core.label import Label
from sestet.core.message import ToolCall
from sestet.core.model import Usage
from sestet.core.record import Values, names_of, record

#: How a delegation can end. None of these is ever lost or silent.
OutcomeKind: TypeAlias = Literal[
    "ok", "rejected", "failed", "timeout", "over_budget", "loop", "empty", "cancelled", "paused"
]


class Stamp(NamedTuple):
    """Where and when a fact belongs. ``delegation_id`` is empty for what the root does itself."""

    session_id: str
    turn_id: str
    seq: int
    author: str
    delegation_id: str
    at: float


@record
class _Stamped(Values):
    stamp: Stamp

    @property
    def author(self) -> str:
        return self.stamp.author

    @property
    def seq(self) -> int:
        return self.stamp.seq

    @property
    def delegation_id(self) -> str:
        return self.stamp.delegation_id


@record
class TurnStarted(_Stamped):
    """The person's message was accepted."""

    kind: ClassVar[Literal["turn_started"]] = "turn_started"
    text: str


@record
class MemoryRecalled(_Stamped):
    """Something on record has to do with the message: this is what the root agent is shown of it."""

    kind: ClassVar[Literal["memory_recalled"]] = "memory_recalled"
    text: str
    #: Of the rows, as ``sestet memory show`` takes them.
    ids: tuple[str, ...]
    label: Label


@record
class TextStreamed(_Stamped):
    """A piece of an agent's text. Folded into ``ModelCalled`` once the reply is whole."""

    kind: ClassVar[Literal["text_streamed"]] = "text_streamed"
    text: str


@record
class ModelCalled(_Stamped):
    """A model gave a whole reply: text, calls, and what it used."""

    kind: ClassVar[Literal["model_called"]] = "model_called"
    model: str
    text: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    milliseconds: float


@record
class ModelRetried(_Stamped):
    """A model gave no reply, and is asked again, or another in its place."""

    kind: ClassVar[Literal["model_retried"]] = "model_retried"
    model: str
    failure: FailureKind
    text: str
    #: Seconds until then.
    wait: float
    next_model: str


@record
class RequestRouted(_Stamped):
    """Code was sure whose work the message is: it goes to that agent, and no model was asked who should."""

    kind: ClassVar[Literal["request_routed"]] = "request_routed"
    agent: str
    confidence: float


@record
class AgentNudged(_Stamped):
    """The agent was told once that its reply was not enough."""

    kind: ClassVar[Literal["agent_nudged"]] = "agent_nudged"
    reason: Literal["silence", "announced"]


@record
class DelegationStarted(_Stamped):
    """The orchestrator gave a specialist a request. The stamp's author is the orchestrator."""

    kind: ClassVar[Literal["delegation_started"]] = "delegation_started"
    agent: str
    request: str
    reply: bool
    round: int


@record
class DelegationFinished(_Stamped):
    """The specialist's typed result, whatever it was."""

    kind: ClassVar[Literal["delegation_finished"]] = "delegation_finished"
    agent: str
    outcome: OutcomeKind
    text: str
    cause: str
    usage: Usage
    milliseconds: float
    label: Label


@record
class ToolCalled(_Stamped):
    """A tool is about to run with these arguments."""

    kind: ClassVar[Literal["tool_called"]] = "tool_called"
    call: ToolCall


@record
class ToolFinished(_Stamped):
    """A call was answered, by the tool or by a guard that refused it."""

    kind: ClassVar[Literal["tool_finished"]] = "tool_finished"
    call: ToolCall
    outcome: Literal["ok", "error", "refused", "denied", "in_doubt"]
    text: str
    milliseconds: float
    #: What the text adds to the context that reads it.
    label: Label


@record
class ApprovalRequested(_Stamped):
    """A call waits for a person: what it is, why it is asked, and where the text behind it came from."""

    kind: ClassVar[Literal["approval_requested"]] = "approval_requested"
    approval_id: str
    call: ToolCall
    reason: str
    sources: tuple[str, ...]
    expires_at: float


@record
class ApprovalDecided(_Stamped):
    """A person decided about one exact call."""

    kind: ClassVar[Literal["approval_decided"]] = "approval_decided"
    approval_id: str
    decision: Literal["approve", "deny"]
    scope: Literal["once", "session", "always"]


@record
class TurnFinished(_Stamped):
    """The reply to the person; ``author`` is the agent whose words they are."""

    kind: ClassVar[Literal["turn_finished"]] = "turn_finished"
    text: str
    usage: Usage
    milliseconds: float
    label: Label


@record
class TurnFailed(_Stamped):
    """The turn ended without a reply; ``text`` says so to the person, ``detail`` is the bare reason."""

    kind: ClassVar[Literal["turn_failed"]] = "turn_failed"
    cause: str
    text: str
    label: Label
    detail: str = ""


@record
class TurnCancelled(_Stamped):
    """The person stopped the turn."""

    kind: ClassVar[Literal["turn_cancelled"]] = "turn_cancelled"


@record
class TurnPaused(_Stamped):
    """The turn waits for decisions; deciding and resuming may happen later and elsewhere."""

    kind: ClassVar[Literal["turn_paused"]] = "turn_paused"
    waiting_for: tuple[str, ...]


@record
class TurnResumed(_Stamped):
    """A paused or interrupted turn goes on where it was."""

    kind: ClassVar[Literal["turn_resumed"]] = "turn_resumed"


Event: TypeAlias = (
    TurnStarted
    | MemoryRecalled
    | RequestRouted
    | TextStreamed
    | ModelCalled
    | ModelRetried
    | AgentNudged
    | DelegationStarted
    | DelegationFinished
    | ToolCalled
    | ToolFinished
    | ApprovalRequested
    | ApprovalDecided
    | TurnFinished
    | TurnFailed
    | TurnCancelled
    | TurnPaused
    | TurnResumed
)
EVENTS: tuple[type[Event], ...] = get_args(Event)
END_OF_TURN = (TurnFinished, TurnFailed, TurnCancelled, TurnPaused)


def event_fields(event: type[Event]) -> tuple[str, ...]:
    """The names of an event's own facts, without its stamp."""
    return tuple(name for name in names_of(event) if name != "stamp")
