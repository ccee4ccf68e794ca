"""Tools of every recovery class, whose effects can be counted after their process was killed."""

import asyncio
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from sestet.core.schema import JsonValue
from sestet.core.tool import CallInfo, Tool, tool

#: Called with ``before`` or ``after`` around the effect of a tool.
Passing = Callable[[str], None]


class Effects:
    """One line for each effect, in a file that a kill cannot shorten."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, tool_name: str, key: str) -> None:
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(file, f"{tool_name} {key}\n".encode())
            os.fsync(file)
        finally:
            os.close(file)

    def of(self, tool_name: str) -> Counter[str]:
        """The number of effects of a tool, by the key of the call."""
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        effects = (line.split(" ") for line in lines)
        return Counter(key for name, key in effects if name == tool_name)

    def happened(self, tool_name: str, key: str) -> bool:
        return self.of(tool_name)[key] > 0


def effect_tools(effects: Effects, passing: Passing = lambda _: None) -> tuple[Tool, ...]:
    """A tool of each recovery class, two that need approval, and three that only read."""

    async def take_effect(tool_name: str, call: CallInfo, *, once: bool = False) -> str:
        passing(f"before {tool_name}")
        await asyncio.sleep(0)
        if not (once and effects.happened(tool_name, call.key)):
            effects.add(tool_name, call.key)
        passing(f"after {tool_name}")
        await asyncio.sleep(0)
        return f"{tool_name} is done"

    @tool(risk="safe", effect="none", reads=(), recovery="pure")
    async def fs_pure(call: CallInfo, /, what: str) -> str:
        """Looks at something, as often as one likes."""
        return await take_effect("fs_pure", call)

    @tool(risk="safe", effect="local", reads=(), recovery="keyed")
    async def fs_keyed(call: CallInfo, /, what: str) -> str:
        """Does something once for each key, as a service with idempotency keys would."""
        return await take_effect("fs_keyed", call, once=True)

    @tool(risk="safe", effect="local", reads=(), recovery="unsafe")
    async def exec_unsafe(call: CallInfo, /, what: str) -> str:
        """Does something that can be neither repeated nor looked up."""
        return await take_effect("exec_unsafe", call)

    async def look_up(call: CallInfo, /, what: str) -> JsonValue:
        await asyncio.sleep(0)
        return "crypto_probe was done" if effects.happened("crypto_probe", call.key) else None

    @tool(risk="safe", effect="local", reads=(), recovery="probe", probe=look_up)
    async def crypto_probe(call: CallInfo, /, what: str) -> str:
        """Does something that can be looked up later."""
        return await take_effect("crypto_probe", call)

    @tool(risk="guarded", effect="local", reads=(), recovery="unsafe", targets=("what",))
    async def crypto_guarded(call: CallInfo, /, what: str) -> str:
        """Does something for which a person has to be asked."""
        return await take_effect("crypto_guarded", call)

    @tool(risk="guarded", effect="local", reads=(), recovery="keyed", targets=("what",))
    async def fs_guarded(call: CallInfo, /, what: str) -> str:
        """Does something by key, for which a person has to be asked."""
        return await take_effect("fs_guarded", call, once=True)

    changing = (fs_pure, fs_keyed, exec_unsafe, crypto_probe, crypto_guarded, fs_guarded)
    return (*changing, browser_strange, memory_private, browser_flag)


@tool(risk="safe", effect="none", reads=("untrusted",), recovery="pure")
async def browser_strange(what: str) -> str:
    """Reads what a stranger wrote."""
    return f"a stranger wrote about {what}"


@tool(risk="safe", effect="none", reads=("private",), recovery="pure")
async def memory_private(what: str) -> str:
    """Reads what is nobody else's business."""
    return f"a private note about {what}"


@tool(risk="safe", effect="none", reads=("untrusted",), recovery="pure", fixed_result={"type": "boolean"})
async def browser_flag(what: str) -> bool:
    """Reads a stranger's page, and says only yes or no."""
    return bool(what)
