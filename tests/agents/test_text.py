"""The text that tools write for the person."""

from datetime import datetime

from sestet.agents._shared.text import day


def test_a_day_is_written_as_it_is_where_the_person_is() -> None:
    assert day(datetime(2026, 11, 15, 0, 0, 1).timestamp()) == "2026-11-15"
    assert day(datetime(2026, 11, 15, 23, 59, 59).timestamp()) == "2026-11-15"
