"""The gate of memory: the month, lived through the built-in model, is no worse than these floors."""

from pathlib import Path
from typing import cast

import pytest

from sestet.config import Settings
from sestet.core.errors import PersonError
from sestet.evals.memory import figures, misses, play, play_rows
from sestet.evals.month import read_month, shipped_month

#: The days that the gate lives: every second one has updates, and the last one asks for what it told.
_DAYS = 10


def share(found: object) -> float:
    assert isinstance(found, dict)
    return float(str(cast("dict[str, object]", found)["share"]))


async def test_the_first_days_of_the_month_are_kept_changed_and_answered() -> None:
    month = read_month(shipped_month())
    days = sorted({line.day for line in month})[:_DAYS]
    part = [line for line in month if line.day in days]

    played = await play(Settings(), part)
    found = figures(played, await play_rows(Settings(), part))

    assert share(found["facts stored"]) >= 0.95, misses(played)["not stored"]
    assert share(found["updates that replaced"]) >= 0.83, misses(played)["not replaced"]
    assert found["facts replaced wrongly"] == 0
    assert share(found["answered"]) >= 0.8, misses(played)["not answered"]
    assert share(found["stale first or alone"]) <= 0.05


@pytest.mark.slow
async def test_the_whole_month_is_kept_changed_and_answered() -> None:
    month = read_month(shipped_month())

    played = await play(Settings(), month)
    found = figures(played, await play_rows(Settings(), month))

    assert share(found["facts stored"]) >= 0.95
    assert share(found["updates that replaced"]) >= 0.83
    assert share(found["answered"]) >= 0.85
    assert share(found["stale first or alone"]) <= 0.05
    rows = cast("dict[str, object]", found["rows alone"])
    assert share(rows["right row recalled"]) >= 0.95
    assert float(str(rows["unrelated rows, a question"])) <= 1.0
    assert float(str(rows["rows, a question without an answer"])) <= 0.5


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"kind": "sing", "day": "2026-01-01", "say": "la"}', "kind: 'sing' is none of"),
        ('{"kind": "tell", "day": "2026-01-01", "say": "I am here"}', "id: is missing"),
        ('{"kind": "chat", "day": "May", "say": "hi"}', "day: 'May' is no day"),
        (
            '{"kind": "ask", "day": "2026-01-01", "say": "who?", "asks": "direct", "answer": ["x"]}',
            "no line above tells",
        ),
    ],
)
def test_a_bad_line_of_a_month_is_named(tmp_path: Path, line: str, problem: str) -> None:
    file = tmp_path / "month.jsonl"
    file.write_text(line, encoding="utf-8")

    with pytest.raises(PersonError, match="line 1") as raised:
        read_month(file)
    assert problem in str(raised.value)
