"""The figures of a run: accuracy, confusions, times and costs."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import NamedTuple, get_args

from sestet.core.model import Usage
from sestet.evals.runs import Result, Run, Verdict

#: The name of the figures of all kinds together.
ALL = "all"
_SLOW = 0.95


class Score(NamedTuple):
    """How many requests were right, sure, and sure but wrong."""

    n: int
    right: int
    sure: int
    sure_and_wrong: int

    @property
    def accuracy(self) -> float:
        return self.right / self.n if self.n else 0.0

    @property
    def coverage(self) -> float:
        """The share above the threshold."""
        return self.sure / self.n if self.n else 0.0

    @property
    def false_confidence(self) -> float:
        """The share above the threshold and wrong."""
        return self.sure_and_wrong / self.n if self.n else 0.0


class Confusion(NamedTuple):
    """Requests for one agent or tool that were given to another."""

    expected: str
    given: str
    results: Sequence[Result]


class Costs(NamedTuple):
    """The times and tokens of some requests."""

    n: int
    median_milliseconds: float
    #: The 95th percentile.
    slow_milliseconds: float
    usage: Usage


def score(results: Iterable[Result]) -> Score:
    found = list(results)
    wrong = sum(result.sure and not result.right for result in found)
    return Score(len(found), sum(r.right for r in found), sum(r.sure for r in found), wrong)


def grouped(results: Iterable[Result], key: Callable[[Result], str]) -> dict[str, list[Result]]:
    """Results by a key, in the order in which the keys appear."""
    groups: defaultdict[str, list[Result]] = defaultdict(list)
    for result in results:
        groups[key(result)].append(result)
    return dict(groups)


def scores_by_kind(results: Sequence[Result]) -> dict[str, Score]:
    """A score for each kind that the set names; empty when it names none."""
    groups = grouped(results, lambda result: result.kind)
    return {kind: score(found) for kind, found in groups.items() if kind}


def confusion_of(results: Iterable[Result]) -> dict[str, dict[str, int]]:
    """Expected → given → how often."""
    groups = grouped(results, lambda result: result.expected)
    return {expected: dict(Counter(r.given for r in found)) for expected, found in groups.items()}


def names_in(confusion: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Every expected or given name, the expected ones first."""
    given = (name for row in confusion.values() for name in row)
    return list(dict.fromkeys((*confusion, *given)))


def confusions_of(results: Iterable[Result]) -> list[Confusion]:
    """The confusions, most frequent first."""
    wrong = [result for result in results if result.given != result.expected]
    found = grouped(wrong, lambda result: f"{result.expected}\n{result.given}").values()
    pairs = [Confusion(group[0].expected, group[0].given, group) for group in found]
    return sorted(pairs, key=lambda pair: -len(pair.results))


def costs_of(results: Sequence[Result]) -> Costs:
    if not results:
        return Costs(0, 0.0, 0.0, Usage())
    times = sorted(result.milliseconds for result in results)
    slow = times[min(len(times) - 1, int(len(times) * _SLOW))]
    return Costs(len(times), median(times), slow, sum((r.usage for r in results), Usage()))


def figures(run: Run) -> dict[str, object]:
    """All figures of a run as JSON."""
    info, results = run
    total, costs = score(results), costs_of(results)
    described: dict[str, object] = {
        "eval": info.eval,
        "subject": info.subject.name,
        "variant": info.subject.variant or None,
        "set": info.set_name,
        "n": total.n,
        "accuracy": total.accuracy,
        "false_confidence": total.false_confidence,
        "coverage": total.coverage,
        "threshold": info.subject.threshold,
        "median_ms": costs.median_milliseconds,
        "p95_ms": costs.slow_milliseconds,
        "load_ms": info.subject.load_milliseconds,
        "load_cpu_ms": info.subject.load_cpu_milliseconds,
        "by_kind": {kind: _score(found) for kind, found in scores_by_kind(results).items()},
        "confusion": confusion_of(results),
        "routes": {name: _costs(found) for name, found in grouped(results, _expected).items()},
        "cost": _usage(costs.usage),
        "wrong": [_wrong(result) for result in results if not result.right],
    }
    if info.eval == "tools":
        described |= _of_tools(results)
    if info.eval == "newcomer":
        described["verdicts"] = verdict_counts(results)
    return described


def verdict_counts(results: Iterable[Result]) -> dict[str, int]:
    """How often each verdict on a newcomer's reply was given."""
    given = Counter(result.given for result in results)
    return {verdict: given[verdict] for verdict in get_args(Verdict)}


def _of_tools(results: Sequence[Result]) -> dict[str, object]:
    groups = grouped(results, lambda result: result.agent)
    return {
        "tool_accuracy": tool_accuracy(results),
        "by_agent": {agent: _tool_score(found) for agent, found in groups.items()},
        "by_tool": {tool: _tool_score(found) for tool, found in grouped(results, _expected).items()},
    }


def tool_accuracy(results: Sequence[Result]) -> float:
    """The share of calls of the right tool, whatever the arguments."""
    return sum(r.given == r.expected for r in results) / len(results) if results else 0.0


def _tool_score(results: Sequence[Result]) -> dict[str, object]:
    return {**_score(score(results)), "tool_accuracy": tool_accuracy(results)}


def _expected(result: Result) -> str:
    return result.expected


def _score(found: Score) -> dict[str, object]:
    return {
        "n": found.n,
        "accuracy": found.accuracy,
        "false_confidence": found.false_confidence,
        "coverage": found.coverage,
    }


def _costs(results: Sequence[Result]) -> dict[str, object]:
    costs, found = costs_of(results), score(results)
    return {
        "n": costs.n,
        "accuracy": found.accuracy,
        "median_ms": costs.median_milliseconds,
        "p95_ms": costs.slow_milliseconds,
        **_usage(costs.usage),
    }


def _usage(usage: Usage) -> dict[str, object]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "dollars": usage.nano_dollars / 1e9,
    }


def _wrong(result: Result) -> dict[str, object]:
    return {
        "request": result.request,
        "expected": result.expected,
        "given": result.given,
        "sure": result.sure,
        "confidence": result.confidence,
        "detail": result.detail,
    }
