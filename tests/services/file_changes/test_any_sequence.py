"""Any sequence of changes, then undo, gives the tree back byte for byte; undo of undo repeats them."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sestet.core.errors import ToolError
from sestet.core.record import replace
from sestet.services.file_changes.service import Wish
from tests.services.file_changes.wishes import append, copy, delete, edit, make_directory, move, write
from tests.services.file_changes.world import World

Seed: TypeAlias = tuple[str, str, bytes, int]
NAMES = ("a", "b.txt", "c", "weird\udcff")
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
TEXTS = st.sampled_from(["", "one\n", "one\ntwo\n", "no end", "tä\n"])
CONTENTS = st.sampled_from([b"", b"one\n", b"one\r\ntwo\r\n", b"caf\xe9 one\n", b"\0binary"])


def _edit(path: str, new: str) -> Wish:
    return edit(path, "one", new)


WISHES = st.one_of(
    st.builds(write, PATHS, TEXTS),
    st.builds(_edit, PATHS, TEXTS),
    st.builds(append, PATHS, TEXTS),
    st.builds(make_directory, PATHS),
    st.builds(move, PATHS, PATHS),
    st.builds(copy, PATHS, PATHS),
    st.builds(delete, PATHS),
)
SEEDS = st.lists(
    st.tuples(
        PATHS,
        st.sampled_from(["file", "directory", "link"]),
        CONTENTS,
        st.sampled_from([0o644, 0o600, 0o755]),
    )
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    world = World(tmp_path_factory.mktemp("world"))
    yield world
    world.close()


@pytest.mark.slow
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SEEDS, st.lists(WISHES, min_size=1, max_size=8))
def test_any_sequence_of_changes_is_undone_byte_for_byte(
    world: World, seeds: list[Seed], wishes: list[Wish]
) -> None:
    shutil.rmtree(world.work)
    world.work.mkdir()
    _fill(world.work, seeds)
    asyncio.run(_change_and_undo(world, wishes))


async def _change_and_undo(world: World, wishes: list[Wish]) -> None:
    before, call = world.tree(), world.call()
    turn = f"turn {call.call_id}"
    for wish in wishes:
        with suppress(ToolError):
            await world.changes.make(replace(call, turn_id=turn), wish)
    after = world.tree()
    number = world.store.set_of_turn(turn)
    assert number is not None or after == before
    for set_id, expected in ((number, before), (None, after), (number, before)):
        if number is None:
            break
        newest = world.store.sets()[0].id
        await world.undo.run(await world.undo.plan(set_id or newest))
        assert world.tree() == expected
    assert world.tree() == before
    assert not [name for name in before | after if ".sestet-" in name]


def _fill(work: Path, seeds: list[Seed]) -> None:
    for path, kind, content, mode in seeds:
        place = work / path
        if (
            os.path.lexists(place)
            or not place.parent.is_dir()
            or not place.parent.resolve().is_relative_to(work)
        ):
            continue
        if kind == "link":
            place.symlink_to(os.fsdecode(content.replace(b"\0", b"x").strip()) or "a")
        elif kind == "directory":
            place.mkdir()
            place.chmod(mode | 0o700)
        else:
            place.write_bytes(content)
            place.chmod(mode)
