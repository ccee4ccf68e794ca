"""The rooms: one folder a specialist, with its plaque (AGENT.md) and its tools."""

import os
from functools import cache
from importlib import import_module
from pathlib import Path

from sestet.agents._shared.plaque import read_plaque
from sestet.core.agent import AgentSpec
from sestet.core.tool import Tool

#: The specialists, in the order in which they are created.
NAMES = ("operator", "navigator", "vault", "librarian", "planner", "chronicler")
#: The order in which they are asked whether a tool is theirs; the planner has none.
MATCH_ORDER = ("librarian", "chronicler", "navigator", "vault", "operator", "planner")

_HERE = Path(__file__).parent


@cache
def default_specs() -> tuple[AgentSpec, ...]:
    """The six specs, in creation order."""
    return tuple(read_plaque(_HERE / name / "AGENT.md") for name in NAMES)


@cache
def shared_fragments(profile: str = "full") -> str:
    """What every specialist is told after its own prompt: when to decline, how to report."""
    files = ("compact.md",) if profile == "compact" else ("reject.md", "reporting.md")
    return "\n\n".join((_HERE / "_shared" / file).read_text(encoding="utf-8").strip() for file in files)


def room_tools(name: str) -> tuple[Tool, ...]:
    """Every tool that lies in a room, in the order of its modules."""
    room = import_module(f"{__name__}.{name}")
    found: list[Tool] = []
    for file in sorted(os.listdir(_HERE / name)):
        if not file.endswith(".py") or file == "__init__.py":
            continue
        module = import_module(f"{room.__name__}.{file.removesuffix('.py')}")
        found += (value for value in vars(module).values() if isinstance(value, Tool))
    return tuple(found)
