"""A remote agent declines as every specialist does, however it writes the marker."""

from pathlib import Path

import pytest

import sestet
from sestet.core.event import DelegationFinished, TurnFinished
from tests.remote.server import Agent, running_agent

ALLOWED = {"allow": [{"tool": "remote_stranger", "target": "stranger", "private": True}]}


@pytest.mark.parametrize(
    "answer", ["\ufeff\uff3bREJECT\uff3d not mine", "I am sorry.\n\n- [REJECT] not mine"]
)
async def test_a_rejection_in_disguise_of_a_remote_agent_is_typed_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    arguments = {"agent_name": "stranger", "request": "What now?", "reply": True}
    model = sestet.ScriptedModel([sestet.ToolCall("transfer_to_agent", arguments), "Nobody can."])

    async with running_agent(Agent(answer)) as server:
        a2a = {"enabled": True, "remoteAgents": [{"name": "stranger", "url": server.url}]}
        settings = {"a2a": a2a, "policy": ALLOWED}
        async with sestet.open(settings, home=tmp_path, model=model) as app:
            events = [event async for event in app.run_turn("s1", "ask the stranger")]

    (finished,) = (event for event in events if isinstance(event, DelegationFinished))
    assert (finished.outcome, finished.text, finished.cause) == ("rejected", "", "not mine")
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].text == "Nobody can."
