"""Forgetting at the worst moment: beside a running turn, before a resumed one, killed, without room."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

import sestet
from sestet.core.agent import TRANSFER
from sestet.core.errors import ForgottenError, PersonError, StorageError
from sestet.core.event import Event, TurnCancelled, TurnFinished, TurnPaused
from sestet.core.label import CLEAN, Origin
from sestet.core.message import AssistantMessage, ToolCall, UserMessage
from sestet.core.model import ModelItem, ModelReply, ModelRequest
from sestet.services.forgetting import UNWIPED, Forgetting
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.forgettings import Forgettings
from sestet.storage.journal import Journal
from sestet.storage.memories import MemoryStore
from tests.faults.opened import TURNS_ALONE, read_all, read_into
from tests.faults.test_bad_files import file_system
from tests.faults.watched import Death, DeathAtEvent, watched_connections
from tests.services.memory.conversation import say

SECRET = "zanzibar7731"
FACT = f"my wifi code is {SECRET}"


class Rememberer:
    """Remembers what follows ``remember that``, and repeats all that it has read otherwise."""

    name = "rememberer"

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []
        #: The next reply waits for it.
        self.gate = asyncio.Event()
        self.asked = asyncio.Event()
        self.gate.set()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        self.requests.append(request)
        self.asked.set()
        await self.gate.wait()
        yield self._reply(request)

    def _reply(self, request: ModelRequest) -> ModelReply:
        words = [message.text for message in request.messages if isinstance(message, UserMessage)]
        _, said, fact = words[-1].partition("remember that ")
        is_done = isinstance(request.messages[-1], AssistantMessage) or not isinstance(
            request.messages[-1], UserMessage
        )
        if not said or is_done:
            return ModelReply(f"I have read: {' / '.join(message.text for message in request.messages)}")
        if request.agent == "orchestrator":
            return ModelReply(calls=(ToolCall(TRANSFER, {"agent_name": "chronicler", "request": words[-1]}),))
        return ModelReply(calls=(ToolCall("memory_remember", {"fact": fact}),))

    async def close(self) -> None:
        """Nothing to let go of."""


def open_app(home: Path, model: Rememberer) -> AbstractAsyncContextManager[sestet.App]:
    settings = {**TURNS_ALONE, "agent": {"fastRoute": "off"}}
    return sestet.open(settings, home=home, model=model)


def files_with(directory: Path, text: str) -> list[str]:
    wanted = text.encode()
    found = sorted(directory.iterdir())
    return [path.name for path in found if path.is_file() and wanted in path.read_bytes().lower()]


async def cut_off_turn(home: Path, death: Death) -> str:
    """A turn that remembers the fact, in a process that dies; its id."""
    seen: list[Event] = []
    with watched_connections(death.watch):
        async with open_app(home, Rememberer()) as app:
            with pytest.raises(StorageError, match="the process is dead"):
                await read_into(seen, app.run_turn("s1", f"remember that {FACT}"))
    return seen[0].stamp.turn_id


@pytest.mark.parametrize("everywhere", [False, True])
async def test_a_fact_of_a_turn_that_was_cut_off_does_not_come_back_when_it_is_resumed(
    tmp_path: Path, everywhere: bool
) -> None:
    turn_id = await cut_off_turn(tmp_path, DeathAtEvent("before", 1, "tool_finished"))
    database = Database(tmp_path / FILE_NAME)

    done = Forgetting(database).forget("m1", everywhere=everywhere)

    assert done.ended == ("turn 1 of session 's1'",)
    (end,) = (e for e in Journal(database).events_of(turn_id) if isinstance(e, TurnCancelled))
    assert end.stamp.turn_id == turn_id
    database.close()
    async with open_app(tmp_path, Rememberer()) as app:
        assert app.unfinished_turns() == []
        with pytest.raises(PersonError, match="has already cancelled"):
            await read_all(app.resume_turn(turn_id))
    database = Database(tmp_path / FILE_NAME)
    assert MemoryStore(database).latest(9, superseded=True) == []
    assert Forgettings(database).wipe() == "wiped"
    database.close()
    assert bool(files_with(tmp_path, SECRET)) is not everywhere


async def test_a_turn_that_waits_for_a_decision_and_holds_the_words_is_ended(tmp_path: Path) -> None:
    async with open_app(tmp_path, Rememberer()) as app:
        await read_all(app.run_turn("s1", f"remember that {FACT}"))
    database = Database(tmp_path / FILE_NAME)
    other = Journal(database)
    waiting = say(database, "Go on", session_id="s2")
    database.execute("UPDATE turns SET state = 'paused' WHERE id = ?", (waiting,))
    database.execute(
        "UPDATE events SET data = ? WHERE turn_id = ? AND kind = 'turn_started'",
        (f'{{"text": "Mail it: {FACT}"}}', waiting),
    )

    done = Forgetting(database).forget("m1", everywhere=True)

    assert done.ended == ("turn 1 of session 's2'",)
    assert other.turn_state(waiting) == "cancelled"
    database.close()


async def test_another_process_forgets_while_a_turn_of_the_same_session_runs(tmp_path: Path) -> None:
    model = Rememberer()
    async with open_app(tmp_path, model) as app:
        await read_all(app.run_turn("s1", f"remember that {FACT}"))
        model.gate.clear()
        model.asked.clear()
        seen: list[Event] = []
        running = asyncio.create_task(read_into(seen, app.run_turn("s1", "and now?")))
        await model.asked.wait()
        assert SECRET in str(model.requests[-1])

        done = await asyncio.to_thread(sestet_command, tmp_path, "memory", "forget", "m1", "--everywhere")
        model.gate.set()

        assert "turn 2 of session 's1' was still open; it is ended now" in done.stderr
        with pytest.raises(ForgottenError, match="were forgotten"):
            await running
        (end,) = (
            e for e in await read_all(app.run_turn("s1", "what do you know?")) if e.kind == "turn_finished"
        )
        assert isinstance(end, TurnFinished)
        assert SECRET not in str(model.requests[-1])
        assert "[forgotten]" in str(model.requests[-1])
        assert files_with(tmp_path, SECRET) == []


async def test_a_running_turn_that_has_not_read_the_words_goes_on(tmp_path: Path) -> None:
    model = Rememberer()
    async with open_app(tmp_path, model) as app:
        await read_all(app.run_turn("s1", f"remember that {FACT}"))
        model.gate.clear()
        model.asked.clear()
        seen: list[Event] = []
        running = asyncio.create_task(read_into(seen, app.run_turn("s2", "hello there")))
        await model.asked.wait()

        other = Database(tmp_path / FILE_NAME)
        done = Forgetting(other).forget("m1", everywhere=True)
        other.close()
        model.gate.set()
        await running

        assert done.ended == ()
        assert isinstance(seen[-1], TurnFinished)


#: The program that is killed between the deletion and the rewriting of the file.
KILLED = """
import os, signal, sys
from tests.faults.watched import watched_connections

