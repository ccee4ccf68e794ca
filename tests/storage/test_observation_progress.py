"""Which sessions may have enough to observe."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sestet.core.event import Stamp, TurnSteered
from sestet.storage.database import Database
from sestet.storage.journal import Journal
from sestet.storage.observation_progress import ObservationProgress
from tests.services.memory.conversation import say


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "sestet.db")
    yield database
    database.close()


@pytest.mark.parametrize(("characters", "found"), [(40, ["s1"]), (80, [])])
def test_only_texts_count_not_what_the_journal_writes_around_them(
    database: Database, characters: int, found: list[str]
) -> None:
    say(database, "What is twenty long?", "This is twenty long.")

    assert ObservationProgress(database, Journal(database)).may_have(["s1"], characters) == found


def test_a_long_text_with_a_zero_character_counts_whole(database: Database) -> None:
    say(database, "\0" + "a" * 50)

    assert ObservationProgress(database, Journal(database)).may_have(["s1"], 50) == ["s1"]


def test_words_added_to_a_turn_are_observed_with_its_message(database: Database) -> None:
    say(database, "List the books.", "Two books.")
    journal = Journal(database)
    (turn_id,) = database.execute("SELECT id FROM turns").only()
    stamp = Stamp("s1", turn_id, journal.last_seq(turn_id) + 1, "user", "", 0.0)
    journal.append(TurnSteered(stamp, "Only the German ones.", mine=False))

    found = ObservationProgress(database, journal).unobserved("s1", 1)
    assert found is not None
    (turn,) = found.turns
    assert turn.words == "List the books.\n\nOnly the German ones."
    assert (turn.mine, turn.label.untrusted) == (False, True)


def test_a_session_with_a_row_that_is_no_json_may_have_enough(database: Database) -> None:
    say(database, "short")
    database.execute("UPDATE events SET data = ? WHERE kind = 'turn_finished'", ("{" + "x" * 60,))

    assert ObservationProgress(database, Journal(database)).may_have(["s1"], 50) == ["s1"]
