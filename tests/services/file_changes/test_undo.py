"""Undo: all of a turn or nothing, also after a crash; and what is kept how long."""

import asyncio
import os
import shutil
import stat
from pathlib import Path

import pytest

from sestet.core.errors import PersonError, ToolError
from sestet.services.file_changes.apply import Applier
from sestet.services.file_changes.plan import Planner
from sestet.services.file_changes.undo import UndoPlan
from sestet.services.own_files import OwnFiles
from sestet.services.workspace import Workspace
from sestet.storage import file_changes
from sestet.storage.locks import SessionLocks
from tests.services.file_changes.wishes import copy, delete, edit, make_directory, move, write
from tests.services.file_changes.world import World


@pytest.fixture
def filled(world: World) -> World:
    (world.work / "a.txt").write_text("one\n")
    (world.work / "docs").mkdir()
    (world.work / "docs" / "b.txt").write_text("two\n")
    (world.work / "docs" / "b.txt").chmod(0o640)
    return world


def plan_of(world: World, set_id: int | None = None) -> UndoPlan:
    return asyncio.run(world.undo.plan(set_id))


def test_undo_takes_back_the_last_turn_and_then_the_one_before(filled: World) -> None:
    before = filled.tree()
    filled.make(edit("a.txt", "one", "1"), "t1")
    between = filled.tree()
    filled.make(move("docs", "papers"), "t2")
    filled.make(edit("papers/b.txt", "two", "2"), "t2")
    filled.make(write("papers/new.txt", "new"), "t2")

    filled.take_back()
    assert filled.tree() == between
    filled.take_back()
    assert filled.tree() == before
    with pytest.raises(PersonError, match="nothing to undo"):
        filled.take_back()


def test_the_plan_names_each_file_and_what_is_done_with_it(filled: World) -> None:
    filled.make(edit("a.txt", "one", "1"))
    filled.make(delete("docs/b.txt"))
    filled.make(write("new.txt", "new"))
    filled.make(move("a.txt", "c.txt"))

    steps = plan_of(filled).steps

    assert [(step.action, step.path) for step in steps] == [
        ("move_back", "c.txt"),
        ("delete", "new.txt"),
        ("bring_back", "docs/b.txt"),
        ("put_back", "a.txt"),
    ]
    assert steps[0].to == f"{filled.work}/a.txt"


def test_a_file_that_changed_since_keeps_everything_as_it_is(filled: World) -> None:
    filled.make(edit("a.txt", "one", "1"))
    filled.make(delete("docs/b.txt"))
    (filled.work / "a.txt").write_text("my own work\n")
    now = filled.tree()

    assert plan_of(filled).changed_since == (f"{filled.work}/a.txt",)
    with pytest.raises(PersonError, match=r"'.*a\.txt' has changed since; nothing was undone"):
        filled.take_back()
    assert filled.tree() == now


def test_a_file_in_the_way_keeps_everything_as_it_is(filled: World) -> None:
    filled.make(delete("a.txt"))
    filled.make(make_directory("new"))
    (filled.work / "new" / "mine.txt").write_text("mine")
    now = filled.tree()

    with pytest.raises(PersonError, match="'new' holds files that were not there before; nothing was undone"):
        filled.take_back()
    assert filled.tree() == now
    assert [row.undoes for row in filled.store.sets()] == [0]


def test_an_undo_can_be_undone_and_the_turn_undone_again(filled: World) -> None:
    before = filled.tree()
    filled.make(delete("docs"))
    after = filled.tree()
    filled.take_back()

    (undo,) = filled.undo.sets()
    filled.take_back(undo.row.id)

    assert filled.tree() == after
    with pytest.raises(PersonError, match="are undone already"):
        filled.take_back(undo.row.id)
    filled.take_back()
    assert filled.tree() == before


def test_undos_of_undos_alternate(filled: World) -> None:
    before = filled.tree()
    filled.make(delete("docs"))
    after = filled.tree()
    (turn,) = filled.store.sets()

    for number in range(6):
        newest = filled.store.sets()[0]
        filled.take_back(newest.id)
        assert filled.tree() == (after if number % 2 else before)
        (row,) = [row for row in filled.store.sets() if row.id == turn.id]
        assert row.undone == (number % 2 == 0)
        assert len(filled.undo.sets()) == 1 + number // 2 + (number % 2)


def test_undo_waits_for_the_turn_that_runs_in_the_session(filled: World) -> None:
    filled.make(delete("docs"))

    async def work() -> None:
        locks = SessionLocks.beside(filled.database.path)
        async with locks.hold("s1"):
            with pytest.raises(PersonError, match="a turn is running in the session 's1'"):
                await filled.undo.plan()
            plan = await filled.undo.plan(session_id="s1", in_turn="t2")
            await filled.undo.run(plan, in_turn="t2")
        locks.close()

    asyncio.run(work())
    assert "docs" in filled.tree()


def test_a_turn_does_not_undo_its_own_changes(filled: World) -> None:
    filled.make(delete("docs"), "t1")

    with pytest.raises(PersonError, match="nothing to undo in this session"):
        asyncio.run(filled.undo.plan(session_id="s1", in_turn="t1"))


def test_a_deleted_file_comes_back_with_its_mode(filled: World) -> None:
    filled.make(delete("docs"))
    filled.take_back()

    assert stat.S_IMODE((filled.work / "docs" / "b.txt").stat().st_mode) == 0o640


def test_kept_contents_are_private(filled: World) -> None:
    filled.make(delete("a.txt"))

    kept = filled.store.kept.directory
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert [stat.S_IMODE(file.stat().st_mode) for file in kept.iterdir()] == [0o600]


