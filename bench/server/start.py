"""The start of ``sestet serve`` until ``/ready`` answers, against ``sestet --help``; one after the other."""

import asyncio
import os
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.children import ChildError
from bench.entries import SESTET
from bench.server.client import connect, get
from bench.server.contestants import environment
from bench.server.figures import ratio_of_medians
from bench.venvs import find_python

_SECONDS = 60.0
_STARTS_A_ROUND = 3


class _Start(NamedTuple):
    cpu_ms: float
    wall_ms: float


async def measure_start(folder: Path, rounds: int) -> dict[str, object]:
    """The CPU is what the ratio is made of: it does not depend on what else the machine does."""
    await _help(folder)
    await _serve(folder)
    helps: list[_Start] = []
    serves: list[_Start] = []
    for _ in range(rounds * _STARTS_A_ROUND):
        helps.append(await _help(folder))
        serves.append(await _serve(folder))
    cpu = [[each.cpu_ms for each in starts] for starts in (serves, helps)]
    wall = [[each.wall_ms for each in starts] for starts in (serves, helps)]
    return {
        "serve_start_ratio": ratio_of_medians(*cpu),
        "serve_start": {
            "cpu_ms": median(cpu[0]),
            "help_cpu_ms": median(cpu[1]),
            "wall_ms": median(wall[0]),
            "help_wall_ms": median(wall[1]),
            "wall_ratio": ratio_of_medians(*wall),
        },
    }


async def _help(folder: Path) -> _Start:
    began = time.perf_counter()
    process = _start(folder, ["--help"])
    used = await _wait(process)
    if process.returncode:
        raise ChildError(f"'sestet --help' ended with code {process.returncode}")
    return _Start((used.ru_utime + used.ru_stime) * 1000, (time.perf_counter() - began) * 1000)


async def _serve(folder: Path) -> _Start:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    began = time.perf_counter()
    process = _start(folder, ["serve", "--port", str(port)])
    try:
        await asyncio.wait_for(_until_ready(process, port), _SECONDS)
        wall = time.perf_counter() - began
    except TimeoutError:
        raise ChildError(f"'sestet serve' was not ready within {_SECONDS:.0f} seconds") from None
    finally:
        # Its CPU is read up to here.
        process.send_signal(signal.SIGKILL)
        used = await _wait(process)
    return _Start((used.ru_utime + used.ru_stime) * 1000, wall * 1000)


async def _wait(process: "subprocess.Popen[bytes]") -> resource.struct_rusage:
    """Wait for the end of a process; return what it has used."""
    _, status, used = await asyncio.to_thread(os.wait4, process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used


async def _until_ready(process: "subprocess.Popen[bytes]", port: int) -> None:
    while process.returncode is None:
        try:
            connection = await connect(port)
        except OSError:
            await asyncio.sleep(0.005)
            continue
        answer = await connection.ask(get(port, "/ready"))
        connection.close()
        if b" 200 " in answer[:20]:
            return


def _start(folder: Path, arguments: Sequence[str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [str(find_python(SESTET).with_name("sestet")), *arguments],
        cwd=folder / "workspace",
        env=environment(SESTET, folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
