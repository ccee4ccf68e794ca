"""The assistant is closed in the middle of something: one clear error, and the turn can be resumed."""

import asyncio
import gc
import sqlite3
from pathlib import Path

import pytest

from sestet.core.errors import StorageError
from sestet.core.event import Event, ToolCalled
from sestet.storage.database import FILE_NAME
from tests.faults.opened import TURNS_ALONE, Home, read_all, read_into
from tests.faults.test_given_up import TOOLS

ROUNDS = 30


def heard_complaints() -> list[dict[str, object]]:
    """What asyncio would print about errors that nobody has read."""
    found: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: found.append(context))
    return found


async def go_round() -> None:
    for _ in range(ROUNDS):
        await asyncio.sleep(0)


@pytest.mark.parametrize("locked", [False, True])
@pytest.mark.parametrize(
    "plan", ["operator: exec_endless a", "operator: exec_stubborn a | operator: exec_endless b"]
)
async def test_closing_during_an_effect_prints_no_complaint_and_the_turn_can_be_resumed(
    tmp_path: Path, plan: str, locked: bool
) -> None:
    complaints = heard_complaints()
    home = Home(tmp_path, TURNS_ALONE, TOOLS)
    seen: list[Event] = []
    other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    async with home.open() as app:
        reading = asyncio.create_task(read_into(seen, app.run_turn("s1", plan)))
        while not any(isinstance(event, ToolCalled) for event in seen):
            await go_round()
        if locked:
            # The end of the turn waits for the lock when the assistant is closed.
            other.execute("BEGIN IMMEDIATE")
            app.cancel_turn("s1")
            await go_round()
    with pytest.raises(StorageError):
        await reading
    other.close()
    del reading
    await go_round()
    gc.collect()

    assert complaints == []
    async with home.open() as app:
        assert [row.id for row in app.unfinished_turns()] == [seen[0].stamp.turn_id]
        await app.abandon_turn(seen[0].stamp.turn_id)
        assert await read_all(app.run_turn("s1", "hello"))
