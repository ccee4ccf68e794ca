"""Keeps the vault's values out of what a model reads and writes."""

from sestet.core.message import (
    AssistantMessage,
    Found,
    MemoryMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from sestet.core.model import ModelReply, ModelRequest
from sestet.core.record import replace
from sestet.core.scanner import TextScanner, clean_object


def clean_request(scanner: TextScanner, request: ModelRequest) -> ModelRequest:
    """The request as the model may read it: what was said before a value came into the vault counts too."""
    if not scanner.watches:
        return request
    messages = tuple(_clean_message(scanner, message) for message in request.messages)
    return request._replace(instruction=scanner.clean(request.instruction), messages=messages)


def clean_reply(scanner: TextScanner, reply: ModelReply) -> ModelReply:
    """The reply before anything is done with it: no call is made with a value in its arguments."""
    if not scanner.watches:
        return reply
    calls = tuple(_clean_call(scanner, call) for call in reply.calls)
    return reply._replace(text=scanner.clean(reply.text), calls=calls)


def clean_found(scanner: TextScanner, found: tuple[Found, ...]) -> tuple[Found, ...]:
    return tuple(
        each._replace(name=scanner.clean(each.name), text=scanner.clean(each.text)) for each in found
    )


def _clean_message(scanner: TextScanner, message: Message) -> Message:
    text = scanner.clean(message.text)
    match message:
        case UserMessage() | MemoryMessage():
            return message._replace(text=text)
        case AssistantMessage(_, calls, found):
            calls = tuple(_clean_call(scanner, call) for call in calls)
            return AssistantMessage(text, calls, clean_found(scanner, found))
        case ToolMessage():
            return message._replace(text=text, found=clean_found(scanner, message.found))


def _clean_call(scanner: TextScanner, call: ToolCall) -> ToolCall:
    return replace(
        call,
        name=scanner.clean(call.name),
        arguments=clean_object(scanner, call.arguments),
        malformed=scanner.clean(call.malformed),
    )
