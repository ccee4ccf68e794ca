"""``python -m bench.retrieval``: recall and speed of retrieval, each figure in its own process."""

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.retrieval.quality import measure_quality
from bench.retrieval.speed import build, first_query, many_queries
from bench.venvs import ROOT
from sestet.storage.database import Database

OUTPUT = ROOT / "build" / "bench.json"
SCRATCH = ROOT / "build" / "bench" / "scratch"
#: The figures, in their order: the second one builds the database for the others.
STEPS: Mapping[str, Callable[[Database], Awaitable[Mapping[str, object]]]] = {
    "quality": measure_quality,
    "build": build,
    "first": first_query,
    "many": many_queries,
}
#: Key → the bar, and whether a larger value is better.
BARS: Mapping[str, tuple[float, bool]] = {
    "query_ms": (40.0, False),
    "first_ms": (1_000.0, False),
    "memory_ratio": (1.3, False),
    "embedded_per_second": (200.0, True),
}


def measure_retrieval() -> dict[str, object]:
    """Return every figure, and the recall of each kind of search."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    figures: dict[str, object] = {}
    with TemporaryDirectory(dir=SCRATCH) as folder:
        for step in STEPS:
            found = _in_process(step, Path(folder) / ("quality.db" if step == "quality" else "many.db"))
            figures.update({"recall": found} if step == "quality" else found)
    return figures


def draw_retrieval(figures: Mapping[str, object]) -> str:
    """Return the two tables in markdown."""
    recall: Mapping[str, Mapping[str, Mapping[str, float]]] = figures["recall"]  # pyright: ignore[reportAssignmentType] - as measure_quality made it
    kinds = sorted(recall["hybrid"])
    lines = ["| recall@1 / recall@5 | " + " | ".join(kinds) + " |", "|---|" + "---|" * len(kinds)]
    for name, values in recall.items():
        cells = (f"{values[kind]['at_1']:.3f} / {values[kind]['at_5']:.3f}" for kind in kinds)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines += ["", "| figure | measured | bar | met |", "|---|---|---|---|"]
    for key, (limit, at_least) in BARS.items():
        value = float(str(figures[key]))
        is_met = value >= limit if at_least else value <= limit
        bar = f"{'≥' if at_least else '≤'} {limit:g}"
        lines.append(f"| `{key}` | {value:.4g} | {bar} | {'yes' if is_met else '**no**'} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description=__doc__)
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--database", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(asyncio.run(_take(options.step, options.database))))
        return 0
    figures = measure_retrieval()
    before = json.loads(OUTPUT.read_text(encoding="utf-8")) if OUTPUT.exists() else dict[str, object]()
    report = {**before, "retrieval": figures}
    OUTPUT.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(draw_retrieval(figures))
    return 0


def _in_process(step: str, database: Path) -> dict[str, object]:
    print(f"bench: retrieval, {step}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "bench.retrieval", "--step", step, "--database", str(database)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    return json.loads(done.stdout)


async def _take(step: str, path: Path) -> Mapping[str, object]:
    database = Database(path)
    try:
        return await STEPS[step](database)
    finally:
        database.close()


if __name__ == "__main__":
    sys.exit(main())
