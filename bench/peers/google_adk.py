"""Google's ADK: sub-agents reached by its own ``transfer_to_agent``, sessions in memory."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

from bench.script import LIST_TOOL, REPLY, SPECIALIST, Seen, Stage
from bench.tree import make_function

APP, USER = "bench", "user"
USAGE = types.GenerateContentResponseUsageMetadata(prompt_token_count=1, candidates_token_count=1)


class FakeModel(BaseLlm):
    """Follows the script."""

    script: object
    is_root: bool

    async def generate_content_async(self, llm_request, stream=False):
        script, last = self.script, llm_request.contents[-1].parts[-1]
        if script.counting:
            script.characters += count_characters(llm_request)
        is_listing = last.function_response is not None and last.function_response.name == LIST_TOOL
        seen: Seen = "listing" if is_listing else "user"
        step = await script.next(self.is_root, seen)
        if step == "answer":
            part = types.Part(text=REPLY)
        elif step == "delegate":
            call = types.FunctionCall(
                name="transfer_to_agent", args={"agent_name": SPECIALIST}, id=script.call_id()
            )
            part = types.Part(function_call=call)
        else:
            call = types.FunctionCall(name=LIST_TOOL, args={"path": "."}, id=script.call_id())
            part = types.Part(function_call=call)
        # Without usage, ADK would spend CPU on a logged warning for each call.
        yield LlmResponse(content=types.Content(role="model", parts=[part]), usage_metadata=USAGE)


class GoogleADK:
    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._known: set[str] = set()

    def new_session(self, name: str) -> str:
        return name

    async def turn(self, session: str, text: str) -> str:
        if session not in self._known:
            self._known.add(session)
            await self._runner.session_service.create_session(app_name=APP, user_id=USER, session_id=session)
        message = types.Content(role="user", parts=[types.Part(text=text)])
        reply = ""
        async for event in self._runner.run_async(user_id=USER, session_id=session, new_message=message):
            if event.is_final_response() and event.content:
                reply = event.content.parts[-1].text
        return reply


@asynccontextmanager
async def start(stage: Stage) -> AsyncGenerator[GoogleADK]:
    script = stage.script
    model = FakeModel(model="fake", script=script, is_root=False)
    specialists = [
        LlmAgent(
            name=agent.name,
            description=agent.description,
            # A function, because ADK reads braces in a text as variables.
            instruction=lambda context, text=agent.instruction: text,
            model=model,
            tools=[make_function(tool, script) for tool in agent.tools],
            # Without both, the next turn would start at the specialist instead of the orchestrator.
            disallow_transfer_to_parent=True,
            disallow_transfer_to_peers=True,
        )
        for agent in stage.tree.specialists
    ]
    root = stage.tree.root
    agent = LlmAgent(
        name=root.name,
        instruction=lambda context: root.instruction,
        model=FakeModel(model="fake", script=script, is_root=True),
        sub_agents=specialists,
    )
    yield GoogleADK(Runner(app_name=APP, agent=agent, session_service=InMemorySessionService()))


def count_characters(request) -> int:
    texts = [request.config.system_instruction or ""]
    for part in (part for content in request.contents for part in content.parts):
        texts.append(part.text or "")
        if part.function_call:
            texts += map(str, part.function_call.args.values())
        if part.function_response:
            texts += map(str, part.function_response.response.values())
    return sum(map(len, texts))
