"""Agent Framework: each specialist is a tool of the orchestrator, and its answer ends the turn."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from agent_framework import (
    AgentSession,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationContext,
    FunctionInvocationLayer,
    FunctionMiddleware,
    Message,
    MiddlewareTermination,
    RawAgent,
    ResponseStream,
    tool,
)

from bench.script import LIST_TOOL, REPLY, REQUEST, SPECIALIST, Script, Seen, Stage
from bench.tree import make_function


class FakeClient(FunctionInvocationLayer, BaseChatClient):
    """Follows the script."""

    def __init__(self, script: Script, is_root: bool, middleware: Sequence[FunctionMiddleware] = ()) -> None:
        super().__init__(middleware=middleware)
        self._script = script
        self._is_root = is_root

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **kwargs: Any
    ) -> Any:
        if not stream:
            return self._reply(messages, options)
        return ResponseStream(self._stream(messages, options), finalizer=ChatResponse.from_updates)

    async def _stream(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncGenerator[ChatResponseUpdate]:
        reply = await self._reply(messages, options)
        yield ChatResponseUpdate(role="assistant", contents=reply.messages[0].contents)

    async def _reply(self, messages: Sequence[Message], options: Mapping[str, Any]) -> ChatResponse:
        script, last = self._script, messages[-1].contents[-1]
        if script.counting:
            script.characters += len(options["instructions"]) + sum(map(count_characters, messages))
        seen: Seen = "listing" if last.type == "function_result" else "user"
        step = await script.next(self._is_root, seen)
        if step == "answer":
            content = Content.from_text(REPLY)
        elif step == "delegate":
            content = Content.from_function_call(script.call_id(), SPECIALIST, arguments={"task": REQUEST})
        else:
            content = Content.from_function_call(script.call_id(), LIST_TOOL, arguments={"path": "."})
        return ChatResponse(messages=[Message("assistant", [content])])


class PassThrough(FunctionMiddleware):
    """Makes the specialist's answer the turn's answer, without a closing model call."""

    async def process(
        self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]
    ) -> None:
        await call_next()
        raise MiddlewareTermination(result=context.result)


class AgentFramework:
    def __init__(self, root: RawAgent) -> None:
        self._root = root

    def new_session(self, name: str) -> AgentSession:
        return self._root.create_session(session_id=name)

    async def turn(self, session: AgentSession, text: str) -> str:
        response = await self._root.run(text, session=session)
        return response.messages[-1].contents[-1].result


@asynccontextmanager
async def start(stage: Stage) -> AsyncGenerator[AgentFramework]:
    script, client = stage.script, FakeClient(stage.script, is_root=False)
    specialists = [
        RawAgent(
            client,
            agent.instruction,
            name=agent.name,
            description=agent.description,
            tools=[tool(make_function(each, script)) for each in agent.tools],
        )
        for agent in stage.tree.specialists
    ]
    root = stage.tree.root
    yield AgentFramework(
        RawAgent(
            FakeClient(script, is_root=True, middleware=[PassThrough()]),
            root.instruction,
            name=root.name,
            tools=[specialist.as_tool() for specialist in specialists],
        )
    )


def count_characters(message: Message) -> int:
    return sum(
        len(content.text or "")
        + len(str(content.result or ""))
        + sum(len(str(value)) for value in (content.arguments or {}).values())
        for content in message.contents
    )
