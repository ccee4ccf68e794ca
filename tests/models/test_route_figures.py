"""The fast route is safe: the router is rarely sure and wrong on requests that it never saw."""

import json
from importlib.resources import files

import pytest

from sestet.models.router import open_router
from sestet.runtime.fast_route import MEASURED
from tests.evals.samples import LEARNED

_BAR = 0.01


@pytest.mark.parametrize("variant", ["words", pytest.param("words+encoder", marks=pytest.mark.slow)])
def test_a_variant_that_auto_trusts_is_sure_and_wrong_in_at_most_one_request_of_a_hundred(
    variant: str,
) -> None:
    lines = (
        files("sestet").joinpath("evals", "sets", "routing.jsonl").read_text(encoding="utf-8").splitlines()
    )
    cases = [json.loads(line) for line in lines]

    router = open_router(LEARNED, variant == "words+encoder")

    assert router.variant == variant
    assert router.variant in MEASURED
    routes = [(router.route(case["request"]), case["agent"]) for case in cases]
    wrong = [(route.agent, agent) for route, agent in routes if route.sure and route.agent != agent]
    assert len(wrong) / len(cases) <= _BAR, wrong
