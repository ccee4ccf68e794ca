"""Deleting a session: no byte of its words stays, what was saved stays if it should, and so do its costs."""

from pathlib import Path

import pytest

from sestet.agents.librarian.sessions import search_sessions
from sestet.core.errors import PersonError
from sestet.core.event import (
    ApprovalRequested,
    Event,
    MemoryRecalled,
    ModelCalled,
    Stamp,
    ToolCalled,
    ToolFinished,
)
from sestet.core.label import CLEAN, Labelled, Origin
from sestet.core.message import ToolCall
from sestet.core.model import Usage
from sestet.core.record import replace
from sestet.services.session_deletion import DeletedSession, SessionDeletion
from sestet.services.sessions import require_session
from sestet.storage.approvals import ApprovalStore, Basis
from sestet.storage.damage import find_damage
from sestet.storage.database import Database
from sestet.storage.forgettings import Forgettings
from sestet.storage.journal import Journal
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.learnings import LearningStore
from sestet.storage.locks import SessionLocks
from sestet.storage.memories import MemoryStore
from sestet.storage.observations import ObservationStore, ReflectionSources
from sestet.storage.session_search import SessionSearch
from sestet.storage.spending import SpendingStore
from tests.services.memory.conversation import begin, say

SECRET = "zanzibar7731"
FACT = f"my wifi code is {SECRET}"


def files_with(directory: Path, text: str) -> list[str]:
    return [path.name for path in sorted(directory.iterdir()) if text.encode() in path.read_bytes().lower()]


async def fill(database: Database) -> None:
    """A session with the words, what was noticed and saved in it, and another that was shown all of it."""
    turn_id = say(database, f"Remember that {FACT}", f"I noted that {FACT}")
    journal, origin = Journal(database), Origin("s1", turn_id, CLEAN)
    journal.rename_session("s1", f"About {SECRET}")
    journal.append(
        ModelCalled(
            Stamp("s1", turn_id, 80, "operator", "", 1.0), "acme/big", FACT, (), Usage(9, 1, 500), 1.0
        )
    )
    observations = ObservationStore(database)
    observations.add_observation(f"They said: {FACT}", origin, "rules", [turn_id])
    observations.add_reflection(
        f"They have a code, {SECRET}", Origin("", "", CLEAN), 1, ReflectionSources([1])
    )
    other = say(database, "What do you know?", "Not much.", CLEAN, "s2")
    search = search_sessions.bind({SessionSearch: SessionSearch(database)})
    assert search is not None
    assert search.function is not None
    found = await search.function(query=SECRET)
    assert isinstance(found, Labelled)
    assert SECRET in str(found.value)
    call, stamp = ToolCall("search_sessions", {"query": "code"}, "c1"), Stamp("s2", other, 90, "l", "", 1.0)
    shown: tuple[Event, ...] = (
        MemoryRecalled(stamp, f"- o1 They said: {FACT}", ("o1",), CLEAN),
        ToolCalled(replace(stamp, seq=91), call),
        ToolFinished(
            replace(stamp, seq=92), call, "ok", str(found.value), 1.0, found.label, "", found.citations
        ),
    )
    journal.append(*shown)


def save(database: Database) -> None:
    origin = Origin("s1", begin(database, "Save it"), CLEAN)
    MemoryStore(database).add(FACT, origin)
    KnowledgeStore(database).save("wifi", FACT, "fact", origin)
    LearningStore(database).save("no wifi", f"type {SECRET}", "", origin)


async def delete(database: Database, *, with_memories: bool = False) -> DeletedSession:
    session = require_session(Journal(database), "s1")
    return await SessionDeletion(database).delete(session, with_memories=with_memories)


async def test_no_byte_of_a_deleted_conversation_stays_in_any_file(
    database: Database, tmp_path: Path
) -> None:
    await fill(database)
    assert files_with(tmp_path, SECRET)

    done = await delete(database)

    assert set(done.with_it) == {"o1", "r1"}
    assert Forgettings(database).wipe() == "wiped"
    assert files_with(tmp_path, SECRET) == []
    assert find_damage(database) == ""
    assert [row.id for row in Journal(database).sessions()] == ["s2"]
    assert [
        each.text for each in Journal(database).events_of(turn_of(database)) if isinstance(each, ToolFinished)
    ]


def turn_of(database: Database) -> str:
    (turn_id,) = database.execute("SELECT id FROM turns WHERE session_id = 's2'").only()
    return turn_id


async def test_its_costs_stay_in_the_sums_without_its_name(database: Database) -> None:
    await fill(database)

    await delete(database)

    assert SpendingStore(database).total().nano_dollars == 500
    assert [each.name for each in SpendingStore(database).by("session")] == [""]


@pytest.mark.parametrize("with_memories", [False, True])
async def test_what_was_told_to_be_remembered_stays_unless_it_is_to_go_too(
    database: Database, tmp_path: Path, with_memories: bool
) -> None:
    say(database, "hello")
    save(database)
    preview = SessionDeletion(database).preview(require_session(Journal(database), "s1"))
    assert preview.saved == (1, 1, 1, 0)

    done = await delete(database, with_memories=with_memories)

    stayed = [len(MemoryStore(database).latest(9)), KnowledgeStore(database).get("wifi") is not None]
    assert stayed == ([0, False] if with_memories else [1, True])
    assert bool(done.with_it) is with_memories
    if with_memories:
        Forgettings(database).wipe()
        assert files_with(tmp_path, SECRET) == []


async def test_open_turns_questions_and_session_grants_go_with_it(database: Database) -> None:
    journal = Journal(database)
    approvals = ApprovalStore(database, journal)
    turn_id = begin(database, "Mail it")
    stamp = Stamp("s1", turn_id, 2, "operator", "d1", 1.0)
    basis = Basis({"to": "bob"}, "risk", untrusted=False, private=False)
    for number in (1, 2):
        call = ToolCall("mail_send", {"to": "bob"}, f"c{number}")
        event = ApprovalRequested(replace(stamp, seq=1 + number), f"q{number}", call, "it sends", (), 9e12)
        approvals.ask(event, basis)
    approvals.decide("q1", "approve", "session")
    sent = ToolCalled(replace(stamp, seq=9), ToolCall("mail_send", {"to": "bob"}, "c1"), "external")
    journal.append(sent)

    preview = SessionDeletion(database).preview(require_session(journal, "s1"))
    await delete(database)

    assert (preview.open_turns, preview.questions, preview.in_doubt) == (1, 1, ("mail_send",))
    assert (approvals.pending(), approvals.grants(), journal.open_turns()) == ([], [], [])


async def test_a_session_with_a_running_turn_is_not_deleted(database: Database) -> None:
    say(database, "hello")
    locks = SessionLocks.beside(database.path)
    async with locks.hold("s1"):
        with pytest.raises(PersonError, match="a turn is running in the session 's1'"):
            await delete(database)
    locks.close()

    assert len(Journal(database).sessions()) == 1


async def test_a_deleted_name_can_be_used_again(database: Database) -> None:
    say(database, "hello")
    await delete(database)

    say(database, "hello again")

    assert [(row.id, row.title, row.turns) for row in Journal(database).sessions()] == [
        ("s1", "hello again", 1)
    ]