def watch(when, sql, parameters):
    if when == "before" and sql.startswith(last_statement):
        os.kill(os.getpid(), signal.SIGKILL)

last_statement = sys.argv[1]
with watched_connections(watch):
    from sestet.cli import main
    sys.argv = ["sestet", "memory", "forget", "m1", "--everywhere"]
    main()
"""


def sestet_command(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SESTET_HOME": str(home)}
    command = [sys.executable, "-m", "sestet", *arguments]
    return subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, check=False)


def killed_before(statement: str, home: Path) -> None:
    database = Database(home / FILE_NAME)
    turn_id = say(database, f"Remember that {FACT}", f"Remembered: {FACT}")
    MemoryStore(database).add(FACT, Origin("s1", turn_id, CLEAN))
    # Ordinary work leaves deleted text in free pages, such as the pieces of a streamed reply.
    database.execute("PRAGMA secure_delete = OFF")
    database.execute("CREATE TABLE pieces AS SELECT ? || hex(zeroblob(9999)) AS text", (FACT,))
    database.execute("DROP TABLE pieces")
    database.close()
    environment = {**os.environ, "SESTET_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", KILLED, statement], env=environment, check=False, capture_output=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert files_with(home, SECRET) != []


def killed_before_the_wipe(home: Path) -> None:
    killed_before("VACUUM", home)


@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "UPDATE events", "DELETE FROM memories", "COMMIT"])
def test_a_forgetting_that_was_killed_earlier_has_changed_nothing_and_can_be_repeated(
    tmp_path: Path, statement: str
) -> None:
    killed_before(statement, tmp_path)

    shown = sestet_command(tmp_path, "memory", "show", "m1")
    again = sestet_command(tmp_path, "memory", "forget", "m1", "--everywhere")

    assert FACT in shown.stdout
    assert "m1: forgotten" in again.stderr
    assert files_with(tmp_path, SECRET) == []


def test_a_forgetting_that_was_killed_before_its_wipe_is_finished_by_the_next_one(tmp_path: Path) -> None:
    killed_before_the_wipe(tmp_path)

    again = sestet_command(tmp_path, "memory", "forget", "m1", "--everywhere")

    assert (again.returncode, again.stdout) == (0, "")
    assert "m1: already forgotten" in again.stderr
    assert files_with(tmp_path, SECRET) == []


def test_the_doctor_finishes_a_wipe_that_was_killed(tmp_path: Path) -> None:
    killed_before_the_wipe(tmp_path)

    said = sestet_command(tmp_path, "doctor").stdout

    assert "wiped the traces of what you had forgotten" in " ".join(said.split())
    assert files_with(tmp_path, SECRET) == []


async def test_the_next_assistant_finishes_a_wipe_that_was_killed(tmp_path: Path) -> None:
    killed_before_the_wipe(tmp_path)

    async with open_app(tmp_path, Rememberer()) as app:
        await read_all(app.run_turn("s2", "hello"))

    assert files_with(tmp_path, SECRET) == []


def test_on_a_full_disk_forgetting_names_the_reason_and_the_next_one_wipes(tmp_path: Path) -> None:
    with file_system(tmp_path / "disk") as disk:
        database = Database(disk.path / FILE_NAME)
        memories, forgetting = MemoryStore(database), Forgetting(database)
        memories.add(FACT, Origin("s1", "t", CLEAN))
        for number in range(700):
            memories.add(f"fact {number}: {'x' * 500}", Origin("s1", "t", CLEAN))
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        # Room to delete the rows, but not to write the file again.
        (disk.path / "room").write_bytes(bytes(400_000))
        disk.fill()
        (disk.path / "room").unlink()

        forgetting.forget("m1", everywhere=True)

        assert forgetting.wipe() == "no_room"
        assert "the disk is full" in UNWIPED["no_room"]
        assert Forgettings(database).has_traces()
        database.close()
        disk.free()
        again = sestet_command(disk.path, "memory", "forget", "m1")
        assert "m1: already forgotten" in again.stderr
        assert files_with(disk.path, SECRET) == []


async def test_a_paused_turn_that_was_ended_asks_nothing_any_more(tmp_path: Path) -> None:
    database = Database(tmp_path / FILE_NAME)
    turn_id = say(database, f"Remember that {FACT}")
    database.execute("UPDATE turns SET state = 'paused'")
    MemoryStore(database).add(FACT, Origin("s1", turn_id, CLEAN))

    Forgetting(database).forget("m1")

    assert Journal(database).open_turns() == []
    assert not any(isinstance(e, TurnPaused) for e in Journal(database).events_of(turn_id))
    with pytest.raises(ForgottenError):
        MemoryStore(database).add(FACT, Origin("s1", turn_id, CLEAN))
    database.close()
