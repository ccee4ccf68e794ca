"""A run of ``sestet eval`` on the terminal, and its tables and words, which the page shows as well."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, get_args

from rich.console import Console
from rich.text import Text

from sestet.cli.show.console import print_line
from sestet.core.clean import clean, one_line
from sestet.evals.compare import Change, Comparison
from sestet.evals.figures import (
    ALL,
    Confusion,
    confusion_of,
    confusions_of,
    costs_of,
    grouped,
    names_in,
    score,
    scores_by_kind,
    tool_accuracy,
    verdict_counts,
)
from sestet.evals.runs import Result, Run, RunInfo, Verdict
from sestet.evals.sets import Eval

_CONFUSIONS_SHOWN = 8
_REQUESTS_SHOWN = 3
_FAILURES_SHOWN = 40
_REQUEST_WIDTH = 70
#: The narrowest column in which a name can be recognised.
_NARROWEST = 4
_WRONG = "red"
_DETAIL_WIDTH = 100
_TITLES = {
    "routing": "Routing",
    "tools": "Tools",
    "multipart": "Requests with several parts",
    "newcomer": "Newcomers",
}


class Table(NamedTuple):
    """Rows below a head; the last row is the sum of the others."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    #: How many of the first columns are words; the others are numbers.
    texts: int = 1


def print_run(console: Console, run: Run) -> None:
    """The tables and failures of a run, in 80 columns."""
    console.print(Text(subject_line(run.info), style="bold"), soft_wrap=True)
    if len(run.results) < run.info.cases:
        console.print(f"{len(run.results)} of {run.info.cases} cases so far", style="yellow")
    if not run.results:
        return
    print_table(console, score_table(run))
    if run.info.eval == "tools":
        print_table(console, tool_table(run.results))
    elif run.info.eval == "routing":
        _print_matrix(console, run.results)
    print_table(console, cost_table(run))
    if run.info.eval == "routing":
        _print_confusions(console, confusions_of(run.results))
    else:
        _print_failures(console, [result for result in run.results if not result.right])


def print_comparison(console: Console, before: RunInfo, after: RunInfo, found: Comparison) -> None:
    """Two runs, and the requests that had different results."""
    head, rows = ["", "requests", "accuracy"], list[list[str]]()
    for name, info, half in (("before", before, found.before), ("after", after, found.after)):
        console.print(f"{name}: {subject_line(info)}", soft_wrap=True)
        rows.append([name, str(half.n), percent(half.accuracy), percent(half.false_confidence)])
    # Only a router says how sure it is.
    if before.subject.threshold is None or after.subject.threshold is None:
        rows = [row[: len(head)] for row in rows]
    else:
        head.append("sure and wrong")
    print_table(console, Table(head, rows))
    points = f"{found.difference * 100:+.1f} points"
    console.print(f"\n{points}: {len(found.mended)} mended, {len(found.broken)} broken")
    console.print(f"Chance alone is as lopsided in {percent(found.chance)} of cases.")
    if found.alone:
        console.print(f"Left out: {count(found.alone, 'request')} that only one of the runs has.")
    _print_changes(console, "Broken", found.broken, _WRONG)
    _print_changes(console, "Mended", found.mended, "green")
    _print_changes(console, "Wrong in another way", found.otherwise, "")


def _print_matrix(console: Console, results: Sequence[Result]) -> None:
    """Expected by given. A number off the diagonal is wrong, and in colour."""
    matrix = confusion_of(results)
    names = names_in(matrix)
    first = max(len(clean(name)) for name in (*matrix, "expected"))
    room = (console.width - first) // len(names) - 2
    width = min(room, max(len(clean(name)) for name in names))
    _print_head(console, "Confusion: a row for each expected, a column for each given")
    if width < _NARROWEST:
        console.print(f"{len(names)} columns are too many for this terminal; --html draws them.")
        return
    heads = "".join(f"  {one_line(name, width):>{width}}" for name in names)
    console.print(Text(f"{'expected':<{first}}{heads}", style="dim"), no_wrap=True)
    for expected, row in matrix.items():
        line = Text(f"{clean(expected):<{first}}")
        for given in names:
            number = row.get(given, 0)
            style = "dim" if not number else "bold" if given == expected else _WRONG
            line.append(f"  {number or '·':>{width}}", style=style)
        print_line(console, line)


def _print_confusions(console: Console, confusions: Sequence[Confusion]) -> None:
    if not confusions:
        return
    _print_head(console, "Worst confusions")
    for pair in confusions[:_CONFUSIONS_SHOWN]:
        head = Text(
            f"{clean(pair.expected)} taken for {clean(pair.given)}: {len(pair.results)}", style=_WRONG
        )
        print_line(console, head)
        # A confident mistake is worse, so it comes first.
        worst = sorted(pair.results, key=lambda result: -(result.confidence or 0.0))
        for result in worst[:_REQUESTS_SHOWN]:
            line = Text(f"  {one_line(result.request, _REQUEST_WIDTH)}")
            print_line(console, line.append(f"  {remark(result)}".rstrip(), style="dim"))
        if len(pair.results) > _REQUESTS_SHOWN:
            console.print(f"  and {len(pair.results) - _REQUESTS_SHOWN} more", style="dim")
    if len(confusions) > _CONFUSIONS_SHOWN:
        console.print(
            f"{len(confusions) - _CONFUSIONS_SHOWN} rarer confusions: --html and --json", style="dim"
        )


def _print_failures(console: Console, failures: Sequence[Result]) -> None:
    if not failures:
        return
    _print_head(console, "Failures")
    for result in failures[:_FAILURES_SHOWN]:
        print_line(console, Text(one_line(result.request, _REQUEST_WIDTH)))
        print_line(console, Text(f"  {what_went_wrong(result)}", style=_WRONG))
    if len(failures) > _FAILURES_SHOWN:
        console.print(f"and {len(failures) - _FAILURES_SHOWN} more: --html and --json", style="dim")


