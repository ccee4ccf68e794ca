"""Payments over a real chain: they arrive once, and what cannot work is refused before a signature."""

import asyncio
import os
from pathlib import Path

import pytest

from sestet.core.errors import InDoubtError, ToolError
from sestet.core.record import replace
from sestet.services.payments.payments import Payments, nonce_of
from tests.chain.local_chain import Chain, TestSigner
from tests.services.payments.world import CALL, World, approved, somebody


async def test_a_payment_arrives_and_is_in_the_history(world: World) -> None:
    payments = world.payments()

    told = await world.pay(payments, "alice", "0.05")

    assert world.paid_to(world.alice) == 50_000
    (row,) = payments.history(10)
    assert (row.state, row.amount, row.payee_name, row.purpose) == ("settled", 50_000, "alice", "tea")
    assert f"0.05 USDC to alice ({world.alice}) on Base Sepolia (test network): paid" in told
    assert f"0x{row.transaction_hash.hex()}" in told


async def test_the_preview_shows_what_the_approval_binds_and_what_is_left(world: World) -> None:
    payments = world.payments()
    await world.pay(payments, "alice", "0.5")

    preview = await payments.preview_send(replace(CALL, call_id="call-2"), "alice", "0.25", "cake")

    shown = "\n".join(line.text for line in preview.changes.lines)
    nonce = nonce_of(replace(CALL, call_id="call-2")).hex()
    for part in (
        f"alice ({world.alice})",
        "0.25 USDC",
        world.chain.network.usdc,
        "84532",
        world.wallet,
        nonce,
    ):
        assert part in shown
    assert "left after it: 4.25 USDC in 24 hours, 1.25 USDC to this payee" in shown
    assert preview.risk == "dangerous"
    assert not preview.owner_allows


async def test_the_same_call_pays_once_however_often_it_is_made(world: World) -> None:
    payments = world.payments()

    told = {await world.pay(payments, "alice", "0.05") for _ in range(3)}

    assert len(told) == 1
    assert world.paid_to(world.alice) == 50_000
    assert len(world.chain.transfers_from(world.wallet)) == 1


async def test_an_approval_is_for_one_call_payee_amount_chain_and_wallet(world: World) -> None:
    payments = world.payments()
    bob = somebody()
    preview = await payments.preview_send(CALL, "alice", "0.05", "tea")
    good = approved(CALL, preview)
    main = world.payments(network="base")

    tries = [
        payments.send(good, bob, "0.05", "tea"),
        payments.send(good, "alice", "0.06", "tea"),
        payments.send(replace(good, call_id="call-2"), "alice", "0.05", "tea"),
        payments.send(replace(good, turn_id="turn-2"), "alice", "0.05", "tea"),
        payments.send(replace(good, session_id="session-2"), "alice", "0.05", "tea"),
        payments.send(CALL, "alice", "0.05", "tea"),
        main.send(good, "alice", "0.05", "tea"),
        world.payments(payees={"alice": bob}).send(good, "alice", "0.05", "tea"),
    ]
    for attempt in tries:
        with pytest.raises(ToolError, match="not those that were approved"):
            await attempt
    assert world.chain.transfers_from(world.wallet) == []
    assert payments.history(9) == []


async def test_a_payee_that_is_a_contract_is_refused(world: World) -> None:
    payments, contract = world.payments(), somebody()
    world.chain.ask("anvil_setCode", contract, "0x6001")

    with pytest.raises(ToolError, match="is a contract, and not an account"):
        await payments.preview_send(CALL, contract, "0.05", "")


async def test_an_account_that_only_delegates_to_code_can_be_paid(world: World) -> None:
    payments, account = world.payments(), somebody()
    world.chain.ask("anvil_setCode", account, "0xef0100" + "11" * 20)

    await world.pay(payments, account, "0.05")

    assert world.paid_to(account) == 50_000


