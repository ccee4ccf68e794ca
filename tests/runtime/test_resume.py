"""After a crash nothing is lost, nothing is repeated silently, and every doubt is reported."""

import pytest

from sestet.core.errors import PersonError
from sestet.core.event import DelegationFinished, Event, TurnFinished
from sestet.core.message import ToolCall
from sestet.core.record import replace
from sestet.models.scripted import ScriptedModel, ScriptItem
from sestet.storage.database import Database
from sestet.storage.journal import Journal
from tests.runtime.conftest import Conversation
from tests.runtime.models import HangingModel
from tests.runtime.transcript import transfer


async def test_a_turn_cut_off_at_any_event_ends_as_if_nothing_had_happened(
    talk: Conversation, database: Database
) -> None:
    """The process may have died after any event of the journal."""
    script: dict[str, list[ScriptItem]] = {
        "orchestrator": [
            transfer("operator", "one"),
            [transfer("operator", "two"), transfer("librarian", "three")],
            "All done.",
        ],
        "operator": [ToolCall("fs_list", {"path": "a"}), "listed", "", "nudged"],
        "librarian": [ToolCall("search_web", {"query": "q"}), "found"],
    }
    whole = await talk(ScriptedModel(script)).say("do three things")
    assert isinstance(expected := whole[-1], TurnFinished)
    journal = Journal(database)
    stored = list(journal.events_of(whole[0].stamp.turn_id))

    for cut in range(1, len(stored)):
        survived = stored[:cut]
        session = f"cut{cut}"
        turn_id = plant(journal, session, survived)
        conversation = talk(ScriptedModel(rest_of(script, survived)))

        events = [event async for event in conversation.runner.resume_turn(turn_id)]
        await conversation.model.close()

        assert isinstance(events[-1], TurnFinished), cut
        assert events[-1].text == "All done."
        after = list(journal.events_of(turn_id))
        assert kinds_by_place(after) == kinds_by_place(stored), cut
        assert events[-1].usage == expected.usage, cut


def plant(journal: Journal, session: str, events: list[Event]) -> str:
    """Write the first events of a turn under another id, as a killed process leaves them."""
    turn_id = f"turn-{session}"
    for event in events:
        journal.append(replace(event, stamp=replace(event.stamp, session_id=session, turn_id=turn_id)))
    return turn_id


def rest_of(script: dict[str, list[ScriptItem]], survived: list[Event]) -> dict[str, list[ScriptItem]]:
    """The replies that were not yet given when the process died."""
    given = [event.author for event in survived if event.kind == "model_called"]
    return {agent: items[given.count(agent) :] for agent, items in script.items()}


def kinds_by_place(events: list[Event]) -> dict[str, list[str]]:
    """The kinds of events of each delegation, in order, without ``turn_resumed``."""
    places: dict[str, list[str]] = {}
    for event in events:
        if event.kind != "turn_resumed":
            places.setdefault(event.delegation_id, []).append(event.kind)
    return places


async def test_a_turn_that_waits_can_be_given_up(talk: Conversation) -> None:
    write = ToolCall("fs_write", {"path": "a.txt"})
    conversation = talk(ScriptedModel({"orchestrator": [transfer("operator")], "operator": [write]}))
    paused = await conversation.begin("write it")

    await conversation.runner.abandon_turn(paused[0].stamp.turn_id)

    assert conversation.journal.open_turns() == []
    with pytest.raises(PersonError, match="already cancelled"):
        await conversation.resume(paused)


async def test_a_delegation_that_ended_with_its_turn_is_made_again(
    talk: Conversation, database: Database
) -> None:
    """The process died after it had written the delegation's end, and before the turn's own end."""
    conversation = talk(HangingModel([transfer("operator")]))
    stopped: list[Event] = []
    async for event in conversation.runner.run_turn("s1", "list"):
        stopped.append(event)
        if event.kind == "delegation_started":
            conversation.runner.running.cancel_turn("s1")
    journal = Journal(database)
    *survived, _ = journal.events_of(stopped[0].stamp.turn_id)
    assert isinstance(survived[-1], DelegationFinished)
    turn_id = plant(journal, "cut", survived)

    resumed = talk(ScriptedModel({"orchestrator": ["All done."], "operator": ["listed"]}))
    events = [event async for event in resumed.runner.resume_turn(turn_id)]

    results = [event.outcome for event in events if isinstance(event, DelegationFinished)]
    assert results == ["ok"]
