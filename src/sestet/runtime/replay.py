"""The work that a turn has already done, read from its events. Pure: the same events give the same replay.

A resumed turn runs the same code from its beginning. Before that code asks a model, runs a tool or
delegates, it looks for a recorded result here, so that nothing is written or paid for twice.
"""

from collections import Counter, deque
from collections.abc import Iterable

from sestet.core.event import (
    AgentNudged,
    ApprovalDecided,
    ApprovalRequested,
    DelegationFinished,
    DelegationStarted,
    Event,
    MemoryRecalled,
    ModelCalled,
    RequestRouted,
    ToolCalled,
    ToolFinished,
    TurnStarted,
)
from sestet.core.label import CLEAN

_ACTS = (MemoryRecalled, ToolCalled, ToolFinished, DelegationFinished)


class Replay:
    """Finished work by the place where it happened."""

    def __init__(self) -> None:
        self.text = ""
        self.mine = True
        #: The label that the turn started with.
        self.label = CLEAN
        self.recalled: MemoryRecalled | None = None
        self.routed: RequestRouted | None = None
        self.last_seq = 0
        #: The time that the recorded model and tool calls took.
        self.milliseconds = 0.0
        # By delegation id; the root agent's is empty.
        self.replies: dict[str, deque[ModelCalled]] = {}
        self.delegated: set[str] = set()
        self.nudged: set[str] = set()
        self.results: dict[str, DelegationFinished] = {}
        self.model_calls: Counter[str] = Counter()
        self.tool_calls: dict[str, list[str]] = {}
        # By call id.
        self.intents: set[str] = set()
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
    found = Replay()
    for event in events:
        found.last_seq = max(found.last_seq, event.seq)
        if isinstance(event, _ACTS):
            found.acts.append(event)
        match event:
            case TurnStarted():
                found.text, found.mine, found.label = event.text, event.mine, event.label
            case MemoryRecalled():
                found.recalled = event
            case RequestRouted():
                found.routed = event
            case ModelCalled():
                found.replies.setdefault(event.delegation_id, deque()).append(event)
                found.model_calls[event.delegation_id] += 1
                found.milliseconds += event.milliseconds
            case DelegationStarted():
                found.delegated.add(event.delegation_id)
            case DelegationFinished() if event.outcome != "paused" and not event.ended_with_turn:
                found.results[event.delegation_id] = event
            case AgentNudged():
                found.nudged.add(event.delegation_id)
            case ToolCalled():
                found.intents.add(event.call.id)
            case ToolFinished():
                found.answers[event.call.id] = event
                # A refused call does not count against the tool's limit.
                if event.outcome != "refused":
                    found.tool_calls.setdefault(event.delegation_id, []).append(event.call.name)
                found.milliseconds += event.milliseconds
            case ApprovalRequested():
                found.questions[event.call.id] = event
            case ApprovalDecided():
                found.decided.add(event.approval_id)
            case _:
                pass
    return found
