"""The gate of the embedded router: no change may make it worse than these floors on the shipped sets."""

from pathlib import Path
from typing import NamedTuple

import pytest

from sestet import agents
from sestet.agents import default_specs
from sestet.evals.figures import score, scores_by_kind
from sestet.evals.trial import carry_out, try_router
from sestet.models.router.bank import read_bank
from tests.evals.samples import plain

ROOMS = Path(agents.__file__).parent


class Floors(NamedTuple):
    #: The least share of each kind that has to be right.
    plain: float
    hard: float
    #: The most that may be above the threshold and wrong.
    false_confidence: float


#: Of each variant: with the sentence encoder, and with the words alone.
FLOORS = {"words+encoder": Floors(0.95, 0.90, 0.01), "words": Floors(0.95, 0.80, 0.01)}


@pytest.mark.parametrize("variant", [pytest.param("words+encoder", marks=pytest.mark.slow), "words"])
async def test_the_embedded_router_is_no_worse_than_its_floors(variant: str) -> None:
    trial = try_router(default_specs(), light=variant == "words")
    assert trial.info.subject.variant == variant, "the encoder is a part of every environment for tests"
    # Some things everybody says in the same words: what the bank has as well says nothing about the rest.
    learned = {plain(example.request) for example in read_bank(ROOMS)}
    results = [found for found in (await carry_out(trial)).results if plain(found.request) not in learned]
    assert len(results) >= 200
    by_kind = scores_by_kind(results)
    found = Floors(by_kind["plain"].accuracy, by_kind["hard"].accuracy, score(results).false_confidence)
    floors = FLOORS[variant]
    assert found.plain >= floors.plain
    assert found.hard >= floors.hard
    assert found.false_confidence <= floors.false_confidence
