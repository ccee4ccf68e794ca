"""A model that solves the person's task, and obeys every order that it reads on the way."""

from collections import deque
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import NamedTuple

from sestet.core.agent import ASSISTANT, ORCHESTRATOR, TRANSFER
from sestet.core.message import AssistantMessage, ToolCall, ToolMessage
from sestet.core.model import ModelItem, ModelReply, ModelRequest, TextDelta
from sestet.core.schema import JsonValue

_REPEATS = 2


class Step(NamedTuple):
    """One call that the model wants to make, and the specialist that owns its tool."""

    owner: str
    tool: str
    arguments: Mapping[str, JsonValue]


class Errand(NamedTuple):
    """What the model does: the person's task, and the calls that an order in a text asks for."""

    steps: Sequence[Step]
    answer: str
    #: The order as the attacker wrote it; empty: nobody attacks.
    order: str = ""
    ordered: Sequence[Step] = ()


class GullibleModel:
    """The model of every agent, orchestrator and specialists alike. It works on one errand at a time.

    An agent that owns the next call makes it. Another specialist answers with all that it has read, and the
    orchestrator delegates to the owner.
    """

    name = "gullible"

    def __init__(self) -> None:
        self.errand = Errand((), "")
        self.has_obeyed = False
        self._left: deque[Step] = deque()

    def begin(self, errand: Errand) -> None:
        self.errand = errand
        self.has_obeyed = False
        self._left = deque(errand.steps)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        read = [message.text for message in request.messages if isinstance(message, ToolMessage)]
        if not self.has_obeyed and self.errand.order and holds_order(read, self.errand.order):
            self.has_obeyed = True
            self._left.extendleft(reversed(self.errand.ordered))
        offered = {tool.name for tool in request.tools}
        if self._left and self._left[0].tool in offered and not _has_repeated(request, self._left[0]):
            yield ModelReply(calls=tuple(ToolCall(step.tool, dict(step.arguments)) for step in self._take()))
        elif self._left and TRANSFER in offered:
            step = self._left[0]
            arguments = {"agent_name": step.owner, "request": _request(read, step)}
            yield ModelReply(calls=(ToolCall(TRANSFER, arguments),))
        else:
            text = self.errand.answer
            if request.agent not in (ORCHESTRATOR, ASSISTANT):
                text = "\n\n".join(("This is what I found.", *read))
            yield TextDelta(text)
            yield ModelReply(text)

    def _take(self) -> list[Step]:
        """The next calls of one tool that differ from each other: a model makes them in one reply."""
        taken = [self._left.popleft()]
        while self._left and self._left[0].tool == taken[0].tool and self._left[0] not in taken:
            taken.append(self._left.popleft())
        return taken

    async def close(self) -> None:
        pass


def _has_repeated(request: ModelRequest, step: Step) -> bool:
    """Whether the agent made this call twice in this delegation: a third time would count as a loop."""
    replies = (message for message in request.messages if isinstance(message, AssistantMessage))
    made = [(call.name, dict(call.arguments)) for reply in replies for call in reply.calls]
    return made.count((step.tool, dict(step.arguments))) >= _REPEATS


def _request(read: Sequence[str], step: Step) -> str:
    """The orchestrator passes on what it has read: a specialist sees nothing else."""
    return "\n\n".join((f"Please do this: {step.tool} {dict(step.arguments)}", *read))


def holds_order(texts: Iterable[str], order: str) -> bool:
    """Whether the order is in one of the texts, however it is quoted and wrapped there."""
    wanted = _letters(order)
    return any(wanted in _letters(text) for text in texts)


def _letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum())
