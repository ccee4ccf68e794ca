"""Paying for a page: exactly what was approved, once, to a server that may cheat."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from sestet.core.errors import InDoubtError, ToolError
from sestet.core.label import Label
from sestet.core.record import replace
from sestet.core.tool import CallInfo
from sestet.services.payments.payments import Fetched, Payments
from sestet.services.payments.web_request import WebRequest, check_address
from tests.remote.server import Server
from tests.services.payments.world import CALL, World, approved, somebody
from tests.services.payments.x402_server import PAGE, Shop, host_of, open_shop

READ = replace(CALL, label=Label(untrusted=True, sources=("a page",)))


@pytest.fixture
async def shop(world: World) -> Shop:
    return Shop(world.chain, somebody())


@pytest.fixture
async def server(shop: Shop) -> AsyncGenerator[Server]:
    async with open_shop(shop) as server:
        yield server


async def buy(payments: Payments, url: str, max_amount: str = "0.01", call: CallInfo = CALL) -> Fetched:
    preview = await payments.preview_fetch(call, url, max_amount)
    return await payments.fetch(approved(call, preview), url, max_amount)


def with_shop(world: World, server: Server, **settings: Any) -> Payments:  # Any: settings in the file's form
    return world.payments(x402Hosts=[host_of(server)], **settings)


@pytest.mark.parametrize("version", [1, 2])
async def test_a_page_is_paid_for_and_delivered(
    world: World, shop: Shop, server: Server, version: int
) -> None:
    shop.version = version
    payments = with_shop(world, server)

    fetched = await buy(payments, f"{server.url}/weather")

    assert fetched.answer.body.decode() == PAGE
    assert world.paid_to(shop.payee) == 10_000
    assert (fetched.row.state, fetched.row.kind, len(fetched.row.transaction_hash)) == ("settled", "x402", 32)
    # The server pays the fee of the transaction.
    assert world.chain.transactions_of(world.wallet) == 0
    assert payments.left().day == 4_990_000


async def test_the_question_shows_the_payee_and_the_price_of_the_server(
    world: World, shop: Shop, server: Server
) -> None:
    payments = with_shop(world, server)
    preview = await payments.preview_fetch(CALL, server.url, "0.5")
    shown = "\n".join(line.text for line in preview.changes.lines)
    assert shop.payee in shown
    assert "amount:  0.01 USDC" in shown
    assert shop.payments == []


async def test_nothing_is_requested_before_the_approval_once_untrusted_text_was_read(
    world: World, shop: Shop, server: Server
) -> None:
    payments = with_shop(world, server)
    preview = await payments.preview_fetch(READ, f"{server.url}/?stolen=words", "0.01")
    shown = "\n".join(line.text for line in preview.changes.lines)
    assert "payee:   an account that the server will name" in shown
    assert "amount:  at most 0.01 USDC" in shown
    assert shop.asked == 0
    assert not preview.owner_allows

    fetched = await payments.fetch(approved(READ, preview), f"{server.url}/?stolen=words", "0.01")
    assert fetched.answer.body.decode() == PAGE


async def test_a_server_that_asks_for_more_at_the_second_request_gets_nothing(
    world: World, shop: Shop, server: Server
) -> None:
    shop.prices = [10_000, 20_000]
    payments = with_shop(world, server)
    with pytest.raises(ToolError, match="not those that were approved"):
        await buy(payments, server.url, "0.5")
    assert shop.payments == []
    assert payments.history(9) == []


async def test_a_server_that_changes_the_payee_after_the_approval_gets_nothing(
    world: World, shop: Shop, server: Server
) -> None:
    payments = with_shop(world, server)
    preview = await payments.preview_fetch(CALL, server.url, "0.5")
    shop.payee = somebody()
    with pytest.raises(ToolError, match="not those that were approved"):
        await payments.fetch(approved(CALL, preview), server.url, "0.5")
    assert shop.payments == []


async def test_a_price_above_the_most_is_refused(world: World, shop: Shop, server: Server) -> None:
    payments = with_shop(world, server)
    for call in (CALL, READ):
        with pytest.raises(ToolError, match=r"asks for 0\.01 USDC, which is more than 0\.009999 USDC"):
            await buy(payments, server.url, "0.009999", call)
    assert shop.payments == []


@pytest.mark.parametrize(
    "claimed",
    [
        {"asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"},
        {"network": "eip155:8453"},
        {"network": "base-sepolia"},
        {"network": "solana:mainnet"},
        {"scheme": "upto"},
        {"extra": {"assetTransferMethod": "permit2"}},
        {"amount": "0"},
        {"amount": "-5"},
        {"amount": "1e3"},
        {"amount": "9" * 40},
        {"maxTimeoutSeconds": 0},
    ],
)
async def test_another_asset_chain_or_scheme_is_not_paid(
    world: World,
    shop: Shop,
    server: Server,
    claimed: dict[str, Any],  # Any: JSON in any form
) -> None:
    shop.claims = claimed
    payments = with_shop(world, server)
    with pytest.raises(ToolError, match="asks for no payment in USDC on Base Sepolia"):
        await buy(payments, server.url)
    assert shop.payments == []


async def test_the_name_of_the_coin_that_a_server_claims_is_not_signed(
    world: World, shop: Shop, server: Server
) -> None:
    shop.claims = {"extra": {"name": "Another Coin", "version": "9"}}
    payments = with_shop(world, server)
    await buy(payments, server.url)
    assert world.paid_to(shop.payee) == 10_000


@pytest.mark.parametrize(
    "payee", ["0x12", "alice", "0x" + "0" * 40, "0x1a642f0e3c3aF545E7AcBD38b07251B3990914F1"]
)
async def test_a_payee_that_makes_no_sense_is_refused(
    world: World, shop: Shop, server: Server, payee: str
) -> None:
    shop.payee = payee
    payments = with_shop(world, server)
    with pytest.raises(ToolError):
        await buy(payments, server.url)
    assert shop.payments == []


async def test_a_contract_as_payee_is_refused(world: World, shop: Shop, server: Server) -> None:
    world.chain.ask("anvil_setCode", shop.payee, "0x6001")
    payments = with_shop(world, server)
    for call in (CALL, READ):
        with pytest.raises(ToolError, match="is a contract"):
            await buy(payments, server.url, call=call)
    assert shop.payments == []


async def test_a_redirect_is_not_followed(world: World, shop: Shop, server: Server) -> None:
    shop.redirects_to = "http://127.0.0.1:9/elsewhere"
    payments = with_shop(world, server)
    with pytest.raises(ToolError, match="leads elsewhere, which is not followed"):
        await buy(payments, server.url)


async def test_a_redirect_after_the_payment_leaves_it_in_doubt(
    world: World, shop: Shop, server: Server
) -> None:
    shop.answers_with, shop.settles = 302, False
    payments = with_shop(world, server)
    with pytest.raises(InDoubtError, match="may collect it until"):
        await buy(payments, server.url)
    assert [row.state for row in payments.history(9)] == ["signed"]


async def test_a_server_that_takes_the_payment_and_asks_again_is_paid_once_at_most(
    world: World, shop: Shop, server: Server
) -> None:
    shop.answers_with = 402
    payments = with_shop(world, server)
    with pytest.raises(InDoubtError, match="status 402 to the payment"):
        await buy(payments, server.url)
    (payment,) = shop.payments
    assert payments.left().day == 4_990_000
    # It collects after all: the chain shows it, and a second time is refused.
    shop.settle(payment.payload)
    assert await payments.reconcile() == 0
    assert [row.state for row in payments.history(9)] == ["settled"]


async def test_a_payment_that_is_not_collected_in_time_counts_no_longer(
    world: World, shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sestet.services.payments.payments._COLLECT_SECONDS", 0.1)
    shop.settles = False
    payments = with_shop(world, server)
    fetched = await buy(payments, server.url)
    assert "in doubt; it may still happen until" in payments.describe(fetched.row)
    assert payments.left().day == 4_990_000
    assert fetched.row.valid_before <= world.clock() + 60

    world.store._database.execute("UPDATE payments SET valid_before = valid_before - 200")  # pyright: ignore[reportPrivateUsage] - instead of waiting
    assert await payments.reconcile() == 0
    assert [row.state for row in payments.history(9)] == ["expired"]
    assert payments.left().day == 5_000_000


async def test_a_payment_that_nobody_collected_makes_room_for_the_next_one(
    world: World, shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sestet.services.payments.payments._COLLECT_SECONDS", 0.1)
    shop.settles = False
    payments = with_shop(world, server, limits={"perPayment": 1, "perDay": 0.05, "perPayee": 1})
    await buy(payments, server.url)
    later = replace(CALL, call_id="call-2")
    with pytest.raises(ToolError, match="perDay"):
        await payments.preview_send(later, "alice", "0.05", "")

    world.database.execute("UPDATE payments SET valid_before = valid_before - 200")
    await payments.preview_send(later, "alice", "0.05", "")
    assert [row.state for row in payments.history(9)] == ["expired"]


async def test_a_call_that_signed_for_one_payee_never_signs_for_another(
    world: World, shop: Shop, server: Server
) -> None:
    shop.answers_with = 402
    payments = with_shop(world, server)
    call = approved(READ, await payments.preview_fetch(READ, server.url, "0.01"))
    with pytest.raises(InDoubtError):
        await payments.fetch(call, server.url, "0.01")
    shop.payee = somebody()
    with pytest.raises(ToolError, match="this call has already made another payment"):
        await payments.fetch(call, server.url, "0.01")
    assert len(shop.payments) == 1


async def test_x402_and_other_payments_share_the_limits(world: World, shop: Shop, server: Server) -> None:
    payments = with_shop(world, server, limits={"perPayment": 1, "perDay": 0.055, "perPayee": 1})
    await world.pay(payments, "alice", "0.05", replace(CALL, call_id="call-2"))
    with pytest.raises(ToolError, match=r"0\.005 USDC are left .payments\.limits\.perDay"):
        await buy(payments, server.url)
    assert shop.payments == []


async def test_a_budget_covers_a_page_only_while_nothing_else_was_read(
    world: World, shop: Shop, server: Server
) -> None:
    payments = with_shop(world, server, budgets=[{"payee": shop.payee, "perDay": 1}])
    assert (await payments.preview_fetch(CALL, server.url, "0.01")).owner_allows
    for label in (Label(untrusted=True), Label(private=True)):
        other = replace(CALL, label=label)
        assert not (await payments.preview_fetch(other, server.url, "0.01")).owner_allows


async def test_a_page_that_costs_nothing_is_not_paid(world: World, shop: Shop, server: Server) -> None:
    shop.is_free = True
    payments = with_shop(world, server)
    with pytest.raises(ToolError, match=r"asks for no payment .status 200., so nothing was paid"):
        await buy(payments, server.url)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://api.example.com/", "must begin with https"),
        ("ftp://api.example.com/", "is not the address of a page"),
        ("https://", "is not the address of a page"),
        ("api.example.com", "is not the address of a page"),
        ("https://me:secret@api.example.com/", "holds a name, a password or a blank"),
        ("https://api.example.com/a b", "holds a name, a password or a blank"),
        ("https://ex\u0430mple.com/", "is not the address of a page"),
        ("https://api.example.com:99999/", "is not the address of a page"),
        ("https://api.example.com/" + "x" * 2_000, "is not the address of a page"),
    ],
)
def test_an_address_that_is_not_clear_is_refused(url: str, said: str) -> None:
    with pytest.raises(ToolError, match=said):
        check_address(url, ())


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "10.1.2.3",
        "169.254.169.254",
        "192.168.0.1",
        "168.63.129.16",
        "[64:ff9b::7f00:1]",
    ],
)
async def test_a_host_of_the_own_network_is_refused(host: str) -> None:
    with pytest.raises(ToolError, match="is in your own network"):
        await WebRequest(()).get(f"https://{host}/")
