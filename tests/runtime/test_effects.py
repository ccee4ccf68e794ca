"""The end of a turn says what was changed, sent and paid, from the journal alone."""

import asyncio
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.core.effects import NOTHING, effects_of, shown_targets
from sestet.core.errors import DefinitionError, ToolError
from sestet.core.event import (
    END_OF_TURN,
    DelegationFinished,
    Effects,
    Event,
    Stamp,
    ToolCalled,
    ToolFinished,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnPaused,
)
from sestet.core.label import CLEAN
from sestet.core.message import ToolCall
from sestet.core.record import as_dict, replace
from sestet.core.schema import object_schema
from sestet.core.tool import Effect, Tool, tool
from sestet.models.scripted import ScriptedModel
from sestet.runtime.limits import Limits
from sestet.storage.database import Database
from sestet.storage.event_json import decode, encode
from tests.runtime.conftest import TOOLS, Conversation
from tests.runtime.transcript import transfer


@tool(risk="safe", effect="local", reads=(), recovery="keyed", targets=("path",))
async def fs_delete(path: str) -> str:
    """Delete a file."""
    if path == "locked.txt":
        raise ToolError("it is locked")
    return f"deleted {path}"


@tool(risk="safe", effect="local", reads=(), recovery="keyed")
async def memory_keep(fact: str, note: str = "") -> str:
    """Keep a fact."""
    return f"kept {fact}{note}"


ALL = (*TOOLS, fs_delete, memory_keep)


def effects_at_end(events: list[Event]) -> Effects | None:
    assert isinstance(events[-1], END_OF_TURN)
    return events[-1].effects


async def test_a_turn_that_only_talks_or_reads_has_changed_nothing(talk: Conversation) -> None:
    model = ScriptedModel([transfer("operator"), ToolCall("fs_list"), "two files", "Two files."])
    assert effects_at_end(await talk(model).say("list")) == Effects()


async def test_the_end_names_what_was_changed_and_sent(talk: Conversation) -> None:
    calls = ToolCall("fs_delete", {"path": "notes.txt"}), ToolCall("exec_mail", {"to": "bob@example.org"})
    model = ScriptedModel([*calls, ToolCall("memory_keep", {"fact": "I like tea"}), "Done."])
    events = await talk(model, multi_agent=False, tools=ALL).say("delete it, mail bob@example.org")
    assert effects_at_end(events) == Effects(
        changed=("notes.txt", "memory_keep I like tea"), sent=("bob@example.org",)
    )


async def test_a_payment_that_was_approved_is_paid_and_a_turn_that_waits_tells_what_it_did_so_far(
    talk: Conversation,
) -> None:
    calls = (
        ToolCall("fs_delete", {"path": "a.txt"}),
        ToolCall("payment_send", {"payee": "shop", "amount": 3}),
    )
    person = talk(ScriptedModel([*calls, "Paid."]), multi_agent=False, tools=ALL)
    events = await person.begin("delete a.txt, pay the shop")
    assert isinstance(events[-1], TurnPaused)
    assert effects_at_end(events) == Effects(changed=("a.txt",))
    person.approvals.decide(events[-1].waiting_for[0], "approve", "once")
    assert effects_at_end(await person.resume(events)) == Effects(changed=("a.txt",), paid=("shop",))


async def test_a_call_that_was_denied_or_refused_is_no_effect(talk: Conversation) -> None:
    calls = ToolCall("payment_send", {"payee": "shop", "amount": 3}), ToolCall("fs_delete", {"file": "x"})
    events = await talk(ScriptedModel([*calls, "No."]), multi_agent=False, tools=ALL).say("go", can_ask=False)
    assert effects_at_end(events) == Effects()


async def test_a_call_that_failed_may_have_changed_something_and_is_named(talk: Conversation) -> None:
    model = ScriptedModel([ToolCall("fs_delete", {"path": "locked.txt"}), "It is locked."])
    events = await talk(model, multi_agent=False, tools=ALL).say("delete locked.txt")
    assert effects_at_end(events) == Effects(failed=("locked.txt",))


