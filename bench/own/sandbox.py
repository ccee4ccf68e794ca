"""Starts ``true`` plainly and in the sandbox, in turns, and writes the median times."""

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from statistics import median

from sestet.services.sandbox.plan import Plan
from sestet.services.sandbox.sandbox import Sandbox

ROUNDS = 100
_TRUE = "/bin/true"


async def run_plain() -> None:
    await (await asyncio.create_subprocess_exec(_TRUE)).wait()


async def run_confined(sandbox: Sandbox, directory: str, nothing: int) -> None:
    command = await sandbox.start([_TRUE], nothing, nothing, directory=directory)
    ended = await command.wait()
    if ended.code != 0:
        raise SystemExit(f"'{_TRUE}' did not run in the sandbox: {ended}")


async def measure(directory: str) -> dict[str, object]:
    sandbox = Sandbox(Plan(writable=(directory,)))
    nothing = os.open(os.devnull, os.O_WRONLY)
    plain: list[float] = []
    confined: list[float] = []
    try:
        isolation = await sandbox.isolation()
        for _ in range(ROUNDS):
            begin = time.perf_counter()
            await run_plain()
            middle = time.perf_counter()
            await run_confined(sandbox, directory, nothing)
            plain.append(middle - begin)
            confined.append(time.perf_counter() - middle)
    finally:
        await sandbox.close()
        os.close(nothing)
    plain_ms, confined_ms = median(plain) * 1_000, median(confined) * 1_000
    return {
        "isolation": isolation,
        "plain_ms": plain_ms,
        "confined_ms": confined_ms,
        "sandbox_ms": confined_ms - plain_ms,
    }


if __name__ == "__main__":
    figures = asyncio.run(measure(os.path.realpath(sys.argv[1])))
    Path(sys.argv[2]).write_text(json.dumps(figures), encoding="utf-8")
