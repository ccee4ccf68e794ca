"""The time that a turn has used counts after a crash; the time that it was dead or waited does not."""

import pytest

from sestet.core.event import (
    ApprovalDecided,
    Event,
    ModelCalled,
    Stamp,
    TextStreamed,
    TurnFailed,
    TurnFinished,
    TurnPaused,
    TurnResumed,
    TurnStarted,
)
from sestet.core.model import Usage
from sestet.models.scripted import ScriptedModel
from sestet.runtime.limits import Limits
from sestet.runtime.replay import replay
from sestet.storage.database import Database
from tests.runtime.conftest import Conversation
from tests.runtime.transcript import transfer


def at(second: float) -> Stamp:
    return Stamp("s1", "t1", int(second) + 1, "orchestrator", "", second)


STARTED = TurnStarted(at(0), "go")


@pytest.mark.parametrize(
    ("events", "seconds"),
    [
        ([STARTED], 0),
        ([STARTED, TextStreamed(at(40), "so"), TextStreamed(at(90), "far")], 90),
        # Two calls at the same time are not counted twice.
        ([STARTED, *(ModelCalled(at(30), "m", "", (), Usage(), 30_000.0) for _ in range(2))], 30),
        # Dead from 50 to 500, and again from 560 on.
        ([STARTED, TextStreamed(at(50), "a"), TurnResumed(at(500)), TextStreamed(at(560), "b")], 110),
        # Waited from 20 to 900, and the person decided at 800.
        (
            [
                STARTED,
                TurnPaused(at(20), ("a1",)),
                ApprovalDecided(at(800), "a1", "approve", "once"),
                TurnResumed(at(900)),
                TextStreamed(at(905), "b"),
            ],
            25,
        ),
        # Died at 20 with an open question, on which the person decided at 800.
        ([STARTED, TextStreamed(at(20), "a"), ApprovalDecided(at(800), "a1", "deny", "once")], 20),
        # The clock was set back by an hour.
        ([TurnStarted(at(3600), "go"), TextStreamed(at(10), "a")], 0),
    ],
    ids=["nothing", "cut off", "together", "resumed", "paused", "decided later", "clock set back"],
)
def test_the_time_that_a_turn_has_run_is_read_from_its_events(events: list[Event], seconds: float) -> None:
    assert replay(events).milliseconds == seconds * 1000


async def test_a_turn_that_used_up_its_time_before_a_crash_has_none_after_it(
    talk: Conversation, database: Database
) -> None:
    conversation = talk(ScriptedModel([transfer("operator"), "two", "done"]), limits=Limits(seconds=600))
    begun = await conversation.say("go")
    answered = next(event.seq for event in begun if event.kind == "delegation_finished")
    database.execute("DELETE FROM events WHERE seq > ?", (answered,))
    database.execute("UPDATE turns SET state = 'running'")
    database.execute("UPDATE events SET at = at - 601 WHERE kind = 'turn_started'")

    events = await talk(ScriptedModel(["done"]), limits=Limits(seconds=600)).resume(begun)
    more = await talk(ScriptedModel(["hello"]), limits=Limits(seconds=600)).say("hi")

    end = events[-1]
    assert isinstance(end, TurnFailed)
    assert end.cause == "timeout"
    assert end.milliseconds >= 600_000
    assert isinstance(more[-1], TurnFinished)
