"""A full disk, a locked file, a broken file, a file of a newer version: clear errors, no data lost."""

import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

import sestet
from sestet.core.errors import StorageError
from sestet.core.event import Event, TextStreamed, TurnFinished
from sestet.core.message import UserMessage
from sestet.core.model import ModelRequest
from sestet.storage.database import FILE_NAME
from tests.faults.opened import Home, read_all, read_into
from tests.faults.plan import PlanModel
from tests.faults.watched import ignore, watched_connections

PAGE = 4096
WORK = "operator: fs_pure a, exec_unsafe b | vault: crypto_probe c then operator: fs_keyed "
HOLD_THE_FILE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read(1)
"""


class Disk(NamedTuple):
    """A directory with little space, and functions to fill and free it."""

    path: Path
    fill: Callable[[], None]
    free: Callable[[], None]


@contextmanager
def file_system(place: Path) -> Generator[Disk]:
    """A real file system of a few megabytes; only root can make one."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "none", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a file system can only be mounted by root")
    ballast = place / "ballast"

    def fill() -> None:
        with suppress(OSError), ballast.open("wb", buffering=0) as file:
            while file.write(bytes(PAGE)):
                pass

    try:
        yield Disk(place, fill, ballast.unlink)
    finally:
        subprocess.run(["umount", str(place)], check=True)


@contextmanager
def page_limit(place: Path) -> Generator[Disk]:
    """A database with a page limit, which fails like a full disk and needs no root."""
    place.mkdir()
    with watched_connections(ignore) as connections:

        def fill() -> None:
            (pages,) = connections[-1].execute("PRAGMA page_count").fetchone()
            connections[-1].execute(f"PRAGMA max_page_count = {pages}")

        def free() -> None:
            connections[-1].execute("PRAGMA max_page_count = 1000000")

        yield Disk(place, fill, free)


@pytest.fixture(params=[file_system, page_limit])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    with request.param(tmp_path / "disk") as made:
        yield made


@pytest.mark.slow
async def test_a_full_disk_is_said_nothing_is_lost_and_with_room_the_work_goes_on(disk: Disk) -> None:
    requests: list[ModelRequest] = []
    home = Home(disk.path, model=PlanModel(requests.append))
    async with home.open() as app:
        await read_all(app.run_turn("s1", "before"))
        disk.fill()
        seen = await work_until_full(app)
        check_honest(app, seen)
        disk.free()
        for turn in app.journal.open_turns():
            events = await read_all(app.resume_turn(turn.id))
            assert isinstance(events[-1], TurnFinished)
        await read_all(app.run_turn("s1", "after"))

        assert app.journal.open_turns() == []
        assert max(home.effects.of("exec_unsafe").values(), default=0) <= 1
    words = [message.text for message in requests[-1].messages if isinstance(message, UserMessage)]
    assert (words[0], words[-1]) == ("before", "after")


async def work_until_full(app: sestet.App) -> list[Event]:
    seen: list[Event] = []
    with pytest.raises(StorageError, match=r"sestet\.db: .*(full|I/O)"):
        await work_on(app, seen)
    return seen


async def work_on(app: sestet.App, seen: list[Event]) -> None:
    for number in range(200):
        await read_into(seen, app.run_turn("s2", WORK + f"{number} " + "x" * 5000))


def check_honest(app: sestet.App, seen: list[Event]) -> None:
    """Delivered events can be read on a full disk, and the interrupted turn has not ended."""
    stored = {
        (event.stamp.turn_id, event.seq)
        for turn_id in {event.stamp.turn_id for event in seen}
        for event in app.journal.events_of(turn_id)
    }
    assert all((e.stamp.turn_id, e.seq) in stored for e in seen if not isinstance(e, TextStreamed))
    open_turns = [turn.id for turn in app.journal.open_turns()]
    ended = {event.stamp.turn_id for event in seen if isinstance(event, TurnFinished)}
    assert ended.isdisjoint(open_turns)
    assert {event.stamp.turn_id for event in seen} - ended == set(open_turns)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sestet.storage.database._BUSY_SECONDS", 0.05)
    monkeypatch.setattr("sestet.storage.lock_wait.LONGEST", 0.2)


