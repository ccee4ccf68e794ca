"""A model that follows the plan in the message, so that it behaves the same after a restart.

``operator: fs_pure a, exec_unsafe b | vault: crypto_probe c then planner:`` is two delegations at the same
time and a third one after them, each with its calls one after the other. Words without a colon are echoed,
unless code has already sent them to a specialist.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from itertools import takewhile

from sestet.core.agent import TRANSFER
from sestet.core.message import AssistantMessage, Message, ToolCall, UserMessage
from sestet.core.model import ModelItem, ModelReply, ModelRequest, TextDelta, Usage

#: The usage of every model call, so that sums can be checked.
EACH_CALL = Usage(10, 3, 5)
ALL_DONE = "All done."
SILENCE = "silence"


class PlanModel:
    """A pure function of the request; ``on_request`` is called before each reply."""

    name = "plan"

    def __init__(self, on_request: Callable[[ModelRequest], object] | None = None) -> None:
        self._on_request = on_request

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        if self._on_request is not None:
            self._on_request(request)
        await asyncio.sleep(0)  # let other tasks run, so that delegations interleave
        reply = _root_reply(request) if request.agent == "orchestrator" else _specialist_reply(request)
        half = len(reply.text) // 2
        for piece in (reply.text[:half], reply.text[half:]):
            if piece:
                yield TextDelta(piece)
        yield reply

    async def close(self) -> None:
        """Nothing to let go of."""


def replies_so_far(request: ModelRequest) -> int:
    """The number of this reply: since the person's message for the orchestrator, else in the whole run."""
    messages: Sequence[Message] = request.messages
    if request.agent == "orchestrator":
        messages = list(takewhile(lambda message: not isinstance(message, UserMessage), reversed(messages)))
    return sum(isinstance(message, AssistantMessage) for message in messages)


def _root_reply(request: ModelRequest) -> ModelReply:
    text = next(message.text for message in reversed(request.messages) if isinstance(message, UserMessage))
    number = replies_so_far(request)
    if ":" not in text and not number:
        return ModelReply(f"You said {text}.", usage=EACH_CALL)
    stages = text.split(" then ")
    if number >= len(stages):
        return ModelReply(ALL_DONE, usage=EACH_CALL)
    return ModelReply(calls=tuple(_transfer(part) for part in stages[number].split(" | ")), usage=EACH_CALL)


def _transfer(part: str) -> ToolCall:
    agent, _, work = part.partition(":")
    arguments = {"agent_name": agent.strip(), "request": work.strip() or "nothing"}
    return ToolCall(TRANSFER, arguments)


def _specialist_reply(request: ModelRequest) -> ModelReply:
    first = request.messages[0]
    steps = [] if first.text == "nothing" else [step.strip() for step in first.text.split(",")]
    number = replies_so_far(request)
    if number >= len(steps):
        return ModelReply(f"{request.agent} did {len(steps)} things.", usage=EACH_CALL)
    if steps[number] == SILENCE:
        return ModelReply("", usage=EACH_CALL)
    tool_name, _, what = steps[number].partition(" ")
    return ModelReply(calls=(ToolCall(tool_name, {"what": what}),), usage=EACH_CALL)
