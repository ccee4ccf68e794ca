"""``python -m bench.graph``: Sestet walks 100,000 facts in its file, networkx walks them in memory."""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import cast

from bench.children import ChildError, scratch, start
from bench.entries import SESTET, Entry
from bench.graph_data import DEPTH, FACTS, LIMIT, NODES, SEED, WALKS
from bench.venvs import ROOT, InstallError, is_current, make_venv, read_version

OUTPUT = ROOT / "build" / "bench.json"
NETWORKX = Entry("networkx", "bench.peers.networkx", "networkx", ("networkx",))
_STORE = Entry("sestet-graph", "bench.own.graph", "sestet", kind="sestet", venv="sestet")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.graph", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="default: 5")
    parser.add_argument(
        "--output", type=Path, default=OUTPUT, metavar="FILE", help="default: build/bench.json"
    )
    options = parser.parse_args()
    try:
        figures = measure_graph(options.rounds)
    except (InstallError, ChildError) as error:
        print(f"bench: the graph cannot be measured: {error}", file=sys.stderr)
        return 1
    known: dict[str, object] = {}
    if options.output.exists():
        known = json.loads(options.output.read_text(encoding="utf-8"))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(known | figures, indent=2) + "\n", encoding="utf-8")
    print(draw_graph_table(figures))
    return 0


def measure_graph(rounds: int = 5) -> dict[str, object]:
    """Measure both in each round, each in a fresh process over the same file; return the medians."""
    for entry in (SESTET, NETWORKX):
        if not is_current(entry):
            make_venv(entry)
    own: list[dict[str, float]] = []
    peer: list[dict[str, float]] = []
    with scratch() as folder:
        start(_STORE, folder, _STORE.module, ["fill", str(folder / "home"), str(folder / "filled.json")])
        for number in range(rounds):
            print(f"bench: the graph, round {number + 1} of {rounds}", file=sys.stderr, flush=True)
            for entry, found in ((_STORE, own), (NETWORKX, peer)):
                result = folder / f"{entry.name}.json"
                start(entry, folder, entry.module, ["walk", str(folder / "home"), str(result)])
                found.append(json.loads(result.read_text(encoding="utf-8")))
    if len({raw["digest"] for raw in (*own, *peer)}) > 1:
        raise ChildError("the two do not find the same facts")
    return _figures(_medians(own), _medians(peer), read_version(NETWORKX))


def _medians(found: list[dict[str, float]]) -> dict[str, float]:
    return {name: median(raw[name] for raw in found) for name in found[0] if name != "digest"}


def _figures(own: Mapping[str, float], peer: Mapping[str, float], version: str) -> dict[str, object]:
    return {
        "graph_traverse_ms": own["walk_ms"],
        "graph_against_networkx": own["walk_ms"] / peer["walk_ms"],
        "graph_against_networkx_with_load": (peer["ready_ms"] + peer["first_ms"])
        / (own["ready_ms"] + own["first_ms"]),
        "graph": {
            "facts": FACTS,
            "nodes": NODES,
            "depth": DEPTH,
            "limit": LIMIT,
            "walks": WALKS,
            "seed": SEED,
            "version": version,
            "sestet": own,
            "networkx": peer,
        },
    }


def draw_graph_table(figures: Mapping[str, object]) -> str:
    """Return two markdown tables: Sestet beside networkx, and the figures beside their bars."""
    details = cast("Mapping[str, Mapping[str, float]]", figures["graph"])
    columns = ("ready_ms", "first_ms", "walk_ms", "slow_ms")
    rows = [
        " | ".join([f"| {name}", *(f"{details[key][column]:.2f}" for column in columns)]) + " |"
        for name, key in (("Sestet", "sestet"), (f"networkx {details['version']}", "networkx"))
    ]
    bars = [
        ("graph_traverse_ms", "≤ 2"),
        ("graph_against_networkx", "≤ 3"),
        ("graph_against_networkx_with_load", "≥ 100"),
    ]
    return "\n".join(
        [
            "| | ready, ms | first walk, ms | median walk, ms | slowest twentieth, ms |",
            "|---|---|---|---|---|",
            *rows,
            "",
            "| key | figure | bar |",
            "|---|---|---|",
            *(f"| `{key}` | {figures[key]:.2f} | {bar} |" for key, bar in bars),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
