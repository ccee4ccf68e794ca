"""A process that is killed while it changes files: the resumed turn does it once, and loses nothing."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sestet
from sestet.core.event import Event
from sestet.data import open_data
from sestet.services.file_changes import apply
from sestet.services.file_changes.apply import Applier
from sestet.storage.file_changes import FileChangeStore
from tests.services.file_changes.world import tree

SETTINGS = {"agent": {"multiAgent": False}}
CALLS = {
    "write": sestet.ToolCall("fs_write", {"path": "new/todo.txt", "text": "one\ntwo\n"}),
    "copy": sestet.ToolCall("fs_copy", {"path": "docs", "destination": "copy"}),
    "edit": sestet.ToolCall("fs_edit", {"path": "docs/1.txt", "old": "1", "new": "2"}),
    "append": sestet.ToolCall("fs_append", {"path": "docs/1.txt", "text": "2"}),
    "move": sestet.ToolCall("fs_move", {"path": "docs", "destination": "moved"}),
    "delete": sestet.ToolCall("fs_delete", {"path": "docs"}),
}
#: Where the process dies: before the first step, before a written or moved file gets its name, after one of
#: several steps, and at the end. An edit is one step, a move only gives another name, a deletion writes no
#: file, so these lack some of the points.
POINTS = {
    "write": ("begin", "writing", "half", "end"),
    "copy": ("begin", "writing", "half", "end"),
    "edit": ("begin", "writing", "end"),
    "append": ("begin", "writing", "end"),
    "move": ("writing", "end"),
    "delete": ("begin", "half", "end"),
}


def die() -> None:
    os.kill(os.getpid(), 9)


def arm(point: str) -> None:
    """Make this process die at a point of its first change."""
    made, really = 0, Applier._make  # pyright: ignore[reportPrivateUsage] - one step of a change

    def make(self: Applier, *given: object) -> None:
        nonlocal made
        if made == {"begin": 0, "half": 1}.get(point, -1):
            die()
        made += 1
        really(self, *given)  # pyright: ignore[reportArgumentType] - passed on as they came

    def rename(*given: object) -> None:
        die()

    setattr(Applier, "_make", make)  # noqa: B010 - the name is private
    if point == "writing":
        setattr(apply, "rename_new", rename)  # noqa: B010 - it is imported there
        setattr(apply.os, "rename", rename)  # noqa: B010 - how a file is replaced
    if point == "end":
        FileChangeStore.finish = lambda self, change_id: die()


async def first_process(name: str, point: str) -> None:
    """Ask for the change, approve it if it asks, and die in the middle of it."""
    model = sestet.ScriptedModel([CALLS[name], "Done."])
    async with sestet.open(SETTINGS, model=model, home="../data") as app:
        arm(point)
        async for _ in app.run_turn("s1", "change the files"):
            pass
        for question in app.approvals.pending():
            app.decide(question.id, "approve")
            async for _ in app.resume_turn(question.turn_id):
                pass


async def resume() -> list[Event]:
    async with sestet.open(SETTINGS, model=sestet.ScriptedModel(["Done."]), home="../data") as app:
        (turn,) = app.unfinished_turns()
        return [event async for event in app.resume_turn(turn.id)]


def undo(home: Path) -> None:
    with open_data(sestet.Settings()) as data:

        async def work() -> None:
            await data.undo.run(await data.undo.plan())

        asyncio.run(work())


@pytest.mark.parametrize(("name", "point"), [(name, point) for name in CALLS for point in POINTS[name]])
def test_a_killed_change_is_made_once_and_can_be_undone(
    name: str, point: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    (work / "docs").mkdir(parents=True)
    for number in range(3):
        (work / "docs" / f"{number}.txt").write_text(f"{number}\n")
    monkeypatch.chdir(work)
    monkeypatch.setenv("SESTET_HOME", str(tmp_path / "data"))
    before = tree(work)
    code = (
        "import asyncio\n"
        "from tests.faults.test_killed_file_change import first_process\n"
        f"asyncio.run(first_process({name!r}, {point!r}))"
    )
    root = str(Path(__file__).parents[2])
    killed = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": root}, check=False, capture_output=True
    )
    assert killed.returncode == -9, killed.stderr.decode()

    events = asyncio.run(resume())

    (done,) = [event for event in events if event.kind == "tool_finished"]
    assert done.outcome == "ok", done.text
    after = tree(work)
    assert after != before
    assert not [path for path in after if ".sestet-" in path]
    assert after == expected(name, before)
    undo(tmp_path)
    assert tree(work) == before


def expected(name: str, before: dict[str, tuple[str, int, bytes]]) -> dict[str, tuple[str, int, bytes]]:
    docs = {path: state for path, state in before.items() if path.startswith("docs")}
    match name:
        case "write":
            file, directory = before["docs/0.txt"], before["docs"]
            return {**before, "new": directory, "new/todo.txt": (*file[:2], b"one\ntwo\n")}
        case "copy":
            return {**before, **{f"copy{path[4:]}": state for path, state in docs.items()}}
        case "edit":
            return {**before, "docs/1.txt": (*before["docs/1.txt"][:2], b"2\n")}
        case "append":
            return {**before, "docs/1.txt": (*before["docs/1.txt"][:2], b"1\n2\n")}
        case "move":
            return {f"moved{path[4:]}": state for path, state in docs.items()}
        case _:
            return {}
