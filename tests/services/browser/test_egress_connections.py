"""Connections of the browser's proxy: bodies, ends, limits, and clients that misbehave."""

import asyncio
import gc
import logging
import socket

import pytest

from sestet.services.browser.address_rules import AddressRules
from sestet.services.browser.egress import Egress, Limits
from sestet.services.browser.relay import Patience
from tests.services.browser.conftest import MakeSite, MakeWorld
from tests.services.browser.egress_world import SECONDS, Site, World, answer, echo, status_of

#: A page that a server must not see: it comes after the end of the body.
SECOND = b"GET http://localhost/second HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def read_everything(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Take all bytes, and answer nothing."""
    while await reader.read(65_536):
        pass


async def post(world: World, site: Site, fields: str, body: bytes) -> bytes:
    head = f"POST http://localhost:{site.port}/ HTTP/1.1\r\n{fields}\r\n\r\n"
    return await world.ask(head.encode() + body)


@pytest.mark.parametrize(
    ("fields", "body", "arrives"),
    [
        ("Content-Length: 5", b"12345", b"12345"),
        (
            "Transfer-Encoding: chunked",
            b"3;x=y\r\n123\r\n2\r\n45\r\n0\r\nT: 1\r\n\r\n",
            b"3\r\n123\r\n2\r\n45\r\n0\r\n\r\n",
        ),
        ("Accept: */*", b"", b""),
    ],
)
async def test_exactly_one_body_reaches_the_server(
    make_site: MakeSite, make_world: MakeWorld, fields: str, body: bytes, arrives: bytes
) -> None:
    received = list[bytes]()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.readuntil(b"\r\n\r\n"))
        received.append(await reader.readexactly(len(arrives)))
        await answer(writer, b"taken")
        received.append(await reader.read())

    site = await make_site(take)
    world = await make_world("localhost:*")
    answered = await post(world, site, fields, body + SECOND)
    assert answered.endswith(b"taken")
    await world.settle()
    async with asyncio.timeout(SECONDS):
        while len(received) < 3:  # noqa: ASYNC110 (the server of a test)
            await asyncio.sleep(0.005)
    assert received[1:] == [arrives, b""]
    assert site.connections == 1


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        ("Content-Length: 5", b"123"),
        ("Transfer-Encoding: chunked", b"5\r\n12345GET / HTTP/1.1\r\n\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", b"5\r\n12345xx0\r\n\r\n"),
        ("Transfer-Encoding: chunked", b"5\n12345\n0\n\n"),
        ("Transfer-Encoding: chunked", b"-1\r\n"),
        ("Transfer-Encoding: chunked", b"5\r\n123"),
        ("Transfer-Encoding: chunked", b"5" + b" " * 100_000),
    ],
)
async def test_half_a_body_is_never_a_whole_one(
    make_site: MakeSite, make_world: MakeWorld, fields: str, body: bytes
) -> None:
    received = list[bytes]()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        received.append(await reader.read())

    site = await make_site(take)
    world = await make_world("localhost:*")
    async with world.client() as (reader, writer):
        writer.write(f"POST http://localhost:{site.port}/ HTTP/1.1\r\n{fields}\r\n\r\n".encode() + body)
        writer.write_eof()
        assert status_of(await reader.read()) == 502
    await world.settle()
    assert not received or not received[0].endswith(b"0\r\n\r\n")
    assert not received or len(received[0]) < 20


async def test_a_server_may_answer_before_it_has_the_body(make_site: MakeSite, make_world: MakeWorld) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await answer(writer, b"no, thanks")
        await reader.read()

    site = await make_site(refuse)
    world = await make_world("localhost:*")
    async with world.client() as (reader, writer):
        writer.write(f"POST http://localhost:{site.port}/ HTTP/1.1\r\nContent-Length: 9\r\n\r\n".encode())
        assert (await reader.read()).endswith(b"no, thanks")
    await world.settle()


