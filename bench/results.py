"""Turns raw measurements into figures, and figures into the table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from bench.entries import SESTET, Entry

#: The result of one contestant: the median of each raw value over all rounds.
Medians = dict[str, float]


@dataclass(slots=True)
class Record:
    """All measurements of one contestant."""

    entry: Entry
    version: str = ""
    values: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    #: Figure, or ``install`` → the reason why it is missing.
    problems: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, raw: Mapping[str, float]) -> None:
        for name, value in raw.items():
            self.values.setdefault(name, []).append(value)

    def medians(self) -> Medians:
        return {name: median(values) for name, values in self.values.items()}


@dataclass(frozen=True, slots=True)
class Bar:
    """One column of the table, and the bar for Sestet."""

    key: str
    raw: str
    heading: str
    limit: float
    against: Literal["leanest", "itself"]
    show: Callable[[float], str]
    at_least: bool = False

    def is_met(self, figure: float) -> bool:
        return figure >= self.limit if self.at_least else figure <= self.limit

    def show_figure(self, figure: float) -> str:
        return f"{figure:.2f}" if self.against == "leanest" else self.show(figure)


def _milliseconds(value: float) -> str:
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}" if value < 100 else f"{value:.0f}"


def _percent(value: float) -> str:
    return f"{value:.0%}"


BARS = (
    Bar("turn_cpu_ratio", "turn_ms", "turn, ms", 0.6, "leanest", _milliseconds),
    Bar("ready_ratio", "ready_ms", "ready, ms", 0.6, "leanest", "{:.0f}".format),
    Bar("rss_ratio", "rss_kb", "memory, MB", 1.1, "leanest", lambda kb: f"{kb / 1024:.1f}"),
    Bar("growth_500_10", "growth", "turn 500 ÷ 10", 1.3, "itself", "{:.2f}".format),
    Bar("concurrency_share", "sustained_share", "200 at once", 0.7, "itself", _percent, at_least=True),
    Bar("session_kb", "session_kb", "session, kB", 20.0, "itself", "{:.1f}".format),
    Bar("prompt_growth", "prompt_growth", "prompt 10 ÷ 1", 1.5, "itself", "{:.2f}".format),
)


def find_leanest(records: Sequence[Record], raw: str) -> tuple[str, float] | None:
    """Return the peer with the smallest value, and that value."""
    found = [
        (record.medians()[raw], record.entry.name)
        for record in records
        if record.entry.kind == "peer" and raw in record.values
    ]
    return (min(found)[1], min(found)[0]) if found else None


def compute_figures(records: Sequence[Record], of: Entry = SESTET) -> dict[str, float | None]:
    """Return the figures of Sestet; None for a figure that was not measured or has no peer to divide by."""
    own = next((record.medians() for record in records if record.entry == of), Medians())
    figures: dict[str, float | None] = {}
    for bar in BARS:
        leanest = find_leanest(records, bar.raw)
        if bar.raw not in own or (bar.against == "leanest" and leanest is None):
            figures[bar.key] = None
        elif bar.against == "leanest" and leanest is not None:
            figures[bar.key] = own[bar.raw] / leanest[1]
        else:
            figures[bar.key] = own[bar.raw]
    return figures


def compare_with_before(records: Sequence[Record]) -> dict[str, float]:
    """Each raw value of Sestet divided by that of an older checkout; empty when there was none."""
    medians = {record.entry.name: record.medians() for record in records}
    now, before = medians.get(SESTET.name, {}), medians.get("sestet-before", {})
    return {bar.raw: now[bar.raw] / before[bar.raw] for bar in BARS if bar.raw in now and bar.raw in before}


def draw_table(records: Sequence[Record]) -> str:
    """Return a markdown table: one row for each contestant, then Sestet's figures beside their bars."""
    figures = compute_figures(records)
    verdicts = [
        "—" if (figure := figures[bar.key]) is None else "yes" if bar.is_met(figure) else "**no**"
        for bar in BARS
    ]
    rows = [
        ["", "version", *(bar.heading for bar in BARS)],
        *(_row(record) for record in records),
        *_change(compare_with_before(records)),
        ["the leanest peer", "", *(_leanest(records, bar) for bar in BARS)],
        ["Sestet's figure", "", *(_figure(bar, figures[bar.key]) for bar in BARS)],
        ["bar", "", *(_limit(bar) for bar in BARS)],
        ["met", "", *verdicts],
    ]
    notes = [
        f"{record.entry.name}, {figure}: {reason}"
        for record in records
        for figure, reason in record.problems.items()
    ]
    return "\n".join([*_aligned(rows), *([""] if notes else []), *notes])


def _change(ratios: Mapping[str, float]) -> list[list[str]]:
    cells = (f"{ratios[bar.raw]:.2f}" if bar.raw in ratios else "—" for bar in BARS)
    return [["now ÷ before", "", *cells]] if ratios else []


def _row(record: Record) -> list[str]:
    medians = record.medians()
    return [
        record.entry.name,
        record.version,
        *(_cell(bar, medians) for bar in BARS),
    ]


def _cell(bar: Bar, medians: Medians) -> str:
    if bar.raw not in medians:
        return "—"
    shown = bar.show(medians[bar.raw])
    if bar.raw == "growth" and medians["late_turn"] < 500:
        return f"{shown} (at {medians['late_turn']:.0f})"
    return shown


def _leanest(records: Sequence[Record], bar: Bar) -> str:
    leanest = find_leanest(records, bar.raw)
    return leanest[0] if bar.against == "leanest" and leanest else ""


def _figure(bar: Bar, figure: float | None) -> str:
    return "—" if figure is None else bar.show_figure(figure)


def _limit(bar: Bar) -> str:
    return f"{'≥' if bar.at_least else '≤'} {bar.show_figure(bar.limit)}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return [lines[0], rule, *lines[1:]]
