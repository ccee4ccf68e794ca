"""The wire formats of the vendors' servers: the same replies and failures in each."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from sestet.core.errors import FailureKind
from tests.models.model_server import Answer, Ending, Event, refused, said


class Text(NamedTuple):
    pieces: Sequence[str]


class Thought(NamedTuple):
    pieces: Sequence[str]


class Call(NamedTuple):
    id: str
    name: str
    #: The pieces of the arguments' JSON.
    fragments: Sequence[str]

    @property
    def arguments(self) -> str:
        return "".join(self.fragments)


#: A gate holds the stream until the test opens it.
Part: TypeAlias = "Text | Thought | Call | asyncio.Event"
ProviderType: TypeAlias = Literal["openai", "anthropic", "google"]


class Counts(NamedTuple):
    """Tokens: all that were read, how many of them were cached, and how many were written."""

    read: int = 20
    cached: int = 0
    written: int = 5


COUNTS = Counts()


class Dialect(ABC):
    """One vendor's wire."""

    type: ProviderType
    #: The end of the address in the settings.
    suffix = ""
    path: str
    key_header: str
    key_prefix = ""
    good_end: Ending = "end"

    def reply(self, *parts: Part, counts: Counts = COUNTS, ending: Ending = "done") -> Answer:
        """A whole reply; with ``hang`` or ``drop``, only its parts and not its end."""
        events = list(self._events(parts, counts))
        if ending == "done":
            events += self._end(parts, counts)
        return said(
            *events, ending=ending if self.type in ("openai", "mistral") or ending != "done" else "end"
        )

    @abstractmethod
    def _events(self, parts: Sequence[Part], counts: Counts) -> Iterator[Event]: ...

    @abstractmethod
    def _end(self, parts: Sequence[Part], counts: Counts) -> Iterator[Event]: ...

    @abstractmethod
    def filtered(self) -> Answer:
        """A reply that the vendor's filter stopped."""

    @abstractmethod
    def failures(self) -> Mapping[FailureKind, Answer]:
        """How each kind of failure looks, with its own status and body."""


def _has_calls(parts: Sequence[Part]) -> bool:
    return any(isinstance(part, Call) for part in parts)


@dataclass(frozen=True)
class OpenAI(Dialect):
    type: ProviderType = "openai"
    suffix: str = "/v1"
    path: str = "/v1/chat/completions"
    key_header: str = "authorization"
    key_prefix: str = "Bearer "
    good_end: Ending = "done"

    def _events(self, parts: Sequence[Part], counts: Counts) -> Iterator[Event]:
        calls = 0
        for part in parts:
            match part:
                case Text(pieces):
                    yield from (self._chunk({"content": piece}) for piece in pieces)
                case Thought(pieces):
                    yield from (self._chunk(self._thought(piece)) for piece in pieces)
                case Call(id, name, fragments):
                    yield from (self._chunk(each) for each in self._call(calls, id, name, fragments))
                    calls += 1
                case gate:
                    yield gate

    def _thought(self, piece: str) -> dict[str, object]:
        return {"reasoning_content": piece}

    def _call(self, index: int, id: str, name: str, fragments: Sequence[str]) -> Iterator[dict[str, object]]:
        head = {"id": id, "type": "function", "function": {"name": name, "arguments": ""}}
        yield {"tool_calls": [{"index": index, **head}]}
        for fragment in fragments:
            yield {"tool_calls": [{"index": index, "function": {"arguments": fragment}}]}

    def _end(self, parts: Sequence[Part], counts: Counts) -> Iterator[Event]:
        yield self._chunk({}, "tool_calls" if _has_calls(parts) else "stop")
        yield {**self._chunk({}), "choices": [], "usage": self._usage(counts)}

    def _usage(self, counts: Counts) -> dict[str, object]:
        read, cached, written = counts
        return {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
            "prompt_tokens_details": {"cached_tokens": cached},
        }

    def _chunk(self, delta: Mapping[str, object], reason: str | None = None) -> dict[str, object]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        kind = "chat.completion.chunk"
        return {"id": "c1", "object": kind, "created": 1, "model": "m", "choices": [choice]}

    def filtered(self) -> Answer:
        return said(self._chunk({"content": "Hel"}), self._chunk({}, "content_filter"))

    def failures(self) -> Mapping[FailureKind, Answer]:
        def failed(status: int, code: str = "", **headers: str) -> Answer:
            return refused(status, {"error": {"message": "No.", "type": "x", "code": code}}, **headers)

        return {
            "auth": failed(401, "invalid_api_key"),
            "unknown_model": failed(404, "model_not_found"),
            "rate_limit": failed(429, "rate_limit_exceeded", retry_after="7"),
            "quota": failed(429, "insufficient_quota"),
            "context_too_long": failed(400, "context_length_exceeded"),
            "bad_request": failed(400),
            "transient": failed(503),
        }


