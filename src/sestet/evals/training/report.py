"""Measures the router on the shipped test sets, and writes the figures into docs/routing.md."""

import hashlib
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import NamedTuple

from sestet.agents import default_specs
from sestet.core.agent import DIRECT
from sestet.evals.sets import read_multipart_set, read_routing_set, shipped_set
from sestet.models.router import Router, open_router
from sestet.models.router.weights import FILE, read_weights

PAGE = Path(__file__).parents[4] / "docs/routing.md"
_PLACE = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- end of figures -->)", re.DOTALL)
#: Run in a new process, so that nothing is loaded yet.
_LOAD = """
import time
from sestet.agents import default_specs
from sestet.models.router import open_router
specs = default_specs()
start = time.process_time()
open_router(specs, with_encoder={with_encoder}).route("hello")
print(time.process_time() - start)
"""


class Tried(NamedTuple):
    """One case with the router's answer and the time it took."""

    kind: str
    wanted: str
    found: str
    sure: bool
    seconds: float

    @property
    def right(self) -> bool:
        return self.found == self.wanted


def try_routing(router: Router) -> list[Tried]:
    router.route("hello")
    tried: list[Tried] = []
    for case in read_routing_set(shipped_set("routing"), _agents()):
        # CPU time, so that other work on the machine does not count.
        start = time.process_time()
        route = router.route(case.request)
        seconds = time.process_time() - start
        tried.append(Tried(case.kind, case.agent, route.agent, route.sure, seconds))
    return tried


def try_splitting(router: Router) -> float:
    """The share of requests for which the router found exactly the right owners."""
    cases = read_multipart_set(shipped_set("multipart"), _agents())
    right = 0
    for case in cases:
        parts = router.split(case.request)
        right += tuple(agent for agent, _ in groupby(part.agent for part in parts)) == case.agents
    return right / len(cases)


def load_seconds(with_encoder: bool) -> float:
    script = _LOAD.format(with_encoder=with_encoder)
    times = [
        float(
            subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
        )
        for _ in range(3)
    ]
    return min(times)


def render_figures(routers: Sequence[Router]) -> str:
    tried = {router.variant: try_routing(router) for router in routers}
    weights = read_weights()
    header = weights.header
    rows: list[tuple[str, ...]] = []
    for router in routers:
        cases = tried[router.variant]
        unseen = header["variants"][router.variant]["unseen"]
        rows.append(
            (
                f"`{router.variant}`",
                _percent(share([case.right for case in cases if case.kind == "plain"])),
                _percent(share([case.right for case in cases if case.kind == "hard"])),
                _percent(share([case.sure for case in cases])),
                _percent(share([case.sure and not case.right for case in cases])),
                _percent(try_splitting(router)),
                _percent(unseen["right"]),
                _percent(unseen["coverage"]),
                _percent(unseen["false_confidence"]),
                f"{median(case.seconds for case in cases) * 1000:.1f} ms",
                f"{load_seconds(router.variant != 'words') * 1000:.0f} ms",
            )
        )
    heads = (
        "variant",
        "plain",
        "hard",
        "sure of",
        "sure and wrong",
        "parts",
        "bank: right",
        "bank: sure of",
        "bank: sure and wrong",
        "a request (CPU, median)",
        "load (CPU)",
    )
    return "\n\n".join(
        [
            f"Weights `{weights_name()}`: {FILE.stat().st_size / 1e6:.2f} MB, learned from "
            f"{len(weights.bank()):,} requests; {len(tried['words'])} requests in the test set.",
            _table(heads, rows),
            "Confusion of the full variant on the test set, a row for each right owner:",
            render_confusion(tried["words+encoder"]),
        ]
    )


def render_confusion(cases: Sequence[Tried]) -> str:
    counts = Counter((case.wanted, case.found) for case in cases)
    met = {name for pair in counts for name in pair}
    names = [name for name in (*_agents(), DIRECT) if name in met]
    rows = [(f"`{wanted}`", *(str(counts[wanted, found] or "") for found in names)) for wanted in names]
    return _table(("", *(f"`{name}`" for name in names)), rows)


def weights_name() -> str:
    """Identifies the weights that the figures belong to: the beginning of the file's hash."""
    return hashlib.sha256(FILE.read_bytes()).hexdigest()[:12]


def share(values: Sequence[bool]) -> float:
    return sum(values) / len(values)


def _agents() -> list[str]:
    return [spec.name for spec in default_specs()]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = (heads, ["---"] * len(heads), *rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _percent(value: float) -> str:
    return f"{value:.1%}"


def main() -> None:
    routers = [open_router(default_specs(), with_encoder) for with_encoder in (False, True)]
    if routers[1].missing:
        sys.exit(f"{routers[1].missing}: make setup")
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_PLACE.sub(lambda _: f"\n{render_figures(routers)}\n\n", text), encoding="utf-8")
    print(f"{PAGE.name}: written")


if __name__ == "__main__":
    main()
