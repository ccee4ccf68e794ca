"""A model in this process, from a file on this machine. A thread loads it on first use."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from threading import Event, Lock
from typing import cast

from sestet.config.installation import install_command
from sestet.config.settings import LocalSettings
from sestet.config.vendors import LOCAL
from sestet.core.errors import ModelError
from sestet.core.message import AssistantMessage, Message
from sestet.core.model import ModelItem, ModelReply, ModelRequest, TextDelta, Usage
from sestet.core.schema import JsonObject, JsonValue
from sestet.models.llama import Engine, LlamaEngine


class LocalModel:
    """A model file as a ``Model``. Creating it costs nothing, and it never blocks the event loop."""

    def __init__(
        self,
        model: str,
        file: Path,
        settings: LocalSettings,
        load: Callable[[Path, LocalSettings], Engine] = LlamaEngine,
    ) -> None:
        self._model = model
        self._file = file
        self._settings = settings
        self._load = load
        self._engine: Engine | None = None
        self._opening = Lock()
        self._working: set[asyncio.Future[None]] = set()

    @property
    def name(self) -> str:
        return f"{LOCAL}/{self._model}"

    def open(self) -> Engine:
        """Load the file, once for all agents."""
        with self._opening:
            if self._engine is None:
                if not self._file.is_file():
                    raise ModelError(f"{self._file} is not there any more: sestet models pull {self._model}")
                try:
                    self._engine = self._load(self._file, self._settings)
                except ImportError as error:
                    raise ModelError(f"'{self.name}' needs a package: {install_command('local')}") from error
            return self._engine

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        engine = await asyncio.to_thread(self.open)
        reply = _Reply(self.name)
        work = asyncio.ensure_future(asyncio.to_thread(engine.answer, self._body(request), reply.take))
        self._working.add(work)
        work.add_done_callback(self._working.discard)
        work.add_done_callback(reply.end)
        try:
            while (piece := await reply.pieces.get()) is not None:
                yield TextDelta(piece)
            await work
        finally:
            # A caller that stops reading stops the model at its next token.
            reply.stopped.set()
        yield reply.whole()

    def _body(self, request: ModelRequest) -> JsonObject:
        messages: list[JsonValue] = [_role(message) for message in request.messages]
        if request.instruction:
            messages.insert(0, {"role": "system", "content": request.instruction})
        body: dict[str, JsonValue] = {
            "messages": messages,
            "max_tokens": self._settings.reply_tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
            # Calls back while the prompt is read, so that reading can be stopped too.
            "return_progress": True,
            "cache_prompt": True,
        }
        if request.schema is not None:
            body["json_schema"] = request.schema
        return body

    async def close(self) -> None:
        if self._working:
            await asyncio.wait(self._working)
        engine, self._engine = self._engine, None
        if engine:
            await asyncio.to_thread(engine.close)


class _Reply:
    """Passes a reply from the working thread to the event loop."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop = asyncio.get_running_loop()
        self.pieces: asyncio.Queue[str | None] = asyncio.Queue()
        self.stopped = Event()
        self._text: list[str] = []
        self._usage = Usage()
        self._error: JsonObject | None = None

    def take(self, chunk: JsonObject) -> bool:
        """Called in the working thread with each piece; returns True to stop."""
        if self.stopped.is_set():
            return True
        if isinstance(error := chunk.get("error"), Mapping):
            self._error = error
        if isinstance(usage := chunk.get("usage"), Mapping):
            self._usage = to_usage(usage)
        if text := _delta(chunk):
            self._text.append(text)
            self._loop.call_soon_threadsafe(self.pieces.put_nowait, text)
        return False

    def end(self, work: "asyncio.Future[None]") -> None:
        self.pieces.put_nowait(None)

    def whole(self) -> ModelReply:
        if self._error is not None:
            raise self._failure(self._error)
        return ModelReply("".join(self._text), usage=self._usage, free=True)

    def _failure(self, error: JsonObject) -> ModelError:
        text = f"'{self._name}': {error.get('message', 'it failed')}"
        if error.get("type") == "exceed_context_size_error":
            return ModelError(f"{text} (local.contextTokens is its size)", "context_too_long")
        return ModelError(text, "bad_request" if error.get("code") == 400 else "other")


def _role(message: Message) -> JsonObject:
    role = "assistant" if isinstance(message, AssistantMessage) else "user"
    return {"role": role, "content": message.text}


def _delta(chunk: JsonObject) -> str:
    choices = cast("Sequence[JsonObject]", chunk.get("choices") or ())
    delta = cast("JsonObject | None", choices[0].get("delta")) if choices else None
    text = delta.get("content") if delta else None
    return text if isinstance(text, str) else ""


def to_usage(usage: JsonObject) -> Usage:
    details = cast("Mapping[str, int]", usage.get("prompt_tokens_details") or {})
    counts = cast("Mapping[str, int]", usage)
    return Usage(
        counts.get("prompt_tokens", 0),
        counts.get("completion_tokens", 0),
        cached_tokens=details.get("cached_tokens", 0),
    )
