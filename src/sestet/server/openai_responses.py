"""OpenAI's responses: a turn as one response whose output is one message."""

import time
from typing import Any, Literal, TypeAlias

from starlette.responses import Response

from sestet.core.model import Usage
from sestet.core.record import as_builtins, from_json, to_json
from sestet.server.endpoint import Call, Endpoint, NoQuery
from sestet.server.followed_turn import FollowedTurn, TurnStream, cut_off_text, read_whole
from sestet.server.openai_answer import Answer, turn_facts
from sestet.server.openai_chat import ACTIVITY, TURN_FAILED, final_text, require_free_choice
from sestet.server.openai_request import (
    ClientBody,
    Message,
    OpenAIError,
    RefusedError,
    Said,
    accept_message,
    openai_error_response,
    read_messages,
    refuse,
    require_model,
)
from sestet.storage.journal import Journal
from sestet.storage.session_log import Placed

_PREFIX = "resp_"

Json: TypeAlias = dict[str, Any]  # Any: JSON
Status: TypeAlias = Literal["in_progress", "completed", "failed"]


class ResponseRequest(ClientBody):
    model: str
    input: str | list[Message]
    #: The response to go on from: its session goes on.
    previous_response_id: str | None = None
    stream: bool | None = False
    #: The session to talk in. The header X-Sestet-Session says the same, and wins.
    user: str | None = None
    background: bool | None = False
    tool_choice: Any = None  # a word, or the function that must be called


async def respond(call: Call[ResponseRequest, NoQuery]) -> Response:
    body = call.body
    agent = require_model(call, body.model)
    require_free_choice(body.tool_choice)
    if body.background:
        message = "a response cannot be fetched later: send the message to /api/sessions instead"
        raise RefusedError(message, "background")
    turn = accept_message(call, _said(body), _session(call), agent)
    journal = call.host.app.journal
    if body.stream:
        return TurnStream(call, turn, _Events(_Form(turn, body), journal))
    answer = Answer(journal)
    await read_whole(call, turn, lambda placed: answer.add(placed.event))
    if answer.error:
        return refuse(answer.error, TURN_FAILED)
    form = _Form(turn, body)
    return Response(to_json(form.whole(answer, final_text(answer))), media_type="application/json")


def _said(body: ResponseRequest) -> list[Said]:
    messages = [Message("user", body.input)] if isinstance(body.input, str) else body.input
    return read_messages(messages, "input")


def _session(call: Call[ResponseRequest, NoQuery]) -> str:
    previous = call.body.previous_response_id
    if not previous:
        return call.body.user or ""
    message = call.host.turns.message(previous.removeprefix(_PREFIX))
    if message is None or not previous.startswith(_PREFIX):
        said = f"there is no response '{previous[:80]}'"
        raise RefusedError(said, "previous_response_id", "previous_response_not_found", missing=True)
    return message.session_id


class _Form:
    """The parts of a response that stay the same while it grows."""

    def __init__(self, turn: FollowedTurn, body: ResponseRequest) -> None:
        self.turn = turn
        self.item_id = f"msg_{turn.turn_id}"
        self._previous = body.previous_response_id
        self._model = body.model
        self._created = int(time.time())

    def response(self, status: Status, **facts: object) -> Json:
        return {
            "id": f"{_PREFIX}{self.turn.turn_id}",
            "object": "response",
            "created_at": self._created,
            "status": status,
            "model": self._model,
            "output": [],
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "parallel_tool_calls": False,
            "previous_response_id": self._previous,
            "temperature": None,
            "top_p": None,
            "tool_choice": "none",
            "tools": [],
            "usage": None,
            "sestet": {"session": self.turn.session_id, "turn": self.turn.turn_id},
            **facts,
        }

    def item(self, status: Literal["in_progress", "completed"], text: str | None) -> Json:
        content = [] if text is None else [part(text)]
        message = {"id": self.item_id, "type": "message", "role": "assistant"}
        return {**message, "status": status, "content": content}

    def whole(self, answer: Answer, text: str) -> Json:
        facts = {"sestet": turn_facts(answer.end)} if answer.end else {}
        output, usage = [self.item("completed", text)], _usage(answer.usage)
        return self.response("completed", output=output, usage=usage, **facts)


def part(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


class _Events:
    """A turn as the typed events of a response."""

    def __init__(self, form: _Form, journal: Journal) -> None:
        self._form = form
        self._answer = Answer(journal)
        self._number = -1
        self._has_item = False

    def begin(self) -> bytes:
        started = self._form.response("in_progress")
        return self._event("response.created", response=started) + self._event(
            "response.in_progress", response=started
        )

    def write(self, placed: Placed) -> bytes:
        piece = self._answer.add(placed.event)
        written = self._text(piece) if piece else b""
        if isinstance(placed.event, ACTIVITY):
            # Clients pass over an event of a type that they do not know.
            written += self._event("sestet.event", event=from_json(placed.json))
        return written + self._end() if self._answer.end else written

    def cut_off(self) -> bytes:
        return self._failed(OpenAIError(cut_off_text(self._form.turn), "server_error", None, "unavailable"))

    def _text(self, piece: str) -> bytes:
        return self._opened() + self._of_part("response.output_text.delta", delta=piece, logprobs=[])

    def _opened(self) -> bytes:
        if self._has_item:
            return b""
        self._has_item = True
        item = self._form.item("in_progress", None)
        added = self._event("response.output_item.added", output_index=0, item=item)
        return added + self._of_part("response.content_part.added", part=part(""))

    def _end(self) -> bytes:
        answer = self._answer
        if answer.error:
            return self._failed(answer.error)
        item = self._form.item("completed", answer.text)
        return b"".join(
            (
                self._opened(),
                self._of_part("response.output_text.done", text=answer.text, logprobs=[]),
                self._of_part("response.content_part.done", part=part(answer.text)),
                self._event("response.output_item.done", output_index=0, item=item),
                self._event("response.completed", response=self._form.whole(answer, answer.text)),
            )
        )

    def _failed(self, error: OpenAIError) -> bytes:
        told = {"code": "server_error", "message": error.message}
        facts = as_builtins(error)
        return self._event(
            "response.failed", response=self._form.response("failed", error=told, sestet=facts)
        )

    def _of_part(self, kind: str, **facts: object) -> bytes:
        return self._event(kind, item_id=self._form.item_id, output_index=0, content_index=0, **facts)

    def _event(self, kind: str, **facts: object) -> bytes:
        self._number += 1
        data = to_json({"type": kind, "sequence_number": self._number, **facts})
        return b"event: %s\ndata: %s\n\n" % (kind.encode(), data)


ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/responses",
        respond,
        "Send a message as OpenAI's responses do.",
        ("chat",),
        body=ResponseRequest,
        answer=dict[str, Any],
        error=openai_error_response,
    ),
)
