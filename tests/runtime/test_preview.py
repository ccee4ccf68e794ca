"""A tool that tells before a call what it would change."""

from collections.abc import Iterator

import pytest

from sestet.core.errors import DefinitionError, ToolError
from sestet.core.event import ApprovalRequested, ToolCalled, ToolFinished, TurnPaused
from sestet.core.message import ToolCall
from sestet.core.preview import Changes, DiffLine
from sestet.core.record import replace
from sestet.core.schema import JsonValue
from sestet.core.tool import CallInfo, CallRules, Preview, tool
from sestet.models.scripted import ScriptedModel
from tests.runtime.conftest import Conversation

#: The one stored value, and the marks that the tool was given.
STORED = ["old"]
BASES: list[str] = []


@pytest.fixture(autouse=True)
def stored() -> Iterator[None]:
    yield
    STORED[:] = ["old"]
    BASES.clear()


async def preview(call: CallInfo, /, **arguments: JsonValue) -> Preview:
    value = str(arguments["value"])
    if value == "impossible":
        raise ToolError("this can never work")
    changes = Changes((DiffLine("-", STORED[0]), DiffLine("+", value)), basis=f"on {STORED[0]}")
    is_harmless = value.startswith("harmless")
    return Preview("safe" if is_harmless else "guarded", "it replaces the value", changes)


@tool(risk="guarded", reads=(), effect="local", targets=("value",), recovery="unsafe", preview=preview)
async def fs_set(call: CallInfo, /, value: str) -> str:
    """Set the value."""
    BASES.append(call.basis)
    STORED[0] = value
    return "set"


PAID: list[str] = []


async def preview_payment(call: CallInfo, /, payee: str) -> Preview:
    covered = payee == "alice"
    changes = Changes((DiffLine(" ", f"to {payee}"),), basis=f"covered {covered}")
    return Preview("safe" if covered else "dangerous", "it moves money", changes, owner_allows=covered)


@tool(
    risk="dangerous", reads=(), effect="money", targets=("payee",), recovery="unsafe", preview=preview_payment
)
async def payment_give(call: CallInfo, /, payee: str) -> str:
    """Pay somebody."""
    PAID.append(f"{payee}, {call.basis}")
    return "paid"


@pytest.mark.parametrize(("payee", "kind"), [("alice", "turn_finished"), ("mallory", "turn_paused")])
async def test_a_payment_runs_unasked_only_if_its_preview_says_that_the_settings_allow_it(
    talk: Conversation, payee: str, kind: str
) -> None:
    PAID.clear()
    replies = [ToolCall("payment_give", {"payee": payee}), "done"]
    conversation = talk(ScriptedModel(replies), multi_agent=False, tools=(payment_give,))

    events = await conversation.begin("pay")

    assert events[-1].kind == kind
    assert bool(PAID) == (payee == "alice")


def call(value: str) -> ToolCall:
    return ToolCall("fs_set", {"value": value})


async def test_a_call_that_is_safe_by_its_preview_runs_unasked_and_records_its_changes(
    talk: Conversation,
) -> None:
    conversation = talk(ScriptedModel([call("harmless"), "done"]), multi_agent=False, tools=(fs_set,))

    events = await conversation.begin("set it")

    (called,) = [event for event in events if isinstance(event, ToolCalled)]
    assert called.changes is not None
    assert called.changes.lines == (DiffLine("-", "old"), DiffLine("+", "harmless"))
    assert BASES == ["on old"]


async def test_a_question_has_the_changes_and_the_caution_of_its_call(talk: Conversation) -> None:
    conversation = talk(ScriptedModel([call("new"), "done"]), multi_agent=False, tools=(fs_set,))

    events = await conversation.begin("set it")

    (asked,) = [event for event in events if isinstance(event, ApprovalRequested)]
    assert asked.reason == "it replaces the value"
    assert asked.changes is not None
    assert asked.changes.lines[-1] == DiffLine("+", "new")
    assert STORED == ["old"]


async def test_an_approved_call_gets_the_mark_that_the_person_decided_on(talk: Conversation) -> None:
    conversation = talk(ScriptedModel([call("new"), "done"]), multi_agent=False, tools=(fs_set,))
    events = await conversation.begin("set it")
    (asked,) = [event for event in events if isinstance(event, ApprovalRequested)]
    STORED[0] = "changed meanwhile"
    conversation.approvals.decide(asked.approval_id, "approve")

    resumed = await conversation.resume(events)

    assert BASES == ["on old"]
    (called,) = [event for event in resumed if isinstance(event, ToolCalled)]
    assert called.changes is None


async def test_nobody_is_asked_about_a_call_that_cannot_work(talk: Conversation) -> None:
    conversation = talk(ScriptedModel([call("impossible"), "done"]), multi_agent=False, tools=(fs_set,))

    events = await conversation.begin("set it")

    (finished,) = [event for event in events if isinstance(event, ToolFinished)]
    assert (finished.outcome, finished.text) == ("error", "this can never work")
    assert not [event for event in events if isinstance(event, (ApprovalRequested, ToolCalled, TurnPaused))]


def rules_by_value(value: str) -> CallRules:
    if value.endswith("broken"):
        raise RuntimeError(value)
    return CallRules("dangerous", "local", "unsafe", blocked="never" if value.endswith("never") else "")


async def test_the_preview_looks_after_the_rules_and_unlocks_neither_a_block_nor_a_failure(
    talk: Conversation,
) -> None:
    both = replace(fs_set, rules=rules_by_value)
    calls = [call("harmless never"), call("harmless"), call("harmless broken")]
    conversation = talk(ScriptedModel([*calls, "done"]), multi_agent=False, tools=(both,))

    events = await conversation.begin("set it")

    results = [event.outcome for event in events if isinstance(event, ToolFinished)]
    assert results == ["denied", "ok"]
    (asked,) = [event for event in events if isinstance(event, ApprovalRequested)]
    assert (asked.call.arguments, asked.changes) == ({"value": "harmless broken"}, None)
    assert "the rules of the tool failed" in asked.reason


def test_a_preview_must_have_the_parameters_of_the_tool() -> None:
    async def wrong(value: str) -> Preview:
        return Preview("safe")

    async def fs_other(call: CallInfo, /, value: str) -> str:
        """Set it."""
        return value

    with pytest.raises(DefinitionError, match="its preview must have the parameters of the tool"):
        tool(risk="safe", preview=wrong)(fs_other)
