"""Damages a database in seeded ways, and uses everything that reads or writes it."""

# ruff: noqa: S608 - every part of every statement is written here

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import sestet
from sestet.config import Settings
from sestet.core.event import TurnFailed
from sestet.core.label import Label, Origin
from sestet.data import Data, open_data
from sestet.doctor import Check
from sestet.doctor import database as doctor
from sestet.services.approvals import describe_grant, describe_question
from sestet.services.memory.import_export import export_lines
from sestet.services.sessions import event_values, read_turns
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.graph import GraphStore
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.learnings import LearningStore
from sestet.storage.memories import MemoryStore
from sestet.storage.observations import ObservationStore
from tests.faults.opened import Home, read_all

PAGE = 4096
WORK = "operator: fs_pure a, exec_unsafe b | vault: crypto_probe c then operator: fs_keyed "
TOLD = Origin("s0", "", Label(untrusted=True, sources=("a page", "a file")))
ENDINGS = ("", "-wal")
SPOILED = (
    ("events", "data"),
    ("events", "kind"),
    ("memories", "sources"),
    ("observations", "sources"),
    ("knowledge", "tags"),
    ("knowledge", "sources"),
    ("knowledge_versions", "tags"),
    ("learnings", "sources"),
    ("triples", "sources"),
    ("approvals", "arguments"),
    ("approvals", "sources"),
)


def open_assistant(home: Path) -> AbstractAsyncContextManager[sestet.App]:
    return Home(home, settings={"embedding": {"provider": "none"}, "graph": {"extraction": "off"}}).open()


async def make_sound(home: Path, copy: Path) -> None:
    """A used database in ``home``; ``copy`` gets it as a killed process leaves it, with a full log."""
    async with open_assistant(home) as app:
        for number in range(6):
            await read_all(app.run_turn(f"s{number % 2}", f"{WORK}{number} {'y' * 500}"))
        await read_all(app.run_turn("s1", "vault: crypto_guarded a"))
        database = Database(home / FILE_NAME)
        _fill(database)
        database.close()
        os.mkdir(copy)
        for ending in (*ENDINGS, "-shm"):
            shutil.copy(home / f"{FILE_NAME}{ending}", copy)


def _fill(database: Database) -> None:
    """Rows in every family of tables."""
    memories, observations = MemoryStore(database), ObservationStore(database)
    for number in range(30):
        text = f"tea number {number} is green, says Anna"
        memories.add(text, TOLD, supersedes=[number] if number % 5 == 4 else [])
        observations.add_observation(f"the person drinks {text}", TOLD)
        KnowledgeStore(database).save(f"tea {number % 20}", text, "note", TOLD, ["drink", "green"])
        LearningStore(database).save(f"tea {number} is cold", "boil it", "time", TOLD)
        GraphStore(database).add(f"person {number}", "knows", f"person {number % 7}", TOLD)


def truncate(data: bytearray, dice: random.Random) -> None:
    del data[dice.randrange(len(data)) :]


def flip_bits(data: bytearray, dice: random.Random) -> None:
    for _ in range(dice.choice((1, 10, 100))):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def flip_header(data: bytearray, dice: random.Random) -> None:
    for _ in range(3):
        data[dice.randrange(min(100, len(data)))] ^= 1 << dice.randrange(8)


def scramble_text(data: bytearray, dice: random.Random) -> None:
    """Overwrite some bytes of texts and numbers, as a bad memory chip does."""
    for _ in range(40):
        place = dice.randrange(len(data))
        data[place : place + 3] = dice.randbytes(len(data[place : place + 3]))


