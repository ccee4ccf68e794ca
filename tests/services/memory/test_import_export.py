"""Export and import: all memories come back, and one bad line imports nothing."""

import json
from pathlib import Path

import pytest

from sestet.core.errors import PersonError
from sestet.core.event import Stamp, TurnStarted
from sestet.core.label import CLEAN, Label, Origin
from sestet.services.forgetting import Forgetting
from sestet.services.memory.catalog import MemoryCatalog
from sestet.services.memory.import_export import Imported, describe_item, export_lines, import_lines
from sestet.storage.database import Database
from sestet.storage.journal import Journal
from sestet.storage.memories import MemoryStore
from sestet.storage.observations import ObservationStore, ReflectionSources

STRANGE = Label(True, True, ("browser_fetch of navigator",))


def fill(database: Database) -> None:
    memories, observations = MemoryStore(database), ObservationStore(database)
    old = memories.add("My seat is 7", Origin("s1", "t1", CLEAN))
    memories.add("My seat is 8 🫖", Origin("s1", "t2", CLEAN), supersedes=[old.id])
    for text in ("one", "two"):
        observations.add_observation(text, Origin("s1", "t2", STRANGE), "rules")
    observations.add_reflection("both", Origin("s1", "t2", STRANGE), 1, ReflectionSources([1, 2]), "rules")
    observations.add_reflection(
        "higher", Origin("", "t2", STRANGE), 2, ReflectionSources(reflections=[1]), "a-model"
    )


def test_what_was_exported_is_imported_as_it_was(database: Database, tmp_path: Path) -> None:
    fill(database)
    other = Database(tmp_path / "other.db")
    MemoryStore(other).add("I was here before", Origin("s", "t", CLEAN))

    lines = list(export_lines(MemoryCatalog(database)))
    assert import_lines(other, reversed(lines), mine=True) == Imported(6, 0)

    def facts(database: Database) -> dict[str, object]:
        found = {item.id: describe_item(item) for item in MemoryCatalog(database).items(99)}
        named = {name: values["text"] for name, values in found.items()}

        def by_text(values: dict[str, object]) -> dict[str, object]:
            links = {
                key: [named[name] for name in values[key]]  # pyright: ignore
                for key in ("rests_on", "used_by")
            }
            return {**values, **links, "id": ""}

        return {str(values["text"]): by_text(dict(values)) for values in found.values()}

    assert {name: value for name, value in facts(other).items() if "before" not in name} == facts(database)
    assert import_lines(other, lines) == import_lines(other, lines, mine=True) == Imported(0, 6)
    assert len(MemoryCatalog(other).items(99)) == 7
    other.close()


def test_a_text_that_stands_twice_in_an_export_is_two_rows_again(database: Database, tmp_path: Path) -> None:
    memories, observations = MemoryStore(database), ObservationStore(database)
    first = memories.add("I like tea", Origin("s1", "t1", CLEAN))
    second = memories.add("I do not like tea", Origin("s1", "t2", CLEAN), supersedes=[first.id])
    memories.add("I like tea", Origin("s1", "t3", CLEAN), supersedes=[second.id])
    for turn in ("t1", "t2"):
        observations.add_observation("The person asked: any news?", Origin("s1", turn, CLEAN), "rules")
    observations.add_reflection("News", Origin("s1", "t2", CLEAN), 1, ReflectionSources([1, 2]), "rules")
    lines = list(export_lines(MemoryCatalog(database)))
    other = Database(tmp_path / "other.db")

    assert import_lines(other, lines, mine=True) == Imported(6, 0)
    assert [row.text for row in MemoryStore(other).find("tea", 9)] == ["I like tea"]
    assert [row.covers for row in ObservationStore(other).reflections(9)] == [(1, 2)]
    assert import_lines(other, lines) == import_lines(other, lines, mine=True) == Imported(0, 6)
    assert list(export_lines(MemoryCatalog(other))) == lines
    other.close()