class Killed(BaseException):
    """The process dies here, as far as the files and the database can tell."""


def cut_off(world: World, wish: object, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a change, and die after some of its entries; what died takes nothing back."""
    made = 0
    really = Applier._make  # pyright: ignore[reportPrivateUsage] - the one step that is made again and again

    def make(self: Applier, *given: object) -> None:
        nonlocal made
        if made == after:
            raise Killed
        made += 1
        really(self, *given)  # pyright: ignore[reportArgumentType] - passed on as they came

    def finish(self: object, number: int) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Applier, "_make", make)
        patch.setattr(file_changes.FileChangeStore, "finish", finish)
        with pytest.raises(Killed):
            world.make(wish)  # pyright: ignore[reportArgumentType] - a wish


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_a_change_that_was_cut_off_is_taken_back_or_found_done(
    filled: World, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (filled.work / "docs" / "c.txt").write_text("three\n")
    before = filled.tree()
    cut_off(filled, delete("docs"), after, monkeypatch)
    call = filled.call()
    interrupted = filled.store.of_call("t1", "d1c1")
    assert interrupted is not None

    found = asyncio.run(filled.changes.result_of(type(call)("s1", "t1", "operator", "d1c1", call.label)))

    assert (found is None) == (after < 3)
    assert filled.tree() == ({"a.txt": before["a.txt"]} if after == 3 else before)
    assert bool(filled.store.sets()) == (after == 3)


@pytest.mark.parametrize("after", [0, 1, 2])
def test_undo_settles_a_change_that_was_cut_off(
    filled: World, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = filled.tree()
    filled.make(edit("a.txt", "one", "1"))
    cut_off(filled, copy("docs", "papers"), after, monkeypatch)

    filled.take_back()

    assert filled.tree() == before


def test_an_undo_that_was_cut_off_can_be_done_again(filled: World, monkeypatch: pytest.MonkeyPatch) -> None:
    before = filled.tree()
    filled.make(edit("a.txt", "one", "1"))
    filled.make(delete("docs"))
    really, applied = Applier.apply, 0

    def apply(self: Applier, *given: object) -> None:
        nonlocal applied
        if applied:
            raise Killed
        applied += 1
        really(self, *given)  # pyright: ignore[reportArgumentType] - passed on as they came

    with monkeypatch.context() as patch:
        patch.setattr(Applier, "apply", apply)
        with pytest.raises(Killed):
            filled.take_back()
    assert filled.tree() != before

    filled.take_back()

    assert filled.tree() == before
    assert [row.undone for row in filled.store.sets()] == [False, True]


def test_the_oldest_changes_are_dropped_beyond_the_limits(
    filled: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_changes, "MOST_BYTES", 25_000)
    for number in range(4):
        (filled.work / f"{number}.txt").write_bytes(bytes([48 + number]) * 10_000)
        filled.make(delete(f"{number}.txt"), f"t{number}")

    done = [each.done for each in filled.undo.sets()]

    assert done == [(f"Deleted {number}.txt; 'sestet undo' brings it back.",) for number in (3, 2)]
    assert len(filled.store.kept.all()) == 2


def test_changes_older_than_the_limit_are_dropped(filled: World) -> None:
    filled.make(delete("a.txt"), "old")
    filled.database.execute("UPDATE change_sets SET at = at - 31 * 86400")

    filled.make(delete("docs"), "new")

    assert [row.turn_id for row in filled.store.sets()] == ["new"]


def test_a_kept_content_that_is_damaged_stops_undo_before_it_changes_anything(filled: World) -> None:
    filled.make(delete("docs"))
    (kept,) = filled.store.kept.directory.iterdir()
    kept.write_text("damaged")
    now = filled.tree()

    with pytest.raises(PersonError, match="damaged; nothing was undone"):
        filled.take_back()
    assert filled.tree() == now


def test_a_kept_content_that_is_missing_stops_undo_before_it_changes_anything(filled: World) -> None:
    filled.make(delete("docs"))
    filled.make(delete("a.txt"))
    shutil.rmtree(filled.store.kept.directory)
    now = filled.tree()

    with pytest.raises(PersonError, match=r"no longer has .* nothing was undone"):
        filled.take_back()
    assert filled.tree() == now


def test_files_of_a_further_root_are_changed_and_brought_back(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "far.txt").write_text("far")
    world = World(tmp_path, other)
    (world.work / "near.txt").write_text("near")

    assert world.make(copy("near.txt", str(other))) == f"Copied near.txt to {other}/near.txt."
    world.make(delete(f"{other}/far.txt"))
    assert os.listdir(other) == ["near.txt"]
    world.take_back()

    assert os.listdir(other) == ["far.txt"]
    with pytest.raises(ToolError, match="outside"):
        world.make(write(str(tmp_path / "third.txt")))
    world.close()


def test_a_file_that_changed_after_it_was_planned_is_not_replaced(filled: World) -> None:
    plan = Planner(Workspace((filled.work,), OwnFiles())).write("a.txt", "new")
    (filled.work / "a.txt").write_text("my own work")

    with pytest.raises(ToolError, match="has changed since"):
        Applier(OwnFiles(), filled.store.kept).apply(plan.change, plan.contents)

    assert (filled.work / "a.txt").read_text() == "my own work"


def test_a_recorded_change_does_not_touch_sestets_own_files(filled: World) -> None:
    """A directory may have become Sestet's own since."""
    plan = Planner(Workspace((filled.work,), OwnFiles())).delete("docs")
    applier = Applier(OwnFiles((filled.work / "docs",)), filled.store.kept)
    before = filled.tree()

    with pytest.raises(ToolError, match="belongs to Sestet itself"):
        applier.apply(plan.change)

    assert filled.tree() == before
