"""The agents as a tree, each with its tools."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from sestet.app import App
from sestet.cli.show.clean import clean, one_line
from sestet.core.agent import Agent, AgentSpec
from sestet.core.tool import Tool

_NO_TOOLS = "no tools: it plans, and other agents act"
_ELSEWHERE = "remote: it gets requests, and nothing else"
_NOT_CREATED = "not created: it has no tool here"
_OWNERLESS = "belongs to no agent, so no agent can use it"


def print_tree(console: Console, app: App) -> None:
    """The tree, with the agents that were not created and the tools without an owner."""
    tree = Tree(_label(app.root), guide_style="dim")
    _add_tools(tree, app.root.tools or ())
    for agent in app.root.sub_agents:
        branch = tree.add(_label(agent))
        if agent.remote is not None:
            branch.add(Text(_ELSEWHERE, style="dim"))
        elif not agent.tools:
            branch.add(Text(_NO_TOOLS, style="dim"))
        _add_tools(branch, agent.tools or ())
    for spec in _missing(app):
        tree.add(Text(f"{spec.name}  {_NOT_CREATED}", style="dim"))
    for tool in app.unmatched:
        tree.add(Text(f"{clean(tool.name)}  {_OWNERLESS}", style="bold red"))
    console.print(tree, no_wrap=True, overflow="ellipsis")


def describe_agents(app: App) -> dict[str, object]:
    """The same as JSON."""
    return {
        "root": _describe(app.root),
        "unmatched": [tool.name for tool in app.unmatched],
        "not_created": [{"name": spec.name, "reason": _NOT_CREATED} for spec in _missing(app)],
    }


def _missing(app: App) -> list[AgentSpec]:
    """The specialists that were not created because none of their tools is there. A flat agent has none."""
    if app.root.tools is not None:
        return []
    return [spec for spec in app.specs if app.root.sub_agent(spec.name) is None]


def _describe(agent: Agent) -> dict[str, object]:
    return {
        "name": agent.name,
        "description": agent.description,
        "remote": agent.remote is not None,
        "tools": None if agent.tools is None else [_describe_tool(tool) for tool in agent.tools],
        "sub_agents": [_describe(child) for child in agent.sub_agents],
    }


def _describe_tool(tool: Tool) -> dict[str, object]:
    return {"name": tool.name, "description": tool.description, "risk": tool.risk}


def _label(agent: Agent) -> Text:
    description = one_line(agent.summary or agent.description, 200)
    return Text.assemble((clean(agent.name), "bold"), (f"  {description}", "dim"))


def _add_tools(branch: Tree, tools: Sequence[Tool]) -> None:
    width = max((len(tool.name) for tool in tools), default=0)
    for tool in tools:
        summary = one_line(tool.description, 1_000).partition(". ")[0].rstrip(".")
        branch.add(Text.assemble(f"{clean(tool.name):{width}}", (f"  {summary}", "dim")))
