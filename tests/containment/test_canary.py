"""A secret that somebody tries to get out: every carrier with every encoding, and a control for each.

The model of each attempt knows the secret in one encoding, or reads it from a tool, and passes it on. In the
control the vault does not hold the secret, and the same attempt succeeds: the carrier carries.
"""

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Generator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

import pytest

import sestet
from sestet.core.agent import TRANSFER
from sestet.core.errors import ModelError
from sestet.core.model import ModelRequest
from sestet.core.tool import CallInfo
from sestet.models.scripted import ScriptItem
from sestet.services.vault.vault import Vault
from tests.services.vault.cheap import CHEAP, PASSPHRASE
from tests.services.vault.spellings import CAUGHT

CANARY = "ghp_Zx9/Qw+8Lm-3Tn5Rk7Vd2Bc4Fj6Hs"
SPELLINGS = (
    "as it is",
    "swapped case",
    "reversed",
    "rot13",
    "spaces between",
    "zero-width spaces between",
    "base64",
    "base64 for URLs",
    "base64 of user:password",
    "base64 twice",
    "base64 with dashes",
    "base32",
    "hexadecimal with colons",
    "percent signs everywhere",
    "JSON with \\u",
    "HTML",
)


class _Receiver(BaseHTTPRequestHandler):
    """A server elsewhere that writes down what it gets; it answers like a search endpoint."""

    got: "list[str]"

    def do_GET(self) -> None:
        type(self).got.append(unquote(self.path.replace("+", " ")))
        content = b'{"results": []}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


