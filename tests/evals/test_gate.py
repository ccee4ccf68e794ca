"""The gates: no change may make the router or the built-in model worse than these floors."""

import pytest

from sestet import agents
from sestet.config import Settings
from sestet.evals.figures import score, scores_by_kind
from sestet.evals.newcomers import Newcomers
from sestet.evals.sets import read_routing_set, shipped_set
from sestet.evals.training import read_bank
from sestet.evals.trial import carry_out, try_newcomers, try_router
from tests.evals.samples import LEARNED, plain

#: The smallest share of right answers for each kind.
ACCURACY = {"plain": 0.95, "hard": 0.90}
#: The largest share that may be above the threshold and wrong.
FALSE_CONFIDENCE = 0.01
#: The smallest share of newcomers' requests with a right or acceptable reply.
NEWCOMERS = 0.85


@pytest.mark.parametrize("variant", [pytest.param("words+encoder", marks=pytest.mark.slow), "words"])
async def test_the_embedded_router_is_no_worse_than_its_floors(variant: str) -> None:
    trial = try_router(LEARNED, light=variant == "words")
    assert trial.info.subject.variant == variant, "the encoder is a part of every environment for tests"
    results = (await carry_out(trial)).results
    by_kind = {kind: found.accuracy for kind, found in scores_by_kind(results).items()}
    assert by_kind.keys() == ACCURACY.keys()
    assert {kind: share for kind, share in by_kind.items() if share < ACCURACY[kind]} == {}
    assert score(results).false_confidence <= FALSE_CONFIDENCE


def test_no_request_of_the_set_is_learned_from() -> None:
    learned = {plain(example.request) for example in read_bank()}
    specialists = [spec.name for spec in agents.default_specs()]
    asked = [case.request for case in read_routing_set(shipped_set("routing"), specialists)]

    assert len(asked) >= 500
    assert [request for request in asked if plain(request) in learned] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [f"newcomer{number}.jsonl" for number in ("", *(f"-{count}" for count in range(2, 11)))]
)
async def test_the_built_in_model_answers_newcomers_and_embarrasses_nobody(name: str) -> None:
    newcomers = Newcomers(Settings())
    file = shipped_set("newcomer").with_name(name)
    run = await carry_out(try_newcomers(Settings(), newcomers, file))
    await newcomers.close()

    assert [result.request for result in run.results if result.given == "embarrassing"] == []
    assert score(run.results).accuracy >= NEWCOMERS