async def test_a_call_in_doubt_is_neither_done_nor_undone(talk: Conversation, database: Database) -> None:
    mail = ToolCall("exec_mail", {"to": "bob"})
    begun = await talk(ScriptedModel([mail, "x"]), multi_agent=False).begin("mail bob")
    intent = next(event for event in begun if isinstance(event, ToolCalled))
    database.execute("DELETE FROM events WHERE seq > ?", (intent.seq,))
    database.execute("UPDATE turns SET state = 'running'")
    later = talk(ScriptedModel(["I looked."]), multi_agent=False)
    assert effects_at_end(await later.resume(begun)) == Effects(in_doubt=("bob",))


async def test_a_turn_that_is_given_up_tells_what_it_did(talk: Conversation) -> None:
    calls = (
        ToolCall("fs_delete", {"path": "a.txt"}),
        ToolCall("payment_send", {"payee": "shop", "amount": 3}),
    )
    person = talk(ScriptedModel(calls), multi_agent=False, tools=ALL)
    turn_id = (await person.begin("go"))[0].stamp.turn_id
    await person.runner.abandon_turn(turn_id)
    *_, end = person.journal.events_of(turn_id)
    assert isinstance(end, TurnCancelled)
    assert end.effects == Effects(changed=("a.txt",))


async def test_a_turn_that_fails_tells_what_it_did(talk: Conversation) -> None:
    script = [ToolCall("fs_delete", {"path": "a.txt"}), "x"]
    limited = talk(ScriptedModel(script), multi_agent=False, tools=ALL, limits=Limits(model_calls=1))
    events = await limited.begin("go")
    assert isinstance(events[-1], TurnFailed)
    assert effects_at_end(events) == Effects(changed=("a.txt",))


async def test_a_doubt_is_told_to_the_orchestrator_and_its_instruction_not_to_the_person(
    talk: Conversation,
) -> None:
    @tool(risk="safe", effect="local", reads=(), targets=("path",))
    async def fs_hang(path: str) -> str:
        """Never end."""
        await asyncio.Event().wait()
        return path

    call = ToolCall("fs_hang", {"path": "b.txt"})
    model = ScriptedModel({"orchestrator": [transfer("operator"), "Check it."], "operator": [call]})
    events = await talk(model, tools=(*ALL, fs_hang), limits=Limits(delegation_seconds=0.05)).begin("go")

    (ended,) = (event for event in events if isinstance(event, DelegationFinished))
    assert "Say so plainly" in ended.cause
    assert ended.for_person.startswith("operator took longer than ")
    assert "Say so" not in ended.for_person


async def test_a_stopped_turn_tells_what_it_did_and_what_is_in_doubt(talk: Conversation) -> None:
    @tool(risk="safe", effect="local", reads=(), targets=("path",))
    async def fs_stop(path: str) -> str:
        """Stop the turn in the middle of an effect."""
        person.runner.running.cancel_turn("s1")
        await asyncio.Event().wait()
        return path

    calls = ToolCall("fs_delete", {"path": "a.txt"}), ToolCall("fs_stop", {"path": "b.txt"})
    person = talk(ScriptedModel([*calls, "x"]), multi_agent=False, tools=(*ALL, fs_stop))
    events = await person.begin("go")
    assert isinstance(events[-1], TurnCancelled)
    assert effects_at_end(events) == Effects(changed=("a.txt",), in_doubt=("b.txt",))


async def test_the_intent_has_the_declared_effect_and_the_targets(talk: Conversation) -> None:
    model = ScriptedModel([ToolCall("exec_mail", {"to": "bob", "text": "hello"}), "x"])
    events = await talk(model, multi_agent=False).say("mail bob")
    (intent,) = (event for event in events if isinstance(event, ToolCalled))
    assert (intent.effect, intent.targets) == ("external", ("bob",))


def intent(effect: Effect | None, call_id: str, *targets: str) -> ToolCalled:
    return ToolCalled(_stamp(call_id), ToolCall("x_do", {}, call_id), effect, targets)


