"""Web search against a real server on loopback: its requests and all failures."""

import json
import socket
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from urllib.parse import parse_qs, urlsplit

import pytest

import sestet
from sestet.agents.librarian.web import search_web
from sestet.core.errors import ConfigError, ToolError
from sestet.core.event import ApprovalRequested, ToolFinished
from sestet.core.label import Label
from sestet.runtime.gate import Allowed, Policy, judge
from sestet.services.web_search import EndpointSearch, WebResult

RESULTS = [
    {"title": "Quiet\nkeyboards", "url": "https://a.example/x", "content": "They  are quiet."},
    {"title": "", "url": "http://b.example", "content": None},
    {"title": "a script", "url": "javascript:alert(1)", "content": "x"},
    {"url": 7},
    "no result at all",
    {"title": "t" * 900, "url": "https://c.example", "content": "c" * 9_000},
]


class Server(ThreadingHTTPServer):
    """Answers every request with one status, some headers and a body."""

    daemon_threads = True

    def __init__(self, status: int = 200, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.body, self.headers = status, body, headers or {}
        self.asked: list[str] = []
        self.keys: list[str] = []
        #: If set, send a byte now and then, forever.
        self.drips = Event()
        self.done = Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Server  # pyright: ignore[reportIncompatibleVariableOverride] - it is this one

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.server.keys.append(self.headers.get("Authorization", ""))
        if self.server.drips.is_set():
            while not self.server.done.wait(0.05):
                self.wfile.write(b"H")
            return
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, format: str, *args: object) -> None:
        """Silence the log of the server."""


@contextmanager
def serving(
    status: int = 200, body: object = None, headers: dict[str, str] | None = None
) -> Generator[Server]:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    with Server(status, content, headers) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.done.set()
            server.shutdown()
            thread.join()


def test_a_key_goes_as_a_bearer_token_and_none_without_one() -> None:
    with serving(body={"results": []}) as server:
        EndpointSearch(server.url, key="k-123").search("tea", 8)
        EndpointSearch(server.url).search("tea", 8)

    assert server.keys == ["Bearer k-123", ""]


def test_it_asks_for_json_and_gives_what_has_an_address() -> None:
    with serving(body={"results": RESULTS}) as server:
        found = EndpointSearch(server.url).search("quiet keyboards & more", 8)

    asked = urlsplit(server.asked[0])
    assert (asked.path, parse_qs(asked.query)) == (
        "/search",
        {"q": ["quiet keyboards & more"], "format": ["json"]},
    )
    assert found[:2] == [
        WebResult("Quiet keyboards", "https://a.example/x", "They are quiet."),
        WebResult("http://b.example", "http://b.example", ""),
    ]
    assert (len(found), len(found[2].title), len(found[2].excerpt)) == (3, 200, 500)


@pytest.mark.parametrize(
    ("path", "asked"), [("", "/search"), ("/find/", "/find/search"), ("/search", "/search")]
)
def test_the_address_may_be_that_of_the_server_or_of_its_search(path: str, asked: str) -> None:
    with serving(body={"results": []}) as server:
        assert EndpointSearch(server.url + path).search("tea", 3) == []
    assert server.asked[0].startswith(f"{asked}?")


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (200, b"<html>", "did not answer with JSON"),
        (200, b"[" * 100_000, "did not answer with JSON"),
        (200, [1], "answered without 'results'"),
        (200, {"results": {}}, "answered without 'results'"),
        (200, b"\xff\xfe", "did not answer with JSON"),
        (200, b" " * 2_000_001, "larger than 2,000,000 bytes"),
        (403, b"", "status 403; if it is SearXNG, 'json' must stand under search.formats"),
        (429, b"", "status 429; it is being asked too often"),
        (500, b"", "status 500$"),
    ],
)
def test_a_wrong_answer_is_told_to_the_model(status: int, body: object, message: str) -> None:
    with serving(status, body) as server, pytest.raises(ToolError, match=message):
        EndpointSearch(server.url).search("tea", 3)


def test_a_redirect_is_not_followed() -> None:
    with (
        serving(body={"results": RESULTS}) as other,
        serving(302, b"", {"Location": f"{other.url}/search"}) as server,
        pytest.raises(ToolError, match="redirects elsewhere, which is not followed"),
    ):
        EndpointSearch(server.url).search("tea", 3)
    assert other.asked == []


