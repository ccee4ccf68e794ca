"""A change of a file that changes nothing is not told as one."""

from pathlib import Path

import pytest

import sestet
from sestet.core.event import TurnFinished
from sestet.models.scripted import ScriptedModel
from tests.runtime.transcript import transfer

WRITE = sestet.ToolCall("fs_write", {"path": "todo.txt", "text": "milk\n"})


async def test_a_file_that_already_has_the_text_is_not_told_as_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    turn = [transfer("operator", "write it", reply=True), WRITE, "done"]
    model = ScriptedModel([*turn, *turn])
    async with sestet.open({}, model=model, home=tmp_path / "home") as app:
        ends: list[TurnFinished] = []
        for _ in range(2):
            async for event in app.run_turn("s", "write milk into todo.txt"):
                if isinstance(event, TurnFinished):
                    ends.append(event)

    assert [end.effects.changed for end in ends if end.effects] == [("todo.txt",), ()]
