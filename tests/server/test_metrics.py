"""The figures of the server count what its turns did, and hold nothing that was said."""

from pathlib import Path

import sestet
from tests.server.served import serving
from tests.server.test_conversations import read_turn, send, to_operator


@sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
async def exec_look(where: str) -> str:
    """Look somewhere."""
    return f"nothing in {where}"


async def test_turns_models_and_tools_are_counted_without_content(tmp_path: Path) -> None:
    replies = (to_operator("look"), sestet.ToolCall("exec_look", {"where": "the-cellar"}), "Nothing there.")
    async with serving(tmp_path, *replies, tools=[exec_look]) as served, served.client() as client:
        accepted = await send(served, "s1", "look into the-cellar")
        await read_turn(served, accepted["turn"])
        page = await client.get("/metrics")

    lines = page.text.splitlines()
    assert page.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'sestet_turns_total{outcome="finished"} 1' in lines
    assert 'sestet_delegations_total{agent="operator",outcome="ok"} 1' in lines
    assert 'sestet_tool_calls_total{tool="exec_look",outcome="ok"} 1' in lines
    assert 'sestet_model_calls_total{agent="operator",model="scripted"} 2' in lines
    assert "sestet_turn_seconds_count 1" in lines
    assert "sestet_turns_open 0" in lines
    assert "cellar" not in page.text


async def test_figures_need_a_token_that_may_read(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        for token, status in (("", 401), (served.new_token("chat"), 403), (served.new_token("read"), 200)):
            async with served.client(token) as client:
                assert (await client.get("/metrics")).status_code == status
