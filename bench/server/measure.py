"""Takes the figures, each in rounds that alternate between what is compared."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import ExitStack, asynccontextmanager, closing
from itertools import count
from pathlib import Path
from statistics import median

from bench.children import ChildError
from bench.server import shape
from bench.server.client import Connection, Reader, connect
from bench.server.contestants import Server, SestetServer, a2a_server, sestet_server
from bench.server.figures import all_delays, percentile, ratio_of_medians
from bench.server.start import measure_start

Figures = dict[str, object]
_blocks = count()


async def measure_throughput(folder: Path, rounds: int) -> Figures:
    """Requests a second and CPU of a request, of both servers at each number of connections."""
    speeds: dict[tuple[str, int], list[float]] = {}
    cpu: dict[tuple[str, int], list[float]] = {}
    async with sestet_server(folder) as ours, a2a_server(folder) as theirs:
        servers: dict[str, Server] = {"sestet": ours, "a2a": theirs}
        for server in servers.values():
            await _load(server, 16, shape.REQUESTS)
        for _ in range(rounds):
            for connections in shape.CONNECTIONS:
                for name, server in servers.items():
                    seconds, spent = await _load(server, connections, shape.REQUESTS)
                    speeds.setdefault((name, connections), []).append(shape.REQUESTS / seconds)
                    cpu.setdefault((name, connections), []).append(spent / shape.REQUESTS)
    found: Figures = {}
    for connections in shape.CONNECTIONS:
        mine, other = speeds["sestet", connections], speeds["a2a", connections]
        found[f"server_{connections}_ratio"] = ratio_of_medians(mine, other)
        found[f"server_{connections}"] = {
            "requests_per_s": median(mine),
            "a2a_requests_per_s": median(other),
            "request_cpu_ms": median(cpu["sestet", connections]),
            "a2a_request_cpu_ms": median(cpu["a2a", connections]),
        }
    return found


async def measure_turn(folder: Path, rounds: int) -> Figures:
    """CPU of a turn through the server, and of the same turn by run_turn in the same process.

    Both with some sessions at once, as a server has them, and with one alone.
    """
    found: Figures = {}
    async with sestet_server(folder) as server:
        for at_once, name in ((shape.CONNECTIONS[0], "server_turn"), (1, "server_turn_alone")):
            through: list[float] = []
            direct: list[float] = []
            turns = at_once * shape.TURNS_A_SESSION
            for number in range(-1, 4 * rounds):
                async with _opened(server, at_once) as connections:
                    # One request each: a new connection costs the server once, and a turn does not.
                    await _ask_all(server, connections, f"{name}-open-{number}", 1)
                    before = (await server.order("cpu"))["cpu_ms"]
                    await _ask_all(server, connections, f"{name}-through-{number}", shape.TURNS_A_SESSION)
                    after = (await server.order("cpu"))["cpu_ms"]
                spent = (await server.order(f"turns {name}-{number} {at_once}"))["cpu_ms"]
                # The first round warms up.
                if number >= 0:
                    through.append((after - before) / turns)
                    direct.append(spent / turns)
            found[f"{name}_ratio"] = ratio_of_medians(through, direct)
            found[name] = {"server_ms": median(through), "run_turn_ms": median(direct)}
    return found


async def measure_readers(folder: Path) -> Figures:
    """Many clients that read along while turns run: how late they are, and what they cost."""
    async with sestet_server(folder) as server:
        senders = [await connect(server.port) for _ in range(shape.CONNECTIONS[0])]
        names = [f"read-{number}" for number in range(shape.READ_SESSIONS)]
        # Every session has a turn before, and the caches of the server are filled.
        await _paced(server, senders, names, len(names))
        before = (await server.order("memory"))["rss_kb"]
        loop, readers = asyncio.get_running_loop(), list[Reader]()
        for number in range(shape.READERS):
            request = server.follow(names[number % len(names)])
            _, reader = await loop.create_connection(lambda: Reader(request), "127.0.0.1", server.port)  # noqa: B023 - called at once
            await reader.connected
            readers.append(reader)
        await _quiet(readers)
        for reader in readers:
            # What was said before the load does not count.
            reader.content.clear()
            reader.arrivals.clear()
        idle = (await server.order("memory"))["rss_kb"]
        cpu, began = server.cpu_ms(), time.perf_counter()
        turns = shape.TURNS_A_SECOND * shape.SECONDS
        await _paced(server, senders, names, turns)
        seconds, spent = time.perf_counter() - began, server.cpu_ms() - cpu
        await _quiet(readers)
        after = (await server.order("memory"))["rss_kb"]
        if lost := sum(reader.lost for reader in readers):
            raise ChildError(f"{lost} of {len(readers)} readers were cut off")
        late = all_delays(readers)
        for each in (*senders, *readers):
            each.close()
    return {
        "sse_p99_ms": percentile(late, 0.99) * 1000,
        "sse_client_kb": (after - before) / len(readers),
        "sse": {
            "clients": len(readers),
            "turns_per_s": turns / seconds,
            "events": len(late),
            "p50_ms": percentile(late, 0.5) * 1000,
            "worst_ms": max(late) * 1000,
            "idle_client_kb": (idle - before) / len(readers),
            "server_cpu_share": spent / 1000 / seconds,
        },
    }


async def _load(server: Server, connections: int, requests: int) -> tuple[float, float]:
    """Send requests over so many connections at once; return the seconds and the server's CPU in ms."""
    async with _opened(server, connections) as opened:
        spent, began = server.cpu_ms(), time.perf_counter()
        await _ask_all(server, opened, f"load-{next(_blocks)}", requests // connections)
        return time.perf_counter() - began, server.cpu_ms() - spent


@asynccontextmanager
async def _opened(server: Server, count: int) -> AsyncGenerator[list[Connection]]:
    with ExitStack() as closed:
        yield [closed.enter_context(closing(await connect(server.port))) for _ in range(count)]


async def _ask_all(server: Server, connections: list[Connection], name: str, each: int) -> None:
    """Send so many requests over each connection, over all of them at once."""
    await asyncio.gather(
        *(_ask(server, connection, f"{name}-{n}", each) for n, connection in enumerate(connections))
    )


async def _ask(server: Server, connection: Connection, name: str, requests: int) -> None:
    for number in range(requests):
        server.check(await connection.ask(server.request(shape.session_of(name, number), number)))


async def _paced(server: SestetServer, senders: list[Connection], names: list[str], turns: int) -> None:
    """Send messages at the pace of the load, from several connections."""
    began = time.perf_counter()

    async def send(sender: int) -> None:
        for number in range(sender, turns, len(senders)):
            await asyncio.sleep(max(0.0, began + number / shape.TURNS_A_SECOND - time.perf_counter()))
            answer = await senders[sender].ask(server.message(names[number % len(names)]))
            if b"202 Accepted" not in answer:
                raise ChildError(f"a message was refused: {answer[-300:]!r}")

    await asyncio.gather(*(send(number) for number in range(len(senders))))


async def _quiet(readers: list[Reader]) -> None:
    """Wait until nothing arrives any more."""
    seen = -1
    while (now := sum(reader.content.count(b"\ndata: ") for reader in readers)) != seen:
        seen = now
        await asyncio.sleep(1.0)


MEASURES: dict[str, Callable[[Path, int], Coroutine[None, None, Figures]]] = {
    "throughput": measure_throughput,
    "turn": measure_turn,
    "readers": lambda folder, rounds: measure_readers(folder),
    "start": measure_start,
}
