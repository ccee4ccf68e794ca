"""Sestet through its public library, with its defaults: journal on disk, all guards on."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import sestet
from bench.script import REPLY, REQUEST, SPECIALIST, SPECIALIST_PREFIX, Script, Seen, Stage
from bench.tree import ToolSketch, make_function
from sestet.core.event import TurnFinished
from sestet.core.message import AssistantMessage, ToolMessage
from sestet.core.model import ModelItem, ModelReply, ModelRequest, TextDelta


class FakeModel:
    """Follows the script. Keeps no state, so that only Sestet remembers the conversation."""

    name = "fake"

    def __init__(self, script: Script, root: str, tool: str) -> None:
        self._script = script
        self._root = root
        self._tool = tool

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        script, last = self._script, request.messages[-1]
        if script.counting:
            script.characters += count_characters(request)
        seen: Seen = "user"
        if isinstance(last, ToolMessage) and last.name == self._tool and not last.failed:
            # Sestet's own tool does not call the script, so we count its results.
            script.tool_calls += 1
            seen = "listing"
        step = await script.next(request.agent == self._root, seen)
        if step == "delegate":
            arguments = {"agent_name": SPECIALIST, "request": REQUEST, "reply": True}
            yield ModelReply(calls=(sestet.ToolCall("transfer_to_agent", arguments),))
        elif step == "list":
            yield ModelReply(calls=(sestet.ToolCall(self._tool, {"path": "."}),))
        else:
            yield TextDelta(REPLY)
            yield ModelReply(REPLY)

    async def close(self) -> None:
        pass


class Sestet:
    def __init__(self, app: sestet.App) -> None:
        self._app = app

    def new_session(self, name: str) -> str:
        return name

    async def turn(self, session: object, text: str) -> str:
        *_, last = [event async for event in self._app.run_turn(str(session), text)]
        return last.text if isinstance(last, TurnFinished) else f"no reply, but {last}"


def declared(tools: Sequence[ToolSketch], script: Script) -> list[sestet.Tool]:
    """The tools that the other contestants have too, as tools of Sestet."""
    declare = sestet.tool(risk="safe", reads=("untrusted", "private"), effect="none", recovery="pure")
    return [declare(make_function(each, script)) for each in tools]


@asynccontextmanager
async def start_with(stage: Stage, tool: str) -> AsyncGenerator[Sestet]:
    """Open Sestet with a specialist that calls this tool."""
    spare = declared(stage.tree.spare, stage.script)
    model = FakeModel(stage.script, stage.tree.root.name, tool)
    async with sestet.open({}, model=model, home=stage.home, tools=spare) as app:
        yield Sestet(app)


def start(stage: Stage) -> AbstractAsyncContextManager[Sestet]:
    """Start Sestet with the same tool function as the other contestants."""
    added = next(tool.name for tool in stage.tree.spare if tool.name.startswith(SPECIALIST_PREFIX))
    return start_with(stage, added)


def count_characters(request: ModelRequest) -> int:
    """Return the characters that the model reads: instruction, texts, and arguments of earlier calls."""
    calls = (call for m in request.messages if isinstance(m, AssistantMessage) for call in m.calls)
    return (
        len(request.instruction)
        + sum(len(message.text) for message in request.messages)
        + sum(len(str(value)) for call in calls for value in call.arguments.values())
    )