def _stamp(call_id: str) -> Stamp:
    return Stamp("s", "t", 1, "operator", call_id, 0.0)


def result(call_id: str, outcome: str) -> ToolFinished:
    done = ToolFinished(_stamp(call_id), ToolCall("x_do", {}, call_id), "ok", "", 0.0, CLEAN)
    values = encode(done).replace('"ok"', f'"{outcome}"')
    found = decode(_stamp(call_id), ToolFinished.kind, values)
    assert isinstance(found, ToolFinished)
    return found


@pytest.mark.parametrize("effect", get_args(Effect))
def test_every_effect_but_none_is_told_under_one_word(effect: Effect) -> None:
    found = effects_of([intent(effect, "c1", "a"), result("c1", "ok")])
    told = {"none": NOTHING, "external": Effects(sent=("a",)), "money": Effects(paid=("a",))}
    assert found == told.get(effect, Effects(changed=("a",)))


OUTCOMES = ("ok", "error", "refused", "denied", "in_doubt", "")


@given(st.lists(st.tuples(st.sampled_from(get_args(Effect)), st.sampled_from(OUTCOMES))))
def test_every_call_that_began_an_effect_is_told_in_exactly_one_list(calls: list[tuple[Effect, str]]) -> None:
    events: list[Event] = [intent(effect, f"c{n}", f"t{n}") for n, (effect, _) in enumerate(calls)]
    events += [result(f"c{n}", outcome) for n, (_, outcome) in enumerate(calls) if outcome]
    found = effects_of(events)
    assert found is not None
    told = [name for names in as_dict(found).values() for name in names]
    assert sorted(told) == sorted(
        f"t{n}" for n, (effect, outcome) in enumerate(calls) if effect != "none" and outcome != "refused"
    )
    done = {*found.changed, *found.sent, *found.paid}
    assert done == {
        f"t{n}" for n, (effect, outcome) in enumerate(calls) if effect != "none" and outcome == "ok"
    }


def test_each_thing_is_named_once_however_often_it_changed() -> None:
    events: list[Event] = []
    for number in range(3):
        events += [intent("local", f"c{number}", "a", "b"), result(f"c{number}", "ok")]
    assert effects_of(events) == Effects(changed=("a", "b"))


@pytest.mark.parametrize("outcome", ["in_doubt", "denied"])
def test_an_intent_whose_result_does_not_tell_is_in_doubt(outcome: str) -> None:
    assert effects_of([intent("local", "c1", "a"), result("c1", outcome)]) == Effects(in_doubt=("a",))


def test_an_intent_that_was_refused_did_not_begin_unless_a_crash_came_between() -> None:
    assert effects_of([intent("local", "c1", "a"), result("c1", "refused")]) == NOTHING
    pure = replace(intent("external", "c1", "a"), recovery="pure")
    assert effects_of([pure, result("c1", "refused")]) == Effects(in_doubt=("a",))


def test_an_intent_without_a_result_is_in_doubt() -> None:
    assert effects_of([intent("external", "c1", "a")]) == Effects(in_doubt=("a",))


def test_a_tool_without_targets_is_told_by_its_name() -> None:
    assert effects_of([intent("local", "c1"), result("c1", "ok")]) == Effects(changed=("x_do",))


def test_an_intent_of_an_earlier_version_leaves_the_effects_unknown() -> None:
    old = decode(_stamp("c1"), "tool_called", '{"call": {"name": "x", "arguments": {}, "id": "c1"}}')
    assert effects_of([old, result("c1", "ok")]) is None


@pytest.mark.parametrize("kind", ["turn_finished", "turn_failed", "turn_cancelled", "turn_paused"])
def test_an_end_of_an_earlier_version_is_read_and_tells_no_effects(kind: str) -> None:
    rows = {
        "turn_finished": '{"text": "hi", "usage": {}, "milliseconds": 1.0, "label": {}}',
        "turn_failed": '{"cause": "x", "text": "y"}',
        "turn_cancelled": "{}",
        "turn_paused": '{"waiting_for": []}',
    }
    end = decode(_stamp(""), kind, rows[kind])
    assert isinstance(end, END_OF_TURN)
    assert end.effects is None


