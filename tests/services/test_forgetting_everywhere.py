"""Words in every text column of every table: forgetting them everywhere leaves no byte in any file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from sestet.core.event import (
    EVENTS,
    ApprovalRequested,
    Claim,
    DollarLimit,
    Effects,
    Event,
    Stamp,
    TurnStarted,
)
from sestet.core.label import Label, Origin
from sestet.core.message import Found, ToolCall
from sestet.core.model import Usage
from sestet.core.preview import Changes, DiffLine
from sestet.core.seen import Seen, SeenPart
from sestet.core.tool import Effect, Tool
from sestet.services.forgetting import Forgetting
from sestet.storage.accepted_messages import AcceptedMessages
from sestet.storage.approvals import ApprovalStore, Basis
from sestet.storage.database import Database
from sestet.storage.documents import DocumentStore, StoredChunk
from sestet.storage.extractions import ExtractionStore, Fact
from sestet.storage.fact_slots import FactSlot
from sestet.storage.file_changes import ChangedFileRow, FileChangeStore
from sestet.storage.graph import GraphStore
from sestet.storage.journal import Journal
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.learnings import LearningStore
from sestet.storage.memories import MemoryStore
from sestet.storage.observation_progress import ObservationProgress
from sestet.storage.observations import ObservationStore, ReflectionSources
from sestet.storage.payments import PaymentRow, PaymentStore
from sestet.storage.prompts import PromptStore
from sestet.storage.row_redaction import WORDLESS
from sestet.storage.session_search import SessionSearch
from sestet.storage.vectors import VectorStore
from tests.services.memory.conversation import begin, finish, say

SECRET = "zanzibar7731"
FACT = f"my wifi code is {SECRET}"
LABEL = Label(untrusted=True, private=True, sources=(f"a page with {FACT}",))

#: A value for each type of an event's field, with the words in it if it can hold any.
VALUES: Mapping[object, object] = {
    str: FACT,
    bool: True,
    int: 1,
    float: 1.0,
    tuple[str, ...]: (FACT,),
    Label: LABEL,
    Usage: Usage(),
    ToolCall: ToolCall("some_tool", {FACT: [FACT, {"inner": FACT}]}, "c1", FACT),
    tuple[ToolCall, ...]: (ToolCall("some_tool", {"to": FACT}, "c2"),),
    Effect | None: "local",
    Effects | None: Effects((FACT,), (FACT,), (FACT,), (FACT,), (FACT,)),
    Changes | None: Changes((DiffLine("+", FACT), DiffLine("-", f"so {FACT}")), 1, "basis"),
    tuple[Claim, ...]: ("changed",),
    tuple[Found, ...]: (Found(FACT, f"about {FACT}"),),
    tuple[DollarLimit, ...]: ("limits.dollars",),
    Seen: Seen("a digest", parts=(SeenPart(role="user", text=FACT, calls=(ToolCall("t", {"to": FACT}),)),)),
}
#: Names that the runtime gives; they hold no words of a person.
NAMES = {"agent", "model", "next_model", "approval_id"}
IDS = {"ids", "waiting_for"}


def example(event: type[Event], stamp: Stamp) -> Event:
    values: dict[str, Any] = {"stamp": stamp}
    for name, hint in get_type_hints(event).items():
        if name in event.__struct_fields__ and name != "stamp":
            choice = get_args(hint)[0] if get_origin(hint) is Literal else VALUES.get(hint)
            values[name] = "x" if name in NAMES else ("m9",) if name in IDS else choice
    return event(**values)


def fill(database: Database) -> None:
    """Put the words into every text column, through the stores that write them."""
    origin = Origin("s1", say(database, f"Remember that {FACT}"), LABEL)
    other = Origin("s2", say(database, f"By the way, {FACT}", FACT, LABEL, "s2"), LABEL)
    write_events(database)
    Journal(database).rename_session("s2", f"a title about {FACT}")
    memories, store = MemoryStore(database), ObservationStore(database)
    memories.add(FACT, origin)
    memories.add(f"{FACT}, and I like tea", other)
    for memory_id in (1, 2):
        memories.slots.put(memory_id, [FactSlot(f"{FACT} of mine", FACT, SECRET)])
    store.add_observation(f"They said: {FACT}", other, "rules")
    store.add_reflection(f"They said: {FACT}", other, 1, ReflectionSources([1]))
    for turn in (origin, other):
        LearningStore(database).save(f"{turn.session_id}: {FACT}", f"do {FACT}", f"because {FACT}", turn)
        KnowledgeStore(database).save(FACT, f"{FACT} {turn.session_id}", "fact", turn, [FACT])
    KnowledgeStore(database).save("[forgotten]", "another entry", "fact", other)
    KnowledgeStore(database).save(f"{FACT}.", FACT, "fact", other)
    graph = GraphStore(database)
    graph.add(FACT, FACT, f"the thing that {FACT}", other)
    fill_proposals(ExtractionStore(database, graph))
    ask(database)
    change_files(database)
    pay(database)
    show(database)
    AcceptedMessages(database).add("later", "s1", "key", f"And {FACT}", mine=True, can_ask=True, agent="")
    chunk = StoredChunk(f"About {FACT}", f"Somebody wrote that {FACT}", "/notes.txt")
    DocumentStore(database).replace("/notes.txt", "text", 1, "d", [chunk])
    ObservationProgress(database, Journal(database)).log("observe", "rules", 0, Usage(), f"no {FACT}")
    SessionSearch(database).search(SECRET, 9)
    vectors = VectorStore(database)
    vectors.add("space", [(row.passage_id, row.text.encode()) for row in vectors.missing(["space"], 0, 99)])


def fill_proposals(store: ExtractionStore) -> None:
    while (pending := store.claim(60)) is not None:
        with store.transaction():
            store.finish(pending, [Fact(FACT, FACT, f"{FACT} {pending.id}")], "model", ())


def write_events(database: Database) -> None:
    journal, turn_id = Journal(database), begin(database, FACT, "s3")
    for seq, event in enumerate(EVENTS, 2):
        if event is not TurnStarted:
            journal.append(example(event, Stamp("s3", turn_id, seq, "orchestrator", "d1", 1.0)))
    finish(database, begin(database, f"title {FACT}", "s4"), session_id="s4")


def ask(database: Database) -> None:
    approvals = ApprovalStore(database, Journal(database))
    turn_id = begin(database, "Mail it", "s5")
    call = ToolCall("mail_send", {"to": FACT}, "c1")
    stamp = Stamp("s5", turn_id, 2, "operator", "d1", 1.0)
    approvals.ask(
        ApprovalRequested(
            stamp, "q1", call, f"it sends {FACT}", (FACT,), 9e12, Changes((DiffLine("+", FACT),))
        ),
        Basis({"to": FACT}, "risk", untrusted=False, private=False),
    )
    approvals.decide("q1", "approve", "always")


def pay(database: Database) -> None:
    ids = ("s2", "turn-9", "call-9")
    row = PaymentRow(b"n", "send", "settled", *ids, b"w", b"p", FACT, 1, b"a", 1, f"for {FACT}", 0, 1.0)
    PaymentStore(database).reserve(row, 0.0, lambda paid: None)


def show(database: Database) -> None:
    """A model was shown instructions and a tool with the words."""
    prompts = PromptStore(database)
    prompts.name(f"Always think of it: {FACT}", (Tool("some_tool", f"Sends {FACT}"),))
    prompts.write()


def change_files(database: Database) -> None:
    """Changes of three turns: one keeps the words, one has them in a name, one only tells them."""
    store = FileChangeStore(database)
    kept = store.kept.put(f"A note: {FACT}\n".encode())
    for turn_id, path, digest in (("t1", "note.txt", kept), ("t2", f"{FACT}.txt", ""), ("t3", "a.txt", "")):
        file = ChangedFileRow("/home/me", path, b"{}", b"{}", digest)
        store.record("s2", turn_id, "d1c1", f"Wrote {FACT}.", [file], is_move=False)


def text_columns(database: Database) -> list[tuple[str, str]]:
    tables = database.execute(
        """SELECT name FROM pragma_table_list
           WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"""
    )
    return [
        (table, column)
        for (table,) in tables
        for column, kind, key in database.execute("SELECT name, type, pk FROM pragma_table_info(?)", (table,))
        if kind == "TEXT" and not key and column not in WORDLESS
    ]


def files_with(directory: Path, text: str) -> list[str]:
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return [path.name for path in files if text.encode() in path.read_bytes().lower()]


def test_words_in_every_text_column_leave_no_byte_in_any_file(database: Database, tmp_path: Path) -> None:
    fill(database)
    for table, column in text_columns(database):
        (held,) = database.execute(
            f"SELECT count(*) FROM {table} WHERE instr(lower({column}), ?)",  # noqa: S608 - names of the schema
            (SECRET,),
        ).only()
        assert held, f"fill {table}.{column} too, or name it in WORDLESS if it never holds words of a person"
    forgetting = Forgetting(database)

    done = forgetting.forget("m1", everywhere=True)

    assert forgetting.wipe() == "wiped"
    assert files_with(tmp_path, SECRET) == []
    assert done.ended == ("turn 1 of session 's3'", "turn 1 of session 's5'")
    check_readable(database)


def check_readable(database: Database) -> None:
    """Everything can still be read, and what had other words keeps them."""
    journal = Journal(database)
    for session in journal.sessions():
        assert list(journal.session_events(session.id, [event.kind for event in EVENTS], 99))
    assert [row.text for row in MemoryStore(database).latest(9)] == ["[forgotten], and I like tea"]
    assert [row.trigger for row in LearningStore(database).latest(9)] == ["s2: [forgotten]"]
    keys = {row.key for row in KnowledgeStore(database).latest(9)}
    assert keys == {"[forgotten]", "[forgotten] 2", "[forgotten]."}
    assert GraphStore(database).latest(9) == []
    assert ApprovalStore(database, journal).grants() == []
    store = FileChangeStore(database)
    assert [[change.result for change in store.changes(row.id)] for row in store.sets()] == [
        ["Wrote [forgotten]."]
    ]
    assert not store.kept.all()
    # A hash of the arguments would let anybody check a guess.
    assert database.execute("SELECT digest FROM approvals") == [("",)]
    assert database.execute("SELECT text FROM passages WHERE collection = 'documents'") == [
        ("Somebody wrote that [forgotten]",)
    ]
    assert SessionSearch(database).search(SECRET, 9) == []
    assert database.execute("PRAGMA integrity_check") == [("ok",)]
    for index in ("passages_index", "remembered_index", "exchanges_index"):
        database.execute(f"INSERT INTO {index} ({index}) VALUES ('integrity-check')")  # noqa: S608 - names above


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.kind)
def test_the_words_are_in_every_field_of_an_event_that_can_hold_them(event: type[Event]) -> None:
    """The examples above are complete: no new type of field passes unnoticed."""
    made = example(event, Stamp("s", "t", 1, "a", "", 1.0))
    assert all(getattr(made, name) is not None for name in event.__struct_fields__)
