"""The figures of the server and their bars, from what was measured."""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from bench.server.client import Reader

_AT = re.compile(rb'"at":([0-9.e+]+)')


class Bar(NamedTuple):
    key: str
    meaning: str
    bound: float
    is_least: bool = False

    def is_met(self, value: float) -> bool:
        return value >= self.bound if self.is_least else value <= self.bound


BARS = (
    Bar("server_16_ratio", "requests a second at 16 connections / the A2A sample", 1.0, is_least=True),
    Bar("server_64_ratio", "requests a second at 64 connections / the A2A sample", 1.0, is_least=True),
    Bar("server_turn_ratio", "CPU of a turn through the server / by run_turn", 1.6),
    Bar("sse_p99_ms", "from an event to its byte at one of 1,000 clients, 99th percentile, ms", 250.0),
    Bar("sse_client_kb", "memory of one of 1,000 clients, kB", 60.0),
    Bar("serve_start_ratio", "CPU of a start until /ready / of --help", 2.5),
)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of all values does not exceed."""
    ordered = sorted(values)
    index = max(0, -int(-share * len(ordered) // 1) - 1)
    return ordered[index]


def delays(content: bytes, arrivals: Sequence[tuple[float, int]]) -> list[float]:
    """Seconds from each event's own time to the arrival of its last byte.

    ``arrivals``: times, with the number of bytes that were there then.
    """
    lengths = [length for _, length in arrivals]
    found: list[float] = []
    for event in re.finditer(rb"\ndata: (.*)\n\n", content):
        at = _AT.search(event[1])
        if at is not None:
            arrived, _ = arrivals[bisect_left(lengths, event.end())]
            found.append(arrived - float(at[1]))
    return found


def ratio_of_medians(ours: Sequence[float], theirs: Sequence[float]) -> float:
    return median(ours) / median(theirs)


def all_delays(readers: Sequence[Reader]) -> list[float]:
    return [delay for each in readers for delay in delays(bytes(each.content), each.arrivals)]


def draw_server(figures: Mapping[str, object]) -> str:
    lines = ["| key | figure | seen | bar | met |", "|---|---|---|---|---|"]
    for bar in BARS:
        value = figures.get(bar.key)
        seen = f"{value:.2f}" if isinstance(value, float) else "not measured"
        met = ("yes" if bar.is_met(value) else "**no**") if isinstance(value, float) else "**no**"
        sign = "≥" if bar.is_least else "≤"
        lines.append(f"| `{bar.key}` | {bar.meaning} | {seen} | {sign} {bar.bound:g} | {met} |")
    return "\n".join(lines)


def misses(figures: Mapping[str, object]) -> list[str]:
    """The keys whose bar is missed, or that were not measured."""
    return [
        bar.key
        for bar in BARS
        if not (isinstance(value := figures.get(bar.key), float) and bar.is_met(value))
    ]


def key_figures(figures: Mapping[str, object]) -> dict[str, object]:
    """The figures that have a bar; None: not measured."""
    return {bar.key: figures.get(bar.key) for bar in BARS}
