"""Payments over the local chain, with a wallet and a database of their own."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eth_keys.datatypes import PrivateKey

from sestet.config import settings_from
from sestet.core.label import CLEAN
from sestet.core.record import replace
from sestet.core.tool import CallInfo, Preview
from sestet.services.payments.ledger import Ledger
from sestet.services.payments.node import Node
from sestet.services.payments.payments import Payments
from sestet.services.payments.rules import read_rules
from sestet.services.payments.wallet import Wallet
from sestet.storage.database import Database
from sestet.storage.payments import PaymentStore
from tests.chain.local_chain import Chain, TestSigner

CALL = CallInfo("session-1", "turn-1", "vault", "call-1", CLEAN)


def somebody() -> str:
    """An address that nobody has used."""
    return PrivateKey(os.urandom(32)).public_key.to_checksum_address()


class World:
    def __init__(self, chain: Chain, signer: TestSigner, home: Path) -> None:
        self.chain = chain
        self.signer = signer
        self.wallet = signer.address
        self.alice = somebody()
        self.offset = 0.0
        self.database = Database(home / "sestet.db")
        self.store = PaymentStore(self.database)

    def clock(self) -> float:
        return time.time() + self.offset

    def payments(self, url: str = "", **settings: Any) -> Payments:  # Any: settings in the file's form
        """Payments with these settings; without any, alice is known and the limits are the usual ones."""
        return self.with_node(Node(url or self.chain.url, self.chain.network, 5.0), settings)

    def with_node(self, node: Node, settings: Mapping[str, Any]) -> Payments:  # Any: see above
        budgets = settings.get("budgets", [])
        own = {name: value for name, value in settings.items() if name != "budgets"}
        rules = read_rules(
            settings_from(
                {"payments": {"payees": {"alice": self.alice}, **own}, "policy": {"budgets": budgets}}
            )
        )
        ledger = Ledger(self.store, rules, self.clock)
        return Payments(ledger, node, Wallet(self.signer), self.database.path)

    async def pay(
        self, payments: Payments, to: str = "alice", amount: str = "0.05", call: CallInfo = CALL
    ) -> str:
        """Preview a payment, approve what it shows, and make it."""
        preview = await payments.preview_send(call, to, amount, "tea")
        return await payments.send(approved(call, preview), to, amount, "tea")

    def paid_to(self, payee: str) -> int:
        return self.chain.balance(payee)

    def close(self) -> None:
        self.database.close()


def approved(call: CallInfo, preview: Preview) -> CallInfo:
    """The call as the runtime makes it after the person has approved the preview."""
    return replace(call, basis=preview.changes.basis)
