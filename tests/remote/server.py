"""Real servers on loopback: A2A agents made with the kit's own server side, and servers without A2A."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Message
from google.protobuf.json_format import MessageToDict
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as Chunk
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

#: A test that waits longer than this many seconds has failed.
PATIENCE = 60.0

Json: TypeAlias = dict[str, Any]  # Any: decoded JSON that a test looks into
Respond: TypeAlias = Callable[[Request], Awaitable[Response]]


class Received(NamedTuple):
    """One request as it came over the wire."""

    path: str
    headers: dict[str, str]
    body: Json


@dataclass
class Server:
    """A running server, and everything that it was sent."""

    url: str
    received: list[Received] = field(default_factory=list[Received])
    #: Set at the first question after a task.
    polled: asyncio.Event = field(default_factory=asyncio.Event)
    _state: ServerState = field(default_factory=ServerState)

    @property
    def methods(self) -> list[str]:
        return [request.body["method"] for request in self.received if "method" in request.body]

    async def has_no_connection(self) -> None:
        """Returns when every client has disconnected."""
        while self._state.connections:  # noqa: ASYNC110 - uvicorn tells nobody of a lost one
            await asyncio.sleep(0)

    @asynccontextmanager
    async def serve(self, app: ASGIApp, listener: socket.socket) -> AsyncGenerator[None]:
        # Uvicorn's protocol without its main loop, which checks only ten times a second whether to stop.
        config = uvicorn.Config(_record(app, self), ws="none", lifespan="off", log_config=None)
        config.load()
        accepting = await asyncio.get_running_loop().create_server(
            lambda: H11Protocol(config, self._state, {}), sock=listener
        )
        try:
            yield
        finally:
            accepting.close()
            for connection in tuple(self._state.connections):
                connection.shutdown()
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*self._state.tasks, self.has_no_connection())


def card_of(url: str, *, binding: str = "JSONRPC", version: str = "1.0", description: str = "") -> AgentCard:
    return AgentCard(
        name="Weather Office",
        description=description or "Knows the weather of every town.",
        version="1",
        supported_interfaces=[AgentInterface(url=url, protocol_binding=binding, protocol_version=version)],
        capabilities=AgentCapabilities(streaming=False),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="f", name="forecast", description="three days ahead", tags=["weather"])],
    )


def card_json(url: str) -> Json:
    return MessageToDict(card_of(url))


class Agent(AgentExecutor):
    """Answers with a message when it is given a text, or with a task that it works on."""

    def __init__(self, answer: str | Message | Callable[[TaskUpdater], Awaitable[None]]) -> None:
        self._answer = new_text_message(answer) if isinstance(answer, str) else answer

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        if isinstance(self._answer, Message):
            await event_queue.enqueue_event(self._answer)
            return
        assert context.message is not None
        task = new_task_from_user_message(context.message)
        await event_queue.enqueue_event(task)
        await self._answer(TaskUpdater(event_queue, task.id, task.context_id))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id or "", context.context_id or "").cancel()


@asynccontextmanager
async def running_agent(
    agent: Agent, *, binding: str = "JSONRPC", version: str = "1.0", prefix: str = "", description: str = ""
) -> AsyncGenerator[Server]:
    """An A2A server; ``prefix`` is the path below which its card and its addresses lie."""
    listener, url = _listen()
    server = Server(f"{url}{prefix}")
    rest = "/rest" if binding == "HTTP+JSON" else ""
    card = card_of(f"{server.url}{rest}", binding=binding, version=version, description=description)
    handler = DefaultRequestHandler(agent, InMemoryTaskStore(), card)
    routes = [
        *create_agent_card_routes(card, card_url=f"{prefix}/.well-known/agent-card.json"),
        *create_jsonrpc_routes(handler, prefix or "/", enable_v0_3_compat=True),
        *create_rest_routes(handler, path_prefix=f"{prefix}/rest"),
    ]
    async with server.serve(Starlette(routes=routes), listener):
        yield server
    await handler.aclose()


@asynccontextmanager
async def plain_server(respond: Respond) -> AsyncGenerator[Server]:
    """A server that answers every request as the test says."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        response = await respond(Request(scope, receive))
        await response(scope, receive, send)

    listener, url = _listen()
    server = Server(url)
    async with server.serve(app, listener):
        yield server


async def hang(request: Request) -> Response:
    """Never answers; returns when the client has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    return Response()


def refused_url() -> str:
    """An address without a server."""
    listener, url = _listen()
    listener.close()
    return url


def _listen() -> tuple[socket.socket, str]:
    # The socket listens before the server runs: an early client waits in the queue instead of being refused.
    listener = socket.create_server(("127.0.0.1", 0))
    return listener, f"http://127.0.0.1:{listener.getsockname()[1]}"


def _record(app: ASGIApp, server: Server) -> ASGIApp:
    async def record(scope: Scope, receive: Receive, send: Send) -> None:
        body, more = b"", True
        while more:
            chunk = await receive()
            body, more = body + chunk.get("body", b""), chunk.get("more_body", False)
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        server.received.append(Received(scope["path"], headers, json.loads(body or b"{}")))
        if "GetTask" in server.methods:
            server.polled.set()
        whole: list[Chunk] = [{"type": "http.request", "body": body}]

        async def replay() -> Chunk:
            return whole.pop() if whole else await receive()

        await app(scope, replay, send)

    return record