@dataclass(frozen=True)
class Anthropic(Dialect):
    type: ProviderType = "anthropic"
    path: str = "/v1/messages"
    key_header: str = "authorization"
    key_prefix: str = "Bearer "

    def _events(self, parts: Sequence[Part], counts: Counts) -> Iterator[Event]:
        usage = {
            "input_tokens": counts.read - counts.cached,
            "cache_read_input_tokens": counts.cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": 1,
        }
        nothing: list[object] = []
        message = {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": nothing}
        yield self._event("message_start", message={**message, "usage": usage})
        blocks = 0
        for part in parts:
            match part:
                case Text(pieces):
                    deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
                    yield from self._block(blocks, {"type": "text", "text": ""}, deltas)
                case Thought(pieces):
                    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
                    deltas.append({"type": "signature_delta", "signature": "signed"})
                    start = {"type": "thinking", "thinking": "", "signature": ""}
                    yield from self._block(blocks, start, deltas)
                case Call(id, name, fragments):
                    deltas = [{"type": "input_json_delta", "partial_json": each} for each in ["", *fragments]]
                    start = {"type": "tool_use", "id": id, "name": name, "input": dict[str, object]()}
                    yield from self._block(blocks, start, deltas)
                case gate:
                    yield gate
                    continue
            blocks += 1

    def _block(
        self, index: int, start: Mapping[str, object], deltas: Sequence[Mapping[str, object]]
    ) -> Iterator[Event]:
        yield self._event("content_block_start", index=index, content_block=start)
        for delta in deltas:
            yield self._event("content_block_delta", index=index, delta=delta)
        yield self._event("content_block_stop", index=index)

    def _end(self, parts: Sequence[Part], counts: Counts) -> Iterator[Event]:
        yield self._stop("tool_use" if _has_calls(parts) else "end_turn", counts.written)
        yield self._event("message_stop")

    def _stop(self, reason: str, written: int) -> str:
        delta = {"stop_reason": reason, "stop_sequence": None}
        return self._event("message_delta", delta=delta, usage={"output_tokens": written})

    def _event(self, type: str, **fields: object) -> str:
        return f"event: {type}\ndata: {json.dumps({'type': type, **fields})}\n\n"

    def filtered(self) -> Answer:
        events = self._events([Text(["Hel"])], Counts())
        return said(*events, self._stop("refusal", 1), self._event("message_stop"), ending="end")

    def failures(self) -> Mapping[FailureKind, Answer]:
        def failed(status: int, type: str, message: str = "No.", **headers: str) -> Answer:
            return refused(status, {"type": "error", "error": {"type": type, "message": message}}, **headers)

        return {
            "auth": failed(401, "authentication_error"),
            "unknown_model": failed(404, "not_found_error"),
            "rate_limit": failed(429, "rate_limit_error", retry_after="7"),
            "quota": failed(400, "invalid_request_error", "Your credit balance is too low."),
            "context_too_long": failed(400, "invalid_request_error", "prompt is too long: 9 > 8"),
            "bad_request": failed(400, "invalid_request_error"),
            "transient": failed(529, "overloaded_error"),
        }


@dataclass(frozen=True)
class Google(Dialect):
    type: ProviderType = "google"
    path: str = "/v1/models/tiny:streamGenerateContent?alt=sse"
    key_header: str = "x-goog-api-key"

    def _events(self, parts: Sequence[Part], counts: Counts) -> Iterator[Event]:
        for part in parts:
            match part:
                case Text(pieces):
                    yield from (self._chunk({"text": piece}) for piece in pieces)
                case Thought(pieces):
                    yield from (self._chunk({"text": piece, "thought": True}) for piece in pieces)
                case Call(id, name, _):
                    # This vendor sends a call in one piece.
                    function = {"id": id, "name": name, "args": json.loads(part.arguments)}
                    yield self._chunk({"functionCall": function})
                case gate:
                    yield gate

    def _end(self, parts: Sequence[Part], counts: Counts) -> Iterator[Event]:
        usage = {
            "promptTokenCount": counts.read,
            "cachedContentTokenCount": counts.cached,
            "candidatesTokenCount": counts.written,
            "totalTokenCount": counts.read + counts.written,
        }
        yield {**self._chunk({"text": ""}, "STOP"), "usageMetadata": usage}

    def _chunk(self, part: Mapping[str, object], reason: str = "") -> dict[str, object]:
        candidate: dict[str, object] = {"content": {"role": "model", "parts": [part]}, "index": 0}
        if reason:
            candidate["finishReason"] = reason
        return {"candidates": [candidate], "modelVersion": "m", "responseId": "r1"}

    def filtered(self) -> Answer:
        return said(self._chunk({"text": "Hel"}), self._chunk({"text": ""}, "SAFETY"), ending="end")

    def failures(self) -> Mapping[FailureKind, Answer]:
        def failed(code: int, status: str, message: str = "No.", **detail: str) -> Answer:
            details = [{"@type": "type.googleapis.com/google.rpc.Info", **detail}] if detail else []
            error = {"code": code, "message": message, "status": status, "details": details}
            return refused(code, {"error": error})

        too_long = "The input token count (9) exceeds the maximum number of tokens allowed (8)."
        return {
            "auth": failed(400, "INVALID_ARGUMENT", reason="API_KEY_INVALID"),
            "unknown_model": failed(404, "NOT_FOUND"),
            "rate_limit": failed(429, "RESOURCE_EXHAUSTED", retryDelay="7s"),
            "context_too_long": failed(400, "INVALID_ARGUMENT", too_long),
            "bad_request": failed(400, "INVALID_ARGUMENT"),
            "transient": failed(503, "UNAVAILABLE"),
        }


DIALECTS: tuple[Dialect, ...] = (OpenAI(), Anthropic(), Google())
