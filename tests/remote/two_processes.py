"""Two real Sestet processes on loopback, and a wire between them that is recorded."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

#: A test that waits longer than this many seconds has failed.
PATIENCE = 90.0

Json = dict[str, Any]  # Any: decoded JSON that a test looks into


class Sestet:
    """``sestet serve`` as a process of its own, with its own settings and data."""

    def __init__(self, home: Path, settings: Json, rules: list[Json]) -> None:
        self.home = home
        self.url = ""
        self._process: asyncio.subprocess.Process | None = None
        for folder in ("config/sestet", "data", "work"):
            (home / folder).mkdir(parents=True)
        file = home / "rules.jsonl"
        file.write_text("".join(f"{json.dumps(rule)}\n" for rule in rules))
        agent = {"agent": {"provider": "scripted", "model": str(file)}}
        quiet = {"embedding": {"provider": "none"}, "observationalMemory": {"enabled": False}}
        # JSON is YAML too.
        (home / "config/sestet/sestet.yaml").write_text(json.dumps(agent | quiet | settings))

    async def run(self, *arguments: str) -> str:
        process = await self._start(*arguments)
        out, _ = await process.communicate()
        assert process.returncode == 0, out
        return out.decode()

    async def start(self, *arguments: str) -> None:
        self._process = await self._start("serve", "--port", "0", *arguments)
        assert self._process.stdout is not None
        said = ""
        async with asyncio.timeout(PATIENCE):
            while "listens at" not in said:
                line = (await self._process.stdout.readline()).decode()
                assert line, said
                said += line
        self.url = said.split("listens at ")[1].split()[0]

    async def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(how)
            await self._process.wait()

    def client(self) -> httpx2.AsyncClient:
        token = (self.home / "data/sestet/server-token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        return httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=PATIENCE, trust_env=False)

    async def _start(self, *arguments: str) -> asyncio.subprocess.Process:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SESTET_")},
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_DATA_HOME": str(self.home / "data"),
            "NO_PROXY": "127.0.0.1",
        }
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "sestet", *arguments),
            env=environment,
            cwd=self.home / "work",
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )


class Wire:
    """Hands bytes on to a server, and keeps those that go to it."""

    def __init__(self) -> None:
        self.sent = b""
        self.place = ""
        self.port = 0
        self._tasks = set[asyncio.Task[None]]()

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator["Wire"]:
        server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.place = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            tasks = tuple(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            # The loop closes the sockets of closed writers in its next round.
            await asyncio.sleep(0)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            writer.close()
            return
        for task in (self._copy(reader, back, keep=True), self._copy(there, writer, keep=False)):
            started = asyncio.create_task(task)
            self._tasks.add(started)
            started.add_done_callback(self._tasks.discard)

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, keep: bool) -> None:
        try:
            while data := await reader.read(65_536):
                self.sent += data if keep else b""
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()


async def ask(client: httpx2.AsyncClient, session: str, text: str) -> str:
    """Send a message; returns its turn."""
    answer = await client.post(f"/api/sessions/{session}/messages", json={"text": text})
    return answer.json()["turn"]


async def events_of(client: httpx2.AsyncClient, turn: str) -> AsyncGenerator[Json]:
    """The events of a turn, to its end."""
    async with client.stream("GET", f"/api/turns/{turn}/events") as response:
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))
