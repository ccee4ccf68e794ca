"""Compares what a model was really sent with what is rebuilt from the journal."""

import json
from collections.abc import Iterable

from sestet.core.event import ModelCalled
from sestet.core.message import AssistantMessage, Message, ToolMessage, UserMessage
from sestet.core.model import ModelRequest
from sestet.core.record import as_builtins
from sestet.runtime.seen_requests import SeenRequest, seen_request, stored_calls
from sestet.storage.journal import Journal
from sestet.storage.prompts import tools_json


def _read(message: Message) -> list[object]:
    """Everything of a message that a vendor is sent."""
    match message:
        case UserMessage():
            return ["user", message.dated]
        case AssistantMessage():
            return ["assistant", message.text, as_builtins(message.calls)]
        case ToolMessage():
            return ["tool", message.call_id, message.name, message.text, message.failed]
        case _:
            return ["memory", message.text]


def sent_bytes(request: ModelRequest) -> bytes:
    messages = [_read(message) for message in request.messages]
    return json.dumps([request.agent, request.instruction, tools_json(request.tools), messages]).encode()


def rebuilt_bytes(seen: SeenRequest) -> bytes:
    messages = [_read(message) for _, message in seen.messages]
    return json.dumps([seen.call.author, *seen.prompt, messages]).encode()


def all_calls(journal: Journal) -> list[ModelCalled]:
    turns = [row[0] for row in journal._database.execute("SELECT id FROM turns ORDER BY rowid")]  # pyright: ignore[reportPrivateUsage] - every turn of the file
    return [call for turn in turns for call in stored_calls(journal, turn)]


def require_rebuilt(journal: Journal, requests: Iterable[ModelRequest]) -> list[SeenRequest]:
    """Check every stored call: the bytes that are rebuilt are bytes that a model was sent."""
    sent = {sent_bytes(request) for request in requests}
    rebuilt = [seen_request(journal, call.stamp.turn_id, call.seq) for call in all_calls(journal)]
    for seen in rebuilt:
        found = rebuilt_bytes(seen)
        assert found in sent, f"no model was sent this:\n{found.decode()[-2000:]}"
    return rebuilt