async def test_the_wallet_does_not_pay_itself(world: World) -> None:
    payments = world.payments()
    with pytest.raises(ToolError, match="the wallet's own address"):
        await payments.preview_send(CALL, world.wallet, "0.05", "")


async def refused(world: World, payments: Payments, said: str) -> None:
    """The payment is refused before anything is signed, and counts no longer."""
    with pytest.raises(ToolError, match=said):
        await world.pay(payments)
    assert world.signer.signed == []
    assert [row.state for row in payments.history(9)] in ([], ["failed"])
    assert payments.left("alice").day == 5_000_000


async def test_a_wallet_without_enough_usdc_signs_nothing(chain: Chain, tmp_path: Path) -> None:
    world = World(chain, TestSigner(os.urandom(32)), tmp_path)
    chain.fund(world.wallet, usdc=49_999)
    await refused(world, world.payments(), "the wallet has too little")
    world.close()


async def test_a_wallet_without_ether_for_the_fee_signs_nothing(world: World) -> None:
    world.chain.fund(world.wallet, usdc=0, ether=1_000)
    await refused(world, world.payments(), "too little ether for the fee")


async def test_a_frozen_account_is_noticed_before_anything_is_signed(world: World) -> None:
    world.chain.block(world.alice)
    await refused(world, world.payments(), "one of the two accounts is blocked")


async def test_a_clock_that_is_wrong_stops_a_payment(world: World) -> None:
    world.offset = 3_600
    await refused(world, world.payments(), "the clocks of this machine and of the chain differ by")


async def test_a_failed_payment_is_not_made_by_the_same_call_later(world: World) -> None:
    world.chain.fund(world.wallet, usdc=0, ether=1_000)
    payments = world.payments()
    with pytest.raises(ToolError, match="too little ether"):
        await world.pay(payments)
    world.chain.fund(world.wallet, usdc=0)

    with pytest.raises(ToolError, match="was not made and cannot be made any more"):
        await world.pay(payments)
    assert world.paid_to(world.alice) == 0


async def test_two_payments_at_the_same_moment_do_not_both_pass_a_limit(world: World) -> None:
    payments = world.payments(limits={"perPayment": 1, "perDay": 1, "perPayee": 1})
    calls = [replace(CALL, call_id=f"call-{number}") for number in range(6)]
    previews = [await payments.preview_send(call, "alice", "0.4", "") for call in calls]

    ends = await asyncio.gather(
        *(
            payments.send(approved(call, preview), "alice", "0.4", "")
            for call, preview in zip(calls, previews, strict=True)
        ),
        return_exceptions=True,
    )

    refusals = [end for end in ends if isinstance(end, ToolError)]
    assert len(refusals) == 4
    assert all("0.2 USDC are left (payments.limits.perDay)" in str(end) for end in refusals)
    assert world.paid_to(world.alice) == 800_000


async def test_many_payments_of_one_wallet_at_once_all_arrive(world: World) -> None:
    payments = world.payments()
    calls = [replace(CALL, call_id=f"call-{number}") for number in range(20)]

    await asyncio.gather(*(world.pay(payments, "alice", "0.01", call) for call in calls))

    assert world.paid_to(world.alice) == 200_000
    assert world.chain.transactions_of(world.wallet) == 20


async def test_a_payment_that_the_chain_does_not_confirm_is_in_doubt_and_found_later(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sestet.services.payments.sender._WAIT_SECONDS", 0.3)
    payments = world.payments()
    world.chain.ask("evm_setAutomine", False)
    world.chain.ask("evm_setIntervalMining", 0)
    try:
        with pytest.raises(InDoubtError, match="may still happen until"):
            await world.pay(payments)
        assert payments.left("alice").day == 4_950_000
        assert await payments.reconcile() == 1
    finally:
        world.chain.ask("evm_setAutomine", True)
        world.chain.ask("evm_setIntervalMining", 1)
    world.chain.ask("evm_mine")

    assert await payments.reconcile() == 0
    assert [row.state for row in payments.history(9)] == ["settled"]
    assert world.paid_to(world.alice) == 50_000
