"""Sestet's server with the scripted model, as a child that is told over stdin what to do.

``python -m bench.own.server <tree> <home>`` writes one JSON line with its port and token, and then one for
each line that it reads: ``cpu``, ``memory``, or ``turns NAME SESSIONS``, which runs turns
without HTTP: ten in each of so many sessions at once.
"""

import asyncio
import gc
import json
import sys

import sestet
from bench.own.sestet import FakeModel, declared
from bench.process import read_cpu_ms, read_rss_kb
from bench.script import MESSAGE, REPLY, SPECIALIST_PREFIX, Script
from bench.server.shape import TURNS_A_SESSION
from bench.tree import read_tree
from sestet.core.event import TurnFinished
from sestet.server.limits import RequestLimits
from sestet.server.serve import Address, listening
from sestet.services.tokens import OWNER_FILE

#: The limits are for mistakes of one client. The bench is one client with one token.
_LIMITS = RequestLimits(requests_a_minute=10_000_000, streams=10_000)


async def _serve(tree_file: str, home: str) -> None:
    tree, script = read_tree(tree_file), Script()
    added = next(tool.name for tool in tree.spare if tool.name.startswith(SPECIALIST_PREFIX))
    model = FakeModel(script, tree.root.name, added)
    async with (
        sestet.open({}, model=model, home=home, tools=declared(tree.spare, script)) as app,
        listening(app, Address(port=0), limits=_LIMITS) as server,
    ):
        token = (app.database.path.parent / OWNER_FILE).read_text(encoding="ascii").strip()
        _say({"port": int(server.url.rpartition(":")[2]), "token": token})
        while line := await asyncio.to_thread(sys.stdin.readline):
            _say(await _obey(app, *line.split()))


async def _obey(app: sestet.App, order: str, name: str = "", sessions: str = "1") -> dict[str, float]:
    if order == "cpu":
        return {"cpu_ms": read_cpu_ms()}
    if order == "memory":
        gc.collect()
        return {"rss_kb": read_rss_kb()}
    began = read_cpu_ms()
    await asyncio.gather(*(_converse(app, f"{name}-{number}") for number in range(int(sessions))))
    return {"cpu_ms": read_cpu_ms() - began}


async def _converse(app: sestet.App, session: str) -> None:
    for _ in range(TURNS_A_SESSION):
        *_, last = [event async for event in app.run_turn(session, MESSAGE)]
        if not isinstance(last, TurnFinished) or last.text != REPLY:
            raise SystemExit(f"a turn ended in another way: {last}")


def _say(facts: dict[str, object] | dict[str, float]) -> None:
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    asyncio.run(_serve(*sys.argv[1:]))
