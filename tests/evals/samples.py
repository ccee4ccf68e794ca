"""Small runs for tests, and the specialists that the router has learned."""

import re
from collections.abc import Sequence

from sestet.agents import default_specs
from sestet.evals.runs import Result, Run, RunInfo, Subject
from sestet.evals.sets import digest
from sestet.models.router.weights import read_weights

#: The specialists that the router has learned. One without requests in the bank is not among them.
LEARNED = tuple(spec for spec in default_specs() if spec.name in read_weights().header["agents"])

ROUTER = Subject("router", "light", 0.6, 12.0, 11.0)
MODEL = Subject("home/tiny", basis_digest="p1")


def plain(text: str) -> str:
    """A request without its punctuation and upper case."""
    return re.sub(r"\W+", " ", text).strip().casefold()


def result(request: str, expected: str, given: str, *, sure: bool = True, kind: str = "") -> Result:
    return Result(
        request,
        expected,
        given,
        expected == given,
        kind,
        milliseconds=2.0,
        confidence=0.9 if sure else 0.3,
        sure=sure,
    )


def run_of(*results: Result, subject: Subject = ROUTER, cases: Sequence[str] | None = None) -> Run:
    asked = [each.request for each in results] if cases is None else cases
    return Run(RunInfo("routing", subject, "mine.jsonl", digest(asked), len(asked)), results)
