"""The bank of requests that the router learns from, as it lies in the rooms."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

#: The agent of what the orchestrator answers itself.
DIRECT = "direct"


class Example(NamedTuple):
    """One request of the bank, with its owner and the heading that it stands under."""

    request: str
    agent: str
    heading: str = ""


def read_bank(rooms: Path) -> tuple[Example, ...]:
    """Every request of the rooms, in the order of their names, and those that need no specialist."""
    files = [(path.parent.name, path) for path in sorted(rooms.glob("*/requests*.txt"))]
    files += [(DIRECT, path) for path in sorted(rooms.glob("_shared/direct*.txt"))]
    return tuple(example for agent, path in files for example in _read(path, agent))


def hash_bank(bank: Sequence[Example]) -> str:
    """By which weights are known to belong to a bank; headings are left out, they are for the reader."""
    lines = "\n".join(f"{example.agent}\t{example.request}" for example in bank)
    return hashlib.sha256(lines.encode()).hexdigest()


def _read(path: Path, agent: str) -> list[Example]:
    heading = ""
    found: list[Example] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.strip():
            found.append(Example(line.strip(), agent, heading))
    return found
