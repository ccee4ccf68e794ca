"""``python -m bench.scanner``: what the scanner of the vault costs for a text, and for a turn.

It runs in the present environment, with a vault of 20 secrets in a temporary directory.
"""

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import sestet
from sestet.core.agent import TRANSFER
from sestet.services.vault.scanner import Scanner
from sestet.services.vault.sources import Cost
from sestet.services.vault.vault import Vault

#: Milliseconds in which 100 KB have to be scanned.
BAR = 50.0
_SIZES = (500, 5_000, 100_000)
_ROUNDS, _TURNS = 30, 40
_SECRETS = 20
_CHEAP = Cost(memory_kib=8, passes=1, lanes=1)


class ScannerFigures(NamedTuple):
    #: Characters → milliseconds.
    texts: dict[int, float]
    #: Milliseconds of a turn with one delegation and one tool call, without and with an open vault.
    turn: float
    turn_with_vault: float


def measure_scanner() -> ScannerFigures:
    numbers = random.Random(1)  # noqa: S311 - ordinary words, the same in each run
    with tempfile.TemporaryDirectory() as folder:
        vault = _made_vault(Path(folder) / "sestet.vault", numbers)
        scanner = Scanner(vault)
        texts = {size: _milliseconds(scanner.clean, size, numbers) for size in _SIZES}
        vault.close()
    plain, watched = (asyncio.run(_turns(has_vault=has_vault)) for has_vault in (False, True))
    return ScannerFigures(texts, plain, watched)


def _made_vault(path: Path, numbers: random.Random) -> Vault:
    vault = Vault(path)
    vault.create(b"pw", cost=_CHEAP)
    for number in range(_SECRETS):
        vault.store(f"secret-{number}", numbers.randbytes(20).hex().encode())
    return vault


def _prose(size: int, numbers: random.Random) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(numbers.choices(letters, k=numbers.randint(2, 9))) for _ in range(500)]
    return " ".join(numbers.choices(words, k=size // 6))[:size]


def _milliseconds(clean: Callable[[str], str], size: int, numbers: random.Random) -> float:
    """The median over different texts: the scanner remembers those that it has seen."""
    clean(_prose(size, numbers))
    taken: list[float] = []
    for _ in range(_ROUNDS):
        text = _prose(size, numbers)
        started = time.perf_counter()
        clean(text)
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


async def _turns(*, has_vault: bool) -> float:
    delegation = sestet.ToolCall(
        TRANSFER, {"agent_name": "operator", "request": "list the files", "reply": True}
    )
    answers = [f"There are {number} files here, and none of them is new." for number in range(_TURNS)]
    script = [item for answer in answers for item in (delegation, sestet.ToolCall("fs_list", {}), answer)]
    taken: list[float] = []
    with tempfile.TemporaryDirectory() as home:
        async with sestet.open({}, model=sestet.ScriptedModel(script), home=home) as app:
            if has_vault:
                app.vault.create(b"pw", cost=_CHEAP)
                for number in range(_SECRETS):
                    app.vault.store(f"secret-{number}", random.randbytes(20).hex().encode())  # noqa: S311 - a sample
            for number in range(_TURNS):
                started = time.process_time()
                await app.ask(f"list the files, please, for the {number}th time", f"s{number}")
                taken.append((time.process_time() - started) * 1000)
    return statistics.median(taken)


def draw_scanner(figures: ScannerFigures) -> str:
    rows = [f"| a text of {size:,} characters | {figures.texts[size]:.2f} |" for size in _SIZES]
    rows += [
        f"| a turn, with a locked or an empty vault | {figures.turn:.2f} |",
        f"| the same turn, with {_SECRETS} secrets in an open vault | {figures.turn_with_vault:.2f} |",
    ]
    return "\n".join(["| what | ms |", "|---|---|", *rows])


if __name__ == "__main__":
    found = measure_scanner()
    print(draw_scanner(found))
    print(f"bar: 100,000 characters in less than {BAR:.0f} ms")
