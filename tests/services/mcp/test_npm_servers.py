"""Three real MCP servers from npm, driven as a person's settings would."""

from pathlib import Path

import pytest

from sestet.config.mcp_settings import McpServerSettings
from sestet.core.errors import ToolError
from sestet.core.schema import find_problems
from tests.services.mcp.world import World, call

_BIN = Path(__file__).parent / "npm_servers" / "node_modules" / ".bin"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not _BIN.exists(), reason="npm did not install the servers: see scripts/setup.sh"),
]


def server(name: str, *args: str, **env: str) -> McpServerSettings:
    return McpServerSettings(command=str(_BIN / f"mcp-server-{name}"), args=args, env=env, agent="operator")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def test_the_filesystem_server_reads_and_writes_in_its_folder_alone(world: World) -> None:
    (world.work / "tea.md").write_text("green")
    entry = server("filesystem", str(world.work))
    await world.trust(files=entry)
    async with world.open(files=entry) as servers:
        assert "green" in await call(servers, "files__read_text_file", path=str(world.work / "tea.md"))
        await call(servers, "files__write_file", path=str(world.work / "new.md"), content="black")
        with pytest.raises(ToolError, match="outside"):
            await call(servers, "files__read_text_file", path="/etc/passwd")

    assert (world.work / "new.md").read_text() == "black"


async def test_the_memory_server_keeps_what_it_is_told(world: World) -> None:
    entry = server("memory", MEMORY_FILE_PATH=str(world.work / "memory.json"))
    await world.trust(graph=entry)
    async with world.open(graph=entry) as servers:
        tool = next(tool for tool in servers.tools if tool.name == "graph__create_entities")
        arguments = {"entities": [{"name": "Ann", "entityType": "person", "observations": ["likes tea"]}]}
        assert not find_problems(tool.parameters, arguments)
        assert find_problems(tool.parameters, {"entities": [{"name": 5}]})
        assert tool.function is not None
        await tool.function(**arguments)
    async with world.open(graph=entry) as servers:
        assert "likes tea" in await call(servers, "graph__search_nodes", query="Ann")


async def test_the_everything_server_shows_results_of_each_kind(world: World) -> None:
    entry = server("everything", "stdio")
    await world.trust(all=entry)
    async with world.open(all=entry) as servers:
        assert await call(servers, "all__echo", message="hello") == "Echo: hello"
        image = next(tool.name for tool in servers.tools if "image" in tool.name)
        assert "image/png: not shown" in await call(servers, image)
        connection = await servers.checked(servers.server("all"))
        resources, prompts = await connection.list_resources(), await connection.list_prompts()
        text = await connection.read_resource(resources[0][0])

    assert text
    assert prompts