@contextmanager
def held_by_another_process(path: Path) -> Generator[None]:
    command = [sys.executable, "-c", HOLD_THE_FILE, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        try:
            yield
        finally:
            process.communicate("x", timeout=20)


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
async def test_a_file_that_another_process_holds_too_long_is_said_to_be_locked(tmp_path: Path) -> None:
    home = Home(tmp_path)
    seen: list[Event] = []
    async with home.open() as app:
        await read_all(app.run_turn("s1", "before"))
        with held_by_another_process(tmp_path / FILE_NAME):
            with pytest.raises(StorageError, match="locked the database"):
                await read_into(seen, app.run_turn("s1", "operator: exec_unsafe a"))
            async with home.open() as another:
                with pytest.raises(StorageError, match="locked the database"):
                    await read_all(another.run_turn("s2", "operator: exec_unsafe a"))
            assert [row.turns for row in app.journal.sessions()] == [1], "reading goes on"
        assert seen == []

        events = await read_all(app.run_turn("s1", "operator: exec_unsafe a"))

    assert isinstance(events[-1], TurnFinished)
    assert home.effects.of("exec_unsafe").total() == 1


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("moment", range(1, 8))
async def test_a_file_that_is_locked_in_the_middle_of_a_turn_stops_it_where_it_is(
    tmp_path: Path, moment: int
) -> None:
    home = Home(tmp_path)
    other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    async with home.open() as app:
        turn = app.run_turn("s1", "operator: exec_unsafe a, fs_pure b, fs_pure c")
        seen = [await anext(turn) for _ in range(moment)]
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError, match="locked the database"):
            await read_into(seen, turn)
        other.close()
        (row,) = app.journal.open_turns()

        events = await read_all(app.resume_turn(row.id))

    assert isinstance(events[-1], TurnFinished)
    assert home.effects.of("exec_unsafe").total() <= 1


@pytest.mark.slow
async def test_a_page_that_is_broken_is_a_clear_error_wherever_it_is_read(tmp_path: Path) -> None:
    sound = Home(tmp_path / "sound")
    turn_ids: list[str] = []
    async with sound.open() as app:
        for number in range(6):
            events = await read_all(app.run_turn(f"s{number % 2}", WORK + f"{number} " + "y" * 2000))
            turn_ids.append(events[0].stamp.turn_id)
        await read_all(app.run_turn("s1", "vault: crypto_guarded a"))
    content = (sound.path / FILE_NAME).read_bytes()
    noise = random.Random(1)
    hurt = 0
    for page in range(1, len(content) // PAGE):
        home = Home(tmp_path / str(page))
        home.path.mkdir()
        broken = content[: page * PAGE] + noise.randbytes(PAGE) + content[(page + 1) * PAGE :]
        (home.path / FILE_NAME).write_bytes(broken)
        hurt += await complains(home, turn_ids)
    assert hurt > 10


def read_turn(app: sestet.App, turn_id: str) -> list[Event]:
    return list(app.journal.events_of(turn_id))


async def complains(home: Home, turn_ids: list[str]) -> bool:
    """Use everything that reads or writes; every failure is a StorageError."""
    wrong = 0
    try:
        async with home.open() as app:
            for use in (
                *(partial(read_turn, app, turn_id) for turn_id in turn_ids),
                app.journal.sessions,
                app.unfinished_turns,
                app.approvals.pending,
                app.approvals.grants,
                lambda: [app.decide(question.id, "deny") for question in app.approvals.pending()],
            ):
                wrong += isinstance(attempt(use), StorageError)
            for session in ("s0", "s1", "new"):
                try:
                    await read_all(app.run_turn(session, WORK))
                except StorageError:
                    wrong += 1
    except StorageError:
        return True
    return wrong > 0


def attempt(use: Callable[[], object]) -> object:
    try:
        return use()
    except StorageError as error:
        return error


async def test_a_file_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.open() as app:
        await read_all(app.run_turn("s1", "hello"))
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    before = (tmp_path / FILE_NAME).read_bytes()

    with pytest.raises(StorageError, match="written by a newer Sestet"):
        async with home.open():
            pass

    assert (tmp_path / FILE_NAME).read_bytes() == before
