"""Trains the embedded router from the bank of requests; ``make router`` runs it. Not part of the wheel."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from sestet.core.agent import DIRECT
from sestet.models.router import Example

#: One file of requests for each owner: ``<agent>.txt``, and ``direct.txt`` for direct answers.
BANK = Path(__file__).with_name("bank")


def read_bank(folder: Path = BANK) -> tuple[Example, ...]:
    """Every request of the bank: the specialists by name, then the direct answers."""
    files = sorted(folder.glob("*.txt"), key=lambda file: (file.stem == DIRECT, file.name))
    return tuple(example for file in files for example in _read(file))


def hash_bank(bank: Sequence[Example]) -> str:
    """Identifies a bank, so that a test can see whether the weights belong to it; headings do not count."""
    lines = "\n".join(f"{example.agent}\t{example.request}" for example in bank)
    return hashlib.sha256(lines.encode()).hexdigest()


def _read(file: Path) -> list[Example]:
    heading = ""
    found: list[Example] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.strip():
            found.append(Example(line.strip(), file.stem, heading))
    return found
