"""A runner over a small tree, with a scripted model and a real journal."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from sestet.api import OrchestrationConfig, build_agent_tree, build_single_agent
from sestet.core.errors import ToolError
from sestet.core.event import Event
from sestet.core.tool import Tool, tool
from sestet.models.scripted import ScriptedModel
from sestet.runtime.runner import Runner
from sestet.runtime.turn import Limits
from sestet.storage.database import Database
from sestet.storage.journal import Journal


@tool(risk="safe", effect="none", recovery="pure")
async def fs_list(path: str = ".") -> str:
    """List files."""
    return f"a.txt b.txt in {path}"


@tool(risk="safe", effect="none", recovery="pure")
async def fs_fail() -> str:
    """Always fails in a way the tool foresaw."""
    raise ToolError("the disk is not there")


@tool(risk="safe", effect="none", recovery="pure")
async def fs_crash() -> str:
    """Always fails in a way nobody foresaw."""
    raise KeyError("oops")


@tool(risk="safe", effect="none", recovery="pure")
async def fs_big() -> str:
    """Returns megabytes."""
    return "x" * 3_000_000


@tool(risk="safe", effect="none", recovery="pure", calls_per_turn=1)
async def search_web(query: str) -> str:
    """Search the web."""
    return f"results for {query}"


@tool
async def exec_anything(command: str) -> str:
    """A tool that declares nothing, so it counts as dangerous."""
    raise AssertionError(f"must never run: {command}")


TOOLS: tuple[Tool, ...] = (fs_list, fs_fail, fs_crash, fs_big, search_web, exec_anything)


class Conversation(Protocol):
    """``talk(model, limits=…, multi_agent=…, context_tokens=…)``: a conversation with that model."""

    def __call__(
        self,
        model: ScriptedModel,
        *,
        limits: Limits | None = None,
        multi_agent: bool = True,
        context_tokens: int = 16_000,
    ) -> "Talk": ...


class Talk:
    """Runs turns and keeps what happened."""

    def __init__(self, model: ScriptedModel, runner: Runner, journal: Journal) -> None:
        self.model = model
        self.runner = runner
        self.journal = journal

    async def say(self, text: str, session_id: str = "s1") -> list[Event]:
        events = [event async for event in self.runner.run_turn(session_id, text)]
        await self.model.close()
        return events


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "sestet.db")
    yield opened
    opened.close()


@pytest.fixture
def talk(database: Database) -> Conversation:
    def start(
        model: ScriptedModel,
        *,
        limits: Limits | None = None,
        multi_agent: bool = True,
        context_tokens: int = 16_000,
    ) -> Talk:
        config = OrchestrationConfig(tools=TOOLS)
        root = build_agent_tree(config) if multi_agent else build_single_agent(config)
        journal = Journal(database)
        runner = Runner(root, lambda _: model, journal, limits or Limits(), context_tokens)
        return Talk(model, runner, journal)

    return start
