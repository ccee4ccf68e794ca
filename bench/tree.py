"""The tree that each contestant builds: Sestet's names and instructions, five tools for each specialist."""

import json
from collections.abc import Awaitable, Callable
from typing import cast

from bench.script import LISTING, Script

ToolFunction = Callable[[str], Awaitable[str]]


class ToolSketch:
    """A tool, independent of any framework."""

    def __init__(self, name: str, description: str) -> None:
        self.name = name
        self.description = description


class AgentSketch:
    """An agent, independent of any framework."""

    def __init__(self, name: str, description: str, instruction: str, tools: list[ToolSketch]) -> None:
        self.name = name
        self.description = description
        self.instruction = instruction
        self.tools = tools


class Tree:
    """The orchestrator, its specialists, and the tools that Sestet gets in addition to its own."""

    def __init__(self, root: AgentSketch, specialists: list[AgentSketch], spare: list[ToolSketch]) -> None:
        self.root = root
        self.specialists = specialists
        self.spare = spare


def read_tree(path: str) -> Tree:
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    return Tree(_agent(data["root"]), [_agent(each) for each in data["specialists"]], _tools(data["spare"]))


def _agent(data: dict[str, object]) -> AgentSketch:
    return AgentSketch(
        str(data["name"]), str(data["description"]), str(data["instruction"]), _tools(data["tools"])
    )


def _tools(data: object) -> list[ToolSketch]:
    return [ToolSketch(name, description) for name, description in cast("list[tuple[str, str]]", data)]


def make_function(tool: ToolSketch, script: Script) -> ToolFunction:
    """The trivial function behind every tool."""

    async def function(path: str = ".") -> str:
        script.tool_calls += 1
        return LISTING

    function.__name__ = function.__qualname__ = tool.name
    function.__doc__ = tool.description
    return function
