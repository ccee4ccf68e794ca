"""The bench of growth: its data, one of its turns, and its table."""

from pathlib import Path

import pytest

from bench.growth.__main__ import BARS, draw_growth
from bench.growth.data import Words, fill_memories
from bench.growth.figures import open_and_first_turn
from bench.growth.large import fill_file, forget_words
from sestet.storage.database import Database


def test_each_run_has_the_same_words() -> None:
    assert [Words().fact() for _ in range(3)] == [Words().fact()] * 3
    assert Words(seed=2).question() != Words(seed=3).question()


async def test_a_filled_file_can_be_talked_with(tmp_path: Path) -> None:
    fill_memories(tmp_path / "sestet.db", 50)
    database = Database(tmp_path / "sestet.db")
    counts = "SELECT (SELECT count(*) FROM memories), (SELECT count(*) FROM vectors)"
    assert database.execute(counts).only() == (50, 50)
    database.close()
    assert (await open_and_first_turn(tmp_path))["first_turn_ms"] > 0


@pytest.mark.slow
async def test_words_are_forgotten_in_a_filled_journal(tmp_path: Path) -> None:
    fill_file(tmp_path / "sestet.db", 2_000)
    raw = await forget_words(tmp_path)
    assert raw["events"] == 20
    database = Database(tmp_path / "sestet.db")
    assert not database.execute("SELECT 1 FROM events WHERE data LIKE '%zanzibar7731%'")
    database.close()


def test_the_table_says_which_bars_are_missed() -> None:
    found: dict[str, float] = {bar.key: bar.most for bar in BARS} | {"forget_wait_ms": 101.0}
    lines = draw_growth(found).splitlines()
    assert [line for line in lines if "**no**" in line] == lines[-1:]
    assert len(draw_growth({"session_growth": 1.0}).splitlines()) == 3
