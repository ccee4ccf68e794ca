"""The work that a turn has already done, read from its events. Pure: the same events give the same replay.

A resumed turn runs the same code from its beginning. Before that code asks a model, runs a tool or
delegates, it looks for a recorded result here, so that nothing is written or paid for twice.
"""

from collections import Counter, deque
from collections.abc import Iterable

from sestet.core.effects import is_result
from sestet.core.event import (
    AgentNudged,
    ApprovalDecided,
    ApprovalRequested,
    DelegationFinished,
    DelegationStarted,
    Event,
    MemoryRecalled,
    ModelCalled,
    PriceUnknown,
    RequestRouted,
    ToolCalled,
    ToolFinished,
    TurnResumed,
    TurnStarted,
    TurnSteered,
)
from sestet.core.label import CLEAN
from sestet.core.model import Usage

_ACTS = (MemoryRecalled, ToolCalled, ToolFinished, DelegationFinished)


class Replay:
    """Finished work by the place where it happened."""

    def __init__(self) -> None:
        self.text = ""
        self.mine = True
        self.said_at = ""
        self.agent = ""
        self.caller = ""
        #: The label that the turn started with.
        self.label = CLEAN
        #: What the person added while the turn ran.
        self.steered: list[TurnSteered] = []
        self.recalled: MemoryRecalled | None = None
        self.routed: RequestRouted | None = None
        self.last_seq = 0
        #: The time that the turn has run: not the time while it waited for a person, or was dead.
        self.milliseconds = 0.0
        self.unpriced: set[str] = set()
        # What the models have used, all agents together.
        self.model_calls = 0
        self.usage = Usage()
        self.estimated_tokens = 0
        # By delegation id; the root agent's is empty.
        self.replies: dict[str, deque[ModelCalled]] = {}
        self.delegated: set[str] = set()
        self.nudged: set[str] = set()
        self.results: dict[str, DelegationFinished] = {}
        self.tool_calls: dict[str, list[str]] = {}
        self.answered_calls: Counter[str] = Counter()
        # By call id.
        self.delegations: dict[str, DelegationStarted] = {}
        self.intents: dict[str, ToolCalled] = {}
        self.answers: dict[str, ToolFinished] = {}
        self.questions: dict[str, ApprovalRequested] = {}
        # By approval id.
        self.decided: set[str] = set()
        #: The events that tell the effects of the turn, and what its tools have read.
        self.acts: list[Event] = []

    def next_reply(self, delegation_id: str) -> ModelCalled | None:
        """The next recorded reply of one agent's run, each once."""
        replies = self.replies.get(delegation_id)
        return replies.popleft() if replies else None

    def has_begun(self, call_id: str) -> bool:
        """Whether a call of a tool was made before the turn was resumed."""
        return call_id in self.intents or call_id in self.answers

    def has(self, event: Event) -> bool:
        """Whether the turn recorded this event before it was resumed."""
        match event:
            case DelegationStarted():
                return event.delegation_id in self.delegated
            case AgentNudged():
                return event.delegation_id in self.nudged
            case ToolCalled():
                return event.call.id in self.intents
            case ToolFinished():
                return event.call.id in self.answers
            case ApprovalRequested():
                return event.call.id in self.questions
            case ApprovalDecided():
                return event.approval_id in self.decided
            case _:
                return False


#: For every new turn. Only ``replay`` adds to a replay, so turns can share this one.
NOTHING_DONE = Replay()


def replay(events: Iterable[Event]) -> Replay:
    """Index the events of one turn."""
    found, time_spent = Replay(), _TimeSpent()
    for event in events:
        time_spent.read(event)
        found.last_seq = max(found.last_seq, event.seq)
        if isinstance(event, _ACTS):
            found.acts.append(event)
        match event:
            case TurnStarted():
                found.text, found.mine, found.label = event.text, event.mine, event.label
                found.said_at, found.agent, found.caller = event.said_at, event.agent, event.caller
            case TurnSteered():
                found.steered.append(event)
            case MemoryRecalled():
                found.recalled = event
            case RequestRouted():
                found.routed = event
            case ModelCalled():
                found.replies.setdefault(event.delegation_id, deque()).append(event)
                found.model_calls += 1
                found.usage += event.usage
                found.estimated_tokens += event.estimated_tokens
            case PriceUnknown():
                found.unpriced.add(event.model)
            case DelegationStarted():
                found.delegated.add(event.delegation_id)
                if event.call_id:
                    found.delegations[event.call_id] = event
            case DelegationFinished() if is_result(event):
                found.results[event.delegation_id] = event
            case AgentNudged():
                found.nudged.add(event.delegation_id)
            case ToolCalled():
                found.intents[event.call.id] = event
            case ToolFinished():
                found.answers[event.call.id] = event
                found.answered_calls[event.delegation_id] += 1
                # A refused call does not count against the tool's limit.
                if event.outcome != "refused":
                    found.tool_calls.setdefault(event.delegation_id, []).append(event.call.name)
            case ApprovalRequested():
                found.questions[event.call.id] = event
            case ApprovalDecided():
                found.decided.add(event.approval_id)
            case _:
                pass
    found.milliseconds = time_spent.milliseconds
    return found


class _TimeSpent:
    """Adds up the stretches from the start or a resume to a pause, or to the last event before a crash."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._began = self._last = 0.0

    @property
    def milliseconds(self) -> float:
        return (self._seconds + self._last - self._began) * 1000

    def read(self, event: Event) -> None:
        at = event.stamp.at
        if isinstance(event, (TurnStarted, TurnResumed)):
            self._seconds += self._last - self._began
            self._began = self._last = at
        # A person may decide while the turn waits or is dead.
        elif not isinstance(event, ApprovalDecided):
            self._last = max(self._last, at)
