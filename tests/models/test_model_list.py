"""The list of a vendor's models, asked over real HTTP in each protocol."""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from sestet.config.settings import ProviderSettings
from sestet.config.vendors import ProviderType
from sestet.core.errors import ModelError, PersonError
from sestet.models.model_list import list_models
from sestet.models.provider import Endpoint
from sestet.setup.server_address import KeyWantedError, find_server
from tests.models.local_servers import Plain, Served, Vllm, running

KEY = "sk-secret"


class Asked:
    """What the server was asked last."""

    path: str = ""
    headers: Mapping[str, str] = {}


@contextmanager
def answering(status: int, body: bytes, **headers: str) -> Generator[tuple[str, Asked]]:
    """The address of a server that answers every request in one way, and the request that it got."""
    asked = Asked()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.path, asked.headers = self.path, dict(self.headers)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Silent: no test reads the log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def endpoint(base_url: str, kind: ProviderType = "openai", key: str = KEY) -> Endpoint:
    return Endpoint("o", "", ProviderSettings(type=kind, base_url=base_url, api_key=key))


OPENAI = {
    "data": [
        {"id": "old", "created": 1},
        {"id": "text-embedding-3-small", "created": 3},
        {"id": "gpt-image-1", "created": 4},
        {"id": "new", "created": 2},
        {"id": "mute", "supported_parameters": ["temperature"]},
    ]
}
GOOGLE = {
    "models": [
        {"name": "models/gemini-2.5-flash", "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/other", "supportedGenerationMethods": ["predict"]},
    ]
}


@pytest.mark.parametrize(
    ("kind", "answer", "names", "path", "header"),
    [
        ("openai", OPENAI, ["new", "old"], "/v1/models", ("Authorization", f"Bearer {KEY}")),
        ("anthropic", {"data": [{"id": "claude"}]}, ["claude"], "/v1/models?limit=1000", ("x-api-key", KEY)),
        ("google", GOOGLE, ["gemini-2.5-flash"], "/v1beta/models?pageSize=1000", ("x-goog-api-key", KEY)),
    ],
)
def test_each_protocol_lists_the_models_that_hold_conversations(
    kind: ProviderType, answer: object, names: list[str], path: str, header: tuple[str, str]
) -> None:
    with answering(200, json.dumps(answer).encode()) as (address, asked):
        assert list_models(endpoint(f"{address}/v1", kind)) == names
    assert asked.path == path
    assert header in asked.headers.items()


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (401, b'{"error": "sk-secret is wrong"}', "auth", "does not accept the key (status 401)"),
        (400, b'{"error": {"status": "API_KEY_INVALID"}}', "auth", "does not accept the key (status 400)"),
        (404, b"{}", "other", "answers, but not with a list of models (status 404)"),
        (200, b"<html>", "other", "answers, but not with a list of models"),
        (200, b'["gpt"]', "other", "answers, but not with a list of models"),
        (200, b"[" * 100_000, "other", "answers, but not with a list of models"),
    ],
)
def test_an_answer_that_is_no_list_is_explained_without_the_key(
    status: int, body: bytes, kind: str, words: str
) -> None:
    with answering(status, body) as (address, _), pytest.raises(ModelError) as caught:
        list_models(endpoint(f"{address}/v1"))
    assert (caught.value.kind, words in str(caught.value)) == (kind, True)
    assert KEY not in str(caught.value)


def test_a_key_does_not_follow_a_redirect() -> None:
    with (
        answering(200, b'{"data": []}') as (elsewhere, asked),
        answering(302, b"", Location=f"{elsewhere}/v1/models") as (address, _),
        pytest.raises(ModelError, match="not with a list of models"),
    ):
        list_models(endpoint(f"{address}/v1"))
    assert not asked.path


def test_a_server_that_cannot_be_reached_is_asked_after() -> None:
    with pytest.raises(ModelError, match=r"cannot be reached: is it running\?"):
        list_models(endpoint("http://127.0.0.1:1/v1"))


@pytest.mark.parametrize(
    "form", ["127.0.0.1:{}", "http://127.0.0.1:{}/", " localhost:{}/v1/chat/completions "]
)
def test_a_server_is_found_by_an_address_as_people_write_it(form: str) -> None:
    with running(Plain([Served("tiny")])) as server:
        found = find_server(form.format(server.port))
    assert (found.base_url.endswith(f":{server.port}/v1"), found.models[0].name) == (True, "tiny")


def test_a_protocol_may_begin_at_another_path_than_v1() -> None:
    class Odd(Plain):
        def get(self, path: str, query: object) -> Mapping[str, object] | None:
            return self.listed("me") if path == "/api/v4/models" else None

    with running(Odd([Served("tiny")])) as server:
        found = find_server(f"{server.root}/api/v4")
    assert found.base_url == f"{server.root}/api/v4"


def test_a_server_that_wants_a_key_says_so_and_is_found_with_it() -> None:
    with running(Vllm([Served("tiny")], key=KEY)) as server:
        with pytest.raises(KeyWantedError, match="wants a key") as caught:
            find_server(f"127.0.0.1:{server.port}")
        assert find_server(caught.value.address, KEY).models[0].name == "tiny"
        with pytest.raises(KeyWantedError, match="does not accept the key"):
            find_server(server.root, "sk-wrong")


def test_something_else_than_a_model_server_is_told_apart_from_nothing() -> None:
    with answering(200, b"<html>") as (address, _), pytest.raises(PersonError, match="something runs there"):
        find_server(address)
    with pytest.raises(PersonError, match="is it running"):
        find_server("127.0.0.1:1")
    with pytest.raises(PersonError, match="that is not an address"):
        find_server("my server")
