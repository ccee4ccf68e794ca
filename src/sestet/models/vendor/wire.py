"""One open client to one vendor's model, and the translation between its messages and ours."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, NoReturn, assert_never, cast

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.messages import ModelRequest as VendorRequest
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from sestet.core.errors import ModelError
from sestet.core.message import AssistantMessage, MemoryMessage, Message, ToolCall, ToolMessage, UserMessage
from sestet.core.model import ModelItem, ModelReply, ModelRequest, TextDelta, Usage
from sestet.core.schema import JsonObject
from sestet.core.tool import Tool
from sestet.models.provider import Endpoint
from sestet.models.vendor.clients import letting_go, open_client
from sestet.models.vendor.errors import explain, withheld


class Wire:
    """An open client. It keeps its connections between calls until ``close``."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client = open_client(endpoint)
        settings = endpoint.settings
        self._settings = ModelSettings(
            first_event_timeout=settings.first_token_seconds, request_timeout=settings.call_seconds
        )
        self._settings.update(self._client.settings)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        answer = AnswerFilter()
        pieces: list[str] = []
        call = self._ask(request)
        try:
            async with letting_go(call) as events:
                arriving = aiter(events)
                # The library enforces the time until the first event.
                event = await anext(arriving, None)
                while event is not None:
                    if piece := answer.feed(_text_of(event)):
                        pieces.append(piece)
                        yield TextDelta(piece)
                    async with asyncio.timeout(self._endpoint.settings.idle_seconds):
                        event = await anext(arriving, None)
            if tail := answer.end():
                pieces.append(tail)
                yield TextDelta(tail)
            outcome = self._outcome("".join(pieces), events.get())
        except Exception as error:  # the edge of one model call: clients stumble over nonsense
            outcome = explain(self._endpoint, error)
        # Raised outside of the except block, so that no traceback leads to the vendor's error and its key.
        if isinstance(outcome, ModelError):
            raise outcome
        yield outcome

    def _ask(self, request: ModelRequest) -> AbstractAsyncContextManager[StreamedResponse]:
        messages, parameters = to_messages(request.messages), to_parameters(request)
        settings = self._settings.copy()
        if request.schema is not None:
            settings["extra_body"] = to_format(request.schema)
        return model_request_stream(
            self._client.model,
            messages,
            model_settings=settings,
            model_request_parameters=parameters,
            instrument=False,
        )

    def _outcome(self, text: str, response: ModelResponse) -> ModelReply | ModelError:
        if response.finish_reason == "content_filter":
            return withheld(self._endpoint, (response.provider_details or {}).get("refusal"))
        usage = to_usage(response)
        free = not usage.nano_dollars and price_of(response) == 0
        return ModelReply(text, to_calls(response.parts), usage, free=free)

    def has_price(self) -> bool:
        """Whether the price list knows the model; nothing is called."""
        model = self._client.model
        reply = ModelResponse(
            [],
            usage=RequestUsage(input_tokens=1000, output_tokens=1000),
            model_name=self._endpoint.model,
            provider_name=model.system,
            provider_url=model.base_url,
        )
        return price_of(reply) is not None

    async def close(self) -> None:
        await self._client.connections.aclose()


def to_parameters(request: ModelRequest) -> ModelRequestParameters:
    instruction = [InstructionPart(request.instruction)] if request.instruction else []
    return ModelRequestParameters(
        function_tools=[to_definition(tool) for tool in request.tools], instruction_parts=instruction
    )


def to_format(schema: JsonObject) -> dict[str, object]:
    """The JSON Schema of the reply, in OpenAI's protocol."""
    return {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": schema, "strict": True},
        }
    }


def to_definition(tool: Tool) -> ToolDefinition:
    # Strict mode would make every optional argument required. The tool call checks the arguments.
    schema = cast("dict[str, Any]", tool.parameters)  # Any: the library's own type of a schema
    return ToolDefinition(
        name=tool.name, description=tool.description, parameters_json_schema=schema, strict=False
    )


