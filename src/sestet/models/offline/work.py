"""The work of a specialist: its request, the calls that were made for it, and what may come next."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from sestet.core.message import AssistantMessage, Found, Message, ToolCall, ToolMessage
from sestet.core.schema import JsonValue
from sestet.core.tool import Tool


class Step(NamedTuple):
    """A call that was made, and its result."""

    call: ToolCall
    result: ToolMessage


class Work(NamedTuple):
    """A specialist's request, and the steps that were made for it."""

    request: str
    steps: tuple[Step, ...]
    tools: Mapping[str, Tool]
    #: How many of the last steps were made at the same time.
    together: int = 1

    @property
    def last(self) -> Step:
        return self.steps[-1]

    @property
    def latest(self) -> tuple[Step, ...]:
        """The steps of the last reply, which may have several calls."""
        return self.steps[-self.together :]

    def made(self, tool: str) -> list[Step]:
        return [step for step in self.steps if step.call.name == tool]


#: The next calls, or the answer; None: the specialist goes on as with any request.
Next: TypeAlias = ToolCall | tuple[ToolCall, ...] | str | None
Flow: TypeAlias = Callable[[Work, re.Match[str]], Next]


def work_of(request: str, messages: Sequence[Message], tools: Sequence[Tool]) -> Work:
    results = {message.call_id: message for message in messages if isinstance(message, ToolMessage)}
    replies = [message.calls for message in messages if isinstance(message, AssistantMessage)]
    steps = tuple(Step(call, results[call.id]) for calls in replies for call in calls if call.id in results)
    return Work(request, steps, {tool.name: tool for tool in tools}, len(replies[-1]) if replies else 1)


def call(tool: str, **arguments: JsonValue) -> ToolCall:
    return ToolCall(tool, arguments)


def form(text: str) -> re.Pattern[str]:
    """A request with named places, as a pattern."""
    parts = re.split(r"\{(\w+)\}", text)
    return re.compile(
        "".join(f"(?P<{part}>.+?)" if at % 2 else re.escape(part) for at, part in enumerate(parts)),
        re.IGNORECASE | re.DOTALL,
    )


def paths_of(found: Sequence[Found]) -> list[str]:
    """The files among what was found; the name of a folder ends with a slash."""
    return list(dict.fromkeys(one.name for one in found if not one.name.endswith("/")))
