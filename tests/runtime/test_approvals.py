"""A person decides about one exact call, at any depth, at any time, once."""

from pathlib import Path
from typing import Any

import pytest

from sestet.core.errors import PersonError
from sestet.core.event import ApprovalRequested, Event, TurnPaused
from sestet.core.message import ToolCall
from sestet.models.scripted import ScriptedModel, ScriptItem
from sestet.runtime.gate import Policy
from sestet.storage.approvals import ApprovalStore, Scope
from sestet.storage.database import Database
from sestet.storage.journal import Journal
from tests.runtime.conftest import WRITTEN, Conversation
from tests.runtime.transcript import transcript, transfer

WRITE = ToolCall("fs_write", {"path": "a.txt", "text": "hello"})
ASKED = "asks: may fs_write run? its author wants you to approve each call"


def script(*operator: ScriptItem) -> dict[str, list[ScriptItem]]:
    return {"orchestrator": [transfer("operator", reply=True)], "operator": list(operator)}


def questions(events: list[Event]) -> list[str]:
    return [event.approval_id for event in events if isinstance(event, ApprovalRequested)]


async def test_a_call_that_was_not_made_does_not_count_after_a_pause_either(talk: Conversation) -> None:
    wrong, right = ToolCall("search_web", {"q": "a"}), ToolCall("search_web", {"query": "a"})
    model = ScriptedModel(
        {
            "orchestrator": [transfer("librarian"), transfer("operator"), transfer("librarian"), "done"],
            "librarian": [wrong, "I cannot search.", right, "found"],
            "operator": [WRITE, "written"],
        }
    )
    conversation = talk(model)

    paused = await conversation.begin("write it")
    conversation.approvals.decide(questions(paused)[0], "approve")
    resumed = await conversation.resume(paused)

    assert ("librarian", "search_web is ok") in transcript(resumed)


async def test_a_guarded_call_pauses_the_turn_and_an_approval_continues_inside_the_specialist(
    talk: Conversation,
) -> None:
    conversation = talk(ScriptedModel(script(WRITE, "It is written.")))

    paused = await conversation.begin("write it")
    conversation.approvals.decide(questions(paused)[0], "approve")
    resumed = await conversation.resume(paused)

    assert transcript(paused)[-3:] == [
        ("operator", ASKED),
        ("operator", "returns paused: "),
        ("orchestrator", "waits"),
    ]
    assert transcript(resumed) == [
        ("user", "resumes"),
        ("user", "decides: approve once"),
        ("operator", "calls fs_write"),
        ("operator", "fs_write is ok"),
        ("operator", "thinks → It is written."),
        ("operator", "returns ok: It is written."),
        ("operator", "answers It is written."),
    ]
    assert [path for path, _ in WRITTEN] == ["a.txt"]
    await conversation.model.close()


async def test_a_denial_is_told_to_the_specialist_and_nothing_runs(talk: Conversation) -> None:
    conversation = talk(ScriptedModel(script(WRITE, "You said no.")))

    paused = await conversation.begin("write it")
    conversation.approvals.decide(questions(paused)[0], "deny")
    resumed = await conversation.resume(paused)

    assert ("operator", "fs_write is denied") in transcript(resumed)
    assert transcript(resumed)[-1] == ("operator", "answers You said no.")
    assert WRITTEN == []


async def test_a_decision_from_another_process_after_a_restart_continues_the_turn(
    talk: Conversation, database: Database, tmp_path: Path
) -> None:
    paused = await talk(ScriptedModel(script(WRITE))).begin("write it")
    other = Database(database.path)
    ApprovalStore(other, Journal(other)).decide(questions(paused)[0], "approve")
    other.close()

    later = talk(ScriptedModel({"operator": ["It is written."]}))
    resumed = await later.resume(paused)

    assert transcript(resumed)[-1] == ("operator", "answers It is written.")
    await later.model.close()


async def test_each_call_is_asked_about_once_however_often_the_turn_is_resumed(talk: Conversation) -> None:
    conversation = talk(ScriptedModel(script(WRITE)))
    paused = await conversation.begin("write it")

    again = await conversation.resume(paused)

    assert questions(again) == []
    assert isinstance(again[-1], TurnPaused)
    assert again[-1].waiting_for == tuple(questions(paused))
    assert len(conversation.approvals.pending()) == 1


async def test_several_questions_can_be_open_at_once(talk: Conversation) -> None:
    both = [transfer("operator", "one"), transfer("vault", "two")]
    conversation = talk(
        ScriptedModel(
            {
                "orchestrator": [both, "Both done."],
                "operator": [WRITE, "written"],
                "vault": [ToolCall("payment_send", {"payee": "alice", "amount": 5}), "paid"],
            }
        )
    )

    paused = await conversation.begin("write it and pay alice")
    for question in conversation.approvals.pending():
        conversation.approvals.decide(question.id, "approve")
    resumed = await conversation.resume(paused)

    assert len(questions(paused)) == 2
    assert transcript(resumed)[-1] == ("orchestrator", "answers Both done.")


@pytest.mark.parametrize(("scope", "asked_again"), [("once", True), ("session", False), ("always", False)])
async def test_a_standing_answer_holds_for_the_same_targets(
    talk: Conversation, scope: Scope, asked_again: bool
) -> None:
    other_text = ToolCall("fs_write", {"path": "a.txt", "text": "other"})
    conversation = talk(ScriptedModel(script(WRITE, other_text, "done")))
    paused = await conversation.begin("write it twice")

    conversation.approvals.decide(questions(paused)[0], "approve", scope)
    resumed = await conversation.resume(paused)

    assert bool(questions(resumed)) is asked_again


