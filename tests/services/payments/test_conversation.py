"""Payments in a conversation: the question, the answer, a budget, a crash, and the end of the turn."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import sestet
from sestet.agents import room_tools
from sestet.core.errors import PersonError
from sestet.core.event import ApprovalRequested, Event, ToolFinished, TurnFinished, TurnPaused
from sestet.core.tool import Tool
from sestet.services.payments.payments import Payments
from tests.services.payments.world import World

PAY = sestet.ToolCall("payment_send", {"to": "alice", "amount": "0.05", "purpose": "tea"})
FLAT = {"agent": {"multiAgent": False}, "embedding": {"provider": "none"}}


def bound(payments: Payments) -> Sequence[Tool]:
    tools = [tool.bind({Payments: payments}) for tool in room_tools("vault")]
    return [tool for tool in tools if tool is not None]


@asynccontextmanager
async def talking(
    payments: Payments, home: Path, *replies: sestet.ToolCall | str
) -> AsyncGenerator[sestet.App]:
    model = sestet.ScriptedModel(replies)
    async with sestet.open(FLAT, model=model, home=home, tools=bound(payments)) as app:
        yield app


async def say(app: sestet.App, text: str = "send 0.05 usdc to alice for tea") -> list[Event]:
    return [event async for event in app.run_turn("s1", text)]


async def resume(app: sestet.App, events: list[Event]) -> list[Event]:
    return [event async for event in app.resume_turn(events[0].stamp.turn_id)]


def the_result(events: list[Event]) -> ToolFinished:
    (found,) = [event for event in events if isinstance(event, ToolFinished)]
    return found


async def test_a_payment_asks_shows_what_it_binds_and_is_told_at_the_end(
    world: World, tmp_path: Path
) -> None:
    async with talking(world.payments(), tmp_path, PAY, "Paid.") as app:
        asked = await say(app)
        (question,) = [event for event in asked if isinstance(event, ApprovalRequested)]
        assert isinstance(asked[-1], TurnPaused)
        assert world.signer.signed == []
        assert question.changes is not None
        assert f"payee:   alice ({world.alice})" in [line.text for line in question.changes.lines]
        assert "it moves test money, and a payment cannot be taken back" in question.reason

        app.decide(question.approval_id, "approve")
        done = await resume(app, asked)

    assert the_result(done).outcome == "ok"
    end = done[-1]
    assert isinstance(end, TurnFinished)
    assert end.effects is not None
    assert end.effects.paid == ("alice", "0.05")
    assert world.paid_to(world.alice) == 50_000


async def test_a_denied_payment_is_not_made_and_leaves_no_row(world: World, tmp_path: Path) -> None:
    async with talking(world.payments(), tmp_path, PAY, "Not paid.") as app:
        asked = await say(app)
        app.decide(app.approvals.pending()[0].id, "deny")
        done = await resume(app, asked)

    assert the_result(done).outcome == "denied"
    assert world.paid_to(world.alice) == 0
    assert world.store.latest(9) == []


async def test_money_is_never_approved_for_longer_than_one_call(world: World, tmp_path: Path) -> None:
    async with talking(world.payments(), tmp_path, PAY, "Not paid.") as app:
        asked = await say(app)
        (question,) = app.approvals.pending()
        with pytest.raises(PersonError, match="can only be approved once at a time"):
            app.decide(question.id, "approve", "session")
        with pytest.raises(PersonError, match="can only be approved once at a time"):
            app.decide(question.id, "approve", "always")
        app.decide(question.id, "deny")
        await resume(app, asked)


async def test_an_approval_pays_once_although_the_model_asks_again(world: World, tmp_path: Path) -> None:
    async with talking(world.payments(), tmp_path, PAY, PAY, "Done.") as app:
        asked = await say(app)
        app.decide(app.approvals.pending()[0].id, "approve")
        again = await resume(app, asked)
        # The second call is another payment, so it is another question.
        assert isinstance(again[-1], TurnPaused)
        assert world.paid_to(world.alice) == 50_000
        app.decide(app.approvals.pending()[0].id, "deny")
        await resume(app, asked)
    assert world.paid_to(world.alice) == 50_000


async def test_without_anybody_to_ask_nothing_is_paid(world: World, tmp_path: Path) -> None:
    async with talking(world.payments(), tmp_path, PAY, "Nobody was there.") as app:
        answer = await app.ask("send 0.05 usdc to alice", can_ask=False)
    assert answer.outcome == "finished"
    assert world.store.latest(9) == []


async def test_a_budget_pays_unasked_until_it_is_used_up(world: World, tmp_path: Path) -> None:
    payments = world.payments(budgets=[{"payee": "alice", "perDay": 0.08}])
    async with talking(payments, tmp_path, PAY, PAY, "Done.") as app:
        events = await say(app)
        assert the_result(events).outcome == "ok"
        assert isinstance(events[-1], TurnPaused)
        app.decide(app.approvals.pending()[0].id, "deny")
        await resume(app, events)
    assert world.paid_to(world.alice) == 50_000
    assert [row.unasked for row in world.store.latest(9)] == [1]


async def test_a_payment_that_cannot_work_is_refused_without_a_question(world: World, tmp_path: Path) -> None:
    calls = [
        sestet.ToolCall("payment_send", {"to": to, "amount": amount})
        for to, amount in (("alice", "1e3"), ("alice", "2"), ("alice.eth", "0.05"), ("mallory", "0.05"))
    ]
    async with talking(world.payments(), tmp_path, *calls, "None of these.") as app:
        events = await say(app)
    assert isinstance(events[-1], TurnFinished)
    results = [event for event in events if isinstance(event, ToolFinished)]
    assert [result.outcome for result in results] == ["error"] * 4


async def test_the_other_tools_tell_wallet_balance_limits_and_history(world: World, tmp_path: Path) -> None:
    calls = [
        sestet.ToolCall("payment_wallet", {}),
        sestet.ToolCall("payment_balance", {}),
        sestet.ToolCall("payment_limits", {"payee": "alice"}),
        sestet.ToolCall("payment_history", {}),
    ]
    payments = world.payments()
    await world.pay(payments, "alice", "0.05")
    async with talking(payments, tmp_path, *calls, "Told.") as app:
        events = await say(app, "tell me everything")
    wallet, balance, limits, history = (
        event.text for event in events if isinstance(event, ToolFinished) and event.outcome == "ok"
    )
    assert world.wallet in wallet
    assert balance.startswith("99.95 USDC and ")
    assert "1.95 USDC are left" in limits
    assert f"0.05 USDC to alice ({world.alice})" in history
    assert "For: tea" in history


async def test_payments_that_are_switched_on_need_a_wallet_in_the_vault(tmp_path: Path) -> None:
    settings = {**FLAT, "payments": {"enabled": True}}
    model = sestet.ScriptedModel([sestet.ToolCall("payment_wallet", {}), "There is none."])
    async with sestet.open(settings, model=model, home=tmp_path) as app:
        told = the_result([event async for event in app.run_turn("s1", "show me my wallet")])
    assert told.outcome == "error"
    assert "the vault does not exist yet" in told.text
    assert "'sestet payments wallet create'" in told.text


async def test_without_the_setting_there_is_no_payment_tool(tmp_path: Path) -> None:
    async with sestet.open(FLAT, model=sestet.ScriptedModel(), home=tmp_path) as app:
        assert [tool.name for tool in app.tools if tool.name.startswith("payment_")] == []
