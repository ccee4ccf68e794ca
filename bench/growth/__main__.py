"""``python -m bench.growth``: what a turn costs with the data that years make, each figure in a process."""

import argparse
import asyncio
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.growth import data, figures
from bench.growth.large import fill_file, forget_words
from bench.venvs import ROOT
from sestet.storage.database import FILE_NAME

OUTPUT = ROOT / "build" / "bench.json"
SCRATCH = ROOT / "build" / "bench" / "scratch"
_SECONDS = 900

FILLS: Mapping[str, Callable[[Path, int], None]] = {
    "memories": data.fill_memories,
    "passages": data.fill_passages,
    "file": fill_file,
}
STEPS: Mapping[str, Callable[..., Awaitable[figures.Raw]]] = {
    "direct": figures.direct_turn,
    "storing": figures.storing_turn,
    "retrieving": figures.retrieving,
    "session": figures.long_session,
    "open": figures.open_and_first_turn,
    "search": figures.first_search,
    "forget": forget_words,
}


class Sizes(NamedTuple):
    """How much data is made. ``events``: of the large file, about 0.9 kB each; 0: there is none."""

    memories: tuple[int, ...] = (0, 10_000, 100_000)
    passages: int = 100_000
    turns: tuple[int, ...] = (100, 1_000, 5_000)
    events: int = 1_100_000


SMALL = Sizes((0, 10_000), 20_000, (100, 500), 0)


class Bar(NamedTuple):
    """The most that a figure may be."""

    key: str
    most: float
    meaning: str


BARS = (
    Bar("memories_0_ms", 1.2, "CPU of a direct turn with no memories, ms"),
    Bar("memories_10000_ms", 2.0, "with 10,000 memories, ms"),
    Bar("memories_100000_ms", 4.0, "with 100,000 memories, ms"),
    Bar("passages_direct_ms", 1.5, "CPU of a direct turn with all passages and vectors, ms"),
    Bar("passages_storing_ratio", 2.0, "a turn that stores a fact, with all passages ÷ with none"),
    Bar("passages_retrieve_ms", 25.0, "CPU of a turn with `rag_retrieve`, ms"),
    Bar("session_growth", 1.3, "CPU of a turn late in a session ÷ at turn 100, observer included"),
    Bar("file_open_ratio", 1.5, "CPU of opening a file of 1 GB and its first turn ÷ an empty file"),
    Bar(
        "search_loop_held_ms", 100.0, "the longest time the loop stands still in the first `search_sessions`"
    ),
    Bar("forget_wait_ms", 100.0, "the longest time another process waits while words are forgotten"),
)


def measure_growth_of_data(sizes: Sizes) -> dict[str, object]:
    """Return every figure. The files are removed one after the other."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    found: dict[str, object] = {}
    for count in sizes.memories:
        with _home("memories", count) as home:
            found[f"memories_{count}_ms"] = _take("direct", home)["turn_ms"]
            if not count:
                found["storing_ms"] = _take("storing", home)["storing_ms"]
                found["open_ms"] = sum(_take("open", home).values())
    with _home("passages", sizes.passages) as home:
        found["passages"] = sizes.passages
        found["passages_direct_ms"] = _take("direct", home)["turn_ms"]
        found["passages_storing_ms"] = _take("storing", home)["storing_ms"]
        found["passages_storing_ratio"] = _number(found, "passages_storing_ms") / _number(found, "storing_ms")
        found |= {f"passages_{key}": value for key, value in _take("retrieving", home).items()}
    with _home("memories", 0) as home:
        late = _take("session", home, *map(str, sizes.turns))
        found |= {f"session_{key}": value for key, value in late.items()}
        first, last = sizes.turns[0], sizes.turns[-1]
        found["session_growth"] = late[f"at_{last}_ms"] / late[f"at_{first}_ms"]
    if sizes.events:
        with _home("file", sizes.events) as home:
            found["file_mb"] = data.megabytes(home / FILE_NAME)
            found["file_open_ms"] = sum(_take("open", home).values())
            found["file_open_ratio"] = _number(found, "file_open_ms") / _number(found, "open_ms")
            found |= {f"search_{key}": value for key, value in _take("search", home).items()}
            found |= {f"forget_{key}": value for key, value in _take("forget", home).items()}
    return found


def draw_growth(found: Mapping[str, object]) -> str:
    """Return a table in markdown, with the turn without memories as the measure of the machine."""
    lines = ["| figure | measured | bar | met |", "|---|---|---|---|"]
    for bar in BARS:
        if bar.key in found:
            value = _number(found, bar.key)
            met = "yes" if value <= bar.most else "**no**"
            lines.append(f"| {bar.meaning} (`{bar.key}`) | {value:.4g} | ≤ {bar.most:g} | {met} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument(
        "--small", action="store_true", help="less data and no large file, as in 'make bench'"
    )
    parser.add_argument("--step", choices=(*STEPS, *FILLS), help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(_do(options.step, *options.rest)))
        return 0
    found = measure_growth_of_data(SMALL if options.small else Sizes())
    found |= {"load": os.getloadavg()}
    before = json.loads(OUTPUT.read_text(encoding="utf-8")) if OUTPUT.exists() else dict[str, object]()
    OUTPUT.write_text(json.dumps({**before, "growth_of_data": found}, indent=2) + "\n", encoding="utf-8")
    print(draw_growth(found))
    return 0


@contextmanager
def _home(fill: str, count: int) -> Generator[Path]:
    """A directory with a filled database, for a while."""
    with TemporaryDirectory(dir=SCRATCH) as name:
        _start(fill, name, str(count))
        yield Path(name)


def _take(step: str, home: Path, *rest: str) -> dict[str, float]:
    return _start(step, str(home), *rest)


def _start(step: str, *rest: str) -> dict[str, float]:
    print(f"bench: growth, {step} {' '.join(rest[1:])}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "bench.growth", "--step", step, *rest]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True, timeout=_SECONDS)
    return json.loads(done.stdout)


def _do(step: str, home: str, *rest: str) -> figures.Raw:
    if step in FILLS:
        FILLS[step](Path(home) / FILE_NAME, int(rest[0]))
        return {}
    work = STEPS[step]
    turns = (tuple(map(int, rest)),) if "at_turns" in inspect.signature(work).parameters else ()
    return asyncio.run(_run(work(Path(home), *turns)))


async def _run(work: Awaitable[figures.Raw]) -> figures.Raw:
    return await work


def _number(found: Mapping[str, object], key: str) -> float:
    return float(str(found[key]))


if __name__ == "__main__":
    sys.exit(main())