def zero_page(data: bytearray, dice: random.Random) -> None:
    place = dice.randrange(len(data) // PAGE) * PAGE
    data[place : place + PAGE] = bytes(PAGE)


def fill_page(data: bytearray, dice: random.Random) -> None:
    place = dice.randrange(len(data) // PAGE) * PAGE
    data[place : place + PAGE] = dice.randbytes(PAGE)


def swap_pages(data: bytearray, dice: random.Random) -> None:
    one, other = (dice.randrange(len(data) // PAGE) * PAGE for _ in range(2))
    data[one : one + PAGE], data[other : other + PAGE] = data[other : other + PAGE], data[one : one + PAGE]


DAMAGES: Sequence[Callable[[bytearray, random.Random], None]] = (
    truncate,
    flip_bits,
    flip_header,
    scramble_text,
    zero_page,
    fill_page,
    swap_pages,
)


def spoil_values(home: Path, dice: random.Random) -> None:
    """Damage values that SQLite itself has no opinion about."""
    connection = sqlite3.connect(home / FILE_NAME, isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    # Damage of the disk fires no trigger.
    triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for _ in range(5):
        table, column = dice.choice(SPOILED)
        (rows,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        spoiled = dice.choice(
            ("substr({0}, 1, length({0}) / 2)", "'[1, 2]'", "'{{}}'", "''", "CAST(x'ff' AS TEXT)")
        )
        chosen = f"SELECT {column} FROM {table} LIMIT 1 OFFSET {dice.randrange(max(1, rows))}"
        connection.execute(
            f"UPDATE {table} SET {column} = {spoiled.format(column)} WHERE {column} = ({chosen})"
        )
    for _, statement in triggers:
        connection.execute(statement)
    connection.close()


def damage(home: Path, seed: int) -> None:
    dice = random.Random(seed)
    if seed % 8 == 7:
        spoil_values(home, dice)
        return
    ending = dice.choice([ending for ending in ENDINGS if (home / f"{FILE_NAME}{ending}").exists()])
    file = home / f"{FILE_NAME}{ending}"
    data = bytearray(file.read_bytes())
    DAMAGES[seed % 8](data, dice)
    file.write_bytes(data)
    if dice.random() < 0.5:
        (home / f"{FILE_NAME}-shm").unlink(missing_ok=True)


async def use_everything(home: Path) -> list[Exception]:
    """Every error of every use. A turn that failed is one too."""
    errors: list[Exception] = []
    try:
        async with open_assistant(home) as app:
            errors += _attempt(_uses_of_assistant(app))
            for session_id in ("s0", "s1", "new"):
                errors += await _try_turn(app, session_id)
    except Exception as error:  # the test judges it
        errors.append(error)
    try:
        with open_data(Settings()) as data:
            errors += _attempt(_uses_of_data(data))
    except Exception as error:  # the test judges it
        errors.append(error)
    return errors


async def _try_turn(app: sestet.App, session_id: str) -> list[Exception]:
    try:
        events = await read_all(app.run_turn(session_id, WORK))
    except Exception as error:  # the test judges it
        return [error]
    return [RuntimeError(event.text) for event in events if isinstance(event, TurnFailed)]


def _uses_of_assistant(app: sestet.App) -> Iterator[Callable[[], object]]:
    yield lambda: [[event_values(e) for e in turn] for turn in read_turns(app.journal, "s0")]
    yield lambda: [list(app.journal.events_of(turn.id)) for turn in app.journal.open_turns()]
    yield app.journal.sessions
    yield app.unfinished_turns
    yield lambda: [describe_question(question) for question in app.approvals.pending()]
    yield lambda: [describe_grant(grant) for grant in app.approvals.grants()]
    yield lambda: app.graph and app.graph.latest(20)
    yield lambda: app.graph and app.graph.traverse("person 1", 3, 20)


def _uses_of_data(data: Data) -> Iterator[Callable[[], object]]:
    yield lambda: list(export_lines(data.memory))
    yield lambda: data.memory.find("tea", 5)
    yield data.observing
    yield lambda: data.library.entries(20)
    yield lambda: data.library.versions("tea 1")
    yield lambda: data.library.lessons(20)
    yield lambda: data.library.documents(20)
    yield lambda: data.library.save("another", "text", "note", ["tag"])
    yield lambda: data.forgetting.forget("m1")
    yield lambda: data.library.forget_entry("tea 2")


def _attempt(uses: Iterable[Callable[[], object]]) -> list[Exception]:
    errors: list[Exception] = []
    for use in uses:
        try:
            use()
        except Exception as error:  # the test judges it
            errors.append(error)
    return errors


def examine() -> list[Check]:
    """What the doctor says about the stored data."""
    settings = Settings()
    return [
        doctor.check_database(),
        *doctor.check_locks(),
        *doctor.check_turns(),
        *doctor.check_library(),
        *doctor.check_graph(settings),
        *doctor.check_memory(settings),
    ]
