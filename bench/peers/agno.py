"""agno: a team in route mode, whose leader passes the member's answer on; sessions in memory.

The leader reads the last three turns, which is the default.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.base import Model
from agno.models.response import ModelResponse
from agno.team import Team
from agno.team.mode import TeamMode

from bench.script import LIST_TOOL, REPLY, REQUEST, SPECIALIST, Seen, Stage
from bench.tree import make_function


@dataclass
class FakeModel(Model):
    """Follows the script."""

    id: str = "fake"
    script: object = None
    is_root: bool = False

    async def ainvoke(self, messages, assistant_message, *args, **kwargs) -> ModelResponse:
        script, last = self.script, messages[-1]
        if script.counting:
            script.characters += sum(map(count_characters, messages))
        seen: Seen = "listing" if last.role == "tool" and not self.is_root else "user"
        step = await script.next(self.is_root, seen)
        if step == "answer":
            return ModelResponse(role="assistant", content=REPLY)
        if step == "delegate":
            arguments = {"member_id": SPECIALIST, "task": REQUEST}
            return _call(script, "delegate_task_to_member", arguments)
        return _call(script, LIST_TOOL, {"path": "."})

    def invoke(self, *args, **kwargs):
        raise NotImplementedError

    invoke_stream = ainvoke_stream = _parse_provider_response = _parse_provider_response_delta = invoke


def _call(script, name: str, arguments: dict) -> ModelResponse:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": script.call_id(), "type": "function", "function": function}
    return ModelResponse(role="assistant", tool_calls=[call])


class Agno:
    def __init__(self, team: Team) -> None:
        self._team = team

    def new_session(self, name: str) -> str:
        return name

    async def turn(self, session: str, text: str) -> str:
        return (await self._team.arun(text, session_id=session)).content


@asynccontextmanager
async def start(stage: Stage) -> AsyncGenerator[Agno]:
    script = stage.script
    model = FakeModel(script=script)
    members = [
        Agent(
            id=agent.name,
            name=agent.name,
            role=agent.description,
            system_message=agent.instruction,
            model=model,
            tools=[make_function(tool, script) for tool in agent.tools],
            telemetry=False,
        )
        for agent in stage.tree.specialists
    ]
    root = stage.tree.root
    yield Agno(
        Team(
            members,
            name=root.name,
            mode=TeamMode.route,
            model=FakeModel(script=script, is_root=True),
            system_message=root.instruction,
            db=InMemoryDb(),
            add_history_to_context=True,
            telemetry=False,
        )
    )


def count_characters(message) -> int:
    calls = message.tool_calls or ()
    return len(str(message.content or "")) + sum(len(call["function"]["arguments"]) for call in calls)
