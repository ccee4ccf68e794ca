"""Clients that are slow, huge, odd or hostile: they are refused in the proper form, and others are served."""

import asyncio
import logging
import socket
import struct
import sys
import tracemalloc
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

import sestet
from sestet.server.connection import ConnectionLimits
from sestet.server.entry import Entry
from sestet.server.limits import RequestLimits
from sestet.server.serve import Address, listening, listening_socket
from tests.server.certificates import certificate, needs_openssl
from tests.server.served import SETTINGS, Served, serving
from tests.server.test_conversations import read_turn, send
from tests.server.wire import PATIENCE, Wire, ask, deaf_wire, head, wire

MESSAGES = "/api/sessions/s1/messages"
QUICK = 0.5
JSON = {"Content-Type": "application/json"}


def limited(**seconds: float) -> RequestLimits:
    return RequestLimits(connection=ConnectionLimits(**seconds))  # pyright: ignore[reportArgumentType] - seconds


def request(served: Served, line: str, **headers: str) -> bytes:
    """The head of a request with the owner's token."""
    host = urlsplit(served.url).netloc
    return head(f"{line} HTTP/1.1", host=host, authorization=f"Bearer {served.token}", **headers)


async def drip(line: Wire) -> None:
    """Send a byte now and then until the server closes the connection."""
    answered = asyncio.create_task(line.until_closed())
    async with asyncio.timeout(PATIENCE):
        while not answered.done():
            line.writer.write(b"a")
            # The pace of the attacker, well below the deadline.
            await asyncio.wait((answered,), timeout=QUICK / 20)


def open_requests() -> list[asyncio.Task[object]]:
    """The requests that the server of this process is answering."""
    return [each for each in asyncio.all_tasks() if "run_asgi" in repr(each.get_coro())]


async def test_a_connection_that_sends_nothing_is_closed(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=limited(head=QUICK)) as served, wire(served.url) as line:
        assert await line.until_closed() == b""


async def test_a_head_that_does_not_end_is_closed(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=limited(head=QUICK)) as served, wire(served.url) as line:
        await line.send(b"GET / HTTP/1.1\r\nHost: ")
        answer = await line.answer()
        assert (answer.status, answer.code) == (408, "too_slow")
        assert answer.headers["connection"] == "close"
        await line.until_closed()


async def test_a_head_that_comes_byte_by_byte_is_closed(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=limited(head=QUICK)) as served, wire(served.url) as line:
        await line.send(b"GET / HTTP/1.1\r\nHost: ")
        await drip(line)


async def test_a_second_request_that_does_not_end_is_closed_too(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=limited(head=QUICK)) as served, wire(served.url) as line:
        whole = request(served, "GET /health")
        await line.send(whole + whole[:20])
        assert (await line.answer()).status == 200
        await drip(line)


async def test_a_body_that_does_not_end_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=limited(body=QUICK)) as served, wire(served.url) as line:
        await line.send(request(served, f"POST {MESSAGES}", content_length="9000", **JSON) + b"{")
        answer = await line.answer()
        assert (answer.status, answer.code) == (408, "too_slow")
        await line.until_closed()


async def test_a_body_that_comes_byte_by_byte_is_closed(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=limited(body=QUICK)) as served, wire(served.url) as line:
        await line.send(request(served, f"POST {MESSAGES}", content_length="9000", **JSON))
        await drip(line)


async def test_a_client_that_leaves_within_its_body_is_no_bug(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(tmp_path) as served:
        async with wire(served.url) as line:
            await line.send(
                request(served, f"POST {MESSAGES}", content_length="9000", expect="100-continue", **JSON)
            )
            # The server asks for the body, so it waits for it when the client goes.
            assert b"100" in await line.reader.readline()
        if waiting := open_requests():
            await asyncio.wait(waiting, timeout=PATIENCE)
    assert errors_in(caplog) == []


def errors_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.levelno >= logging.ERROR]


async def test_many_slow_connections_do_not_keep_others_out(tmp_path: Path) -> None:
    limits = limited(head=3600, waiting=20, settle=0)
    async with serving(tmp_path, limits=limits) as served, AsyncExitStack() as stack:
        slow = [await stack.enter_async_context(wire(served.url)) for _ in range(60)]
        for line in slow:
            line.writer.write(b"GET / HTTP/1.1\r\n")
        async with served.client() as client:
            assert (await client.get("/api/sessions")).status_code == 200
        # The ones that waited longest had to go.
        await asyncio.gather(*(line.until_closed() for line in slow[:40]))