MAIL = Tool(
    "x_mail",
    parameters=object_schema({"to": {}, "text": {"type": "string"}}),
    effect="external",
    targets=("to",),
)


@pytest.mark.parametrize(
    ("to", "shown"),
    [
        ("bob", ("bob",)),
        (["a", "b"], ("a", "b")),
        ([{"name": "Bob", "mail": "b@x.example"}], ("Bob", "b@x.example")),
        (7, ("7",)),
        (None, ()),
        (True, ()),
        ("  \n ", ()),
        ("two\nlines", ("two lines",)),
        ([str(number) for number in range(100_000)], tuple("01234567")),
    ],
)
def test_targets_are_shown_in_short(to: object, shown: tuple[str, ...]) -> None:
    arguments = ToolCall("x", {"to": to, "text": "hello"}).arguments  # pyright: ignore[reportArgumentType] - any JSON
    assert shown_targets(MAIL, arguments) == shown


def test_a_long_value_is_left_out_and_not_cut() -> None:
    # Forgetting finds whole texts: a part of one would stay behind.
    assert shown_targets(MAIL, {"to": "x" * 121, "text": "hello"}) == ()
    assert shown_targets(MAIL, {"to": "x" * 10_000_000}) == ()


def test_a_target_that_stays_as_it_is_is_not_shown_as_changed() -> None:
    paths = object_schema({"path": {"type": "string"}, "destination": {"type": "string"}})
    copy = Tool(
        "x_copy", parameters=paths, effect="local", targets=("path", "destination"), sources=("path",)
    )
    assert shown_targets(copy, {"path": "a.txt", "destination": "b.txt"}) == ("b.txt",)
    for wrong in (("path", "destination"), ("other",), "path"):
        with pytest.raises(DefinitionError, match="sources must be"):
            Tool("x_copy", parameters=paths, targets=("path", "destination"), sources=wrong)  # pyright: ignore[reportArgumentType] - also a bare text


def test_a_tool_without_declared_targets_is_shown_by_name_with_its_first_short_text() -> None:
    keep = Tool("memory_keep", parameters=object_schema({"fact": {"type": "string"}}), effect="local")
    assert shown_targets(keep, {"fact": "I like tea"}) == ("memory_keep I like tea",)
    assert shown_targets(keep, {"fact": "x" * 200}) == ("memory_keep",)
    assert shown_targets(keep, {}) == ("memory_keep",)


async def test_a_claim_without_an_effect_is_marked_at_the_end(talk: Conversation) -> None:
    events = await talk(ScriptedModel(["The file notes.txt was deleted."])).say("delete the file notes.txt")
    assert isinstance(events[-1], TurnFinished)
    assert (events[-1].effects, events[-1].unsupported) == (Effects(), ("changed",))


async def test_a_claim_with_its_effect_is_not_marked(talk: Conversation) -> None:
    script = [ToolCall("fs_delete", {"path": "notes.txt"}), "The file notes.txt was deleted."]
    events = await talk(ScriptedModel(script), multi_agent=False, tools=ALL).say("delete the file notes.txt")
    assert isinstance(events[-1], TurnFinished)
    assert (effects_at_end(events), events[-1].unsupported) == (Effects(changed=("notes.txt",)), ())


async def test_words_that_a_tool_has_read_are_no_claim(talk: Conversation) -> None:
    @tool(risk="safe", effect="none", reads=("untrusted",), recovery="pure")
    async def fs_read(path: str) -> str:
        """Read a file."""
        return f"{path}: I deleted the old account on Monday morning."

    script = [ToolCall("fs_read", {"path": "diary.txt"}), "I deleted the old account on Monday morning."]
    events = await talk(ScriptedModel(script), multi_agent=False, tools=(fs_read,)).say("read diary.txt")
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].unsupported == ()
