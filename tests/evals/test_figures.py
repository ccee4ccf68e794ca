"""The figures of a run, and two runs beside each other."""

import pytest

from sestet.core.errors import PersonError
from sestet.core.model import Usage
from sestet.evals.compare import compare
from sestet.evals.figures import confusions_of, costs_of, figures, score
from sestet.evals.runs import Result, Run, RunInfo
from tests.evals.samples import MODEL, ROUTER, result, run_of

RUN = run_of(
    result("a", "vault", "vault", kind="plain"),
    result("b", "vault", "planner", kind="plain", sure=False),
    result("c", "direct", "planner", kind="hard"),
    result("d", "direct", "direct", kind="hard", sure=False),
)


def test_the_figures_are_shares_of_all_requests() -> None:
    found = figures(RUN)
    assert (found["n"], found["accuracy"], found["median_ms"]) == (4, 0.5, 2.0)
    assert found["false_confidence"] == 0.25, "only c was sure and wrong"
    assert found["coverage"] == 0.5
    assert found["confusion"] == {
        "vault": {"vault": 1, "planner": 1},
        "direct": {"planner": 1, "direct": 1},
    }
    assert (found["variant"], found["threshold"], found["load_ms"]) == ("light", 0.6, 12.0)
    assert found["by_kind"] == {
        "plain": {"n": 2, "accuracy": 0.5, "false_confidence": 0.0, "coverage": 0.5},
        "hard": {"n": 2, "accuracy": 0.5, "false_confidence": 0.5, "coverage": 0.5},
    }


def test_a_run_without_results_has_figures_too() -> None:
    found = figures(run_of(cases=["a"]))
    assert (found["n"], found["accuracy"], found["confusion"]) == (0, 0.0, {})


def test_the_commonest_confusion_comes_first() -> None:
    results = [result(name, "vault", given) for name, given in zip("abc", "xyy", strict=True)]
    assert [(pair.given, len(pair.results)) for pair in confusions_of(results)] == [("y", 2), ("x", 1)]


def test_times_and_costs_are_summed_for_each_route() -> None:
    results = [
        Result(str(number), "vault", "vault", True, milliseconds=number, usage=Usage(10, 1, 1_000_000))
        for number in range(1, 101)
    ]
    costs = costs_of(results)
    assert (costs.median_milliseconds, costs.slow_milliseconds) == (50.5, 96)
    assert costs.usage == Usage(1_000, 100, 100_000_000)
    routes = figures(run_of(*results))["routes"]
    assert isinstance(routes, dict)
    assert routes["vault"]["dollars"] == 0.1


def test_tools_are_counted_apart_from_their_arguments() -> None:
    info = RunInfo("tools", MODEL, "tools.jsonl", "x", 3)
    results = [
        Result("a", "fs_read", "fs_read", True, agent="operator"),
        Result("b", "fs_read", "fs_read", False, agent="operator", detail="path: …"),
        Result("c", "fs_read", "no call", False, agent="operator"),
    ]
    found = figures(Run(info, results))
    assert (found["accuracy"], found["tool_accuracy"]) == (1 / 3, 2 / 3)
    by_agent = found["by_agent"]
    assert isinstance(by_agent, dict)
    assert by_agent["operator"]["tool_accuracy"] == 2 / 3


def test_a_comparison_names_what_was_mended_and_what_was_broken() -> None:
    after = run_of(
        result("a", "vault", "planner"),
        result("b", "vault", "vault"),
        result("c", "direct", "vault"),
        result("new", "direct", "direct"),
    )
    found = compare(RUN, after)
    assert [change.after.request for change in found.mended] == ["b"]
    assert [change.after.request for change in found.broken] == ["a"]
    assert [change.after.request for change in found.otherwise] == ["c"]
    assert (found.before.n, found.alone, found.chance) == (3, 2, 1.0)


def test_many_changes_to_one_side_are_hardly_chance() -> None:
    names = "abcdefgh"
    before = run_of(*(result(name, "vault", "planner") for name in names))
    after = run_of(*(result(name, "vault", "vault") for name in names))
    assert compare(before, after).chance == 2 / 2**8
    assert compare(after, after).chance == 1.0
    assert compare(before, after).difference == 1.0


def test_a_request_that_stands_twice_is_compared_twice() -> None:
    twice = run_of(result("a", "vault", "vault"), result("a", "vault", "planner"))
    assert compare(twice, twice).before.n == 2


def test_runs_that_have_nothing_in_common_are_not_compared() -> None:
    with pytest.raises(PersonError, match="no request in common"):
        compare(run_of(result("a", "vault", "vault")), run_of(result("b", "vault", "vault")))
    other = Run(RunInfo("tools", ROUTER, "t", "x", 1), RUN.results)
    with pytest.raises(PersonError, match="'eval routing' and one of 'eval tools' cannot be compared"):
        compare(RUN, other)


def test_nothing_was_tried_so_nothing_was_right() -> None:
    assert (score([]).accuracy, score([]).coverage, score([]).false_confidence) == (0.0, 0.0, 0.0)
