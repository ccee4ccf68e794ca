"""Compares two runs: which requests changed, and whether that can be chance."""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import comb
from typing import NamedTuple

from sestet.core.errors import PersonError
from sestet.evals.figures import Score, score
from sestet.evals.runs import Result, Run


class Change(NamedTuple):
    """One request in both runs."""

    before: Result
    after: Result


class Comparison(NamedTuple):
    """The requests in both runs, in the order of the second."""

    before: Score
    after: Score
    #: Wrong before, right after.
    mended: Sequence[Change]
    #: Right before, wrong after.
    broken: Sequence[Change]
    #: Wrong in both, in different ways.
    otherwise: Sequence[Change]
    #: The number of requests in only one of the runs.
    alone: int

    @property
    def difference(self) -> float:
        return self.after.accuracy - self.before.accuracy

    @property
    def chance(self) -> float:
        """The p-value of a two-sided sign test: how likely this is if neither run is better."""
        changed = len(self.mended) + len(self.broken)
        more = max(len(self.mended), len(self.broken))
        tail = sum(comb(changed, count) for count in range(more, changed + 1)) / 2**changed
        return min(1.0, 2 * tail)


def compare(before: Run, after: Run) -> Comparison:
    """Compare two runs of the same eval, by the requests that are in both."""
    if before.info.eval != after.info.eval:
        raise PersonError(
            f"a run of 'eval {before.info.eval}' and one of 'eval {after.info.eval}' cannot be compared"
        )
    earlier = dict(_numbered(before.results))
    later = dict(_numbered(after.results))
    pairs = [Change(earlier[key], result) for key, result in later.items() if key in earlier]
    if not pairs:
        raise PersonError("the two runs have no request in common")
    return Comparison(
        score(pair.before for pair in pairs),
        score(pair.after for pair in pairs),
        [pair for pair in pairs if pair.after.right and not pair.before.right],
        [pair for pair in pairs if pair.before.right and not pair.after.right],
        [pair for pair in pairs if _both_wrong(pair) and pair.before.given != pair.after.given],
        len(earlier.keys() ^ later.keys()),
    )


def describe_comparison(found: Comparison) -> dict[str, object]:
    """A comparison as JSON."""
    return {
        "n": found.after.n,
        "accuracy": [found.before.accuracy, found.after.accuracy],
        "difference": found.difference,
        "false_confidence": [found.before.false_confidence, found.after.false_confidence],
        "chance": found.chance,
        "only_in_one": found.alone,
        **{name: [_change(c) for c in getattr(found, name)] for name in ("mended", "broken", "otherwise")},
    }


def _numbered(results: Sequence[Result]) -> Iterator[tuple[tuple[str, str, str, int], Result]]:
    """Each result by request, agent, expected answer, and a count that tells repeated cases apart."""
    seen = Counter[tuple[str, str, str]]()
    for result in results:
        asked = (result.request, result.agent, result.expected)
        seen[asked] += 1
        yield (*asked, seen[asked]), result


def _both_wrong(pair: Change) -> bool:
    return not pair.before.right and not pair.after.right


def _change(change: Change) -> dict[str, object]:
    return {
        "request": change.after.request,
        "expected": change.after.expected,
        "before": change.before.given,
        "after": change.after.given,
    }
