"""Payments whose processes are killed at any point, 20 at once: none is made twice, none passes a limit."""

import asyncio
import os
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from starlette.requests import Request
from starlette.responses import Response

from sestet.config import settings_from
from sestet.core.event import ToolFinished
from sestet.services.payments.ledger import Ledger
from sestet.services.payments.node import Node
from sestet.services.payments.payments import Payments
from sestet.services.payments.rules import read_rules
from sestet.services.payments.wallet import Wallet
from sestet.storage.database import Database
from sestet.storage.journal import Journal
from sestet.storage.payments import PaymentRow, PaymentStore
from tests.chain.local_chain import Chain, TestSigner, Transfer, running_chain
from tests.faults.payers import Outcome, Plan, Run
from tests.services.payments.world import somebody
from tests.services.payments.x402_server import Shop, open_shop

ROOT = Path(__file__).parents[2]
AT_ONCE = 20
#: Each run pays another amount, by which the chain tells them apart.
SMALLEST = 10_000


class PathShop(Shop):
    """A page costs as many millionths as its path says."""

    async def respond(self, request: Request) -> Response:
        shop = Shop(self.chain, self.payee)
        shop.prices = [int(request.url.path.strip("/"))]
        return await shop.respond(request)


@contextmanager
def shop_in_background(chain: Chain, payee: str) -> Generator[str]:
    """A shop in a thread of its own; gives its address."""
    started, stop, url = threading.Event(), asyncio.Event(), list[str]()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with open_shop(PathShop(chain, payee)) as server:
            url.append(server.url)
            started.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert started.wait(30)
    try:
        yield url[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


class Ledgers:
    """What the chain, the table of payments and the journal say of all runs."""

    def __init__(self, plan: Plan, chain: Chain, wallet: str) -> None:
        self.transfers = chain.transfers_from(wallet)
        database = Database(Path(plan.home) / "sestet.db")
        self.rows = PaymentStore(database).latest(len(plan.runs) + 1)
        journal = Journal(database)
        self.open_turns = journal.open_turns()
        self.ends: dict[int, ToolFinished] = {}
        for run in plan.runs:
            events = journal.session_events(f"run-{run.number}", [ToolFinished.kind], 9)
            finished = [event for event in events if isinstance(event, ToolFinished)]
            assert len(finished) <= 1, f"run {run.number} has two results"
            if finished:
                self.ends[run.number] = finished[0]
        database.close()


def make_plan(home: Path, chain: Chain, key: bytes, shop: str, runs: int, seed: int) -> Plan:
    dice, payee = random.Random(seed), ""
    planned: list[Run] = []
    for number in range(runs):
        amount = f"{(SMALLEST + number) / 1_000_000:.6f}"
        # The runs that begin together have one payee, so that they meet its limit at the same moment.
        payee = payee if number % AT_ONCE else somebody()
        if dice.random() < 0.2:
            page = {"url": f"{shop}/{SMALLEST + number}", "max_amount": amount}
            planned.append(Run(number, "payment_x402_fetch", page))
        else:
            sent = {"to": payee, "amount": amount}
            planned.append(Run(number, "payment_send", sent))
    total = sum(SMALLEST + number for number in range(runs)) / 1_000_000
    # Two thirds of what a payee is owed, and a part of everything.
    limits = {"perPayment": 1, "perDay": round(total * 0.6, 6), "perPayee": round(total / runs * 10, 6)}
    payments = {"limits": limits, "x402Hosts": [shop.removeprefix("http://")]}
    return Plan(str(home), chain.url, key.hex(), payments, seed, AT_ONCE, planned)


def let_them_pay(plan: Plan, directory: Path) -> Outcome:
    file = directory / "plan.json"
    file.write_bytes(msgspec.json.encode(plan))
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.payers", str(file)],
        cwd=ROOT,
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
        check=True,
        stdout=subprocess.PIPE,
    )
    return msgspec.json.decode(done.stdout, type=Outcome)


async def reconcile(plan: Plan, chain: Chain, signer: TestSigner) -> int:
    """Ask the chain about every payment in doubt, after all authorizations have run out."""
    path = Path(plan.home) / "sestet.db"
    database = Database(path)
    rules = read_rules(settings_from({"payments": plan.payments}))
    node = Node(plan.node, rules.network)
    payments = Payments(Ledger(PaymentStore(database), rules), node, Wallet(signer), path)
    left = await payments.reconcile()
    database.close()
    return left


def amounts(found: list[Transfer] | list[PaymentRow]) -> Counter[int]:
    return Counter(each.amount for each in found)


@pytest.mark.slow
@pytest.mark.parametrize("runs", [int(os.environ.get("SESTET_TEST_PAYMENTS", "1000"))])
def test_killed_payments_are_made_once_and_within_the_limits(runs: int, tmp_path: Path) -> None:
    key = os.urandom(32)
    signer = TestSigner(key)
    with running_chain(at_once=False) as chain, shop_in_background(chain, somebody()) as shop:
        chain.fund(signer.address, usdc=1_000_000_000)
        plan = make_plan(tmp_path / "home", chain, key, shop, runs, random.randrange(10**6))
        outcome = let_them_pay(plan, tmp_path)
        before = Ledgers(plan, chain, signer.address)
        chain.pass_time(1_000)
        left = asyncio.run(reconcile(plan, chain, signer))
        after = Ledgers(plan, chain, signer.address)

    told = f"seed {plan.seed}"
    assert outcome.broken == [], told
    # Most runs died at least once, and every turn came to its end.
    assert outcome.deaths > runs // 2, told
    assert before.open_turns == [], told
    # No payment twice.
    assert set(amounts(before.transfers).values()) <= {1}, told
    # Nothing happened after the end that was not known then.
    assert after.transfers == before.transfers, told
    # Every payment in doubt was resolved, and the table says what the chain says.
    assert left == 0, told
    settled = [row for row in after.rows if row.state == "settled"]
    assert amounts(settled) == amounts(after.transfers), told
    # No limit was passed, and some were met.
    paid, limits = sum(amounts(after.transfers).elements()), plan.payments["limits"]
    assert paid <= limits["perDay"] * 1_000_000, told
    for payee, sum_of_payee in per_payee(after.transfers).items():
        assert sum_of_payee <= limits["perPayee"] * 1_000_000, (told, payee)
    said = Counter(end.outcome for end in after.ends.values())
    assert any("payments.limits." in end.text for end in after.ends.values()), (told, said)
    check_what_was_said(plan, after, told)


def per_payee(transfers: list[Transfer]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for transfer in transfers:
        sums[transfer.payee] += transfer.amount
    return sums


def check_what_was_said(plan: Plan, ledgers: Ledgers, told: str) -> None:
    """What each conversation told the person is what the chain recorded, or it said that it is in doubt."""
    happened = amounts(ledgers.transfers)
    for run in plan.runs:
        paid, end = happened[SMALLEST + run.number] == 1, ledgers.ends.get(run.number)
        where = (told, run, end)
        assert end is not None, where
        if end.outcome == "ok":
            assert paid, where
        elif end.outcome != "in_doubt":
            assert not paid or "was paid, but its answer was lost" in end.text, where
