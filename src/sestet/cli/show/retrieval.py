"""The figures of ``sestet eval retrieval`` on the terminal."""

from rich.console import Console
from rich.text import Text

from sestet.cli.show.console import print_line
from sestet.cli.show.evals import Table, print_table
from sestet.core.clean import clean
from sestet.evals.retrieval import ALL, LIMIT, Recall, RetrievalFigures

_MISSED_SHOWN = 20


def print_retrieval(console: Console, figures: RetrievalFigures) -> None:
    """Recall by search and kind, what is shown where there is no answer, and the answers that were missed."""
    counts = f"{figures.passages:,} passages, {figures.questions:,} questions"
    subject = f"Retrieval with {figures.space or 'words alone'} on {figures.set_name}: {counts}"
    console.print(Text(clean(subject), style="bold"), soft_wrap=True)
    searches = list(figures.recall)
    kinds = dict.fromkeys(kind for found in figures.recall.values() for kind in found if kind != ALL)
    head = [f"found first / among {LIMIT}", "n", *searches]
    rows = [
        _row(figures, kind) for kind in (*kinds, ALL) if any(kind in of for of in figures.recall.values())
    ]
    if rows:
        print_table(console, Table(head, rows))
    if figures.unanswered:
        shown = [f"{figures.shown[search]:.2f}" for search in searches]
        print_table(
            console,
            Table(["shown without an answer", "n", *searches], [["", str(figures.unanswered), *shown]]),
        )
    if figures.missed:
        console.print()
        print_line(console, Text(f"Not among the {LIMIT} of both searches together: {len(figures.missed)}"))
    for question in figures.missed[:_MISSED_SHOWN]:
        print_line(console, Text(clean(f"  {question.question} ({question.kind or 'no kind'})")))


def _row(figures: RetrievalFigures, kind: str) -> list[str]:
    found = [kinds.get(kind, Recall(0, 0.0, 0.0)) for kinds in figures.recall.values()]
    return [kind, str(found[0].n), *(f"{recall.at_1:.2f} / {recall.at_5:.2f}" for recall in found)]
