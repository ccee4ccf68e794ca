"""What a remote agent has sent so far: a message, or a task that grows piece by piece."""

from collections.abc import Callable, Iterable

from a2a.types import Artifact, Message, Part, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState

#: In the metadata of a status: its agent's own owner decides, and the task goes on after that.
OWNER_DECIDES = "sestet.owner_decides"
#: Characters of a stream that are shown as they come.
_MOST_SHOWN = 1_000_000
_ENDS = (
    TaskState.TASK_STATE_COMPLETED,
    TaskState.TASK_STATE_FAILED,
    TaskState.TASK_STATE_CANCELED,
    TaskState.TASK_STATE_REJECTED,
    TaskState.TASK_STATE_INPUT_REQUIRED,
    TaskState.TASK_STATE_AUTH_REQUIRED,
)


class WrongTaskError(Exception):
    """The agent sent something of a task that is not the one it began with."""


class Received:
    """Reads the replies of one request in order."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self.message: Message | None = None
        self.task = Task()
        self._on_text = on_text
        self._shown = 0

    @property
    def is_over(self) -> bool:
        return self.message is not None or self.task.status.state in _ENDS

    def read(self, reply: StreamResponse) -> None:
        if reply.HasField("message"):
            self.message = reply.message
        elif reply.HasField("task"):
            self._require_same(reply.task.id)
            self.task.CopyFrom(reply.task)
        elif reply.HasField("status_update"):
            self._require_same(reply.status_update.task_id)
            self.task.status.CopyFrom(reply.status_update.status)
        elif reply.HasField("artifact_update"):
            self._require_same(reply.artifact_update.task_id)
            self._add(reply.artifact_update)

    def _require_same(self, task_id: str) -> None:
        if not task_id or (self.task.id and self.task.id != task_id):
            raise WrongTaskError
        self.task.id = task_id

    def _add(self, update: TaskArtifactUpdateEvent) -> None:
        new = update.artifact
        text = text_of(new)
        self._shown += len(text)
        if self._shown <= _MOST_SHOWN:
            self._on_text(text)
        known = next((each for each in self.task.artifacts if each.artifact_id == new.artifact_id), None)
        if known is None:
            self.task.artifacts.append(new)
        elif update.append:
            known.parts.extend(new.parts)
        else:
            known.CopyFrom(new)


def waits_for_its_owner(task: Task) -> bool:
    """Whether the agent's own owner has to decide; then the task goes on without us."""
    status = task.status
    if status.state != TaskState.TASK_STATE_AUTH_REQUIRED:
        return False
    return OWNER_DECIDES in status.message.metadata and bool(status.message.metadata[OWNER_DECIDES])


def text_of(said: Message | Artifact) -> str:
    # The parts of one artifact are the pieces in which it was streamed: a line break would split words.
    return ("" if isinstance(said, Artifact) else "\n").join(_texts(said.parts))


def text_made_by(task: Task) -> str:
    return "\n\n".join(text for artifact in task.artifacts if (text := text_of(artifact)))


def _texts(parts: Iterable[Part]) -> Iterable[str]:
    return (part.text for part in parts if part.HasField("text"))
