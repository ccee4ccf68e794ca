"""One holder of a session at a time, in this process and between processes."""

import asyncio
import os
import subprocess
import sys
from asyncio.subprocess import PIPE
from collections.abc import Callable
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

HOLD_AGAIN_AND_AGAIN = """
import asyncio, sys
from pathlib import Path
from sestet.storage.locks import SessionLocks

async def main():
    locks = SessionLocks(Path(sys.argv[1]))
    while True:
        async with locks.hold("s1"):
            print("turn", flush=True)
            if not sys.stdin.readline():
                return

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


async def test_a_busy_process_lets_another_one_in_after_its_present_turn(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    busy = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLD_AGAIN_AND_AGAIN, str(path), stdin=PIPE, stdout=PIPE
    )
    assert busy.stdin is not None
    assert busy.stdout is not None
    assert await busy.stdout.readline() == b"turn\n"
    locks = SessionLocks(path)
    guest = asyncio.create_task(locks.take("s1"))
    await asyncio.sleep(0)  # the guest has found the session taken

    turns = 0
    while not guest.done() and turns < 50:
        busy.stdin.write(b"go on\n")
        following = asyncio.create_task(busy.stdout.readline())
        await asyncio.wait({guest, following}, return_when=asyncio.FIRST_COMPLETED)
        turns += following.done()
        if guest.done():
            locks.give_back("s1")
            await following

    assert guest.done()
    assert turns <= 1
    busy.stdin.close()
    await busy.wait()
    locks.close()


async def test_assistants_get_a_session_in_the_order_in_which_they_asked(tmp_path: Path) -> None:
    several = [SessionLocks(tmp_path / "lock") for _ in range(6)]
    order: list[int] = []

    async def work(number: int) -> None:
        async with several[number].hold("s1"):
            order.append(number)

    async with several[0].hold("s1"):
        waiting: list[asyncio.Task[None]] = []
        for number in (3, 1, 5, 2, 4):
            waiting.append(asyncio.create_task(work(number)))
            await asyncio.sleep(0)
    again = asyncio.create_task(work(0))
    await asyncio.gather(*waiting, again)

    assert order == [3, 1, 5, 2, 4, 0]
    for locks in several:
        locks.close()


async def test_one_who_stops_waiting_leaves_the_queue(tmp_path: Path) -> None:
    holder, gone, next_one = (SessionLocks(tmp_path / "lock") for _ in range(3))
    await holder.take("s1")
    waiting = asyncio.create_task(gone.take("s1"))
    await asyncio.sleep(0)
    following = asyncio.create_task(next_one.take("s1"))
    await asyncio.sleep(0)

    waiting.cancel()
    holder.give_back("s1")
    async with asyncio.timeout(30):
        await following

    next_one.give_back("s1")
    assert gone.is_free("s1")
    for locks in (holder, gone, next_one):
        locks.close()


def make_directory(path: Path) -> None:
    path.mkdir()


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_link(path: Path) -> None:
    path.with_name("other").touch()
    path.symlink_to(path.with_name("other"))


def make_foreign(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    path.touch()
    path.chmod(0o666)
    os.chown(path, 12345, 12345)


@pytest.mark.parametrize("make", [make_directory, make_pipe, make_link, make_foreign])
def test_a_lock_file_that_is_none_of_ours_is_a_clear_error_with_the_way_out(
    tmp_path: Path, make: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sestet.lock"
    make(path)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    with pytest.raises(StorageError, match=r"sestet\.lock: .*; remove it while no Sestet runs"):
        SessionLocks(path)