async def test_a_client_that_does_not_read_is_let_go(tmp_path: Path) -> None:
    limits = RequestLimits(streams=1, connection=ConnectionLimits(unread=QUICK))
    url = "/api/sessions/s1/events"
    async with serving(tmp_path, "x" * 3_900_000, limits=limits) as served, served.client() as client:
        await read_turn(served, (await send(served, "s1", "hi"))["turn"])
        with deaf_wire(served.url, request(served, f"GET {url}")):
            status = 0
            async with asyncio.timeout(PATIENCE):
                # It has the only stream of the token until the server closes it.
                while status != 200:
                    async with client.stream("GET", url) as response:
                        status = response.status_code


@needs_openssl
async def test_a_tls_handshake_that_does_not_begin_is_closed(tmp_path: Path) -> None:
    certificate_file, key = certificate(tmp_path)
    address = Address(port=0, certificate=Path(certificate_file), key=Path(key))
    async with (
        sestet.open(SETTINGS, model=sestet.ScriptedModel([]), home=tmp_path / "data") as app,
        listening(app, address, limits=limited(handshake=QUICK)) as server,
        wire(server.url) as line,
    ):
        assert await line.until_closed() == b""


async def test_a_body_that_is_declared_too_large_is_refused_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, wire(served.url) as line:
        await line.send(request(served, f"POST {MESSAGES}", content_length="100000000", **JSON))
        # Not one byte of the body was sent.
        answer = await line.answer()
    assert (answer.status, answer.code) == (413, "too_large")


async def test_a_huge_body_is_refused_and_not_kept(tmp_path: Path) -> None:
    megabyte = b"x" * 1_000_000

    async def body() -> AsyncGenerator[bytes]:
        for _ in range(100):
            yield megabyte

    async with serving(tmp_path) as served, served.client() as client:
        await client.get("/health")
        tracemalloc.start()
        try:
            declared = JSON | {"Content-Length": "100000000"}
            for headers in (declared, JSON):
                answer = await client.post(MESSAGES, content=body(), headers=headers)
                assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert (await client.get("/api/sessions")).json() == {"sessions": []}
    assert peak < 20_000_000


async def test_a_refused_body_that_never_ends_is_cut_off(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=limited(rest=QUICK)) as served, wire(served.url) as line:
        await line.send(request(served, f"POST {MESSAGES}", content_length="100000000", **JSON))
        assert (await line.answer()).status == 413
        await drip(line)


async def test_deep_json_is_refused(tmp_path: Path) -> None:
    deep = 10_000
    async with serving(tmp_path) as served, served.client() as client:
        for content in (
            b"[" * deep + b"]" * deep,
            b'{"a":' * deep + b"1" + b"}" * deep,
            b'{"text": ' + b"[" * deep + b"]" * deep + b"}",
            b'{"text": "hi", "more": ' + b"[" * deep + b"]" * deep + b"}",
        ):
            answer = await client.post(MESSAGES, content=content, headers=JSON)
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")
        assert (await client.get("/api/sessions")).json() == {"sessions": []}


async def test_odd_methods_and_addresses_are_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        for line, status in (
            ("TRACE /api/sessions", 405),
            ("CONNECT evil.example:443", 405),
            ("BREW /api/sessions", 405),
            ("OPTIONS /api/sessions", 405),
            ("OPTIONS *", 400),
            ("GET http://evil.example/api/sessions", 400),
            (f"GET {served.url}/api/sessions", 400),
            ("GET api/sessions", 400),
            ("GET //evil.example/api/sessions", 404),
            ("GET /../api/sessions", 404),
            ("GET /api%2fsessions%00", 404),
        ):
            answer = await ask(served.url, request(served, line))
            assert answer.status == status, line
            assert answer.code
            assert served.token.encode() not in answer.body


async def test_a_websocket_is_refused(tmp_path: Path) -> None:
    upgrade = {"connection": "Upgrade", "sec_websocket_version": "13", "sec_websocket_key": "x" * 22 + "=="}
    async with serving(tmp_path) as served:
        for path in ("/", "/api/sessions"):
            answer = await ask(served.url, request(served, f"GET {path}", upgrade="websocket", **upgrade))
            assert (answer.status, answer.code) == (400, "bad_request")
        # Java's client offers HTTP/2 this way, and goes on without it.
        other = await ask(
            served.url, request(served, "GET /api/sessions", upgrade="h2c", connection="Upgrade")
        )
        assert other.status == 200


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\x00" * 500,
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET / nothing\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
    ],
    ids=["tls", "zeros", "line", "version", "negative", "two-lengths", "encoding", "long"],
)
async def test_garbage_is_refused_in_the_form_of_every_error(tmp_path: Path, garbage: bytes) -> None:
    async with serving(tmp_path) as served:
        first = await ask(served.url, garbage + b"\r\n\r\n")
        async with wire(served.url) as line:
            # Behind a request that is fine.
            await line.send(request(served, "GET /health") + garbage + b"\r\n\r\n")
            fine, second = await line.answer(), await line.answer()
    assert fine.status == 200
    for answer in (first, second):
        assert (answer.status, answer.code) == (400, "bad_request")
        assert answer.headers["x-content-type-options"] == "nosniff"