async def test_a_long_answer_arrives_whole(make_site: MakeSite, make_world: MakeWorld) -> None:
    content = bytes(range(256)) * 20_000

    async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        await answer(writer, content)

    site = await make_site(send)
    world = await make_world("localhost:*")
    answered = await world.get(f"http://localhost:{site.port}/")
    assert answered.startswith(b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n")
    assert answered.endswith(b"\r\nConnection: close\r\n\r\n" + content)


@pytest.mark.parametrize(
    "reply", [b"", b"+PONG\r\n", b"HTTP/1.1 407 P\r\nProxy-Authenticate: Basic\r\n\r\n", b"x" * 300_000]
)
async def test_an_answer_that_is_not_http_becomes_an_error(
    make_site: MakeSite, make_world: MakeWorld, reply: bytes
) -> None:
    async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        await writer.drain()
        writer.write_eof()
        await reader.read()

    site = await make_site(send)
    world = await make_world("localhost:*")
    answered = await world.get(f"http://localhost:{site.port}/")
    assert status_of(answered) == 502
    assert b"Proxy-Authenticate" not in answered


async def test_the_end_of_each_side_of_a_tunnel_reaches_the_other(
    make_site: MakeSite, make_world: MakeWorld
) -> None:
    site = await make_site(echo)
    world = await make_world("localhost:*")
    async with world.tunnel(f"localhost:{site.port}") as (reader, writer):
        writer.write(b"last words")
        writer.write_eof()
        assert await reader.read() == b"last words"
        await world.settle()


async def test_a_client_that_ends_its_side_still_gets_the_answer(
    make_site: MakeSite, make_world: MakeWorld
) -> None:
    may_answer = asyncio.Event()

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await may_answer.wait()
        await answer(writer, b"late")

    site = await make_site(slow)
    world = await make_world("localhost:*")
    async with world.client() as (reader, writer):
        writer.write(f"GET http://localhost:{site.port}/ HTTP/1.1\r\n\r\n".encode())
        writer.write_eof()
        while not site.connections:  # noqa: ASYNC110 (the server of a test)
            await asyncio.sleep(0.005)
        may_answer.set()
        assert (await reader.read()).endswith(b"late")


@pytest.mark.parametrize("plain", [True, False])
async def test_a_client_that_goes_away_frees_its_connection(
    make_site: MakeSite, make_world: MakeWorld, plain: bool
) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    site = await make_site(silent)
    world = await make_world("localhost:*", limits=Limits(patience=Patience(idle=600, last=0.01)))
    line = f"GET http://localhost:{site.port}/" if plain else f"CONNECT localhost:{site.port}"
    async with world.client() as (_, writer):
        writer.write(f"{line} HTTP/1.1\r\n\r\n".encode())
        while not site.connections:  # noqa: ASYNC110 (the server of a test)
            await asyncio.sleep(0.005)
    await world.settle()


async def test_a_client_that_goes_away_stops_an_endless_answer(
    make_site: MakeSite, make_world: MakeWorld
) -> None:
    ended = asyncio.Event()

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while True:
                writer.write(b"x" * 65_536)
                await writer.drain()
        finally:
            ended.set()

    site = await make_site(endless)
    world = await make_world("localhost:*")
    async with world.client() as (reader, writer):
        writer.write(f"GET http://localhost:{site.port}/ HTTP/1.1\r\n\r\n".encode())
        await reader.readexactly(1_000_000)
    await world.settle()
    async with asyncio.timeout(SECONDS):
        await ended.wait()


async def test_a_silent_tunnel_is_ended(make_site: MakeSite, make_world: MakeWorld) -> None:
    site = await make_site(read_everything)
    world = await make_world("localhost:*", limits=Limits(patience=Patience(idle=0.05, last=0.05)))
    async with world.tunnel(f"localhost:{site.port}") as (reader, _):
        assert await reader.read() == b""


@pytest.mark.slow
async def test_bytes_in_one_direction_keep_a_tunnel_open(make_site: MakeSite, make_world: MakeWorld) -> None:
    more = asyncio.Event()

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(40):
            writer.write(b".")
            await asyncio.sleep(0.05)
        more.set()
        await reader.read()

    site = await make_site(drip)
    # The whole takes longer than the limit, and each pause is far shorter.
    world = await make_world("localhost:*", limits=Limits(patience=Patience(idle=1.5, last=1.5)))
    async with world.tunnel(f"localhost:{site.port}") as (reader, _):
        assert await reader.readexactly(40) == b"." * 40
        await more.wait()


async def test_a_head_that_never_ends_is_cut_off(make_world: MakeWorld) -> None:
    world = await make_world(limits=Limits(head_seconds=0.2))
    async with world.client() as (reader, writer):
        writer.write(b"GET http://public.example/ HTTP/1.1\r\n")

        async def drip() -> None:
            while True:
                writer.write(b"X: 1\r\n")
                await asyncio.sleep(0.02)

        dripping = asyncio.create_task(drip())
        assert status_of(await reader.readuntil(b"\r\n\r\n")) == 408
        dripping.cancel()
    await world.settle()


@pytest.mark.parametrize("head", [b"GET http://public.example/" + b"a" * 70_000, b"G" * 200_000])
async def test_an_oversized_head_is_refused(make_world: MakeWorld, head: bytes) -> None:
    world = await make_world()
    assert status_of(await world.ask(head + b" HTTP/1.1\r\n\r\n")) == 431
    assert world.asked == []


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET",
        b"CONNECT a.example:443 HTTP/1.1\r\n",
    ],
)
async def test_a_client_that_leaves_before_its_request_ends_leaves_nothing(
    make_world: MakeWorld, sent: bytes
) -> None:
    world = await make_world()
    async with world.client() as (reader, writer):
        writer.write(sent)
        writer.write_eof()
        assert await reader.read() == b""
    await world.settle()


async def test_a_refused_upload_is_not_cut_off_before_its_answer_is_read(make_world: MakeWorld) -> None:
    world = await make_world()
    async with world.client() as (reader, writer):
        writer.transport.set_write_buffer_limits(0)
        writer.write(b"POST http://127.0.0.1/ HTTP/1.1\r\nContent-Length: 500000\r\n\r\n")
        assert status_of(await reader.read()) == 403
        for _ in range(10):
            writer.write(b"x" * 50_000)
            await writer.drain()


async def test_a_destination_that_never_answers_ends_in_time(make_world: MakeWorld) -> None:
    world = await make_world(limits=Limits(connect_seconds=0.05))

    async def never(name: str) -> list[str]:
        await asyncio.Event().wait()
        return [name]

    egress = Egress(AddressRules(), resolve=never, limits=Limits(connect_seconds=0.05))
    listening = socket.create_server(("127.0.0.1", 0))
    world.port = listening.getsockname()[1]
    await egress.start(listening)
    assert await world.tunnel_status("slow.example:443") == 504
    assert egress.failure("slow.example", 443) == "slow.example:443 did not answer within 0.05 seconds"
    await egress.close()


async def test_of_300_connections_at_once_256_are_served(make_site: MakeSite, make_world: MakeWorld) -> None:
    site = await make_site(echo)
    world = await make_world("localhost:*")
    statuses = list[int]()
    all_answered = asyncio.Event()

    async def one() -> None:
        async with world.client() as (reader, writer):
            writer.write(f"CONNECT localhost:{site.port} HTTP/1.1\r\n\r\n".encode())
            statuses.append(status_of(await reader.readuntil(b"\r\n\r\n")))
            if len(statuses) == 300:
                all_answered.set()
            await all_answered.wait()

    await asyncio.gather(*(one() for _ in range(300)))
    assert (statuses.count(200), statuses.count(503)) == (256, 44)
    await world.settle()
    assert await world.tunnel_status(f"localhost:{site.port}") == 200


async def test_closing_ends_every_connection(make_site: MakeSite, make_world: MakeWorld) -> None:
    site = await make_site(read_everything)
    world = await make_world("localhost:*")
    before = asyncio.all_tasks()
    async with world.tunnel(f"localhost:{site.port}") as (reader, _), world.client() as (waiting, _):
        await world.settle(2)
        await world.egress.close()
        assert await reader.read() == b""
        assert await waiting.read() == b""
        assert world.egress.connections == 0
    with pytest.raises(ConnectionRefusedError):
        await world.ask(b"")
    gc.collect()
    assert asyncio.all_tasks() <= before


async def test_nothing_that_was_asked_for_is_logged(
    make_world: MakeWorld, caplog: pytest.LogCaptureFixture
) -> None:
    world = await make_world()
    with caplog.at_level(logging.DEBUG):
        await world.get("http://127.0.0.1/secret?token=secret")
        await world.get("http://secret.example/secret")
        await world.ask(b"secret\r\n\r\n")
        await world.settle()
    assert "secret" not in caplog.text


async def test_the_memory_of_refusals_is_bounded(make_world: MakeWorld) -> None:
    world = await make_world()
    for port in range(2_000, 2_520):
        await world.tunnel_status(f"127.0.0.1:{port}")
    assert world.egress.refusal("127.0.0.1", 2_000) is None
    assert world.egress.refusal("127.0.0.1", 2_519)


async def test_the_proxy_serves_this_machine_alone() -> None:
    egress = Egress(AddressRules())
    listening = socket.create_server(("0.0.0.0", 0))  # noqa: S104 (the test expects an error)
    with listening, pytest.raises(ValueError, match="loopback"):
        await egress.start(listening)
    await egress.close()


async def test_the_system_looks_names_up(make_site: MakeSite, make_world: MakeWorld) -> None:
    """The name of this machine is the one name that is known without a DNS server."""
    name = socket.gethostname().lower()
    try:
        found = socket.gethostbyname(name)
    except OSError:
        pytest.skip("this machine does not know its own name")
    site = await make_site(None, found)
    world = await make_world()
    egress = Egress(AddressRules((f"{name}:{site.port}",)))
    listening = socket.create_server(("127.0.0.1", 0))
    world.port = listening.getsockname()[1]
    await egress.start(listening)
    assert status_of(await world.get(f"http://{name}:{site.port}/")) == 200
    await egress.close()
