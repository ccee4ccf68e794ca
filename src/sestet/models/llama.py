"""llama.cpp in this process: one loaded model, one reply at a time."""

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, cast
from weakref import finalize

from sestet.config.settings import LocalSettings
from sestet.core.errors import ModelError
from sestet.core.schema import JsonObject, JsonValue
from sestet.models.beginnings import Beginnings

PACKAGE = "xllamacpp"
#: Tokens that are read before it looks again whether somebody still waits: about a second's work.
_BATCH = 64
#: What is kept in memory of contexts that were left, so that going back to one costs nothing.
_KEPT_MEGABYTES = 512
#: No line breaks between the parts of a reply: they cost time, and some models never end them.
_TIGHT: JsonObject = {
    "x-guidance": {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
}

OnChunk = Callable[[JsonObject], bool]


class Engine(Protocol):
    """What answers requests; called from threads, and blocks until the reply is whole or stopped."""

    def answer(self, request: JsonObject, on_chunk: OnChunk) -> None: ...

    def close(self) -> None: ...


class LlamaEngine:
    """A model file, loaded. ``on_chunk`` is called with each piece of a reply and returns True to stop it."""

    def __init__(self, file: Path, settings: LocalSettings) -> None:
        # Waiting threads must not spin: on a busy machine that makes a reply several times slower.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        import xllamacpp  # pyright: ignore[reportMissingTypeStubs] - it is compiled

        self._binding: Any = xllamacpp  # Any: it has no types
        # It insists on an address to listen at: a socket in a directory that nobody else can enter.
        directory = tempfile.mkdtemp(prefix="sestet-")
        self._clean = finalize(self, shutil.rmtree, directory, ignore_errors=True)
        address = Path(directory) / "local.sock"
        known = file.stat()
        identity = (self._binding.__version__, known.st_size, known.st_mtime_ns, settings.context_tokens)
        self._beginnings = Beginnings(address, str(identity))
        self._busy = Lock()
        try:
            # Any: it has no types. None: closed.
            self._server: Any = self._binding.Server(self._parameters(file, settings, address))
        except RuntimeError as error:
            self._clean()
            raise ModelError(f"the model file {file} cannot be loaded: {error}") from error

    def _parameters(self, file: Path, settings: LocalSettings, address: Path) -> object:
        parameters = self._binding.CommonParams()
        parameters.model.path = str(file)
        parameters.hostnames = [str(address)]
        parameters.slot_save_path = f"{self._beginnings.directory}/"
        parameters.n_ctx = settings.context_tokens
        parameters.n_parallel = 1
        parameters.n_batch = parameters.n_ubatch = _BATCH
        parameters.cache_ram_mib = _KEPT_MEGABYTES
        parameters.warmup = False
        parameters.verbosity = -1
        threads = settings.threads or _cores()
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
        return parameters

    def answer(self, request: JsonObject, on_chunk: OnChunk) -> None:
        schema = request.get("json_schema")
        if isinstance(schema, Mapping):
            grammar: JsonValue = self._binding.json_schema_to_grammar({**schema, **_TIGHT})
            request = {name: value for name, value in request.items() if name != "json_schema"}
            request["grammar"] = grammar
        first = cast("Sequence[JsonObject]", request["messages"])[0]
        with self._busy:
            if first["role"] == "system":
                self._beginnings.prepare(
                    str(first["content"]), lambda: self._read(first, on_chunk), self._set_aside
                )
            self._ask(request, on_chunk)

    def _set_aside(self) -> None:
        """Have the present context kept in memory: that happens when it is asked about something else."""
        self._ask({"messages": [{"role": "user", "content": "-"}], "max_tokens": 1, "stream": True}, _ignore)

    def _read(self, first: JsonObject, on_chunk: OnChunk) -> bool:
        """Let the model read the constant beginning alone; whether it came to its end."""
        stopped = False

        def watch(chunk: JsonObject) -> bool:
            nonlocal stopped
            # Of this, only the wish to stop is of interest: the answer is not the answer.
            stopped = stopped or "error" in chunk or on_chunk({})
            return stopped

        self._ask({"messages": [first], "max_tokens": 1, "stream": True, "return_progress": True}, watch)
        return not stopped

    def _ask(self, request: JsonObject, on_chunk: OnChunk) -> None:
        if self._server is None:
            raise ModelError("the local model has been closed")
        try:
            self._server.handle_chat_completions(request, on_chunk)
        except ValueError as error:
            raise ModelError(f"the local model refused the request: {error}", "bad_request") from error

    def close(self) -> None:
        with self._busy:
            self._server = None
        self._clean()


def _cores() -> int:
    """Those that this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _ignore(chunk: JsonObject) -> bool:
    return False
