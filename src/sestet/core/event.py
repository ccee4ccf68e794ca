"""The facts of a turn: one closed union, each written to the journal before a reader gets it.

Rows of the journal are checked against these types when they are read. So a choice stays in its ``Literal``
for good, and a new field has a default.
"""

from typing import ClassVar, Literal, TypeAlias, get_args

from sestet.core.errors import FailureKind
from sestet.core.label import CLEAN, Label
from sestet.core.message import Found, ToolCall
from sestet.core.model import Usage
from sestet.core.preview import Changes
from sestet.core.record import Record
from sestet.core.seen import NOTHING_SEEN, Seen
from sestet.core.tool import Effect, Recovery

#: How a delegation can end. None of these is ever lost or silent.
OutcomeKind: TypeAlias = Literal[
    "ok", "rejected", "failed", "timeout", "over_budget", "loop", "empty", "cancelled", "paused"
]
#: The kinds of effect that a text can claim: fields of ``Effects``.
Claim: TypeAlias = Literal["changed", "sent", "paid"]
#: The settings that limit dollars.
DollarLimit: TypeAlias = Literal["limits.dollars", "limits.dollarsPerDay"]


class Effects(Record):
    """What the calls of a turn did, from the journal alone: their targets, or the names of the tools."""

    #: Files, and rows of Sestet's own database.
    changed: tuple[str, ...] = ()
    sent: tuple[str, ...] = ()
    paid: tuple[str, ...] = ()
    #: Calls that ended with an error. They may have changed something before it.
    failed: tuple[str, ...] = ()
    #: Calls that started and have no result: they may have taken effect or not.
    in_doubt: tuple[str, ...] = ()


class Stamp(Record):
    """The turn, agent and time of an event. ``delegation_id`` is empty for events of the root agent."""

    session_id: str
    turn_id: str
    seq: int
    author: str
    delegation_id: str
    at: float


class _Stamped(Record):
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


class TurnStarted(_Stamped):
    """The person's message was accepted."""

    kind: ClassVar[Literal["turn_started"]] = "turn_started"
    text: str
    #: The label of the earlier turns that the root agent is shown.
    label: Label = CLEAN
    #: False: the person did not write the text, for example because it came through a pipe.
    mine: bool = True
    #: The person's local time, as every agent of the turn reads it.
    said_at: str = ""
    #: The specialist that the person chose; empty: the orchestrator chooses.
    agent: str = ""
    #: The program of somebody else that sent the text and gets the answer; empty: the owner's own surface.
    caller: str = ""


class TurnSteered(_Stamped):
    """The person added words while the turn ran; the root agent reads them at its next step."""

    kind: ClassVar[Literal["turn_steered"]] = "turn_steered"
    text: str
    #: False: the person did not write the text.
    mine: bool = True
    #: The client's own name for the words: sent again, they are the same words.
    key: str = ""


class MemoryRecalled(_Stamped):
    """Stored memories match the message: the root agent reads this text beside it."""

    kind: ClassVar[Literal["memory_recalled"]] = "memory_recalled"
    text: str
    #: The ids of the rows, as ``sestet memory show`` takes them.
    ids: tuple[str, ...]
    label: Label


class TextStreamed(_Stamped):
    """A piece of an agent's text. Folded into ``ModelCalled`` once the reply is whole."""

    kind: ClassVar[Literal["text_streamed"]] = "text_streamed"
    text: str


class ModelCalled(_Stamped):
    """A model gave a whole reply: text, calls, and what it used."""

    kind: ClassVar[Literal["model_called"]] = "model_called"
    model: str
    text: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    milliseconds: float
    #: Further calls in the reply, which exceeded the limit of the turn.
    calls_left_out: int = 0
    #: For a reply whose tokens nobody counted: what they count for `limits.tokens`.
    estimated_tokens: int = 0
    #: The call cost nothing, as on this machine. Else a price of 0 is an unknown price.
    free: bool = False
    #: How many texts that the person added (``TurnSteered``) the model has read in this turn.
    steered: int = 0
    #: What the model was shown, as the places of it in the journal.
    seen: Seen = NOTHING_SEEN


class PriceUnknown(_Stamped):
    """A model was used whose price is unknown, so the limits of dollars do not hold for it."""

    kind: ClassVar[Literal["price_unknown"]] = "price_unknown"
    model: str
    #: The settings that do not hold.
    limits: tuple[DollarLimit, ...] = ("limits.dollars",)


class ModelRetried(_Stamped):
    """A model call failed; the same model or another one is asked next."""

    kind: ClassVar[Literal["model_retried"]] = "model_retried"
    model: str
    failure: FailureKind
    text: str
    #: Seconds until the next call.
    wait: float
    next_model: str


class RequestRouted(_Stamped):
    """The router was sure which agent the message is for, so no model was asked to choose one."""

    kind: ClassVar[Literal["request_routed"]] = "request_routed"
    agent: str
    confidence: float


class AgentNudged(_Stamped):
    """The agent was told once that its reply was not enough."""

    kind: ClassVar[Literal["agent_nudged"]] = "agent_nudged"
    reason: Literal["silence", "announced"]


class DelegationStarted(_Stamped):
    """The orchestrator gave a specialist a request. The stamp's author is the orchestrator."""

    kind: ClassVar[Literal["delegation_started"]] = "delegation_started"
    agent: str
    request: str
    reply: bool
    round: int
    #: The orchestrator's call that asked for it.
    call_id: str = ""


