"""The agents as a tree, each with its tools."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from sestet.app import App
from sestet.cli.show.console import shorten_home
from sestet.core.agent import Agent
from sestet.core.clean import clean, one_line
from sestet.core.tool import Tool
from sestet.description import NOT_CREATED, missing_agents, origin_of
from sestet.plugins import Plugins

_NO_TOOLS = "no tools: it plans, and other agents act"
_ELSEWHERE = "remote: it gets requests, and nothing else"
_QUARANTINED = "is quarantined, so no agent can use it"
_OWNERLESS = "belongs to no agent, so no agent can use it"


def print_tree(console: Console, app: App) -> None:
    """The tree, with the agents that were not created and the tools without an owner."""
    tree = Tree(_label(app.root), guide_style="dim")
    _add_tools(tree, app.root.tools or (), app.plugins)
    for agent in app.root.sub_agents:
        origin = app.plugins.origins.get(agent.name, "").removesuffix("/AGENT.md")
        branch = tree.add(_label(agent, origin))
        if agent.remote is not None:
            branch.add(Text(_ELSEWHERE, style="dim"))
        elif not agent.tools:
            branch.add(Text(_NO_TOOLS, style="dim"))
        _add_tools(branch, agent.tools or (), app.plugins, origin)
    for spec in missing_agents(app.root, app.specs):
        tree.add(Text(f"{spec.name}  {NOT_CREATED}", style="dim"))
    for tool in app.unmatched:
        why = _QUARANTINED if tool.outside else _OWNERLESS
        tree.add(Text(f"{clean(tool.name)}  {why}", style="bold red"))
    for server in app.processes.mcp.servers if app.processes.mcp else ():
        tools = f"{len(server.tools)} tools for {server.entry.agent}"
        health = f"quarantined: {server.why}" if server.why else f"{server.state}, {tools}"
        style = "bold red" if server.why else "dim"
        tree.add(Text.assemble((f"MCP server {clean(server.name)}", "bold"), (f"  {clean(health)}", style)))
    console.print(tree, no_wrap=True, overflow="ellipsis")


def _label(agent: Agent, origin: str = "") -> Text:
    description = one_line(agent.summary or agent.description, 200)
    return Text.assemble((clean(agent.name), "bold"), _origin_part(origin), (f"  {description}", "dim"))


def _origin_part(origin: str) -> tuple[str, str]:
    # In front of the description: a terminal cuts the end of a line.
    return (f"  {shorten_home(clean(origin))}" if origin else "", "cyan")


def _add_tools(branch: Tree, tools: Sequence[Tool], plugins: Plugins, folder: str = "") -> None:
    """The tools of an agent; a tool in the agent's own ``folder`` is shown without its path."""
    width = max((len(tool.name) for tool in tools), default=0)
    for tool in tools:
        summary = one_line(tool.description, 1_000).partition(". ")[0].rstrip(".")
        origin = origin_of(tool, plugins)
        if folder and origin.startswith(f"{folder}/"):
            origin = ""
        name = f"{clean(tool.name):{width}}"
        branch.add(Text.assemble(name, _origin_part(origin), (f"  {summary}", "dim")))
