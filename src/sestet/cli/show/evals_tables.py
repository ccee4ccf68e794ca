"""The tables of a run, as cells of text: the terminal and the page show the same ones."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sestet.cli.show.evals_words import dollars, duration, percent
from sestet.evals.figures import ALL, costs_of, grouped, score, scores_by_kind, tool_accuracy
from sestet.evals.runs import Result, Run
from sestet.evals.sets import Eval


class Table(NamedTuple):
    """Rows below a head; the last row is the sum of the others."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    #: How many of the first columns are words; the others are numbers.
    texts: int = 1


def score_table(run: Run) -> Table:
    """How much was right, for each kind and together; a router also says what it was sure of."""
    has_threshold = run.info.subject.threshold is not None
    rows: list[list[str]] = []
    for name, found in (*scores_by_kind(run.results).items(), (ALL, score(run.results))):
        rows.append([name, str(found.n), str(found.right), percent(found.accuracy)])
        if has_threshold:
            rows[-1] += [percent(found.coverage), percent(found.false_confidence)]
    head = ["", "requests", "right", "accuracy"]
    return Table([*head, "sure", "sure and wrong"] if has_threshold else head, rows)


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
    """Times for each route, and what it cost where a model was asked."""
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


#: What a route is: to whom a request should go. Of requests with parts there are too many.
_KEYS: dict[Eval, Callable[[Result], str]] = {
    "routing": lambda result: result.expected,
    "tools": lambda result: result.agent,
    "multipart": lambda result: result.kind,
}
