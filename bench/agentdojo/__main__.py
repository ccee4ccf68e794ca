"""``python -m bench.agentdojo``: AgentDojo's attacks on the gate, with a model that obeys every order."""

import argparse
import json
import sys
from pathlib import Path

from bench.agentdojo.declarations import MODES
from bench.agentdojo.figures import collect, draw_table
from bench.agentdojo.processes import run_trials
from bench.children import ChildError
from bench.entries import Entry
from bench.venvs import ROOT, InstallError, is_current, make_venv

_OUTPUT = ROOT / "build" / "agentdojo.json"
_AGENTDOJO = Entry("agentdojo", "bench.agentdojo.worker", "agentdojo", ("agentdojo==0.1.35",), kind="sestet")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.agentdojo", description=__doc__)
    parser.add_argument(
        "--modes", nargs="+", choices=MODES, default=MODES, metavar="MODE", help="off, sensible, all"
    )
    parser.add_argument("--suite", default="", help="only workspace, travel, banking or slack")
    parser.add_argument("--benign", action="store_true", help="only the tasks without an attack")
    parser.add_argument("--json", action="store_true", help="print the JSON instead of the table")
    parser.add_argument(
        "--output", type=Path, default=_OUTPUT, metavar="FILE", help="default: build/agentdojo.json"
    )
    options = parser.parse_args()
    arguments = ["--modes", *options.modes, "--suite", options.suite]
    try:
        if not is_current(_AGENTDOJO):
            print("agentdojo: installing AgentDojo", file=sys.stderr, flush=True)
            make_venv(_AGENTDOJO)
        trials = run_trials(_AGENTDOJO, [*arguments, *(["--benign"] if options.benign else [])])
    except (InstallError, ChildError) as error:
        print(f"agentdojo: cannot be measured: {error}", file=sys.stderr)
        return 1
    figures = collect(trials)
    text = json.dumps({"figures": figures, "trials": trials}, indent=2)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(f"{text}\n", encoding="utf-8")
    print(json.dumps(figures, indent=2) if options.json else draw_table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
