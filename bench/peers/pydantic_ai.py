"""Pydantic AI: the delegation is an output function, so the specialist's answer is the turn's answer."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from pydantic_ai import Agent, RunContext, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from bench.script import LIST_TOOL, REPLY, REQUEST, SPECIALIST, Script, Seen, Stage
from bench.tree import make_function


def fake_model(script: Script, is_root: bool) -> FunctionModel:
    """Follows the script."""

    async def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if script.counting:
            script.characters += len(info.instructions or "") + sum(map(count_characters, messages))
        last = messages[-1].parts[-1]
        seen: Seen = "listing" if isinstance(last, ToolReturnPart) and not is_root else "user"
        step = await script.next(is_root, seen)
        if step == "answer":
            part = TextPart(REPLY)
        elif step == "delegate":
            arguments = {"agent_name": SPECIALIST, "request": REQUEST}
            part = ToolCallPart(info.output_tools[0].name, arguments, script.call_id())
        else:
            part = ToolCallPart(LIST_TOOL, {"path": "."}, script.call_id())
        return ModelResponse([part])

    return FunctionModel(reply)


class PydanticAI:
    def __init__(self, root: Agent) -> None:
        self._root = root

    def new_session(self, name: str) -> list[ModelMessage]:
        return []

    async def turn(self, session: list[ModelMessage], text: str) -> str:
        result = await self._root.run(text, message_history=session)
        session[:] = result.all_messages()
        return result.output


@asynccontextmanager
async def start(stage: Stage) -> AsyncGenerator[PydanticAI]:
    script, model = stage.script, fake_model(stage.script, is_root=False)
    specialists = {
        agent.name: Agent(
            model,
            name=agent.name,
            instructions=agent.instruction,
            tools=[Tool(make_function(tool, script)) for tool in agent.tools],
        )
        for agent in stage.tree.specialists
    }
    root = stage.tree.root

    async def transfer_to_agent(ctx: RunContext, agent_name: str, request: str) -> str:
        """Give a task to a specialist."""
        result = await specialists[agent_name].run(request, usage=ctx.usage)
        return result.output

    yield PydanticAI(
        Agent(
            fake_model(script, is_root=True),
            name=root.name,
            instructions=root.instruction,
            output_type=[transfer_to_agent, str],
        )
    )


def count_characters(message: ModelMessage) -> int:
    return sum(
        sum(len(str(value)) for value in part.args.values())
        if isinstance(part, ToolCallPart)
        else len(str(part.content))
        for part in message.parts
    )
