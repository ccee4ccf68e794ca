"""Turns as tasks of A2A: a task is read from the journal, so it survives every restart."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TypeAlias

from a2a.types import (
    Artifact,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)

from sestet.core.event import (
    DelegationStarted,
    Event,
    ModelCalled,
    TextStreamed,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnPaused,
    TurnResumed,
    TurnStarted,
)
from sestet.detached.turns import DetachedTurns
from sestet.remote.received import OWNER_DECIDES as OWNER_DECIDES_MARK
from sestet.storage.callers import CallerTurn
from sestet.storage.journal import Journal

Update: TypeAlias = TaskStatusUpdateEvent | TaskArtifactUpdateEvent

#: The one artifact of a task.
ANSWER = "answer"
OWNER_DECIDES = (
    "The owner of this assistant has to approve a step of this task, and was asked. The task goes on after "
    "the decision: ask for it again, or subscribe to it. Nothing that you send can decide this."
)
ENDED = (
    TaskState.TASK_STATE_COMPLETED,
    TaskState.TASK_STATE_FAILED,
    TaskState.TASK_STATE_CANCELED,
    TaskState.TASK_STATE_REJECTED,
)
#: The turns whose tasks go on.
_WORKING = (TurnStarted, TurnResumed)


def read_task(turns: DetachedTurns, journal: Journal, turn: CallerTurn) -> Task:
    """A task as the journal has it now."""
    task = Task(id=turn.turn_id, context_id=turn.context_id)
    events = [event for event in journal.events_of(turn.turn_id) if not isinstance(event, TextStreamed)]
    message = turns.message(turn.turn_id)
    started = next((event for event in events if isinstance(event, TurnStarted)), None)
    words = started.text if started else message.text if message else ""
    if words and message:
        history = Message(message_id=message.key, role=Role.ROLE_USER, parts=[Part(text=words)])
        history.task_id, history.context_id = task.id, task.context_id
        task.history.append(history)
    status = _status_of(events[-1], turn.turn_id) if events else None
    if status is None:
        state = TaskState.TASK_STATE_WORKING if events else TaskState.TASK_STATE_SUBMITTED
        if turns.state(turn.turn_id) == "cancelled":
            state = TaskState.TASK_STATE_CANCELED
        status = _status(state, events[-1].stamp.at if events else turn.accepted_at)
    elif turns.state(turn.turn_id) == "running":
        # It was decided, and goes on.
        status = _status(TaskState.TASK_STATE_WORKING, events[-1].stamp.at)
    task.status.CopyFrom(status)
    if events and isinstance(events[-1], TurnFinished):
        task.artifacts.append(_answer(events[-1].text))
    return task


class TaskUpdates:
    """Turns the events of a turn into updates of its task, as they come.

    The answer is an artifact that grows. Words that turn out not to be the answer are replaced.
    """

    def __init__(self, task_id: str, context_id: str) -> None:
        self._task_id = task_id
        self._context_id = context_id
        #: What the reader has of the answer.
        self._said = ""
        #: Delegations whose text is the answer as it is.
        self._replying = {""}

    def read_all(self, events: Iterable[Event]) -> list[Update]:
        return [update for event in events for update in self.read(event)]

    def read(self, event: Event) -> Sequence[Update]:
        if isinstance(event, DelegationStarted) and event.reply:
            self._replying.add(event.delegation_id)
        if isinstance(event, TextStreamed) and event.delegation_id in self._replying:
            return self._chunk(event.text, last=False)
        if isinstance(event, ModelCalled) and event.delegation_id in self._replying and event.calls:
            # These words only came before a call.
            self._said = ""
        if isinstance(event, _WORKING):
            return [self._told(_status(TaskState.TASK_STATE_WORKING, event.stamp.at))]
        if isinstance(event, TurnFinished):
            return [*self._rest(event.text), *self._end(event)]
        return self._end(event)

    def _rest(self, text: str) -> Sequence[Update]:
        if not text.startswith(self._said):
            self._said = ""
        rest = text[len(self._said) :]
        return self._chunk(rest, last=True) if rest else ()

    def _chunk(self, text: str, *, last: bool) -> Sequence[Update]:
        grows = bool(self._said)
        self._said += text
        update = TaskArtifactUpdateEvent(artifact=_answer(text), append=grows, last_chunk=last)
        update.task_id, update.context_id = self._task_id, self._context_id
        return [update]

    def _end(self, event: Event) -> Sequence[Update]:
        status = _status_of(event, self._task_id)
        return [self._told(status)] if status else ()

    def _told(self, status: TaskStatus) -> Update:
        return TaskStatusUpdateEvent(task_id=self._task_id, context_id=self._context_id, status=status)


def _status_of(event: Event, task_id: str) -> TaskStatus | None:
    """The status that the end or the pause of a turn gives its task; None for other events."""
    at = event.stamp.at
    match event:
        case TurnFinished():
            return _status(TaskState.TASK_STATE_COMPLETED, at)
        case TurnCancelled():
            return _status(TaskState.TASK_STATE_CANCELED, at)
        case TurnPaused():
            return _status(TaskState.TASK_STATE_AUTH_REQUIRED, at, OWNER_DECIDES, task_id)
        case TurnFailed():
            # The text may tell of the owner's machine; the cause is one of a few words.
            rejected = event.cause == "rejected"
            state = TaskState.TASK_STATE_REJECTED if rejected else TaskState.TASK_STATE_FAILED
            return _status(state, at, f"The task has no answer: {event.cause}.", task_id)
        case _:
            return None


def _status(state: TaskState, at: float, text: str = "", task_id: str = "") -> TaskStatus:
    status = TaskStatus(state=state)
    status.timestamp.FromDatetime(datetime.fromtimestamp(at, UTC))
    if text:
        said = Message(message_id=f"{task_id}-{state}", role=Role.ROLE_AGENT, parts=[Part(text=text)])
        if state == TaskState.TASK_STATE_AUTH_REQUIRED:
            said.metadata[OWNER_DECIDES_MARK] = True
        status.message.CopyFrom(said)
    return status


def _answer(text: str) -> Artifact:
    return Artifact(artifact_id=ANSWER, name=ANSWER, parts=[Part(text=text)])
