"""A call that changes nothing is not told as a change."""

from pathlib import Path

import pytest

import sestet
from sestet.core.event import TurnFinished
from sestet.models.scripted import ScriptedModel
from tests.runtime.transcript import transfer

WRITE = sestet.ToolCall("fs_write", {"path": "todo.txt", "text": "milk\n"})
REMEMBER = sestet.ToolCall("memory_remember", {"fact": "I like tea"})


@pytest.mark.parametrize(("agent", "call"), [("operator", WRITE), ("chronicler", REMEMBER)])
async def test_what_is_there_already_is_not_told_as_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str, call: sestet.ToolCall
) -> None:
    monkeypatch.chdir(tmp_path)
    turn = [transfer(agent, "do it", reply=True), call, "done"]
    model = ScriptedModel([*turn, *turn])
    async with sestet.open({}, model=model, home=tmp_path / "home") as app:
        ends: list[TurnFinished] = []
        for _ in range(2):
            async for event in app.run_turn("s", "write milk into todo.txt, and remember that I like tea"):
                if isinstance(event, TurnFinished):
                    ends.append(event)

    assert [len(end.effects.changed) for end in ends if end.effects] == [1, 0]
