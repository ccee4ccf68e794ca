"""Model calls over HTTP: those of a turn, and what a model was shown."""

from pathlib import Path

import sestet
from tests.server.served import serving
from tests.server.test_conversations import to_operator
from tests.server.test_sessions import talk


@sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
async def exec_look() -> str:
    """Look."""
    return "a result"


REPLIES = (to_operator("look"), sestet.ToolCall("exec_look", {}), "Seen.")


async def test_the_calls_of_a_turn_are_listed_and_each_shows_what_its_model_read(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, *REPLIES, tools=(exec_look,)) as served,
        served.client(served.new_token("read")) as client,
    ):
        turn = await talk(served, "s1", "look around")
        listed = (await client.get(f"/api/turns/{turn}/calls")).json()["calls"]
        last = (await client.get(f"/api/turns/{turn}/calls/{listed[-1]['seq']}")).json()

    assert [(call["agent"], call["delegation"], call["calls"]) for call in listed] == [
        ("orchestrator", "", ["operator"]),
        ("operator", "d1", ["exec_look"]),
        ("operator", "d1", []),
    ]
    assert last["call"] == listed[-1]
    assert list(last["tokens"]) == ["instruction", "tools", "request", "replies", "results"]
    shown = last["sections"][-1]
    assert (shown["name"], shown["role"], shown["tool"], shown["text"]) == (
        "results",
        "tool",
        "exec_look",
        "a result",
    )
    assert [each["name"] for each in last["not_shown"]] == ["message"]


async def test_a_call_or_turn_that_is_not_there_is_told_as_such(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!") as served, served.client() as client:
        turn = await talk(served, "s1", "hi")
        wrong = [
            await client.get(f"/api/turns/{path}") for path in ("x/calls", "x/calls/1", f"{turn}/calls/99")
        ]

    assert [(each.status_code, each.json()["error"]["code"]) for each in wrong] == [(404, "not_found")] * 3


async def test_a_call_of_an_earlier_version_is_listed_and_says_that_nothing_is_recorded(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, "Hello!") as served, served.client() as client:
        turn = await talk(served, "s1", "hi")
        served.app.database.execute(
            "UPDATE events SET data = json_remove(data, '$.seen') WHERE kind = 'model_called'"
        )
        (call,) = (await client.get(f"/api/turns/{turn}/calls")).json()["calls"]
        shown = await client.get(f"/api/turns/{turn}/calls/{call['seq']}")

    assert call["seen"] is False
    assert (shown.status_code, shown.json()["error"]["code"]) == (409, "conflict")


async def test_a_token_for_talking_does_not_read_what_models_were_shown(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!") as served, served.client(served.new_token("chat")) as client:
        turn = await talk(served, "s1", "hi")
        refused = [await client.get(f"/api/turns/{turn}/{path}") for path in ("calls", "calls/2")]

    assert [each.status_code for each in refused] == [403, 403]
