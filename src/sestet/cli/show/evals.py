"""A run of ``sestet eval`` on the terminal: scores, the confusion matrix, what went wrong, what it took."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from sestet.cli.show.clean import clean, one_line
from sestet.cli.show.console import print_line
from sestet.cli.show.evals_tables import Table, cost_table, score_table, tool_table
from sestet.cli.show.evals_words import count, percent, remark, subject_line, what_went_wrong
from sestet.evals.compare import Change, Comparison
from sestet.evals.figures import Confusion, confusion_of, confusions_of, names_in
from sestet.evals.runs import Result, Run, RunInfo

if TYPE_CHECKING:
    from rich.console import Console

_CONFUSIONS_SHOWN = 8
_REQUESTS_SHOWN = 3
_FAILURES_SHOWN = 40
_REQUEST_WIDTH = 70
#: A name that is cut shorter is no name any more.
_NARROWEST = 4
_WRONG = "red"


def print_run(console: "Console", run: Run) -> None:
    """Everything that a person wants to know of a run, in 80 columns."""
    console.print(Text(subject_line(run.info), style="bold"), soft_wrap=True)
    if len(run.results) < run.info.cases:
        console.print(f"{len(run.results)} of {run.info.cases} cases so far", style="yellow")
    if not run.results:
        return
    _print_table(console, score_table(run))
    if run.info.eval == "tools":
        _print_table(console, tool_table(run.results))
    elif run.info.eval == "routing":
        _print_matrix(console, run.results)
    _print_table(console, cost_table(run))
    if run.info.eval == "routing":
        _print_confusions(console, confusions_of(run.results))
    else:
        _print_failures(console, [result for result in run.results if not result.right])


def print_comparison(console: "Console", before: RunInfo, after: RunInfo, found: Comparison) -> None:
    """Two runs, and the requests that went otherwise."""
    head, rows = ["", "requests", "accuracy"], list[list[str]]()
    for name, info, half in (("before", before, found.before), ("after", after, found.after)):
        console.print(f"{name}: {subject_line(info)}", soft_wrap=True)
        rows.append([name, str(half.n), percent(half.accuracy), percent(half.false_confidence)])
    # Only a router says how sure it is.
    if before.subject.threshold is None or after.subject.threshold is None:
        rows = [row[: len(head)] for row in rows]
    else:
        head.append("sure and wrong")
    _print_table(console, Table(head, rows))
    points = f"{found.difference * 100:+.1f} points"
    console.print(f"\n{points}: {len(found.mended)} mended, {len(found.broken)} broken")
    console.print(f"Chance alone is as lopsided in {percent(found.chance)} of cases.")
    if found.alone:
        console.print(f"Left out: {count(found.alone, 'request')} that only one of the runs has.")
    _print_changes(console, "Broken", found.broken, _WRONG)
    _print_changes(console, "Mended", found.mended, "green")
    _print_changes(console, "Wrong in another way", found.otherwise, "")


def _print_matrix(console: "Console", results: Sequence[Result]) -> None:
    """Expected by given; what is off the diagonal is wrong, and the only thing in colour."""
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


def _print_confusions(console: "Console", confusions: Sequence[Confusion]) -> None:
    if not confusions:
        return
    _print_head(console, "Worst confusions")
    for pair in confusions[:_CONFUSIONS_SHOWN]:
        head = Text(
            f"{clean(pair.expected)} taken for {clean(pair.given)}: {len(pair.results)}", style=_WRONG
        )
        print_line(console, head)
        # What it was sure of is worse.
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


def _print_failures(console: "Console", failures: Sequence[Result]) -> None:
    if not failures:
        return
    _print_head(console, "Failures")
    for result in failures[:_FAILURES_SHOWN]:
        print_line(console, Text(one_line(result.request, _REQUEST_WIDTH)))
        print_line(console, Text(f"  {what_went_wrong(result)}", style=_WRONG))
    if len(failures) > _FAILURES_SHOWN:
        console.print(f"and {len(failures) - _FAILURES_SHOWN} more: --html and --json", style="dim")


def _print_changes(console: "Console", title: str, changes: Sequence[Change], style: str) -> None:
    if not changes:
        return
    _print_head(console, title)
    for before, after in changes:
        print_line(console, Text(one_line(after.request, _REQUEST_WIDTH)))
        what = f"  {clean(after.expected)}: {clean(before.given)} → {clean(after.given)}"
        print_line(console, Text(what, style=style))


def _print_head(console: "Console", title: str) -> None:
    console.print()
    console.print(Text(title, style="bold"))


def _print_table(console: "Console", table: Table) -> None:
    console.print()
    rows = [[clean(cell) for cell in row] for row in (table.head, *table.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = (
            f"{cell:<{width}}" if position < table.texts else f"{cell:>{width}}"
            for position, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print_line(console, Text("  ".join(cells).rstrip(), style="" if number else "dim"))
