"""OpenAI's models and chat completions: a turn as one message of the assistant."""

import time
from typing import Any

from starlette.responses import Response

from sestet.core.event import (
    ApprovalRequested,
    DelegationFinished,
    DelegationStarted,
    ModelRetried,
    ToolCalled,
    ToolFinished,
)
from sestet.core.record import Record, as_builtins, from_json, to_json
from sestet.server.endpoint import Call, Endpoint, NoQuery
from sestet.server.followed_turn import FollowedTurn, TurnStream, cut_off_text, read_whole
from sestet.server.openai_answer import Answer, turn_facts
from sestet.server.openai_request import (
    MODEL,
    ClientBody,
    Message,
    OpenAIError,
    RefusedError,
    accept_message,
    models_of,
    openai_error_response,
    read_messages,
    refuse,
    require_model,
    usage_facts,
)
from sestet.storage.journal import Journal
from sestet.storage.session_log import Placed

#: The events that a chunk carries in its field `sestet`, as the API of conversations writes them.
ACTIVITY = (DelegationStarted, DelegationFinished, ToolCalled, ToolFinished, ApprovalRequested, ModelRetried)
#: A turn that ended without an answer: the assistant behind this server failed.
TURN_FAILED = 502


class StreamOptions(Record):
    include_usage: bool = False


class ResponseFormat(Record):
    type: str = "text"


class ChatRequest(ClientBody):
    model: str
    messages: list[Message]
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    #: The session to talk in. The header X-Sestet-Session says the same, and wins.
    user: str | None = None
    n: int | None = None
    #: The client's own tools are left alone: Sestet has its own.
    tool_choice: Any = None  # a word, or the function that must be called
    response_format: ResponseFormat | None = None


class ModelFacts(Record):
    id: str
    object: str = "model"
    created: int = 0
    owned_by: str = "sestet"


class ModelList(Record):
    data: list[ModelFacts]
    object: str = "list"


async def list_models(call: Call[None, NoQuery]) -> ModelList:
    return ModelList([ModelFacts(name) for name in models_of(call)])


async def get_model(call: Call[None, NoQuery]) -> ModelFacts:
    require_model(call, call.path("model"))
    return ModelFacts(call.path("model"))


async def get_specialist(call: Call[None, NoQuery]) -> ModelFacts:
    name = f"{MODEL}/{call.path('agent')}"
    require_model(call, name)
    return ModelFacts(name)


async def complete(call: Call[ChatRequest, NoQuery]) -> Response:
    body = call.body
    agent = require_model(call, body.model)
    if body.n not in (None, 1):
        raise RefusedError("one answer is given: n must be 1", "n")
    require_free_choice(body.tool_choice)
    if body.response_format and body.response_format.type != "text":
        raise RefusedError("answers are free text: response_format must be 'text'", "response_format")
    turn = accept_message(call, read_messages(body.messages, "messages"), body.user or "", agent)
    journal = call.host.app.journal
    if body.stream:
        wants_usage = bool(body.stream_options and body.stream_options.include_usage)
        return TurnStream(call, turn, _Chunks(turn, journal, body.model, wants_usage))
    answer = Answer(journal)
    await read_whole(call, turn, lambda placed: answer.add(placed.event))
    if answer.error:
        return refuse(answer.error, TURN_FAILED)
    return Response(to_json(_completion(turn, body.model, answer)), media_type="application/json")


def require_free_choice(tool_choice: object) -> None:
    """Refuse a client that insists on a call of its own tools; without a call, every answer is allowed."""
    if tool_choice not in (None, "auto", "none"):
        message = "tools of clients cannot be called: tool_choice must be 'auto' or 'none'"
        raise RefusedError(message, "tool_choice")


def final_text(answer: Answer) -> str:
    """The answer of a client that waited: the final text alone."""
    return getattr(answer.end, "text", answer.text)


def _completion(turn: FollowedTurn, model: str, answer: Answer) -> dict[str, object]:
    message = {"role": "assistant", "content": final_text(answer), "refusal": None}
    return {
        "id": f"chatcmpl-{turn.turn_id}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": usage_facts(answer.usage),
        "sestet": turn_facts(answer.end) if answer.end else None,
    }


class _Chunks:
    """A turn as chunks of a chat completion."""

    def __init__(self, turn: FollowedTurn, journal: Journal, model: str, wants_usage: bool) -> None:
        self._turn = turn
        self._model = model
        self._answer = Answer(journal)
        self._wants_usage = wants_usage
        self._created = int(time.time())

    def begin(self) -> bytes:
        place: dict[str, object] = {"session": self._turn.session_id, "turn": self._turn.turn_id}
        return self._chunk({"role": "assistant", "content": ""}, sestet=place)

    def write(self, placed: Placed) -> bytes:
        event = placed.event
        piece = self._answer.add(event)
        written = self._chunk({"content": piece}) if piece else b""
        if isinstance(event, ACTIVITY):
            written += self._chunk({}, sestet={"event": from_json(placed.json)})
        return written + self._end() if self._answer.end else written

    def cut_off(self) -> bytes:
        return _error(OpenAIError(cut_off_text(self._turn), "server_error", None, "unavailable"))

    def _end(self) -> bytes:
        answer = self._answer
        assert answer.end is not None  # asked before
        if answer.error:
            return _error(answer.error)
        written = self._chunk({}, "stop", sestet=turn_facts(answer.end))
        if self._wants_usage:
            written += self._data(choices=[], usage=usage_facts(answer.usage))
        return written + b"data: [DONE]\n\n"

    def _chunk(
        self, delta: dict[str, str], finish: str | None = None, sestet: dict[str, object] | None = None
    ) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return self._data(choices=[choice], **({"sestet": sestet} if sestet else {}))

    def _data(self, **facts: object) -> bytes:
        head: dict[str, object] = {
            "id": f"chatcmpl-{self._turn.turn_id}",
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": self._model,
        }
        if self._wants_usage:
            # Every chunk has the field then, and the last one its value.
            head["usage"] = None
        return b"data: %s\n\n" % to_json(head | facts)


def _error(facts: OpenAIError) -> bytes:
    return b"data: %s\n\n" % to_json({"error": as_builtins(facts)})


ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/models",
        list_models,
        "The assistant and its specialists as models, for OpenAI's clients.",
        ("chat", "read"),
        answer=ModelList,
        error=openai_error_response,
    ),
    Endpoint(
        "GET",
        "/v1/models/{model}",
        get_model,
        "One model, for OpenAI's clients.",
        ("chat", "read"),
        answer=ModelFacts,
        error=openai_error_response,
    ),
    Endpoint(
        "GET",
        "/v1/models/sestet/{agent}",
        get_specialist,
        "A specialist as a model, for OpenAI's clients.",
        ("chat", "read"),
        answer=ModelFacts,
        error=openai_error_response,
    ),
    Endpoint(
        "POST",
        "/v1/chat/completions",
        complete,
        "Send a message as OpenAI's chat completions do.",
        ("chat",),
        body=ChatRequest,
        answer=dict[str, Any],
        error=openai_error_response,
    ),
)
