"""The journal has the intent of a call before the call has an effect."""

from pathlib import Path
from typing import Literal

import pytest

import sestet
from sestet.core.event import ToolCalled
from sestet.core.tool import CallInfo
from tests.runtime.transcript import transfer


@pytest.mark.parametrize("recovery", ["keyed", "probe", "unsafe"])
async def test_a_tool_with_an_effect_finds_its_own_intent_in_the_journal(
    tmp_path: Path, recovery: Literal["keyed", "probe", "unsafe"]
) -> None:
    found: list[str] = []

    async def nothing_happened(call: CallInfo, /) -> None:
        assert call

    @sestet.tool(risk="safe", effect="local", reads=(), recovery=recovery, probe=nothing_happened)
    async def exec_look(call: CallInfo, /) -> str:
        """Read the journal at the moment of the effect."""
        written = app.journal.events_of(call.turn_id)
        found.extend(event.call.id for event in written if isinstance(event, ToolCalled))
        return "seen"

    script: dict[str, list[sestet.ToolCall | str]] = {
        "orchestrator": [transfer("operator", "look", reply=True)],
        "operator": [sestet.ToolCall("exec_look", {}), "done"],
    }
    async with sestet.open({}, model=sestet.ScriptedModel(script), home=tmp_path, tools=[exec_look]) as app:
        async for _ in app.run_turn("s1", "look"):
            pass

    assert found == ["d1c1"]
