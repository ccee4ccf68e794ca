"""OpenAI's Agents SDK: a hand-off to each specialist, the conversation carried as a list of input items."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from bench.script import LIST_TOOL, REPLY, SPECIALIST, Script, Seen, Stage
from bench.tree import make_function


class FakeModel(Model):
    """Follows the script."""

    def __init__(self, script: Script, is_root: bool) -> None:
        self._script = script
        self._is_root = is_root

    async def get_response(self, system_instructions, input, *args, **kwargs) -> ModelResponse:
        script, last = self._script, input[-1]
        if script.counting:
            script.characters += len(system_instructions) + sum(map(count_characters, input))
        is_result = last.get("type") == "function_call_output" and not self._is_handoff(last)
        seen: Seen = "listing" if is_result else "user"
        step = await script.next(self._is_root, seen)
        if step == "answer":
            text = ResponseOutputText(text=REPLY, type="output_text", annotations=[])
            item = ResponseOutputMessage(
                id=script.call_id(), role="assistant", type="message", status="completed", content=[text]
            )
        elif step == "delegate":
            item = _call(script, f"transfer_to_{SPECIALIST}", "{}")
        else:
            item = _call(script, LIST_TOOL, '{"path": "."}')
        return ModelResponse([item], Usage(requests=1), None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError

    def _is_handoff(self, item) -> bool:
        return item["output"] == json.dumps({"assistant": SPECIALIST})


def _call(script: Script, name: str, arguments: str) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        name=name, arguments=arguments, call_id=script.call_id(), type="function_call"
    )


class OpenAIAgents:
    def __init__(self, root: Agent) -> None:
        self._root = root
        self._config = RunConfig(tracing_disabled=True)

    def new_session(self, name: str) -> list:
        return []

    async def turn(self, session: list, text: str) -> str:
        session.append({"role": "user", "content": text})
        result = await Runner.run(self._root, session, run_config=self._config)
        session[:] = result.to_input_list()
        return result.final_output


@asynccontextmanager
async def start(stage: Stage) -> AsyncGenerator[OpenAIAgents]:
    script, model = stage.script, FakeModel(stage.script, is_root=False)
    specialists = [
        Agent(
            agent.name,
            instructions=agent.instruction,
            handoff_description=agent.description,
            model=model,
            tools=[function_tool(make_function(tool, script)) for tool in agent.tools],
        )
        for agent in stage.tree.specialists
    ]
    root = stage.tree.root
    yield OpenAIAgents(
        Agent(
            root.name,
            instructions=root.instruction,
            model=FakeModel(script, is_root=True),
            handoffs=specialists,
        )
    )


def count_characters(item) -> int:
    content = item.get("content") or ""
    if not isinstance(content, str):
        content = "".join(part["text"] for part in content)
    return len(content) + len(str(item.get("output") or "")) + len(item.get("arguments") or "")