def to_messages(messages: Sequence[Message]) -> list[ModelMessage]:
    """Our messages in the library's form, where everything between two replies is one request."""
    turns: list[ModelMessage] = []
    memory = ""
    for message in messages:
        if isinstance(message, MemoryMessage):
            memory = message.text
            continue
        if memory and isinstance(message, UserMessage):
            # One message: many servers refuse two of the same role in a row.
            message, memory = UserMessage(f"{memory}\n\n{message.dated}"), ""
        if isinstance(message, AssistantMessage):
            turns.append(ModelResponse(_reply_parts(message)))
        elif turns and isinstance(last := turns[-1], VendorRequest):
            last.parts = [*last.parts, _request_part(message)]
        else:
            turns.append(VendorRequest([_request_part(message)]))
    return turns


def _request_part(message: UserMessage | ToolMessage) -> ModelRequestPart:
    match message:
        case UserMessage():
            return UserPromptPart(message.dated)
        case ToolMessage(call_id, name, text, failed):
            return ToolReturnPart(name, text, call_id, outcome="failed" if failed else "success")
        case _:
            assert_never(message)


def _reply_parts(message: AssistantMessage) -> list[ModelResponsePart]:
    text = [TextPart(message.text)] if message.text else []
    calls = [
        ToolCallPart(call.name, call.malformed or dict(call.arguments), call.id) for call in message.calls
    ]
    return [*text, *calls]


def _text_of(event: ModelResponseStreamEvent) -> str:
    match event:
        case PartStartEvent(part=TextPart(content=text)):
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def to_calls(parts: Iterable[ModelResponsePart]) -> tuple[ToolCall, ...]:
    return tuple(to_call(part) for part in parts if isinstance(part, ToolCallPart))


def to_call(part: ToolCallPart) -> ToolCall:
    """Parses the arguments here, since the library hides arguments that it cannot parse."""
    if isinstance(part.args, dict):
        return ToolCall(part.tool_name, part.args, part.tool_call_id)
    text = part.args or ""
    if not text.strip():
        return ToolCall(part.tool_name, id=part.tool_call_id)
    try:
        arguments: object = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        arguments = None
    if isinstance(arguments, dict):
        return ToolCall(part.tool_name, cast("JsonObject", arguments), part.tool_call_id)
    return ToolCall(part.tool_name, id=part.tool_call_id, malformed=text)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def to_usage(response: ModelResponse) -> Usage:
    used = response.usage
    return Usage(used.input_tokens, used.output_tokens, price_of(response) or 0, used.cache_read_tokens)


def price_of(response: ModelResponse) -> int | None:
    """In billionths of a dollar; None if the price list does not know it, or has no amount of money."""
    try:
        price = response.cost().total_price
    except (LookupError, ValueError, AssertionError):
        return None
    return round(price * 10**9) if price.is_finite() and price >= 0 else None


_OPEN, _CLOSE = "<think>", "</think>"


class AnswerFilter:
    """Removes the ``<think>…</think>`` that some models write before their answer.

    A tag may be split between two pieces, so text that could become a tag is held back. Only the head of a
    reply is filtered: further down, the answer may talk about the tag.
    """

    def __init__(self) -> None:
        self._state: Literal["head", "thinking", "answer"] = "head"
        self._held = ""
        #: Blanks before that, in pieces: a megabyte of them is not read again with each piece.
        self._blanks: list[str] = []
        self._thought = False

    def feed(self, text: str) -> str:
        """The text that is certainly answer after this piece; often the whole piece."""
        if self._state == "answer":
            return text
        if self._state == "head" and not self._held and not text.strip():
            self._blanks.append(text)
            return ""
        self._held += text
        if self._state == "thinking" and not self._leave_thinking():
            return ""
        while (head := self._held.lstrip()).startswith(_OPEN):
            self._state, self._thought, self._held = "thinking", True, head.removeprefix(_OPEN)
            if not self._leave_thinking():
                return ""
        if _OPEN.startswith(head):
            return ""
        self._state = "answer"
        return self._release()

    def end(self) -> str:
        """The answer text that was still held back, once the reply has ended."""
        return "" if self._state == "thinking" else self._release()

    def _leave_thinking(self) -> bool:
        thought, tag, rest = self._held.partition(_CLOSE)
        if not tag:
            # Keep enough to recognise a split tag; the thought itself may be long.
            self._held = thought[-len(_CLOSE) :]
            return False
        self._state, self._held, self._blanks = "head", rest, []
        return True

    def _release(self) -> str:
        # Drop the empty lines after a thought. Without a thought, they are part of the answer.
        released = self._held.lstrip() if self._thought else "".join((*self._blanks, self._held))
        self._held, self._blanks = "", []
        return released
