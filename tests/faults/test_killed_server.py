"""A server is killed in the middle of twenty turns with forty readers: nothing is lost or repeated."""

import asyncio
import json
import signal
import socket
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import httpx2

from sestet.core.event import PIECES
from sestet.services.tokens import OWNER_FILE
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.session_log import START, SessionLog
from tests.faults.server_process import MAY_END

_SESSIONS = 20
_READERS = 2
#: Further events that all readers together see before each kill. The turns go on until the last one.
_KILL_AFTER = (1, 100, 300)
_PIECES = {event.kind for event in PIECES}
_ENDS = {"turn_finished", "turn_failed", "turn_cancelled"}


def _free_port() -> int:
    """A port that the kernel gives to no client: a client that tries one without a server may meet itself."""
    for port in range(20_000, 30_000):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("no port is free")


class Process:
    """The server as a process of its own, at the same port after each start."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._process: asyncio.subprocess.Process | None = None
        self.port = _free_port()

    async def start(self) -> None:
        program = (sys.executable, "-m", "tests.faults.server_process", str(self._home), str(self.port))
        self._process = await asyncio.create_subprocess_exec(*program, stdout=asyncio.subprocess.PIPE)
        assert self._process.stdout is not None
        assert await self._process.stdout.readline()

    async def end(self, how: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(how)
        await self._process.wait()

    def client(self) -> httpx2.AsyncClient:
        token = (self._home / OWNER_FILE).read_text().strip()
        url, headers = f"http://127.0.0.1:{self.port}", {"Authorization": f"Bearer {token}"}
        return httpx2.AsyncClient(base_url=url, headers=headers, timeout=60, trust_env=False)


class Reader:
    """Follows one session until its turn has ended, and reconnects with the last place that it has seen."""

    def __init__(self, server: Process, session: str, seen: asyncio.Condition) -> None:
        self._server = server
        self._session = session
        self._seen = seen
        self.places: list[str] = []
        self.facts: list[str] = []

    async def read(self) -> None:
        while True:
            with suppress(httpx2.TransportError):
                if await self._connect():
                    return
            # The server is down: it comes back at the same port.
            await asyncio.sleep(0.05)

    async def _connect(self) -> bool:
        """Whether the turn has ended."""
        headers = {"Last-Event-ID": self.places[-1]} if self.places else {}
        url = f"/api/sessions/{self._session}/events"
        async with self._server.client() as client, client.stream("GET", url, headers=headers) as response:
            async for line in response.aiter_lines():
                if not line.startswith("data: "):
                    continue
                event = json.loads(line.removeprefix("data: "))
                self.places.append(event["place"])
                if event["kind"] not in _PIECES:
                    self.facts.append(event["place"])
                async with self._seen:
                    self._seen.notify_all()
                if event["kind"] in _ENDS:
                    return True
        return False


async def test_every_reader_gets_each_event_once_and_every_turn_ends(tmp_path: Path) -> None:
    server, seen = Process(tmp_path), asyncio.Condition()
    await server.start()
    names = [f"s{number}" for number in range(_SESSIONS)]
    readers = [Reader(server, name, seen) for name in names for _ in range(_READERS)]
    tasks = [asyncio.create_task(reader.read()) for reader in readers]
    async with server.client() as client:
        for name in names:
            answer = await client.post(f"/api/sessions/{name}/messages", json={"text": name, "key": "only"})
            assert answer.status_code == 202

    def read_so_far() -> int:
        return sum(len(each.places) for each in readers)

    for count in _KILL_AFTER:
        wanted = read_so_far() + count
        async with seen:
            await seen.wait_for(lambda wanted=wanted: read_so_far() >= wanted)
        await server.end(signal.SIGKILL)
        await server.start()
    (tmp_path / MAY_END).touch()
    # A client that does not know whether its message arrived sends it again.
    async with server.client() as client:
        for name in names:
            await client.post(f"/api/sessions/{name}/messages", json={"text": name, "key": "only"})
    await asyncio.wait_for(asyncio.gather(*tasks), 120)
    await server.end(signal.SIGTERM)

    database = Database(tmp_path / FILE_NAME)
    log, resumed = SessionLog(database), 0
    for reader, name in zip(readers, [name for name in names for _ in range(_READERS)], strict=True):
        written = [each for each in log.after(name, START, 10_000) if not isinstance(each.event, PIECES)]
        assert reader.facts == [str(each.place) for each in written]
        assert max(Counter(reader.places).values()) == 1
        kinds = Counter(each.event.kind for each in written)
        assert (kinds["turn_started"], kinds["turn_finished"]) == (1, 1)
        resumed += kinds["turn_resumed"]
    database.close()
    # The kills came in the middle of turns.
    assert resumed >= _SESSIONS