class DelegationFinished(_Stamped):
    """The specialist's typed result, of any outcome."""

    kind: ClassVar[Literal["delegation_finished"]] = "delegation_finished"
    agent: str
    outcome: OutcomeKind
    text: str
    cause: str
    usage: Usage
    milliseconds: float
    label: Label
    #: The turn was stopped, and the delegation with it.
    ended_with_turn: bool = False
    #: The cause for the person, where ``cause`` instructs the model; empty: ``cause`` is for both.
    for_person: str = ""
    #: A remote agent was not asked, because sending it the request was denied.
    denied: bool = False
    #: What the specialist's tools found.
    found: tuple[Found, ...] = ()


class ToolCalled(_Stamped):
    """A tool is about to run with these arguments."""

    kind: ClassVar[Literal["tool_called"]] = "tool_called"
    call: ToolCall
    #: As the tool declares it; None: an earlier version wrote this event.
    effect: Effect | None = None
    #: The targets of an effect in short, or the tool's name with its first short text.
    targets: tuple[str, ...] = ()
    #: What can be done when no result follows.
    recovery: Recovery = "unsafe"
    #: What the call changes, as far as its tool can tell before; None also if a question showed it.
    changes: Changes | None = None


class OutputStreamed(_Stamped):
    """A piece of what a tool prints while it runs. Folded into ``ToolFinished`` once the call is answered."""

    kind: ClassVar[Literal["output_streamed"]] = "output_streamed"
    call_id: str
    text: str


class ToolFinished(_Stamped):
    """A call was answered, by the tool or by a guard that refused it."""

    kind: ClassVar[Literal["tool_finished"]] = "tool_finished"
    call: ToolCall
    outcome: Literal["ok", "error", "refused", "denied", "in_doubt"]
    text: str
    milliseconds: float
    #: What the text adds to the context that reads it.
    label: Label
    #: The same for the person, where ``text`` instructs the model: the call was not made, or is in doubt.
    for_person: str = ""
    #: The sources of the passages in ``text``, as an answer may cite them.
    citations: tuple[str, ...] = ()
    #: The model's own mistake: a tool that it does not have, or arguments that do not fit.
    mistake: bool = False
    #: What was found, one by one.
    found: tuple[Found, ...] = ()
    #: The call could have had its effect, and had none.
    no_effect: bool = False


class ApprovalRequested(_Stamped):
    """A call waits for a person's decision: the call, the reason, and the sources of the text behind it."""

    kind: ClassVar[Literal["approval_requested"]] = "approval_requested"
    approval_id: str
    call: ToolCall
    reason: str
    sources: tuple[str, ...]
    expires_at: float
    #: What the call would change, as far as its tool can tell before.
    changes: Changes | None = None


class ApprovalDecided(_Stamped):
    """A person decided about one exact call."""

    kind: ClassVar[Literal["approval_decided"]] = "approval_decided"
    approval_id: str
    decision: Literal["approve", "deny"]
    scope: Literal["once", "session", "always"]


class TurnFinished(_Stamped):
    """The reply to the person; ``author`` is the agent whose words they are."""

    kind: ClassVar[Literal["turn_finished"]] = "turn_finished"
    text: str
    usage: Usage
    milliseconds: float
    label: Label
    #: Why code ended the turn with the specialists' results; empty: an agent wrote the text.
    cut_short: str = ""
    #: Of the whole turn; None: an earlier version wrote this event, or an intent of the turn.
    effects: Effects | None = None
    #: The kinds of effect that the text claims and the journal does not have.
    unsupported: tuple[Claim, ...] = ()


class TurnFailed(_Stamped):
    """The turn ended without a reply; ``text`` says so to the person, ``detail`` is the bare reason."""

    kind: ClassVar[Literal["turn_failed"]] = "turn_failed"
    cause: str
    text: str
    label: Label
    detail: str = ""
    usage: Usage = Usage()
    milliseconds: float = 0.0
    effects: Effects | None = None


class TurnCancelled(_Stamped):
    """The person stopped the turn."""

    kind: ClassVar[Literal["turn_cancelled"]] = "turn_cancelled"
    effects: Effects | None = None
    usage: Usage = Usage()
    milliseconds: float = 0.0


class TurnPaused(_Stamped):
    """The turn waits for decisions; it can be decided on and resumed later, by another process."""

    kind: ClassVar[Literal["turn_paused"]] = "turn_paused"
    waiting_for: tuple[str, ...]
    #: The effects so far.
    effects: Effects | None = None


class TurnResumed(_Stamped):
    """A paused or interrupted turn continues where it stopped."""

    kind: ClassVar[Literal["turn_resumed"]] = "turn_resumed"


Event: TypeAlias = (
    TurnStarted
    | TurnSteered
    | MemoryRecalled
    | RequestRouted
    | TextStreamed
    | ModelCalled
    | PriceUnknown
    | ModelRetried
    | AgentNudged
    | DelegationStarted
    | DelegationFinished
    | ToolCalled
    | OutputStreamed
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
#: Pieces of a text that another event holds whole, as soon as it is complete.
PIECES = (TextStreamed, OutputStreamed)


def event_fields(event: type[Event]) -> tuple[str, ...]:
    """The names of an event's own facts, without its stamp."""
    return tuple(name for name in event.__struct_fields__ if name != "stamp")
