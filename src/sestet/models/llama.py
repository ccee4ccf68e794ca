"""llama.cpp in this process: one loaded model, one reply at a time."""

import http.client
import json
import logging
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, cast
from weakref import finalize

from sestet.config.settings import LocalSettings
from sestet.core.errors import ModelError
from sestet.core.schema import JsonObject, JsonValue
from sestet.models.files.catalogue import models_directory

#: Tokens of the prompt that are read between two checks for a cancelled call: about a second's work.
_BATCH = 64
#: Memory for contexts that are not in use, so that switching back to one costs nothing.
_KEPT_MEGABYTES = 512
#: No white space between JSON tokens: it costs time, and some models never stop writing it.
_TIGHT: JsonObject = {
    "x-guidance": {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
}

OnChunk = Callable[[JsonObject], bool]


class Engine(Protocol):
    """Answers requests. Called from threads; blocks until the reply is complete or stopped."""

    def answer(self, request: JsonObject, on_chunk: OnChunk) -> None: ...

    def close(self) -> None: ...


class LlamaEngine:
    """A loaded model file. ``on_chunk`` receives each piece of a reply and returns True to stop it."""

    def __init__(self, file: Path, settings: LocalSettings) -> None:
        # Spinning threads make a reply several times slower on a busy machine.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        import xllamacpp  # pyright: ignore[reportMissingTypeStubs] - it is compiled

        self._binding: Any = xllamacpp  # Any: it has no types
        # The library must listen at an address: a socket in a directory that only this user can enter.
        directory = tempfile.mkdtemp(prefix="sestet-")
        self._clean = finalize(self, shutil.rmtree, directory, ignore_errors=True)
        address = Path(directory) / "local.sock"
        known = file.stat()
        identity = (self._binding.__version__, known.st_size, known.st_mtime_ns, settings.context_tokens)
        self._cache = PromptCache(address, str(identity))
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
        parameters.slot_save_path = f"{self._cache.directory}/"
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
                self._cache.prepare(
                    str(first["content"]), lambda: self._read(first, on_chunk), self._set_aside
                )
            self._ask(request, on_chunk)

    def _set_aside(self) -> None:
        """Move the present context into memory, which the library does when another context is asked for."""
        self._ask({"messages": [{"role": "user", "content": "-"}], "max_tokens": 1, "stream": True}, _ignore)

    def _read(self, first: JsonObject, on_chunk: OnChunk) -> bool:
        """Let the model read the instruction alone; False when the call was stopped."""
        stopped = False

        def watch(chunk: JsonObject) -> bool:
            nonlocal stopped
            # Ignore the text: only the instruction is being read. Pass on whether to stop.
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
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _ignore(chunk: JsonObject) -> bool:
    return False


_log = logging.getLogger("sestet.models")

_SUFFIX = ".kv"
#: A state takes about 30 kB a token, so about 40 MB for each agent.
_MOST_FILES = 16
#: The model reads a shorter instruction faster than we load a file.
_SHORTEST = 400
_PATIENCE = 60.0


class PromptCache:
    """Keeps the model's state after it has read an instruction, so that it reads each one only once.

    Instructions are the same in every conversation. Nothing that a person said is kept.
    ``identity`` names the model file and its settings.
    """

    def __init__(self, address: Path, identity: str) -> None:
        self.directory = models_directory() / "beginnings"
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._address = address
        self._identity = identity
        self._known: set[str] = set()

    def prepare(self, text: str, read: Callable[[], bool], set_aside: Callable[[], None]) -> None:
        """Load the state for an instruction: from memory, from disk, or by letting the model read it."""
        name = sha256(f"{self._identity}\n{text}".encode()).hexdigest()[:32] + _SUFFIX
        if len(text) < _SHORTEST or name in self._known:
            return
        if (self.directory / name).is_file():
            if self._known:
                # Restoring overwrites the present context, which belongs to a conversation.
                set_aside()
            if self._slot("restore", name):
                (self.directory / name).touch()
                self._known.add(name)
                return
            (self.directory / name).unlink(missing_ok=True)
        if read():
            self._known.add(name)
            self._keep(name)

    def _keep(self, name: str) -> None:
        """Write the state to disk atomically, and delete the oldest files beyond the limit."""
        part = f"{name}.part"
        if self._slot("save", part):
            (self.directory / part).chmod(0o600)
            (self.directory / part).replace(self.directory / name)
        kept = sorted(self.directory.glob(f"*{_SUFFIX}"), key=lambda file: file.stat().st_mtime)
        for old in kept[:-_MOST_FILES]:
            old.unlink(missing_ok=True)

    def _slot(self, action: str, name: str) -> bool:
        """Save or restore the model's state; logs a warning and returns False on failure."""
        connection = _SocketConnection(self._address)
        try:
            body, kind = json.dumps({"filename": name}), {"Content-Type": "application/json"}
            connection.request("POST", f"/slots/0?action={action}", body, kind)
            response = connection.getresponse()
            answer = response.read(1_000)
        except (OSError, http.client.HTTPException) as error:
            _log.warning("the local model could not %s %s: %s", action, name, error)
            return False
        finally:
            connection.close()
        if response.status != http.client.OK:
            _log.warning("the local model could not %s %s: %r", action, name, answer)
        return response.status == http.client.OK


class _SocketConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, address: Path) -> None:
        super().__init__("localhost", timeout=_PATIENCE)
        self._address = address

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(_PATIENCE)
        self.sock.connect(str(self._address))
