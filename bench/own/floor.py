"""The floor: a bare loop that makes the same model and tool calls and does nothing else."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from bench.script import LIST_TOOL, REPLY, REQUEST, SPECIALIST, Script, Seen, Stage
from bench.tree import AgentSketch, ToolFunction, make_function

Message = dict[str, str]


class Floor:
    """Agents as dictionaries, a conversation as a list."""

    def __init__(self, stage: Stage) -> None:
        self._script = stage.script
        self._root = stage.tree.root
        self._agents = {agent.name: agent for agent in stage.tree.specialists}
        self._tools: dict[str, dict[str, ToolFunction]] = {
            agent.name: {tool.name: make_function(tool, stage.script) for tool in agent.tools}
            for agent in stage.tree.specialists
        }

    def new_session(self, name: str) -> list[Message]:
        return []

    async def turn(self, session: object, text: str) -> str:
        assert isinstance(session, list)
        history: list[Message] = session  # pyright: ignore[reportUnknownVariableType] - made by new_session
        history.append({"role": "user", "text": text})
        reply = await self._ask(self._root, history)
        messages: list[Message] = [{"role": "user", "text": reply["request"]}]
        agent = self._agents[reply["agent"]]
        while "call" in (reply := await self._ask(agent, messages)):
            result = await self._tools[agent.name][reply["call"]](reply["path"])
            messages += [reply, {"role": "listing", "text": result}]
        history.append({"role": "assistant", "text": reply["text"]})
        return reply["text"]

    async def _ask(self, agent: AgentSketch, messages: list[Message]) -> Message:
        """The fake model."""
        script: Script = self._script
        if script.counting:
            script.characters += len(agent.instruction) + sum(len(each["text"]) for each in messages)
        seen: Seen = "listing" if messages[-1]["role"] == "listing" else "user"
        step = await script.next(agent is self._root, seen)
        if step == "delegate":
            return {"role": "assistant", "text": "", "agent": SPECIALIST, "request": REQUEST}
        if step == "list":
            return {"role": "assistant", "text": "", "call": LIST_TOOL, "path": "."}
        return {"role": "assistant", "text": REPLY}


@asynccontextmanager
async def start(stage: Stage) -> AsyncGenerator[Floor]:
    yield Floor(stage)