async def test_a_standing_answer_does_not_hold_for_another_target(talk: Conversation) -> None:
    conversation = talk(ScriptedModel(script(WRITE, ToolCall("fs_write", {"path": "b.txt"}))))
    paused = await conversation.begin("write it twice")

    conversation.approvals.decide(questions(paused)[0], "approve", "always")
    resumed = await conversation.resume(paused)

    assert len(questions(resumed)) == 1


async def test_a_session_answer_does_not_hold_in_another_session_and_a_revoked_one_nowhere(
    talk: Conversation,
) -> None:
    model = ScriptedModel(
        {"orchestrator": [transfer("operator", reply=True)] * 3, "operator": [WRITE, "ok", WRITE, WRITE]}
    )
    conversation = talk(model)
    paused = await conversation.begin("write it")
    conversation.approvals.decide(questions(paused)[0], "approve", "session")
    await conversation.resume(paused)

    elsewhere = await conversation.begin("write it", "s2")
    (grant,) = conversation.approvals.grants()
    conversation.approvals.revoke(grant.id)
    here = await conversation.begin("write it")

    assert len(questions(elsewhere)) == len(questions(here)) == 1


async def test_an_approval_is_good_for_the_exact_call_alone(talk: Conversation, database: Database) -> None:
    conversation = talk(ScriptedModel(script(WRITE, "I may not.")))
    paused = await conversation.begin("write it")
    conversation.approvals.decide(questions(paused)[0], "approve")
    # An attacker with access to the journal changes the recorded call.
    database.execute("UPDATE events SET data = replace(data, 'a.txt', 'z.txt')")

    resumed = await conversation.resume(paused)

    assert ("operator", "fs_write is denied") in transcript(resumed)
    assert WRITTEN == []


async def test_what_is_decided_or_unknown_or_expired_cannot_be_decided(talk: Conversation) -> None:
    conversation = talk(ScriptedModel(script(WRITE)))
    (question,) = questions(await conversation.begin("write it"))
    conversation.approvals.decide(question, "deny")

    with pytest.raises(PersonError, match="already denied"):
        conversation.approvals.decide(question, "approve")
    with pytest.raises(PersonError, match="there is no question 'x'"):
        conversation.approvals.decide("x", "approve")
    expired = talk(ScriptedModel(script(WRITE)), patience=-1.0)
    (late,) = questions(await expired.begin("write it", "s2"))
    with pytest.raises(PersonError, match="has expired"):
        expired.approvals.decide(late, "approve")


@pytest.mark.parametrize(("decision", "scope"), [("yes", "once"), ("approve", "Once")])
async def test_a_word_that_is_no_decision_decides_nothing(
    talk: Conversation,
    decision: Any,  # Any: the mistakes under test
    scope: Any,
) -> None:
    conversation = talk(ScriptedModel(script(WRITE)))
    paused = await conversation.begin("write a.txt")

    with pytest.raises(PersonError, match="is not a decision; use one of"):
        conversation.approvals.decide(questions(paused)[0], decision, scope)

    assert [question.state for question in conversation.approvals.pending()] == ["pending"]
    assert not conversation.approvals.grants()


async def test_a_question_that_nobody_answered_in_time_is_a_denial(talk: Conversation) -> None:
    conversation = talk(ScriptedModel(script(WRITE, "Nobody answered.")), patience=-1.0)
    paused = await conversation.begin("write it")

    resumed = await conversation.resume(paused)

    assert ("operator", "fs_write is denied") in transcript(resumed)
    assert WRITTEN == []


async def test_with_nobody_to_ask_the_answer_is_no(talk: Conversation) -> None:
    model = ScriptedModel(script(WRITE, "I could not ask."))

    events = await talk(model).say("write it", can_ask=False)

    assert questions(events) == []
    assert ("operator", "fs_write is denied") in transcript(events)
    assert "nobody to ask" in model.requests[-1].messages[-1].text


async def test_what_policy_blocks_is_not_even_asked(talk: Conversation) -> None:
    conversation = talk(ScriptedModel(script(WRITE, "It is forbidden.")), policy=Policy(blocked=("fs_w*",)))

    events = await conversation.say("write it")

    assert questions(events) == []
    assert ("operator", "fs_write is denied") in transcript(events)


async def test_money_is_asked_about_every_time(talk: Conversation) -> None:
    pay = ToolCall("payment_send", {"payee": "alice", "amount": 5})
    model = ScriptedModel({"orchestrator": [transfer("vault", reply=True)], "vault": [pay, pay]})
    conversation = talk(model)
    paused = await conversation.begin("pay alice twice")

    conversation.approvals.decide(questions(paused)[0], "approve", "always")
    resumed = await conversation.resume(paused)

    assert len(questions(resumed)) == 1


async def test_a_turn_that_has_ended_cannot_be_resumed(talk: Conversation) -> None:
    conversation = talk(ScriptedModel(["hi"]))
    events = await conversation.begin("hello")

    with pytest.raises(PersonError, match="already finished"):
        await conversation.resume(events)


async def test_a_flat_agent_pauses_and_resumes_as_well(talk: Conversation) -> None:
    conversation = talk(ScriptedModel([WRITE, "It is written."]), multi_agent=False)
    paused = await conversation.begin("write it")

    conversation.approvals.decide(questions(paused)[0], "approve")
    resumed = await conversation.resume(paused)

    assert transcript(resumed)[-1] == ("assistant", "answers It is written.")
