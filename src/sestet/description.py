"""Agents, tools and routes as JSON, for commands and pages."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sestet.core.agent import Agent, AgentSpec
from sestet.core.offer import fit_to_tools, named_tools
from sestet.core.tool import Tool
from sestet.models.router import Explanation, Router
from sestet.orchestration.routing import render_entry
from sestet.plugins import Plugins

if TYPE_CHECKING:
    from sestet.services.mcp.servers import McpServers

NOT_CREATED = "not created: it has no tool here"


def describe_agents(
    root: Agent, specs: Sequence[AgentSpec], unmatched: Sequence[Tool], plugins: Plugins
) -> dict[str, object]:
    """The tree, with the agents that were not created and the tools without an owner."""
    return {
        "root": _describe(root, plugins, {spec.name: spec for spec in specs}),
        "unmatched": [tool.name for tool in unmatched],
        "not_created": [{"name": spec.name, "reason": NOT_CREATED} for spec in missing_agents(root, specs)],
        "problems": list(plugins.problems),
    }


def missing_agents(root: Agent, specs: Sequence[AgentSpec]) -> list[AgentSpec]:
    """The specialists that were not created because none of their tools is there. A flat agent has none."""
    if root.tools is not None:
        return []
    return [spec for spec in specs if root.sub_agent(spec.name) is None]


def _describe(agent: Agent, plugins: Plugins, specs: Mapping[str, AgentSpec]) -> dict[str, object]:
    spec = specs.get(agent.name, AgentSpec(agent.name))
    return {
        "name": agent.name,
        "description": agent.description,
        "remote": agent.remote is not None,
        "prefixes": list(spec.prefixes),
        "examples": list(fit_to_tools(spec, (tool.name for tool in agent.tools or ())).examples),
        "origin": plugins.origins.get(agent.name),
        "tools": None if agent.tools is None else [describe_tool(tool, plugins) for tool in agent.tools],
        "sub_agents": [_describe(child, plugins, specs) for child in agent.sub_agents],
    }


def describe_tool(tool: Tool, plugins: Plugins) -> dict[str, object]:
    """A tool as JSON; its ``origin`` names its plug-in or server, and is null for a built-in one."""
    return {
        "name": tool.name,
        "description": tool.description,
        "risk": tool.risk,
        "origin": origin_of(tool, plugins) or None,
    }


def origin_of(tool: Tool, plugins: Plugins) -> str:
    """The file or package of a plug-in's tool, or the server of an outside one; empty for a built-in tool."""
    return tool.outside.name if tool.outside else plugins.origins.get(tool.name, "")


def describe_mcp(servers: "McpServers | None") -> list[dict[str, object]]:
    """The MCP servers with their health, as far as it is known without starting one."""
    return [
        {
            "name": server.name,
            "agent": server.entry.agent or None,
            "state": server.state,
            "why": server.why,
            "wayOut": server.way_out,
            "tools": len(server.tools),
        }
        for server in (servers.servers if servers else ())
    ]


def describe_route(explanation: Explanation, router: Router, specs: Sequence[AgentSpec]) -> dict[str, object]:
    """A route with everything that it rests on."""
    route = explanation.route
    return {
        "agent": route.agent,
        "confidence": route.confidence,
        "sure": route.sure,
        "threshold": router.threshold,
        "variant": router.variant,
        "scores": dict(route.scores),
        "evidence": [one._asdict() for one in explanation.evidence],
        "features": [one._asdict() for one in route.evidence],
        "nearest": [{"agent": one.agent, "request": one.request} for one in explanation.nearest],
        "parts": [part._asdict() for part in explanation.parts],
        "shown": shown_entry(route.agent, specs),
    }


def shown_entry(name: str, specs: Sequence[AgentSpec]) -> str:
    """What the orchestrator reads about a specialist that has all of its tools."""
    spec = next((spec for spec in specs if spec.name == name), None)
    if spec is None:
        return ""
    offered = fit_to_tools(spec, named_tools(spec))
    return render_entry(Agent(spec.name, spec.description), offered, [spec.name for spec in specs])
