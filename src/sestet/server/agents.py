"""The API of the agents: their tree, their tools, their prompts, and the way of a request."""

import asyncio
from typing import Any

from sestet.core.agent import Agent
from sestet.core.record import Record, as_builtins
from sestet.description import describe_agents, describe_route, describe_tool
from sestet.models.router import open_router
from sestet.server.endpoint import Body, Call, Endpoint, NoQuery, Words
from sestet.server.errors import ApiError, not_found


class AgentTree(Record):
    #: The orchestrator, with its sub-agents and their tools.
    root: dict[str, Any]
    #: Tools that belong to no agent.
    unmatched: list[str]
    not_created: list[dict[str, Any]]
    problems: list[str]
    #: Remote agents of the settings that cannot be used, each with the reason.
    unreachable: list[str]


class ToolList(Record):
    tools: list[dict[str, Any]]


class ToolQuery(Body):
    #: Only tools that belong to no agent.
    unmatched: bool = False


class Prompt(Record):
    agent: str
    prompt: str


class RouteQuery(Body):
    text: Words


class Route(Record):
    """The specialist that a request goes to, with everything that this rests on."""

    agent: str
    confidence: float
    sure: bool
    threshold: float
    variant: str
    scores: dict[str, float]
    evidence: list[dict[str, Any]]
    features: list[dict[str, Any]]
    nearest: list[dict[str, Any]]
    parts: list[dict[str, Any]]
    #: What the orchestrator reads about the specialist.
    shown: str


async def list_agents(call: Call[None, NoQuery]) -> dict[str, Any]:
    app = call.host.app
    described = describe_agents(app.root, app.specs, app.unmatched, app.plugins)
    return as_builtins({**described, "unreachable": app.remote_warnings})


async def list_tools(call: Call[None, ToolQuery]) -> ToolList:
    app = call.host.app
    agents = (app.root, *app.root.sub_agents)
    owners = {tool.name: agent.name for agent in agents for tool in agent.tools or ()}
    tools = app.unmatched if call.query.unmatched else app.tools
    rows = ({**describe_tool(tool, app.plugins), "owner": owners.get(tool.name)} for tool in tools)
    return ToolList([as_builtins(row) for row in rows])


async def show_prompt(call: Call[None, NoQuery]) -> Prompt:
    agent = _agent(call)
    if agent.remote is not None:
        raise ApiError("conflict", f"'{agent.name}' is a remote agent: its prompt is not known here")
    return Prompt(agent.name, agent.instruction)


async def explain_route(call: Call[None, RouteQuery]) -> dict[str, Any]:
    specs, text = call.host.app.specs, call.query.text.strip()

    def explain() -> dict[str, Any]:
        router = open_router(specs)
        return as_builtins(describe_route(router.explain(text), router, specs))

    return await asyncio.to_thread(explain)


def _agent(call: Call[None, NoQuery]) -> Agent:
    root, name = call.host.app.root, call.path("agent")
    agent = root if name == root.name else root.sub_agent(name)
    if agent is None:
        raise not_found("agent", name)
    return agent


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/agents",
        list_agents,
        "The agents as a tree, each with its prefixes and tools.",
        ("read",),
        answer=AgentTree,
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent}/prompt",
        show_prompt,
        "The prompt of an agent, as its model gets it.",
        ("read",),
        answer=Prompt,
    ),
    Endpoint(
        "GET",
        "/api/tools",
        list_tools,
        "Every tool with its owner, or only those that belong to no agent.",
        ("read",),
        query=ToolQuery,
        answer=ToolList,
    ),
    Endpoint(
        "GET",
        "/api/route",
        explain_route,
        "The specialist that a request goes to, and why.",
        ("read",),
        query=RouteQuery,
        answer=Route,
    ),
)
