"""Requests with a secret in them, to real servers on loopback."""

import json
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from sestet.core.errors import VaultError
from sestet.services.vault.vault import Vault
from tests.services.vault.cheap import CHEAP, PASSPHRASE
from tests.services.vault.spellings import CAUGHT

SECRET = "sk-live-Q7w8E9r0T1y2U3i4O5p6"


class _Echo(BaseHTTPRequestHandler):
    """Answers with everything that it got; /to/<url> redirects, /as/<spelling> encodes the secret."""

    requests: "list[tuple[str, str, dict[str, str], str]]"

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        got = {name.lower(): value for name, value in self.headers.items()}
        type(self).requests.append((self.command, self.path, got, body))
        if self.path.startswith("/to/"):
            self.send_response(307 if "keep" in self.path else 302)
            self.send_header("Location", self.path[4:])
            self.end_headers()
            return
        content = json.dumps({"headers": got, "body": body}).encode()
        if self.path.startswith("/as/"):
            content = list(CAUGHT.values())[int(self.path[4:])](SECRET).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Echo", got.get("authorization", ""))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_PUT = do_GET  # noqa: N815 - as http.server calls them

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server:
    def __init__(self) -> None:
        self._handler = type("Echo", (_Echo,), {"requests": []})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def requests(self) -> list[tuple[str, str, dict[str, str], str]]:
        return self._handler.requests

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server() -> Generator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def other() -> Generator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def vault(tmp_path: Path, server: Server) -> Generator[Vault]:
    vault = Vault(tmp_path / "sestet.vault")
    vault.create(PASSPHRASE, cost=CHEAP)
    vault.store("key", SECRET.encode(), [server.address])
    yield vault
    vault.close()


def test_the_server_gets_the_secret_and_the_answer_holds_none(vault: Vault, server: Server) -> None:
    answer = vault.web_request("key", "get", f"{server.address}/me", {}, "")

    assert server.requests[0][2]["authorization"] == f"Bearer {SECRET}"
    assert answer.status == 200
    assert json.loads(answer.body)["headers"]["authorization"] == "Bearer [vault:key]"
    assert answer.headers["x-echo"] == "Bearer [vault:key]"
    assert SECRET not in str(answer)


def test_the_secret_takes_the_place_of_its_slot(vault: Vault, server: Server) -> None:
    vault.web_request("key", "POST", server.address, {"X-Api-Key": "v1:{secret}"}, '{"a": 1}')

    command, path, headers, body = server.requests[0]
    assert (command, path, headers["x-api-key"], body) == ("POST", "/", f"v1:{SECRET}", '{"a": 1}')
    assert "authorization" not in headers


def test_a_body_gets_the_secret_only_if_the_person_allowed_it(vault: Vault, server: Server) -> None:
    with pytest.raises(VaultError, match="headers alone"):
        vault.web_request("key", "POST", server.address, {}, '{"token": "{secret}"}')
    assert server.requests == []

    vault.bind("key", in_body=True)
    vault.web_request("key", "POST", server.address, {}, '{"token": "{secret}"}')
    assert server.requests[0][3] == json.dumps({"token": SECRET})


class Shared(NamedTuple):
    vault: Vault
    server: Server


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Generator[Shared]:
    """One broker and one server for the many answers that differ only in their encoding."""
    server = Server()
    vault = Vault(tmp_path_factory.mktemp("shared") / "sestet.vault")
    vault.create(PASSPHRASE, cost=CHEAP)
    vault.store("key", SECRET.encode(), [server.address])
    yield Shared(vault, server)
    vault.close()
    server.close()


@pytest.mark.parametrize("number", range(len(CAUGHT)))
def test_a_server_that_encodes_the_secret_tells_nothing(shared: Shared, number: int) -> None:
    answer = shared.vault.web_request("key", "GET", f"{shared.server.address}/as/{number}", {}, "")

    assert list(CAUGHT.values())[number](SECRET) not in answer.body
    assert "[vault:key]" in answer.body


def test_another_host_port_or_scheme_gets_no_request(vault: Vault, server: Server, other: Server) -> None:
    for url in (
        other.address,
        server.address.replace("127.0.0.1", "localhost"),
        server.address.replace("http:", "https:"),
        f"{server.address}@evil.example/",
        f"http://evil.example\\@{server.address[7:]}/",
        "ftp://127.0.0.1/",
        "//evil.example",
    ):
        with pytest.raises(VaultError):
            vault.web_request("key", "GET", url, {}, "")
    assert server.requests == other.requests == []


def test_a_redirect_to_another_origin_is_told_and_not_followed(
    vault: Vault, server: Server, other: Server
) -> None:
    answer = vault.web_request("key", "GET", f"{server.address}/to/{other.address}/steal", {}, "")

    assert (answer.status, answer.headers["location"]) == (302, f"{other.address}/steal")
    assert other.requests == []


def test_a_redirect_on_the_same_origin_is_followed_with_the_secret(vault: Vault, server: Server) -> None:
    answer = vault.web_request("key", "POST", f"{server.address}/to//next", {}, "a body")

    assert [(command, path, body) for command, path, _, body in server.requests] == [
        ("POST", "/to//next", "a body"),
        ("GET", "/next", ""),
    ]
    assert answer.status == 200


def test_a_loop_of_redirects_ends(vault: Vault, server: Server) -> None:
    with pytest.raises(VaultError, match="more than 5 times"):
        vault.web_request("key", "GET", f"{server.address}/to/keep/../to/keep", {}, "")


@pytest.mark.parametrize(
    ("headers", "url", "told"),
    [
        ({"Host": "evil.example"}, "", "not yours to set"),
        ({"Content-Length": "3"}, "", "not yours to set"),
        ({"A\r\nHost": "x"}, "", "not the name of a header"),
        ({"A": "x\r\nHost: evil.example"}, "", "control character"),
        ({"Authorization": "Bearer mine"}, "", "put {secret} into"),
        ({}, "/?key={secret}", "never put into an address"),
        ({}, "/a b", "must be encoded"),
    ],
)
def test_a_request_that_would_carry_the_secret_elsewhere_is_not_made(
    vault: Vault, server: Server, headers: dict[str, str], url: str, told: str
) -> None:
    with pytest.raises(VaultError, match=told):
        vault.web_request("key", "GET", server.address + url, headers, "")
    assert server.requests == []


def test_an_unreachable_server_is_told_without_the_secret(vault: Vault, server: Server) -> None:
    server.close()

    with pytest.raises(VaultError, match="cannot be reached") as told:
        vault.web_request("key", "GET", server.address, {}, "")

    assert SECRET not in str(told.value)


def test_an_unknown_secret_and_a_key_cannot_be_sent(vault: Vault, server: Server) -> None:
    vault.generate_key("signing", "ed25519")
    for name, told in (("nothing", "holds nothing named 'nothing'"), ("signing", "not a secret")):
        with pytest.raises(VaultError, match=told):
            vault.web_request(name, "GET", server.address, {}, "")
