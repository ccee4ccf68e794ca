"""What OpenAI's clients send and are refused with: messages, the session that they continue, errors."""

import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from starlette.responses import Response

from sestet.core.event import TurnFinished, TurnPaused, TurnStarted
from sestet.core.model import Usage
from sestet.core.record import Record, as_builtins, to_json
from sestet.server.endpoint import Body, Call, error_response
from sestet.server.errors import ApiError, api_error
from sestet.server.followed_turn import FollowedTurn, accept
from sestet.services.sessions import read_turns
from sestet.storage.journal import Journal

#: The assistant as a model. With a slash and the name of a specialist behind it, that specialist answers.
MODEL = "sestet"
#: Sessions that were begun without a name have one that begins so; only these are continued by their texts.
_UNNAMED = "openai-"
#: The most recent sessions among which an unnamed one is looked for.
_LOOKED_AT = 50
_INSTRUCTIONS = ("system", "developer")
_ERROR_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_SERVER_ERROR, _UNAVAILABLE = 500, 503


class ClientBody(Body, forbid_unknown_fields=False):
    """The base of a body with further fields: clients send many that change nothing here."""


class Part(Record):
    """A part of a message. Only texts are read."""

    type: str
    text: str = ""


class Message(Record):
    """A message of the conversation, as both of OpenAI's forms have it."""

    role: str = ""
    content: str | list[Part] | None = None
    type: str = "message"


class Said(NamedTuple):
    """A message of the client's conversation as text."""

    role: str
    text: str


class RefusedError(ApiError):
    """Names the parameter of a request that is refused."""

    def __init__(
        self, message: str, param: str, name: str = "invalid_value", *, missing: bool = False
    ) -> None:
        super().__init__("not_found" if missing else "bad_request", message)
        self.param = param
        self.name = name


class OpenAIError(Record):
    """An error as OpenAI's clients read it; ``way_out`` is ours."""

    message: str
    type: str
    param: str | None
    code: str | None
    way_out: str = ""


def openai_error_response(error: Exception) -> Response:
    """The same answer as on every other path, in the form that OpenAI's clients read."""
    usual, told = error_response(error), api_error(error)
    refused = error if isinstance(error, RefusedError) else None
    kind = "server_error" if told.status >= _SERVER_ERROR else "invalid_request_error"
    facts = OpenAIError(
        told.facts.message,
        _ERROR_TYPES.get(told.status, kind),
        refused.param if refused else None,
        refused.name if refused else told.facts.code,
        told.facts.way_out,
    )
    kept = {
        name: value for name, value in usual.headers.items() if name in ("www-authenticate", "retry-after")
    }
    return refuse(facts, told.status, kept)


def refuse(facts: OpenAIError, status: int, headers: dict[str, str] | None = None) -> Response:
    # The official client sends a failed request again by itself, and that would be a second turn.
    again = "true" if status in (429, _UNAVAILABLE) else "false"
    body = to_json({"error": as_builtins(facts)})
    return Response(body, status, {"x-should-retry": again, **(headers or {})}, "application/json")


def models_of(call: Call[Any, Any]) -> dict[str, str]:
    """The models, each with its specialist; the assistant as a whole has none."""
    return {MODEL: ""} | {f"{MODEL}/{agent.name}": agent.name for agent in call.host.app.root.sub_agents}


def require_model(call: Call[Any, Any], name: str) -> str:
    """The specialist that a model stands for."""
    models = models_of(call)
    if name not in models:
        message = f"there is no model '{name[:80]}'; the models are: {', '.join(models)}"
        raise RefusedError(message, "model", "model_not_found", missing=True)
    return models[name]


def read_messages(messages: Iterable[Message], param: str) -> list[Said]:
    """The person's and the assistant's messages; the last one must be the person's.

    Instructions are left out, because Sestet has its own; so are the calls of other programs' tools.
    """
    said = [
        Said(message.role, _text(message, f"{param}[{index}]"))
        for index, message in enumerate(messages)
        if message.type == "message" and message.role in ("user", "assistant", *_INSTRUCTIONS)
    ]
    said = [each for each in said if each.role not in _INSTRUCTIONS]
    if not said or said[-1].role != "user":
        raise RefusedError("the last message must be one with the role 'user'", param)
    if not said[-1].text.strip():
        raise RefusedError("the last message is empty", param)
    return said


def _text(message: Message, param: str) -> str:
    if message.content is None or isinstance(message.content, str):
        return message.content or ""
    for part in message.content:
        if part.type not in ("text", "input_text", "output_text", "refusal"):
            raise RefusedError(f"only text can be read, and no '{part.type[:40]}'", f"{param}.content")
    return "\n".join(part.text for part in message.content)


def accept_message(call: Call[Any, Any], said: Sequence[Said], session_id: str, agent: str) -> FollowedTurn:
    """Accept the last message, in the session that the client names or continues."""
    session_id = call.header("x-sestet-session") or session_id
    key = call.header("idempotency-key")
    *earlier, last = said
    if session_id or not earlier:
        return accept(call, session_id or _new_session(), last.text, key, agent=agent)
    if found := _continued(call.host.app.journal, earlier):
        return accept(call, found, last.text, key, agent=agent)
    return accept(call, _new_session(), _with_quotes(earlier, last), key, mine=False, agent=agent)


def _new_session() -> str:
    return f"{_UNNAMED}{os.urandom(8).hex()}"


def _continued(journal: Journal, earlier: Sequence[Said]) -> str:
    """The unnamed session that had exactly this conversation until now; empty: there is none."""
    asked = [each.text.strip() for each in earlier if each.role == "user"]
    for row in journal.sessions(_LOOKED_AT):
        if row.id.startswith(_UNNAMED) and row.turns == len(asked):
            turns = [_Exchange.of(turn) for turn in read_turns(journal, row.id)]
            if [turn.asked for turn in turns] == asked and _answered(turns[-1], earlier[-1]):
                return row.id
    return ""


class _Exchange(NamedTuple):
    asked: str
    answer: str
    paused: bool

    @classmethod
    def of(cls, events: Iterable[object]) -> "_Exchange":
        asked, answer, paused = "", "", False
        for event in events:
            if isinstance(event, TurnStarted):
                asked = event.text.strip()
            elif isinstance(event, TurnFinished):
                answer = event.text.strip()
            elif isinstance(event, TurnPaused):
                paused = True
        return cls(asked, answer, paused)


def _answered(turn: _Exchange, last: Said) -> bool:
    # The client was told that a paused turn waits, and not its answer. A streamed answer may have more words
    # before the final ones.
    return last.role == "assistant" and (turn.paused or last.text.strip().endswith(turn.answer))


def _with_quotes(earlier: Sequence[Said], last: Said) -> str:
    quoted = "\n\n".join(f"{each.role}: {each.text}" for each in earlier)
    return f"The conversation until now, as a program has it:\n\n{quoted}\n\nThe new message:\n\n{last.text}"


def usage_facts(usage: Usage) -> dict[str, object]:
    """The usage of a turn in the form of chat completions."""
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }
