"""The parts of the server's bench that need no peer: its client, its figures and its bars."""

import asyncio
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import pytest

from bench.children import ChildError
from bench.script import REPLY
from bench.server.client import Reader, connect, is_whole
from bench.server.contestants import SestetServer
from bench.server.figures import BARS, all_delays, delays, draw_server, misses, percentile
from bench.server.shape import session_of
from tests.server.served import Served, serving


def test_an_answer_is_whole_at_its_length_or_its_last_chunk() -> None:
    plain = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"
    assert not is_whole(b"HTTP/1.1 200 OK\r\n")
    assert (is_whole(plain), is_whole(plain + b"c")) == (False, True)
    assert (is_whole(chunked), is_whole(chunked + b"0\r\n\r\n")) == (False, True)


def test_a_percentile_is_a_value_that_was_seen() -> None:
    values = [float(number) for number in range(100, 0, -1)]
    assert (percentile(values, 0.5), percentile(values, 0.99), percentile(values, 1.0)) == (50, 99, 100)
    assert percentile([7.0], 0.99) == 7.0


def test_an_event_has_arrived_with_its_last_byte() -> None:
    first, second = b'id: 1.1\nevent: a\ndata: {"at":10.0}\n\n', b'\nevent: b\ndata: {"at":11.0}\n\n'
    arrivals = [(10.5, len(first) + 3), (13.0, len(first + second))]
    assert delays(first + second, arrivals) == [0.5, 2.0]


def test_what_is_no_event_has_no_delay() -> None:
    assert delays(b": connected\n\n: quiet\n\n", [(1.0, 22)]) == []


def test_a_missing_figure_is_a_missed_bar() -> None:
    good: dict[str, object] = {bar.key: bar.bound for bar in BARS}
    assert misses(good) == []
    assert misses({**good, "server_16_ratio": 0.9, "sse_p99_ms": None}) == ["server_16_ratio", "sse_p99_ms"]
    drawn = draw_server({**good, "sse_client_kb": 61.0}).splitlines()
    assert [line.split("`")[1] for line in drawn if "**no**" in line] == ["sse_client_kb"]


def test_a_session_has_ten_turns() -> None:
    assert len({session_of("a", number) for number in range(50)}) == 5


def _measured(served: Served) -> SestetServer:
    port = urlsplit(served.url).port
    assert port is not None
    return SestetServer(cast("asyncio.subprocess.Process", None), port, served.token)


async def test_the_load_is_a_whole_turn_and_a_failed_one_is_no_figure(tmp_path: Path) -> None:
    async with serving(tmp_path, REPLY, "another reply") as served:
        server = _measured(served)
        connection = await connect(server.port)
        server.check(await connection.ask(server.request("one", 0)))
        with pytest.raises(ChildError, match="another way"):
            server.check(await connection.ask(server.request("one", 1)))
        connection.close()


async def test_a_reader_of_the_load_times_every_event_of_a_turn(tmp_path: Path) -> None:
    async with serving(tmp_path, REPLY) as served:
        server, loop = _measured(served), asyncio.get_running_loop()
        _, reader = await loop.create_connection(
            lambda: Reader(server.follow("one")), "127.0.0.1", server.port
        )
        await reader.connected
        sender = await connect(server.port)
        assert b"202 Accepted" in await sender.ask(server.message("one"))
        async with asyncio.timeout(30):
            while b"turn_finished" not in reader.content or not reader.content.endswith(b"\n\n\r\n"):  # noqa: ASYNC110 - the bytes say it
                await asyncio.sleep(0.01)
        events = bytes(reader.content).count(b"\nevent: ")
        assert len(all_delays([reader])) == events >= 3
        reader.close()
        sender.close()
