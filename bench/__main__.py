"""``python -m bench``: measures all contestants in one run, prints one table, writes ``build/bench.json``."""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.children import ChildError, export_tree, read_filesystem, take_figure, take_ingest
from bench.entries import ENTRIES, SESTET, SESTET_FILES, Entry, before
from bench.graph import draw_graph_table, measure_graph
from bench.growth.__main__ import SMALL, draw_growth, measure_growth_of_data
from bench.results import Record, compare_with_before, compute_figures, draw_table
from bench.retrieval.__main__ import draw_retrieval, measure_retrieval
from bench.sandbox import draw_sandbox, measure_sandbox
from bench.server.__main__ import measure_server
from bench.server.figures import draw_server, key_figures
from bench.tokens import draw_tokens, measure_tokens
from bench.venvs import ROOT, InstallError, is_current, make_venv, read_version

OUTPUT = ROOT / "build" / "bench.json"
#: Measured in every round for each contestant. The other figures need many turns and are measured less often.
EVERY_ROUND = ("ready", "turn")
OTHERS = ("concurrency", "growth", "memory", "prompt")
#: Rounds in which Sestet and the floor are measured on the other figures; peers take part in one.
OTHER_ROUNDS = {"concurrency": 5, "growth": 3, "memory": 3, "prompt": 1}


def main() -> int:
    options = _parser().parse_args()
    entries = _chosen(options.only)
    if options.before:
        if not (options.before / "requirements.lock").is_file():
            raise SystemExit(f"{options.before} is not a checkout of Sestet: it has no requirements.lock")
        entries.append(before(str(options.before)))
    started, load = time.monotonic(), os.getloadavg()
    if read_filesystem() in ("tmpfs", "ramfs"):
        _say("build/ lies in memory, so Sestet's journal is not on a disk: its figures flatter it")
    records = [Record(entry) for entry in entries]
    try:
        _install(
            [SESTET, *(entry for entry in entries if entry not in (SESTET, SESTET_FILES))],
            records,
            options.fresh,
        )
        export_tree()
    except (InstallError, ChildError) as error:
        _say(f"Sestet itself cannot be measured: {error}")
        return 1
    _measure(records, options.rounds)
    report = _report(records, options.rounds, load)
    retrieval, graph, sandbox, server, growth, tokens = {}, {}, {}, {}, {}, None
    if not options.only:
        retrieval, graph, sandbox = measure_retrieval(), _measure_graph(), measure_sandbox()
        report["retrieval"] = retrieval
        report |= graph | _measure_ingest()
        report |= {"sandbox": sandbox, "sandbox_ms": sandbox.get("sandbox_ms")}
        tokens = measure_tokens()
        report["tokens"] = tokens.to_json()
        growth = measure_growth_of_data(SMALL)
        report["growth_of_data"] = growth
        server = measure_server()
        report |= {"server": server, **key_figures(server)}
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    _say(f"done in {time.monotonic() - started:.0f} s")
    if options.json:
        print(json.dumps(report, indent=2, ensure_ascii=False))
        return 1 if any(record.problems for record in records if record.entry.kind != "peer") else 0
    print(draw_table(records))
    if retrieval:
        print(f"\n{draw_retrieval(retrieval)}\n\n{draw_graph_table(graph)}")
    if growth:
        print(f"\n{draw_growth(growth)}")
    if sandbox:
        print(f"\n{draw_sandbox(sandbox)}")
    if tokens:
        print(f"\n{draw_tokens(tokens)}")
    if server:
        print(f"\n{draw_server(server)}")
    return 1 if any(record.problems for record in records if record.entry.kind != "peer") else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    names = ", ".join(entry.name for entry in ENTRIES)
    parser.add_argument("--only", default="", metavar="NAMES", help=f"some of: {names}")
    parser.add_argument("--before", type=Path, metavar="DIR", help="also measure another checkout of Sestet")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="default: 7")
    parser.add_argument("--json", action="store_true", help="print the JSON instead of the table")
    parser.add_argument(
        "--output", type=Path, default=OUTPUT, metavar="FILE", help="default: build/bench.json"
    )
    parser.add_argument("--fresh", action="store_true", help="create the virtual environments again")
    return parser


def _chosen(only: str) -> list[Entry]:
    names = [name.strip() for name in only.split(",") if name.strip()]
    known = {entry.name for entry in ENTRIES}
    if wrong := [name for name in names if name not in known]:
        raise SystemExit(f"there is no {', '.join(map(repr, wrong))}; there are {', '.join(sorted(known))}")
    return [entry for entry in ENTRIES if not names or entry.name in names]


def _install(entries: Sequence[Entry], records: Sequence[Record], fresh: bool) -> None:
    """Create the missing environments. A peer that cannot be installed is left out, with the reason."""
    by_name = {record.entry.name: record for record in records}
    for entry in entries:
        try:
            if fresh or not is_current(entry):
                _say(f"{entry.name}: creating its virtual environment")
                make_venv(entry)
            version = read_version(entry)
        except InstallError as error:
            if entry == SESTET:
                raise
            _say(f"{entry.name}: {error}")
            by_name[entry.name].problems["install"] = str(error)
            continue
        for record in records:
            if entry.name in (record.entry.name, record.entry.venv):
                record.version = version


def _measure(records: Sequence[Record], rounds: int) -> None:
    for record in records:
        # The first start compiles and fills caches, so it does not count.
        _take(record, "ready", "first start", counted=False)
    for number in range(1, rounds + 1):
        for figure in (*EVERY_ROUND, *OTHERS):
            for record in records:
                if _is_due(record, figure, number):
                    _take(record, figure, f"round {number} of {rounds}")


def _measure_ingest() -> dict[str, object]:
    """Measure how Sestet ingests documents. There is no peer to compare with."""
    _say("documents")
    try:
        return {**take_ingest()}
    except ChildError as error:
        _say(f"documents: {error}")
        return {"ingest_problem": str(error)}


def _is_due(record: Record, figure: str, number: int) -> bool:
    if figure in EVERY_ROUND:
        return True
    return number <= (1 if record.entry.kind == "peer" else OTHER_ROUNDS[figure])


def _take(record: Record, figure: str, step: str, *, counted: bool = True) -> None:
    """Measure once. After a failure, skip that figure of the contestant."""
    if "install" in record.problems or figure in record.problems:
        return
    _say(f"{step}: {record.entry.name}, {figure}")
    try:
        raw = take_figure(record.entry, figure)
    except ChildError as error:
        _say(f"{record.entry.name}, {figure}: {error}")
        record.problems[figure] = str(error)
        return
    if counted:
        record.add(raw)


def _measure_graph() -> dict[str, object]:
    try:
        return measure_graph()
    except (InstallError, ChildError) as error:
        _say(f"the graph cannot be measured: {error}")
        return {}


def _report(records: Sequence[Record], rounds: int, load: Sequence[float]) -> dict[str, object]:
    return {
        **compute_figures(records),
        "with_own_fs_list": compute_figures(records, SESTET_FILES),
        "now_to_before": compare_with_before(records),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "rounds": rounds,
        "machine": {
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "kernel": platform.release(),
            "file_system": read_filesystem(),
            "load_before": load,
            "load_after": os.getloadavg(),
        },
        "contestants": {
            record.entry.name: {
                "version": record.version,
                "medians": record.medians(),
                "values": record.values,
                "problems": record.problems,
            }
            for record in records
        },
    }


def _say(line: str) -> None:
    print(f"bench: {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