def _print_changes(console: Console, title: str, changes: Sequence[Change], style: str) -> None:
    if not changes:
        return
    _print_head(console, title)
    for before, after in changes:
        print_line(console, Text(one_line(after.request, _REQUEST_WIDTH)))
        what = f"  {clean(after.expected)}: {clean(before.given)} → {clean(after.given)}"
        print_line(console, Text(what, style=style))


def _print_head(console: Console, title: str) -> None:
    console.print()
    console.print(Text(title, style="bold"))


def print_table(console: Console, table: Table) -> None:
    console.print()
    rows = [[clean(cell) for cell in row] for row in (table.head, *table.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = (
            f"{cell:<{width}}" if position < table.texts else f"{cell:>{width}}"
            for position, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print_line(console, Text("  ".join(cells).rstrip(), style="" if number else "dim"))


def score_table(run: Run) -> Table:
    """The share of right results, for each kind and together; for a router also its confidence."""
    if run.info.eval == "newcomer":
        return verdict_table(run.results)
    has_threshold = run.info.subject.threshold is not None
    rows: list[list[str]] = []
    for name, found in (*scores_by_kind(run.results).items(), (ALL, score(run.results))):
        rows.append([name, str(found.n), str(found.right), percent(found.accuracy)])
        if has_threshold:
            rows[-1] += [percent(found.coverage), percent(found.false_confidence)]
    head = ["", "requests", "right", "accuracy"]
    return Table([*head, "sure", "sure and wrong"] if has_threshold else head, rows)


def verdict_table(results: Sequence[Result]) -> Table:
    """How newcomers' replies were graded, for each kind and together."""
    rows: list[list[str]] = []
    for name, found in (*grouped(results, lambda result: result.kind).items(), (ALL, results)):
        counts = map(str, verdict_counts(found).values())
        rows.append([name, str(len(found)), *counts, percent(score(found).accuracy)])
    return Table(["", "requests", *get_args(Verdict), "right or acceptable"], rows)


def tool_table(results: Sequence[Result]) -> Table:
    """Right tools and right arguments, for each tool, for each agent, and together."""
    rows: list[list[str]] = []
    for agent, of_agent in grouped(results, lambda result: result.agent).items():
        for tool, found in grouped(of_agent, lambda result: result.expected).items():
            rows.append([agent, tool, *_tool_cells(found)])
        rows.append([agent, ALL, *_tool_cells(of_agent)])
    rows.append([ALL, "", *_tool_cells(results)])
    return Table(["agent", "tool", "requests", "tool right", "arguments too"], rows, texts=2)


def _tool_cells(results: Sequence[Result]) -> list[str]:
    return [str(len(results)), percent(tool_accuracy(results)), percent(score(results).accuracy)]


def cost_table(run: Run) -> Table:
    """Times for each route, and tokens and dollars when a model was asked."""
    results, by = run.results, _KEYS[run.info.eval]
    usage = costs_of(results).usage
    paid = bool(usage.input_tokens or usage.output_tokens)
    rows: list[list[str]] = []
    for name, found in (*grouped(results, by).items(), (ALL, results)):
        costs = costs_of(found)
        times = (duration(costs.median_milliseconds), duration(costs.slow_milliseconds))
        rows.append([name, str(costs.n), *times])
        if paid:
            used = costs.usage
            rows[-1] += [f"{used.input_tokens:,}", f"{used.output_tokens:,}", dollars(used.nano_dollars)]
    head = ["route", "requests", "median", "95 % within"]
    return Table([*head, "tokens in", "out", "cost"] if paid else head, rows)


#: The route of a result. Requests with parts have too many routes, so they are grouped by their kind.
_KEYS: dict[Eval, Callable[[Result], str]] = {
    "routing": lambda result: result.expected,
    "tools": lambda result: result.agent,
    "multipart": lambda result: result.kind,
    "newcomer": lambda result: result.kind,
}


def subject_line(info: RunInfo) -> str:
    """``Routing · router (light) · routing.jsonl · threshold 0.982 · ready in 120 ms``"""
    subject = info.subject
    parts = [_TITLES[info.eval], clean(subject.title), clean(info.set_name)]
    if subject.threshold is not None:
        parts.append(f"threshold {subject.threshold:.3g}")
    if subject.load_milliseconds is not None:
        parts.append(f"ready in {duration(subject.load_milliseconds)}")
    return " · ".join(parts)


def what_went_wrong(result: Result) -> str:
    """``wanted fs_list, got no call: said: …``, or the mistake in the arguments of the right call."""
    detail = one_line(result.detail, _DETAIL_WIDTH)
    if result.given in get_args(Verdict):
        return f"{result.given}: {detail}"
    if result.given == result.expected:
        return f"{clean(result.expected)}: {detail}"
    wrong = f"wanted {clean(result.expected)}, got {clean(result.given)}"
    return f"{wrong} ({detail})" if detail else wrong


def remark(result: Result) -> str:
    """The note beside a wrong route: the router's confidence, or what a model did instead."""
    if result.confidence is None:
        return one_line(result.detail, _DETAIL_WIDTH)
    return f"confidence {result.confidence:.2f}{', sure' if result.sure else ''}"


def percent(share: float) -> str:
    return f"{share * 100:.1f} %"


def duration(milliseconds: float) -> str:
    """Two significant digits, in a unit that fits."""
    if milliseconds >= 10_000:
        return f"{milliseconds / 1000:.0f} s"
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.2g} ms"


def dollars(nano_dollars: int) -> str:
    return f"${nano_dollars / 1e9:.4f}" if nano_dollars else "-"


def count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
