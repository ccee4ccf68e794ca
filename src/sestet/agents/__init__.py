"""The rooms: one folder for each specialist, with its plaque (AGENT.md) and its tools."""

import os
from collections.abc import Collection, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from sestet.agents._shared.plaque import read_plaque
from sestet.core.agent import AgentSpec
from sestet.core.tool import Tool

#: The six of the specification, in the order in which they are created. Other rooms follow.
NAMES = ("operator", "navigator", "vault", "librarian", "planner", "chronicler")
#: The order in which the six are asked whether a tool is theirs. Other rooms follow.
MATCH_ORDER = ("librarian", "chronicler", "navigator", "vault", "operator", "planner")

_HERE = Path(__file__).parent


@cache
def room_names() -> tuple[str, ...]:
    """Every folder with a plaque: the six in their order, then the others by name."""
    folders = sorted(os.listdir(_HERE))
    return _with_six_first([name for name in folders if (_HERE / name / "AGENT.md").is_file()], NAMES)


def match_order() -> tuple[str, ...]:
    """The order in which the rooms are asked whether a tool is theirs."""
    return _with_six_first(room_names(), MATCH_ORDER)


@cache
def default_specs() -> tuple[AgentSpec, ...]:
    """The specs of all rooms, in creation order."""
    return tuple(read_plaque(_HERE / name / "AGENT.md") for name in room_names())


@cache
def shared_fragments(profile: str = "full") -> str:
    """The end of every specialist's prompt: when to decline, how to report."""
    files = ("compact.md",) if profile == "compact" else ("reject.md", "reporting.md")
    return "\n\n".join((_HERE / "_shared" / file).read_text(encoding="utf-8").strip() for file in files)


def room_tools(name: str, without: Collection[str] = ()) -> tuple[Tool, ...]:
    """Every tool that lies in a room, in the order of its modules; those in ``without`` are not loaded."""
    room = import_module(f"{__name__}.{name}")
    found: list[Tool] = []
    for file in sorted(os.listdir(_HERE / name)):
        if not file.endswith(".py") or file.removesuffix(".py") in ("__init__", *without):
            continue
        module = import_module(f"{room.__name__}.{file.removesuffix('.py')}")
        found += (value for value in vars(module).values() if isinstance(value, Tool))
    return tuple(found)


def _with_six_first(names: Sequence[str], six: Sequence[str]) -> tuple[str, ...]:
    return (*(name for name in six if name in names), *(name for name in names if name not in six))
