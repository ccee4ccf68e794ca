"""Nodes on loopback that pass requests on to the real chain, and lie about some of them."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias, cast
from urllib.request import ProxyHandler, Request, build_opener

from starlette.requests import Request as Asked
from starlette.responses import Response

from tests.chain.local_chain import Chain
from tests.remote.server import Server, hang, plain_server

Change: TypeAlias = Callable[[Any], Awaitable[Any]]  # Any: JSON in any form, also in a wrong one
#: What is answered to one method: the whole answer, or a function of what the real node would answer.
Json: TypeAlias = Any  # Any: JSON in any form, also in a wrong one
Lie: TypeAlias = Json | Change


@asynccontextmanager
async def lying_node(chain: Chain, **lies: Lie) -> AsyncGenerator[Server]:
    """A node that answers some methods as the test says, and the others truthfully."""

    async def respond(request: Asked) -> Response:
        asked = json.loads(await request.body())
        lie = lies.get(asked["method"])
        if isinstance(lie, bytes):
            return Response(lie)
        if lie == "hang":
            return await hang(request)
        if isinstance(lie, int):
            return Response(b"stop", lie)
        if lie is not None and not callable(lie):
            return Response(json.dumps(lie))
        answer = await asyncio.to_thread(_pass_on, chain.url, json.dumps(asked).encode())
        if callable(lie):
            answer = await cast("Change", lie)(answer)
        return Response(json.dumps(answer))

    async with plain_server(respond) as server:
        yield server


def result(value: Json) -> Json:
    return {"jsonrpc": "2.0", "id": 1, "result": value}


def error(text: str) -> Json:
    return {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": text}}


def _pass_on(url: str, body: bytes) -> Json:
    request = Request(url, body, {"Content-Type": "application/json"})  # noqa: S310 - loopback
    with build_opener(ProxyHandler({})).open(request) as response:
        return json.load(response)
