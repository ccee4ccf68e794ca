"""The gate of the embedded router: no change may make it worse than these floors on the shipped set."""

from sestet.agents import default_specs
from sestet.config import Settings
from sestet.evals.figures import score, scores_by_kind
from sestet.evals.tree import trial_tree
from sestet.evals.trial import carry_out, try_router

#: Of each kind of request: the least share that has to be right.
ACCURACY = {"plain": 0.47, "hard": 0.12}
#: The most that may be above the threshold and wrong.
FALSE_CONFIDENCE = 0.012


async def test_the_embedded_router_is_no_worse_than_its_floors() -> None:
    specs = default_specs()
    run = await carry_out(try_router(trial_tree(Settings(), specs), specs))
    by_kind = scores_by_kind(run.results)
    assert by_kind.keys() == ACCURACY.keys()
    too_low = {
        kind: by_kind[kind].accuracy for kind, floor in ACCURACY.items() if by_kind[kind].accuracy < floor
    }
    assert too_low == {}
    assert score(run.results).false_confidence <= FALSE_CONFIDENCE
