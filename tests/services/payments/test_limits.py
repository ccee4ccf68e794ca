"""Limits and budgets: any 24 hours, whatever the clock does."""

import pytest

from sestet.core.errors import ToolError
from sestet.core.record import replace
from sestet.core.tool import CallInfo
from sestet.services.payments.payments import Payments
from tests.services.payments.world import CALL, World, approved, somebody

HOUR = 3_600


def numbered(number: int) -> CallInfo:
    return replace(CALL, call_id=f"call-{number}")


@pytest.mark.parametrize(
    ("limits", "amounts", "said"),
    [
        ({"perPayment": 0.1}, ["0.11"], "limit for one payment allows: 0.1 USDC"),
        ({"perDay": 0.1}, ["0.06", "0.05"], "0.04 USDC are left .payments.limits.perDay"),
        ({"perPayee": 0.1}, ["0.06", "0.05"], "0.04 USDC are left .payments.limits.perPayee"),
        ({"perPayment": 0}, ["0.000001"], "limit for one payment"),
    ],
)
async def test_a_payment_over_a_limit_is_refused_before_anybody_is_asked(
    world: World, limits: dict[str, float], amounts: list[str], said: str
) -> None:
    payments = world.payments(limits=limits)
    *before, last = amounts
    for number, amount in enumerate(before):
        await world.pay(payments, "alice", amount, numbered(number))

    with pytest.raises(ToolError, match=said):
        await payments.preview_send(numbered(9), "alice", last, "")


async def test_exactly_the_limit_may_be_paid(world: World) -> None:
    payments = world.payments(limits={"perPayment": 0.1, "perDay": 0.1, "perPayee": 0.1})
    await world.pay(payments, "alice", "0.1")
    assert world.paid_to(world.alice) == 100_000


async def test_a_name_and_its_address_are_one_payee(world: World) -> None:
    payments = world.payments(limits={"perPayee": 0.1})
    await world.pay(payments, "alice", "0.06", numbered(1))
    with pytest.raises(ToolError, match="perPayee"):
        await payments.preview_send(numbered(2), world.alice.lower(), "0.06", "")


async def reserve(payments: Payments, call: CallInfo, amount: str) -> None:
    """Count a payment without the chain, whose clock does not follow the test's."""
    order = await payments._send_order(call, "alice", amount, "")  # pyright: ignore[reportPrivateUsage] - see above
    await payments.ledger.reserve(order, call)


async def test_a_limit_is_for_any_24_hours_and_not_for_a_date(world: World) -> None:
    payments = world.payments(limits={"perPayment": 1, "perDay": 1, "perPayee": 1})
    await reserve(payments, numbered(1), "1")

    # Midnight, in every time zone, lies within these hours.
    for _ in range(23):
        world.offset += HOUR
        with pytest.raises(ToolError, match="perDay"):
            await reserve(payments, numbered(2), "0.000001")
    world.offset += HOUR + 1
    await reserve(payments, numbered(2), "1")


async def test_a_clock_that_is_set_back_frees_nothing(world: World) -> None:
    payments = world.payments(limits={"perPayment": 1, "perDay": 1, "perPayee": 1})
    await reserve(payments, numbered(1), "1")
    world.offset -= 30 * 24 * HOUR
    with pytest.raises(ToolError, match="perDay"):
        await reserve(payments, numbered(2), "0.000001")


async def test_a_change_of_the_network_does_not_mix_the_sums(world: World) -> None:
    limits = {"perPayment": 1, "perDay": 1, "perPayee": 1}
    payments = world.payments(limits=limits)
    await reserve(payments, numbered(1), "1")
    main = world.payments(limits=limits, network="base")
    assert main.left("alice").day == 1_000_000


async def test_a_budget_lets_its_payee_be_paid_unasked_until_it_is_used_up(world: World) -> None:
    payments = world.payments(budgets=[{"payee": "alice", "perDay": 0.1}])

    covered = await payments.preview_send(numbered(1), "alice", "0.06", "")
    other = await payments.preview_send(numbered(2), somebody(), "0.06", "")
    assert (covered.risk, covered.owner_allows) == ("safe", True)
    assert (other.risk, other.owner_allows) == ("dangerous", False)
    await payments.send(approved(numbered(1), covered), "alice", "0.06", "")

    after = await payments.preview_send(numbered(3), "alice", "0.06", "")
    assert (after.risk, after.owner_allows) == ("dangerous", False)
    assert "0.04 USDC are left of it, which does not cover this" in after.changes.lines[-1].text
    assert payments.left("alice").unasked == 40_000
    # The person may still say yes to it.
    await payments.send(approved(numbered(3), after), "alice", "0.06", "")
    assert world.paid_to(world.alice) == 120_000
    assert payments.left("alice").unasked == 40_000


async def test_two_calls_that_saw_the_same_budget_do_not_both_use_it(world: World) -> None:
    payments = world.payments(budgets=[{"payee": world.alice, "perDay": 0.1}])
    first = await payments.preview_send(numbered(1), "alice", "0.06", "")
    second = await payments.preview_send(numbered(2), "alice", "0.06", "")
    assert second.owner_allows

    await payments.send(approved(numbered(1), first), "alice", "0.06", "")
    with pytest.raises(ToolError, match=r"the budget for alice .* is used up for now"):
        await payments.send(approved(numbered(2), second), "alice", "0.06", "")
    assert world.paid_to(world.alice) == 60_000


async def test_a_budget_does_not_lift_a_limit(world: World) -> None:
    payments = world.payments(limits={"perPayment": 0.05}, budgets=[{"payee": "alice", "perDay": 100}])
    with pytest.raises(ToolError, match="perPayment"):
        await payments.preview_send(CALL, "alice", "0.06", "")


async def test_a_budget_that_is_taken_away_allows_nothing_that_was_only_previewed(world: World) -> None:
    before = world.payments(budgets=[{"payee": "alice", "perDay": 1}])
    preview = await before.preview_send(CALL, "alice", "0.06", "")
    after = world.payments()
    with pytest.raises(ToolError, match="the budget for alice"):
        await after.send(approved(CALL, preview), "alice", "0.06", "")