async def test_garbage_within_an_open_stream_ends_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(tmp_path, "Hello!") as served:
        await send(served, "s1", "hi")
        async with wire(served.url) as line:
            await line.send(request(served, "GET /api/sessions/s1/events", transfer_encoding="chunked"))
            await line.reader.readuntil(b": connected")
            await line.send(b"garbage\r\n")
            await line.until_closed()
    assert errors_in(caplog) == []


async def test_every_answer_carries_headers_against_misuse(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client() as client, served.client("") as stranger:
        answers = [
            await client.get("/api/sessions"),
            await client.get("/api/nothing"),
            await stranger.get("/api/sessions"),
            await stranger.get("/health"),
            await stranger.get("/"),
            await stranger.get("/enter", params={"code": served.server.codes.new()}),
        ]
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        # The page itself is the same for everybody, so a browser may keep it and ask again.
        kept = "no-cache" if answer.request.url.path == "/" else "no-store"
        assert answer.headers["cache-control"] in {kept, "no-store"}
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert "server" not in answer.headers
    page = answers[4]
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]


async def test_a_bug_tells_a_client_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the secret inside")

    async with serving(tmp_path) as served, served.client() as client:
        monkeypatch.setattr(served.app.journal, "sessions", fail)
        monkeypatch.setattr(served.server.host.tokens, "new_for_browser", fail)
        in_endpoint = await client.get("/api/sessions")
        outside = await client.get("/enter", params={"code": served.server.codes.new()})
        monkeypatch.setattr(served.server.host.tokens, "find", fail)
        in_entry = await client.get("/api/sessions")

    for answer in (in_endpoint, outside, in_entry):
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
        assert "secret" not in answer.text
        assert "Traceback" not in answer.text
    # The log has the details.
    assert "the secret inside" in caplog.text


async def test_a_body_that_grows_too_large_is_refused_wherever_it_is_read(tmp_path: Path) -> None:
    async def read_all(scope: Scope, receive: Receive, send: Send) -> None:
        await Request(scope, receive).body()

    async def receive() -> Message:
        return {"type": "http.request", "body": b"x" * 600, "more_body": True}

    answered: list[Message] = []

    async def note(message: Message) -> None:
        answered.append(message)

    async with serving(tmp_path, limits=RequestLimits(body=1000)) as served:
        async with wire(served.url) as line:
            await line.send(request(served, f"POST {MESSAGES}", transfer_encoding="chunked", **JSON))
            await line.send(b"400\r\n" + b"x" * 1024 + b"\r\n")
            in_endpoint = await line.answer()
        entry = Entry(read_all, served.server.host.tokens, ["a"], RequestLimits(body=1000), "http")
        headers = [(b"host", b"a"), (b"authorization", f"Bearer {served.token}".encode())]
        scope = {"type": "http", "method": "POST", "path": "/x", "query_string": b"", "headers": headers}
        await entry(scope, receive, note)

    assert (in_endpoint.status, in_endpoint.code) == (413, "too_large")
    assert (answered[0]["status"], b"too_large" in answered[1]["body"]) == (413, True)


def test_an_event_does_not_wait_for_the_acknowledgement_of_the_one_before() -> None:
    with closing(listening_socket(Address(port=0))) as opened, closing(socket.socket()) as client:
        client.connect(opened.getsockname())
        with closing(opened.accept()[0]) as connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not count the segments of a connection")
async def test_a_stream_begins_in_one_piece_with_its_head(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        port = urlsplit(served.url).port
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        entry = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {served.token}\r\n\r\n"
        writer.write(f"GET /api/sessions/s1/events HTTP/1.1\r\n{entry}".encode())
        await reader.readuntil(b": connected")
        facts = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        writer.close()

    (segments_with_data,) = struct.unpack_from("=I", facts, 152)
    assert segments_with_data == 1
