"""A server as a process of its own, to be killed: ``python -m tests.page.process HOME PORT REPLIES``.

REPLIES is JSON: for each agent what its model says, in order. ``{"hang": text}`` says the text and never
ends, ``{"call": name, "with": arguments}`` calls a tool, and a text is the whole reply.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import sestet
from sestet.core.message import ToolCall
from sestet.server.serve import Address, serve
from tests.page.stage import Flow, Part, Stage
from tests.server.served import SETTINGS


@sestet.tool(risk="safe", effect="external", targets=("to",), recovery="unsafe", reads=())
async def exec_post(to: str) -> str:
    """Send a parcel, which takes for ever."""
    print("posting", flush=True)
    await asyncio.Event().wait()
    return "posted"


def _part(said: str | dict[str, Any]) -> Part:
    if isinstance(said, str):
        return said
    if "call" in said:
        return ToolCall(said["call"], said["with"])
    flow = Flow()
    flow.write(said["hang"])
    return flow


async def main() -> None:
    home, port, replies = Path(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    stage = Stage()
    for agent, parts in replies.items():
        stage.play(agent, *map(_part, parts))
    async with sestet.open(SETTINGS, model=stage, home=home, tools=[exec_post]) as app:
        await serve(
            app, Address(port=port), lambda url, codes: print(f"{url}/enter?code={codes.new()}", flush=True)
        )


if __name__ == "__main__":
    asyncio.run(main())
