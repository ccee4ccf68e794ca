"""One holder of a session at a time, in this process and between processes."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from sestet.core.errors import StorageError
from sestet.storage.locks import SessionLocks

HOLD_UNTIL_TOLD = """
import asyncio, sys
from pathlib import Path
from sestet.storage.locks import SessionLocks

async def main():
    async with SessionLocks(Path(sys.argv[1])).hold("s1"):
        print("held", flush=True)
        sys.stdin.read(1)

asyncio.run(main())
"""

HOLD_AFTER_A_FORK = """
import asyncio, os, sys
from pathlib import Path
from sestet.core.errors import StorageError
from sestet.storage.locks import SessionLocks

locks = SessionLocks(Path(sys.argv[1]))
if os.fork() == 0:
    try:
        asyncio.run(locks.take("s1"))
    except StorageError as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
"""


async def test_a_session_is_held_by_one_and_the_others_wait(tmp_path: Path) -> None:
    locks = SessionLocks(tmp_path / "lock")
    order: list[str] = []

    async def work(name: str) -> None:
        async with locks.hold("s1"):
            order.append(f"{name} in")
            await asyncio.sleep(0)
            order.append(f"{name} out")

    await asyncio.gather(work("a"), work("b"))

    assert order == ["a in", "a out", "b in", "b out"]
    assert locks.is_free("s1")
    locks.close()


async def test_another_session_need_not_wait(tmp_path: Path) -> None:
    locks = SessionLocks(tmp_path / "lock")

    async with locks.hold("s1"), asyncio.timeout(5), locks.hold("s2"):
        assert not locks.is_free("s1")
    locks.close()


async def test_a_session_that_is_held_when_its_assistant_closes_is_free_and_nobody_waits_for_it(
    tmp_path: Path,
) -> None:
    locks, others = SessionLocks(tmp_path / "lock"), SessionLocks(tmp_path / "lock")

    async with locks.hold("s1"):
        waiting = asyncio.create_task(locks.take("s1"))
        await asyncio.sleep(0)
        locks.close()
        # A new file with the descriptor of the closed one is not touched.
        with (tmp_path / "other").open("w"):
            assert others.is_free("s1")

    with pytest.raises(StorageError, match="closed"):
        await waiting
    others.close()


async def test_two_assistants_in_one_process_exclude_each_other(tmp_path: Path) -> None:
    one, other = SessionLocks(tmp_path / "lock"), SessionLocks(tmp_path / "lock")

    async with one.hold("s1"):
        assert not other.is_free("s1")
    assert other.is_free("s1")
    one.close()
    other.close()


def test_a_lock_of_another_process_is_seen_and_ends_with_that_process(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD_UNTIL_TOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == "held\n"
    locks = SessionLocks(path)

    assert not locks.is_free("s1")
    holder.kill()
    holder.wait()

    assert locks.is_free("s1")
    holder.stdin.close()
    holder.stdout.close()
    locks.close()


def test_a_fork_of_the_process_is_told_to_open_its_own(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", HOLD_AFTER_A_FORK, str(tmp_path / "lock")], capture_output=True, text=True
    )

    assert "was opened before a fork; open an assistant in each process" in told.stdout, told.stderr