def test_a_server_that_never_comes_to_an_end_is_left() -> None:
    with serving() as server:
        server.drips.set()
        with pytest.raises(ToolError, match=r"took longer than 0\.4 seconds"):
            EndpointSearch(server.url, seconds=0.4).search("tea", 3)


def test_a_server_that_says_nothing_is_left() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(ToolError, match=r"took longer than 0\.3 seconds"),
    ):
        EndpointSearch(f"http://127.0.0.1:{silent.getsockname()[1]}", seconds=0.3).search("tea", 3)


def test_nobody_there_and_no_such_host_are_said_plainly() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ToolError, match=r"cannot be reached: .*refused"):
        EndpointSearch(f"http://127.0.0.1:{port}").search("tea", 3)
    with serving() as server, pytest.raises(ToolError, match="cannot be reached"):
        EndpointSearch(server.url.replace("http", "https")).search("tea", 3)


@pytest.mark.parametrize(
    "url",
    [
        "searx",
        "ftp://x",
        "http://",
        "http://x:99999",
        "http://[",
        "file:///etc/passwd",
        "http://u:hidden@x",
        "http://x?key=hidden",
    ],
)
def test_an_address_that_cannot_be_one_is_a_mistake_in_the_settings(url: str) -> None:
    with pytest.raises(
        ConfigError, match=r"search\.url: .* must be the address of a search endpoint"
    ) as raised:
        EndpointSearch(url)
    assert "hidden" not in str(raised.value)


async def test_the_tool_exists_where_an_endpoint_is_set_and_its_answer_is_untrusted(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    home = tmp_path_factory.mktemp("home")
    with serving(body={"results": RESULTS[:1]}) as server:
        async with sestet.open({"search": {"url": server.url}}, home=home) as app:
            events = [event async for event in app.run_turn("s", "search the web for quiet keyboards")]
    (done,) = [event for event in events if isinstance(event, ToolFinished)]
    assert done.text == (
        "The web about 'quiet keyboards':\n- Quiet keyboards\n  https://a.example/x\n  They are quiet."
    )
    assert done.label == Label(untrusted=True, sources=("search_web of librarian",))
    async with sestet.open({}, home=home) as app:
        assert "search_web" not in [tool.name for tool in app.tools]


def test_what_was_read_does_not_leave_in_a_query_unasked() -> None:
    def decide(label: Label, query: str, words: str = "", policy: Policy = Policy()) -> str:  # noqa: B008 - immutable
        return judge(label, search_web, {"query": query}, words, policy).decision

    assert decide(Label(), "tea") == "allow"
    assert decide(Label(untrusted=True), "tea", "search the web for tea") == "allow"
    assert decide(Label(untrusted=True), "my password is x", "search the web for tea") == "ask"
    assert decide(Label(private=True), "tea", "search the web for tea") == "ask"
    allowed = Policy(allowed=(Allowed("search_web", "tea", private=True),))
    assert decide(Label(private=True), "tea", policy=allowed) == "allow"


async def test_a_private_query_is_asked_about_in_a_whole_turn(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    script: dict[str, list[sestet.ToolCall | str]] = {
        "orchestrator": [
            sestet.ToolCall("transfer_to_agent", {"agent_name": "librarian", "request": "look it up"})
        ],
        "librarian": [
            sestet.ToolCall("save_knowledge", {"content": "the code is 1234", "key": "Code"}),
            sestet.ToolCall("search_knowledge", {"query": "code"}),
            sestet.ToolCall("search_web", {"query": "what is 1234"}),
        ],
    }
    with serving(body={"results": []}) as server:
        settings = {"search": {"url": server.url}}
        model = sestet.ScriptedModel(script)
        async with sestet.open(settings, home=tmp_path_factory.mktemp("home"), model=model) as app:
            events = [event async for event in app.run_turn("s", "what is my code good for?")]
    (question,) = [event for event in events if isinstance(event, ApprovalRequested)]
    assert question.call.name == "search_web"
    assert question.reason == "private content would leave this machine"
    assert server.asked == []
