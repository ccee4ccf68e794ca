"""Sestet as an MCP server: a tool that asks the assistant, and the tools that only read knowledge and memory.

A caller over MCP is a program, often with a model of its own: its words are untrusted, its conversations are
apart from the person's, and only the owner decides about calls that wait.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, cast
from uuid import uuid4

import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from sestet import __version__
from sestet.core.errors import PersonError, ToolError
from sestet.core.event import END_OF_TURN, Event, TurnFailed, TurnFinished, TurnPaused
from sestet.core.label import PIPED, Findings, Labelled
from sestet.core.record import Record
from sestet.core.schema import JsonObject, JsonValue, find_problems, object_schema
from sestet.core.tool import CallInfo, Tool
from sestet.runtime.tool_call import clip
from sestet.server.host import Host
from sestet.services.sessions import MCP_CLIENTS

_NAME = re.compile(r"[A-Za-z0-9-]{1,40}")
_QUIET_SECONDS = 5.0
#: The tools that a client may call itself. Each of them only reads.
_READING = (
    "search_knowledge",
    "search_learnings",
    "rag_retrieve",
    "graph_query",
    "graph_traverse",
    "graph_path",
    "memory_recall",
    "memory_list_observations",
    "memory_list_reflections",
)
_TEXT = {"type": "string", "minLength": 1}
_ASK = types.Tool(
    name="ask",
    description=(
        "Ask the assistant, which has specialists for files, commands, web pages, knowledge and memory. A "
        "call that needs the owner's approval waits: then the answer says so at once, and names the turn."
    ),
    input_schema=object_schema(
        {
            "text": {**_TEXT, "description": "The request, with everything that is needed to do it"},
            "session": {
                "type": "string",
                "description": "A name for a conversation to go on with; without it, a new one begins",
            },
        },
        ["text"],
    ),
)
_RESULT = types.Tool(
    name="ask_result",
    description="The answer to an earlier request that waited for the owner's decision, or its state.",
    input_schema=object_schema({"turn": {**_TEXT, "description": "The turn that 'ask' named"}}, ["turn"]),
    annotations=types.ToolAnnotations(read_only_hint=True),
)


class Asked(Record):
    """How far a request has come."""

    text: str
    outcome: str
    turn: str
    session: str

    @property
    def result(self) -> types.CallToolResult:
        facts = {
            "outcome": self.outcome,
            "turn": self.turn,
            "session": self.session.removeprefix(MCP_CLIENTS),
        }
        return types.CallToolResult(
            content=[types.TextContent(text=self.text)],
            structured_content=facts,
            is_error=self.outcome in ("failed", "cancelled"),
        )


def mcp_server(host: Host, *, reading: bool) -> "Server[Any]":
    """The server for one client. ``reading``: it may also read knowledge and memory itself."""
    tools = {tool.name: tool for tool in host.app.tools if reading and _only_reads(tool)}

    async def list_tools(
        context: "ServerRequestContext[Any]", params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_ASK, _RESULT, *map(_described, tools.values())])

    async def call_tool(
        context: "ServerRequestContext[Any]", params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        arguments = cast("JsonObject", params.arguments or {})
        try:
            return await _answer(host, tools, params.name, arguments)
        except (ToolError, PersonError, TimeoutError) as error:
            text = str(error) or f"'{params.name}' took too long"
            return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)

    return Server(
        "sestet", version=__version__, title="Sestet", on_list_tools=list_tools, on_call_tool=call_tool
    )


async def serve_stdio(host: Host) -> None:
    """Answer the program that has started this one, until it closes our stdin."""
    server = mcp_server(host, reading=True)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def _answer(
    host: Host, tools: Mapping[str, Tool], name: str, arguments: JsonObject
) -> types.CallToolResult:
    own: dict[str, tuple[types.Tool, Callable[[Host, JsonObject], Awaitable[Asked]]]] = {
        "ask": (_ASK, _ask),
        "ask_result": (_RESULT, _find_result),
    }
    if name in own:
        described, handle = own[name]
        _require_fit(cast("JsonObject", described.input_schema), arguments, name)
        return (await handle(host, arguments)).result
    if name not in tools:
        raise ToolError(f"there is no tool '{name[:60]}'; there are: {', '.join((*own, *tools))}")
    tool = tools[name]
    _require_fit(tool.parameters, arguments, name)
    text = await _read(host, tool, arguments)
    return types.CallToolResult(content=[types.TextContent(text=text)])


def _require_fit(schema: JsonObject, arguments: JsonObject, name: str) -> None:
    if problems := find_problems(schema, arguments):
        told = "; ".join(f"{problem.where} {problem.message}".strip() for problem in problems)
        raise ToolError(f"the arguments of '{name}' do not fit: {told}")


async def _ask(host: Host, arguments: JsonObject) -> Asked:
    name = str(arguments.get("session") or uuid4().hex[:12])
    if not _NAME.fullmatch(name):
        raise ToolError("the name of a session has only letters, digits and '-', 40 at most")
    session_id, turns = f"{MCP_CLIENTS}{name}", host.turns
    after = turns.feeds.last(session_id)
    message = turns.accept(session_id, str(arguments["text"]), mine=False)
    with turns.feeds.reading(session_id) as feed:
        async with aclosing(feed.follow(after, _QUIET_SECONDS)) as batches:
            async for batch in batches:
                for placed in batch:
                    event = placed.event
                    if event.stamp.turn_id == message.turn_id and isinstance(event, END_OF_TURN):
                        return _told(event)
                if turns.was_never_begun(message.turn_id):
                    break
    return Asked("the request was cancelled", "cancelled", message.turn_id, session_id)


async def _find_result(host: Host, arguments: JsonObject) -> Asked:
    turn_id = str(arguments["turn"])
    row = host.app.journal.turn(turn_id)
    if row is None or not row.session_id.startswith(MCP_CLIENTS):
        raise ToolError(f"there is no turn '{turn_id[:60]}' of an MCP client")
    ends = [event for event in host.app.journal.events_of(turn_id) if isinstance(event, END_OF_TURN)]
    if not ends:
        return Asked("it is still running; ask again later", "running", turn_id, row.session_id)
    return _told(ends[-1])


def _told(end: Event) -> Asked:
    turn_id, session_id = end.stamp.turn_id, end.stamp.session_id
    if isinstance(end, TurnFinished):
        return Asked(end.text, "finished", turn_id, session_id)
    if isinstance(end, TurnPaused):
        text = (
            "A call waits for the owner's decision, and nothing more happens until then. The owner decides "
            "on Sestet's page or with 'sestet approvals'. Afterwards, ask_result with the turn "
            f"'{turn_id}' gives the answer."
        )
        return Asked(text, "waiting", turn_id, session_id)
    if isinstance(end, TurnFailed):
        return Asked(end.text or "the request failed", "failed", turn_id, session_id)
    return Asked("the request was cancelled", "cancelled", turn_id, session_id)


async def _read(host: Host, tool: Tool, arguments: JsonObject) -> str:
    """The result of a tool that only reads; no value of the vault is in it."""
    assert tool.function is not None  # every tool of a room has one
    # Its rows are read for a stranger, so a tool that looks at the caller sees an untrusted one.
    info = CallInfo("mcp", "mcp", "mcp", uuid4().hex, PIPED)
    async with asyncio.timeout(tool.timeout):
        value = await tool.function(*((info,) if tool.needs else ()), **arguments)
    if isinstance(value, Labelled | Findings):
        value = value.value
    text = value if isinstance(value, str) else json.dumps(cast("JsonValue", value), ensure_ascii=False)
    return clip(host.app.journal.scanner.clean(text), host.app.settings.limits.tool_output)


def _only_reads(tool: Tool) -> bool:
    declared = (tool.risk, tool.effect, tool.recovery) == ("safe", "none", "pure")
    return tool.name in _READING and declared and tool.outside is None


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.parameters),
        annotations=types.ToolAnnotations(read_only_hint=True),
    )