GOOD = {"id": "m1", "sort": "fact", "text": "I like tea", "at": 1.5}


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ("{", "line 3: not JSON"),
        ("[]", "line 3: expected object"),
        ('{"id": "m2"}', "line 3: .*sort"),
        (json.dumps({**GOOD, "id": "m2", "sort": "thought"}), "line 3: sort"),
        (json.dumps({**GOOD, "id": "m2", "text": " "}), "line 3: 'text' must have 1 to"),
        (json.dumps({**GOOD, "id": "m2", "at": -1}), "line 3: at"),
        (json.dumps({**GOOD, "id": "m2", "at": "today"}), "line 3: at"),
        (json.dumps({**GOOD, "id": "m2", "at": 1e12}), "line 3: at must be at most"),
        (json.dumps({**GOOD, "id": "m2", "at": 10**400}), "line 3: at must be at most"),
        ("[" * 100_000, "line 3: not JSON"),
        (json.dumps({**GOOD, "id": "o2"}), "line 3: the id of a fact must begin with 'm'"),
        (json.dumps(GOOD), "line 3: 'm1' is already in line 1"),
        (json.dumps({**GOOD, "id": "m2", "used_by": ["m9"]}), "line 3: 'm2' refers to 'm9'"),
        (json.dumps({**GOOD, "id": "r2", "sort": "reflection", "rests_on": ["o9"]}), "line 3: 'r2' refers"),
        (json.dumps({**GOOD, "id": "r2", "sort": "reflection", "rests_on": ["m1"]}), "cannot refer to 'm1'"),
        (json.dumps({**GOOD, "id": "r2", "sort": "reflection", "rests_on": ["r2"]}), "cannot refer to 'r2'"),
        (json.dumps({**GOOD, "id": "m2", "colour": 1}), "line 3: .*colour"),
        (json.dumps({**GOOD, "id": "m2", "text": "\ud800"}), "line 3: it has characters that cannot be"),
        (json.dumps({**GOOD, "id": "m2", "used_by": ["m2"]}), "line 3: 'm2' cannot refer to 'm2'"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_imported(database: Database, bad: str, problem: str) -> None:
    with pytest.raises(PersonError, match=problem):
        import_lines(database, [json.dumps(GOOD), "", bad])

    assert MemoryCatalog(database).items(9) == []


def test_a_line_that_does_not_say_where_it_came_from_counts_as_the_worst(database: Database) -> None:
    import_lines(database, [json.dumps(GOOD)])

    (item,) = MemoryCatalog(database).items(9)
    assert (item.label.untrusted, item.label.private, item.made_by) == (True, True, "import")
    assert item.at == 1.5


def test_an_untrusted_line_replaces_nothing_that_the_person_said(database: Database) -> None:
    memories = MemoryStore(database)
    mine = memories.add("My IBAN is DE1", Origin("s", "t", CLEAN))
    theirs = [
        {**GOOD, "text": "My IBAN is DE1", "used_by": ["m2"], "untrusted": False},
        {**GOOD, "id": "m2", "text": "My IBAN is EVIL"},
        {**GOOD, "id": "m3", "text": "My seat is 7", "used_by": ["m4"]},
        {**GOOD, "id": "m4", "text": "My seat is 8"},
    ]

    assert import_lines(database, map(json.dumps, theirs)) == Imported(3, 1)

    assert memories.get(mine.id) == mine
    assert [row.text for row in memories.latest(9)] == ["My seat is 8", "My IBAN is EVIL", "My IBAN is DE1"]


def test_a_file_is_believed_only_if_the_person_says_so(database: Database, tmp_path: Path) -> None:
    fill(database)
    other = Database(tmp_path / "other.db")
    lines = list(export_lines(MemoryCatalog(database)))

    import_lines(other, lines)
    doubted = [item for item in MemoryCatalog(other).items(99) if item.text.startswith("My seat")]
    assert [(item.label, item.made_by) for item in doubted] == [
        (Label(untrusted=True, sources=("an imported file",)), "import")
    ] * 2

    import_lines(other, lines, mine=True)
    kept = {item.text: item.label.untrusted for item in MemoryCatalog(other).items(99)}
    assert kept == {item.text: item.label.untrusted for item in MemoryCatalog(database).items(99)}
    other.close()


def test_a_file_changes_nothing_about_rows_that_it_only_repeats(database: Database) -> None:
    memories, observations = MemoryStore(database), ObservationStore(database)
    for text in ("I like tea", "I live in Oslo"):
        memories.add(text, Origin("s", "t", CLEAN))
    observations.add_observation("planted a tree", Origin("s", "t", CLEAN))
    before = memories.latest(9)
    theirs = [
        {**GOOD, "text": "I like tea", "used_by": ["m2"], "untrusted": False},
        {**GOOD, "id": "m2", "text": "I live in Oslo", "untrusted": False},
        {**GOOD, "id": "o1", "sort": "observation", "text": "planted a tree"},
        {**GOOD, "id": "r1", "sort": "reflection", "text": "sells trees", "rests_on": ["o1"]},
    ]

    import_lines(database, map(json.dumps, theirs))

    assert memories.latest(9) == before
    assert len(observations.uncovered(untrusted=False)) == 1


def test_a_file_links_its_rows_with_no_turn_of_the_person(database: Database) -> None:
    journal, observations = Journal(database), ObservationStore(database)
    journal.append(TurnStarted(Stamp("s", "t", 1, "user", "", 1.0), "I planted a tree"))
    observations.add_observation("planted a tree", Origin("s", "t", CLEAN))
    line = json.dumps({**GOOD, "session": "s", "turn": "t"})

    import_lines(database, [line])
    done = Forgetting(database).forget("m1")

    assert (done.with_it, done.still_said) == ((), False)
    assert len(observations.observations(9)) == 1
