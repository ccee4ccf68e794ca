"""Observations, and reflections that sum them up."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sestet.core.errors import StorageError
from sestet.core.label import CLEAN, Origin
from sestet.storage.database import Database
from sestet.storage.observations import ObservationStore, ReflectionSources

ORIGIN = Origin("s", "t", CLEAN)


@pytest.fixture
def observations(tmp_path: Path) -> Iterator[ObservationStore]:
    database = Database(tmp_path / "sestet.db")
    yield ObservationStore(database)
    database.close()


def test_observations_come_newest_first_from_all_sessions_or_one(observations: ObservationStore) -> None:
    one, two, three = (
        observations.add_observation(f"in {session}", Origin(session, "t", CLEAN))
        for session in ("s1", "s2", "s1")
    )

    assert observations.observations(10) == [three, two, one]
    assert observations.observations(10, "s1") == [three, one]
    assert observations.observations(1) == [three]
    assert observations.observations(10, "s3") == []


def test_a_reflection_keeps_its_level_and_what_it_covers(observations: ObservationStore) -> None:
    ids = [
        observations.add_observation(text, Origin("s1", "t1", CLEAN)).id for text in ("one", "two", "three")
    ]
    low = observations.add_reflection(
        "one and two", Origin("s1", "t2", CLEAN), 1, ReflectionSources(ids[1::-1])
    )
    high = observations.add_reflection(
        "all", Origin("s2", "t3", CLEAN), 2, ReflectionSources(reflections=[low.id])
    )

    assert observations.reflections(10) == [high, low]
    assert observations.reflections(10, "s1") == [low]
    assert (low.level, low.covers) == (1, (ids[0], ids[1]))
    assert (high.level, high.covers, high.gathers) == (2, (), (low.id,))
    assert len(observations.observations(10)) == 3


def test_a_reflection_on_something_that_was_not_observed_is_not_stored(
    observations: ObservationStore,
) -> None:
    known = observations.add_observation("one", ORIGIN).id

    with pytest.raises(StorageError):
        observations.add_reflection("guessed", ORIGIN, 1, ReflectionSources([known, known + 1]))

    assert observations.reflections(10) == []
