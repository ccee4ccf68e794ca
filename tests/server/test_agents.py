"""Agents, tools, prompts and routes over HTTP."""

from pathlib import Path

import sestet
from tests.server.served import serving


@sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
async def nobody_owns_this() -> str:
    """Do something."""
    return ""


async def test_the_tree_has_every_agent_with_its_prefixes_and_tools(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(served.new_token("read")) as client:
        tree = (await client.get("/api/agents")).json()
        root = served.app.root

    assert tree["root"]["name"] == root.name
    assert [each["name"] for each in tree["root"]["sub_agents"]] == [each.name for each in root.sub_agents]
    operator = next(each for each in tree["root"]["sub_agents"] if each["name"] == "operator")
    assert "exec" in operator["prefixes"] or "exec_" in operator["prefixes"]
    assert any(tool["name"] == "fs_read" for tool in operator["tools"])


async def test_a_tool_without_an_owner_is_listed_apart(tmp_path: Path) -> None:
    async with serving(tmp_path, tools=[nobody_owns_this]) as served, served.client() as client:
        every = (await client.get("/api/tools")).json()["tools"]
        unmatched = (await client.get("/api/tools", params={"unmatched": "true"})).json()["tools"]

    assert {tool["name"]: tool["owner"] for tool in every}["fs_read"] == "operator"
    assert [(tool["name"], tool["owner"]) for tool in unmatched] == [("nobody_owns_this", None)]


async def test_the_prompt_of_an_agent_is_the_one_that_its_model_gets(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client() as client:
        shown = (await client.get("/api/agents/operator/prompt")).json()
        unknown = await client.get("/api/agents/nobody/prompt")
        operator = served.app.root.sub_agent("operator")

    assert operator is not None
    assert shown == {"agent": "operator", "prompt": operator.instruction}
    assert unknown.status_code == 404


async def test_a_request_is_routed_with_its_reasons(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client() as client:
        route = (await client.get("/api/route", params={"text": "list the files in this folder"})).json()
        empty = await client.get("/api/route", params={"text": " "})

    assert route["agent"] == "operator"
    assert route["evidence"]
    assert empty.status_code == 400
