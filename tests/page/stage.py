"""A model that says what a test tells it, when the test tells it, and tools for it to call."""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Sequence
from typing import TypeAlias

import sestet
from sestet.core.errors import ScriptError
from sestet.core.label import Label, Labelled
from sestet.core.message import ToolCall
from sestet.core.model import ModelItem, ModelReply, ModelRequest, TextDelta, Usage

ELSEWHERE = Label(untrusted=True, sources=("https://shop.example/offer",))


class Flow:
    """A reply that the test writes piece by piece while it is read."""

    def __init__(self) -> None:
        self._pieces: asyncio.Queue[str | ModelReply] = asyncio.Queue()
        self._written = ""
        self._asked = asyncio.Event()

    async def begun(self) -> None:
        """Wait until the model is asked."""
        async with asyncio.timeout(30):
            await self._asked.wait()

    def write(self, text: str) -> None:
        self._written += text
        self._pieces.put_nowait(text)

    def end(self, text: str = "") -> None:
        """Add a last piece, and end the reply."""
        if text:
            self.write(text)
        self._pieces.put_nowait(ModelReply(self._written, usage=Usage(100, 20)))

    async def stream(self) -> AsyncGenerator[ModelItem, None]:
        self._asked.set()
        while not isinstance(piece := await self._pieces.get(), ModelReply):
            yield TextDelta(piece)
        yield piece


Part: TypeAlias = str | ToolCall | Sequence[ToolCall] | ModelReply | Exception | Flow


class Stage:
    """Replies for each agent, in order. What was asked is kept."""

    name = "stage"

    def __init__(self) -> None:
        self._parts: defaultdict[str, deque[Part]] = defaultdict(deque)
        self.requests: list[ModelRequest] = []

    def play(self, agent: str, *parts: Part) -> None:
        """What an agent's model will say next."""
        self._parts[agent].extend(parts)

    def flow(self, agent: str = "orchestrator") -> Flow:
        """A reply that the test writes."""
        flow = Flow()
        self.play(agent, flow)
        return flow

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        self.requests.append(request)
        if not self._parts[request.agent]:
            raise ScriptError(f"the stage has no reply left for '{request.agent}'")
        part = self._parts[request.agent].popleft()
        if isinstance(part, Flow):
            async for item in part.stream():
                yield item
            return
        if isinstance(part, Exception):
            raise part
        reply = _whole(part)
        if reply.text:
            yield TextDelta(reply.text)
        yield reply

    async def close(self) -> None:
        """Replies may be left: a test may end in the middle of a turn."""


def _whole(part: str | ToolCall | Sequence[ToolCall] | ModelReply) -> ModelReply:
    if isinstance(part, ModelReply):
        return part
    if isinstance(part, str):
        return ModelReply(part, usage=Usage(100, 20))
    calls = (part,) if isinstance(part, ToolCall) else tuple(part)
    return ModelReply(calls=calls, usage=Usage(100, 20))


def ask(agent: str, request: str, *, reply: bool = True) -> ToolCall:
    """The orchestrator gives a request to an agent."""
    return ToolCall("transfer_to_agent", {"agent_name": agent, "request": request, "reply": reply})


def decline(why: str) -> ToolCall:
    """An agent gives a request back."""
    return ToolCall("reject_task", {"reason": why})


@sestet.tool(risk="guarded", effect="external", targets=("to",), recovery="unsafe", reads=())
async def exec_mail(to: str, text: str) -> str:
    """Send a message to somebody."""
    return f"sent to {to}"


@sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
async def exec_print(lines: int) -> str:
    """Print numbered lines."""
    return "\n".join(f"line {number} of {lines}" for number in range(1, lines + 1))


@sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
async def exec_colours() -> str:
    """Print what a terminal would colour, move and name."""
    return (
        "\x1b[31mred\x1b[0m and \x1b[1mbold\x1b[0m\n"
        "\x1b]0;a title\x07kept\x1b[2J\x1b[10;10H text\n"
        "\x1b]8;;https://elsewhere.example/\x07a link\x1b]8;;\x07\n"
    )


@sestet.tool(risk="safe", effect="none", reads=("untrusted",), recovery="pure")
async def browser_look(address: str) -> Labelled:
    """Read a page of somebody else."""
    return Labelled("The pump costs 4,200 euros.", ELSEWHERE)


@sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
async def exec_fail() -> str:
    """Fail."""
    raise RuntimeError("the disk is full")


TOOLS = (exec_mail, exec_print, exec_colours, browser_look, exec_fail)