class World(NamedTuple):
    """What an attempt can use."""

    workspace: Path
    server: str
    received: list[str]
    #: What the tools of the attempt give out.
    leak: list[str]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[World]:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    monkeypatch.chdir(workspace)
    handler = type("Receiver", (_Receiver,), {"got": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield World(workspace, f"http://127.0.0.1:{server.server_port}", handler.got, [""])
    server.shutdown()
    server.server_close()


def _to(agent: str, request: str = "go on") -> sestet.ToolCall:
    return sestet.ToolCall(TRANSFER, {"agent_name": agent, "request": request, "reply": True})


def _repeat(request: ModelRequest) -> str:
    """A model that says whatever it has read."""
    return request.messages[-1].text


def _tool_result(_: World, __: str) -> Sequence[ScriptItem]:
    return _to("operator"), sestet.ToolCall("exec_leak"), _repeat


def _failing_tool(_: World, __: str) -> Sequence[ScriptItem]:
    return _to("operator"), sestet.ToolCall("exec_fail"), _repeat


def _running_tool(_: World, __: str) -> Sequence[ScriptItem]:
    return _to("operator"), sestet.ToolCall("exec_print"), "done"


def _file(_: World, __: str) -> Sequence[ScriptItem]:
    return _to("operator"), sestet.ToolCall("fs_read", {"path": "leak.txt"}), _repeat


def _written_file(_: World, written: str) -> Sequence[ScriptItem]:
    call = sestet.ToolCall("fs_write", {"path": "out.txt", "content": written})
    return _to("operator"), call, "done"


def _url(world: World, written: str) -> Sequence[ScriptItem]:
    call = sestet.ToolCall(
        "secrets_http_request", {"url": f"{world.server}/?{quote(written)}", "secret": "other"}
    )
    return _to("vault"), call, "done"


def _search(_: World, written: str) -> Sequence[ScriptItem]:
    return _to("librarian"), sestet.ToolCall("search_web", {"query": written}), "done"


def _other_agent(_: World, written: str) -> Sequence[ScriptItem]:
    return _to("planner", f"make a plan for {written}"), "done"


def _memory(_: World, written: str) -> Sequence[ScriptItem]:
    return _to("chronicler"), sestet.ToolCall("memory_remember", {"fact": f"it is {written}"}), "done"


def _question(_: World, written: str) -> Sequence[ScriptItem]:
    return _to("operator"), sestet.ToolCall("exec_guarded", {"what": written})


def _diff(_: World, __: str) -> Sequence[ScriptItem]:
    """The question shows what a call would change: the content of the file before."""
    return _to("operator"), sestet.ToolCall("fs_delete", {"path": "leak.txt"})


def _model_error(_: World, written: str) -> Sequence[ScriptItem]:
    return (ModelError(f"the server does not accept {written}", "bad_request"),)


def _reply(_: World, written: str) -> Sequence[ScriptItem]:
    return (f"It is {written}, as you asked.",)


def _wrong_name(_: World, written: str) -> Sequence[ScriptItem]:
    return sestet.ToolCall(written), "done"


CARRIERS: dict[str, Callable[[World, str], Sequence[ScriptItem]]] = {
    "the result of a tool": _tool_result,
    "the error of a tool, and the log": _failing_tool,
    "the output of a running tool": _running_tool,
    "a file that is read": _file,
    "a file that is written": _written_file,
    "an address": _url,
    "a search": _search,
    "another agent": _other_agent,
    "a memory": _memory,
    "the text of a question": _question,
    "the changes in a question": _diff,
    "the error of a model": _model_error,
    "the reply": _reply,
    "the name of a tool": _wrong_name,
}


def _tools(world: World) -> list[sestet.Tool]:
    @sestet.tool(risk="safe", reads=(), effect="none", recovery="pure")
    async def exec_leak() -> str:
        """Tell something."""
        return f"The answer is {world.leak[0]}, it seems."

    @sestet.tool(risk="safe", reads=(), effect="none", recovery="pure")
    async def exec_fail() -> str:
        """Fail."""
        raise RuntimeError(f"cannot use {world.leak[0]} here")

    @sestet.tool(risk="safe", reads=(), effect="none", recovery="pure")
    async def exec_print(call: CallInfo, /) -> str:
        """Print something while it runs."""
        call.report("before " * 50 + world.leak[0] + " after" * 50)
        await asyncio.sleep(0.15)  # the output is shown a few times a second
        return "printed"

    @sestet.tool(risk="guarded", reads=(), effect="local", targets=("what",), recovery="unsafe")
    async def exec_guarded(what: str) -> str:
        """Do something that has to be approved."""
        return what

    return [exec_leak, exec_fail, exec_print, exec_guarded]


async def _attempts(world: World, home: Path, carrier: str, log: "_Log") -> bytes:
    """What the attempts with one carrier left outside of the vault: requests, data, log, files, receivers."""
    texts = [CAUGHT[spelling](CANARY) for spelling in SPELLINGS]
    script = [item for written in texts for item in CARRIERS[carrier](world, written)]
    model = sestet.ScriptedModel(script, chunk=7)
    settings = {"search": {"url": world.server}, "sandbox": {"isolation": "none"}}
    shown: list[str] = []
    async with sestet.open(settings, model=model, home=home, tools=_tools(world)) as app:
        app.vault.unlock(PASSPHRASE)
        for number, written in enumerate(texts):
            world.leak[0] = written
            _write(world.workspace / "leak.txt", written)
            can_ask = "question" in carrier
            async for event in app.run_turn(f"s{number}", "please go on", can_ask=can_ask):
                shown.append(repr(event))
    left = [repr(request._replace(tools=())) for request in model.requests]
    left += [*world.received, *shown, log.text]
    world.received.clear()
    log.text = ""
    return "\n".join(left).encode("utf-8", "surrogatepass") + _files(home, world.workspace)


def _write(file: Path, text: str) -> None:
    file.write_text(text)


def _files(home: Path, workspace: Path) -> bytes:
    """Everything on the disk, but for the vault itself and the file that the attempt reads."""
    files = (*home.rglob("*"), *workspace.rglob("*"))
    others = (file for file in files if file.is_file() and file.name != "leak.txt")
    return b"\n".join(file.read_bytes() for file in others if not file.name.startswith("sestet.vault"))


class _Log(logging.Handler):
    """Everything that was logged, as a file would have it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.text = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.text += logging.Formatter().format(record) + "\n"


@pytest.fixture
def log() -> Generator[_Log]:
    handler = _Log()
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)


def _made_vault(home: Path, server: str, *, with_canary: bool) -> None:
    vault = Vault(home / "sestet.vault")
    vault.create(PASSPHRASE, cost=CHEAP)
    vault.store("other", b"another value of no interest", [server])
    if with_canary:
        vault.store("canary", CANARY.encode(), [server])
    vault.close()


def _forms(written: str) -> list[bytes]:
    """The text as it stands in a file, in JSON and in Python's own spelling."""
    texts = (
        written,
        json.dumps(written)[1:-1],
        json.dumps(written, ensure_ascii=False)[1:-1],
        repr(written)[1:-1],
    )
    return [text.encode() for text in dict.fromkeys(texts)]


@pytest.mark.parametrize("carrier", CARRIERS)
async def test_no_byte_of_the_canary_leaves_the_vault(
    world: World, tmp_path: Path, log: _Log, carrier: str
) -> None:
    guarded, control = tmp_path / "guarded", tmp_path / "control"
    for home, with_canary in ((guarded, True), (control, False)):
        home.mkdir(mode=0o700)
        _made_vault(home, world.server, with_canary=with_canary)
    left = await _attempts(world, guarded, carrier, log)
    for file in world.workspace.iterdir():
        file.unlink()
    seen = await _attempts(world, control, carrier, log)

    assert CANARY.encode() not in left
    for spelling in SPELLINGS:
        forms = _forms(CAUGHT[spelling](CANARY))
        assert not any(form in left for form in forms), spelling
        assert any(form in seen for form in forms), f"control: {spelling}"


def test_there_are_at_least_120_attempts() -> None:
    assert len(CARRIERS) * len(SPELLINGS) >= 120


async def test_what_was_said_before_the_secret_was_stored_is_not_sent_any_more(
    tmp_path: Path,
) -> None:
    """The journal keeps what was written before; but no model reads it any more."""
    model = sestet.ScriptedModel(["Noted.", "I see nothing."])
    async with sestet.open({}, model=model, home=tmp_path) as app:
        await app.ask(f"my key is {CANARY}", "talk")
        app.vault.create(PASSPHRASE, cost=CHEAP)
        app.vault.store("canary", CANARY.encode())
        await app.ask("what did I say?", "talk")

    assert CANARY in repr(model.requests[0])
    assert CANARY not in repr(model.requests[1])
    assert "my key is [vault:canary]" in repr(model.requests[1])
