"""``python -m bench.server``: what the server costs, against the A2A SDK's sample server and ``run_turn``."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence

from bench.children import ChildError, export_tree, scratch
from bench.entries import SESTET
from bench.server.contestants import A2A
from bench.server.figures import draw_server, misses
from bench.server.measure import MEASURES, Figures
from bench.venvs import InstallError, is_current, make_venv, read_version

ROUNDS = 5


def measure_server(parts: Sequence[str] = tuple(MEASURES), rounds: int = ROUNDS) -> Figures:
    """The figures of the chosen parts. A part that cannot be measured is left out, with the reason."""
    found: Figures = {}
    problems: dict[str, str] = {}
    try:
        for entry in (SESTET, A2A):
            if not is_current(entry):
                make_venv(entry)
        export_tree()
        found["a2a_version"] = read_version(A2A)
    except (ChildError, InstallError) as error:
        _say(f"it cannot be measured: {error}")
        return {"problems": {"install": str(error)}}
    for part in parts:
        _say(part)
        try:
            with scratch() as folder:
                found |= asyncio.run(MEASURES[part](folder, rounds))
        except (ChildError, OSError) as error:
            _say(f"{part} cannot be measured: {error}")
            problems[part] = str(error)
    return {**found, "load": os.getloadavg(), "problems": problems}


def _say(line: str) -> None:
    print(f"bench: the server: {line}", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.server", description=__doc__)
    parser.add_argument("--only", default="", metavar="PARTS", help=f"some of: {', '.join(MEASURES)}")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help=f"default: {ROUNDS}")
    parser.add_argument("--json", action="store_true", help="print the JSON instead of the table")
    options = parser.parse_args()
    parts = [part.strip() for part in options.only.split(",") if part.strip()] or list(MEASURES)
    if wrong := [part for part in parts if part not in MEASURES]:
        raise SystemExit(f"there is no {', '.join(map(repr, wrong))}; there are {', '.join(MEASURES)}")
    found = measure_server(parts, options.rounds)
    print(json.dumps(found, indent=2) if options.json else draw_server(found))
    return 1 if misses(found) else 0


if __name__ == "__main__":
    sys.exit(main())
