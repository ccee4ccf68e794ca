"""The two servers that are compared, as children of the bench, and the request that each is sent."""

import asyncio
import json
import os
import socket
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.children import TREE, ChildError
from bench.entries import SESTET, Entry
from bench.script import MESSAGE, REPLY
from bench.server.client import connect, get, post
from bench.venvs import ROOT, find_python

A2A = Entry("a2a-sdk", "bench.peers.a2a_echo", "a2a-sdk", ("a2a-sdk[http-server]", "uvicorn"))
_START_SECONDS = 60.0
_ORDER_SECONDS = 60.0


class Server:
    """A running server. Subclasses know the request."""

    def __init__(self, process: Process, port: int) -> None:
        self.process = process
        self.port = port

    def request(self, session: str, number: int) -> bytes:
        raise NotImplementedError

    def check(self, answer: bytes) -> None:
        raise NotImplementedError

    def cpu_ms(self) -> float:
        """CPU of all threads since the start."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        spent = (int((task / "schedstat").read_text(encoding="ascii").split()[0]) for task in tasks)
        return sum(spent) / 1e6


class SestetServer(Server):
    def __init__(self, process: Process, port: int, token: str) -> None:
        super().__init__(process, port)
        self.entry = f"Authorization: Bearer {token}"

    def request(self, session: str, number: int) -> bytes:
        message = {"id": f"m{number}", "role": "user", "content": MESSAGE}
        run = {"threadId": session, "runId": f"{session}-{number}", "messages": [message]}
        return post(self.port, "/agui", json.dumps(run).encode(), self.entry)

    def check(self, answer: bytes) -> None:
        if b"RUN_FINISHED" not in answer or REPLY.encode() not in answer:
            raise ChildError(f"a turn ended in another way: {answer[-300:]!r}")

    def message(self, session: str) -> bytes:
        """A message whose turn is read by others."""
        body = json.dumps({"text": MESSAGE}).encode()
        return post(self.port, f"/api/sessions/{session}/messages", body, self.entry)

    def follow(self, session: str) -> bytes:
        return get(self.port, f"/api/sessions/{session}/events", self.entry)

    async def order(self, line: str) -> dict[str, float]:
        """Let the child do something apart from its requests, and return what it tells."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())
        return await _read_line(self.process)


class A2aServer(Server):
    def request(self, session: str, number: int) -> bytes:
        message = {"messageId": f"{session}-{number}", "role": "ROLE_USER", "parts": [{"text": MESSAGE}]}
        call = {"jsonrpc": "2.0", "id": number, "method": "SendMessage", "params": {"message": message}}
        return post(self.port, "/", json.dumps(call).encode(), "A2A-Version: 1.0")

    def check(self, answer: bytes) -> None:
        if MESSAGE.encode() not in answer:
            raise ChildError(f"the echo is missing: {answer[-300:]!r}")


@asynccontextmanager
async def sestet_server(folder: Path) -> AsyncGenerator[SestetServer]:
    arguments = ["-m", "bench.own.server", str(TREE), str(folder / "home")]
    async with _child(SESTET, folder, arguments) as process:
        facts = await _read_line(process)
        yield SestetServer(process, int(facts["port"]), str(facts["token"]))


@asynccontextmanager
async def a2a_server(folder: Path) -> AsyncGenerator[A2aServer]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    async with _child(A2A, folder, ["-m", A2A.module, str(port)]) as process:
        await wait_for_port(process, port)
        yield A2aServer(process, port)


async def wait_for_port(process: Process, port: int) -> None:
    try:
        async with asyncio.timeout(_START_SECONDS):
            while process.returncode is None:
                try:
                    (await connect(port)).close()
                except OSError:
                    await asyncio.sleep(0.01)
                else:
                    return
    except TimeoutError:
        raise ChildError(f"did not listen within {_START_SECONDS:.0f} seconds") from None
    raise ChildError(f"ended with code {process.returncode}")


@asynccontextmanager
async def _child(entry: Entry, folder: Path, arguments: list[str]) -> AsyncGenerator[Process]:
    process = await asyncio.create_subprocess_exec(
        find_python(entry),
        *arguments,
        cwd=folder / "workspace",
        env=environment(entry, folder),
        stdin=PIPE,
        stdout=PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def environment(entry: Entry, folder: Path) -> dict[str, str]:
    """Nothing of the caller's."""
    home = {"HOME": str(folder / "home"), "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    return {"PATH": os.defpath, **home, **entry.environment}


async def _read_line(process: Process) -> dict[str, float]:
    assert process.stdout is not None
    try:
        async with asyncio.timeout(_ORDER_SECONDS):
            line = await process.stdout.readline()
    except TimeoutError:
        raise ChildError(f"no answer within {_ORDER_SECONDS:.0f} seconds") from None
    if not line:
        raise ChildError(f"ended with code {await process.wait()}")
    return json.loads(line)
