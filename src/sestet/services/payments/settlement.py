"""What became of a payment: the contract's own answer, asked by the nonce."""

import asyncio
import time
from datetime import datetime

from sestet.core.errors import ToolError
from sestet.services.payments.ethereum import Authorization, checksummed
from sestet.services.payments.ledger import Ledger
from sestet.services.payments.node import Node, NodeError
from sestet.storage.lock_wait import when_free
from sestet.storage.payments import PaymentRow

#: How long an authorization can be used. Until then a payment may still happen, so it keeps counting.
VALID_SECONDS = 600
#: The chain's clock has to be this far past the end, so that a late block cannot surprise us.
_MARGIN_SECONDS = 60
#: A payment that was counted and never signed is given up after this time.
_RESERVED_SECONDS = 3_600
_MOST_ROWS = 200
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 2.0


class Settlement:
    def __init__(self, ledger: Ledger, node: Node) -> None:
        self._ledger = ledger
        self._store = ledger.store
        self._node = node

    async def look(self, row: PaymentRow) -> PaymentRow:
        """Ask the chain about a payment that may still happen, and write down what became of it."""
        if row.state == "signed":
            # Before the state: the other way round, it could be accepted between the two questions.
            chain_time = await self._node.chain_time()
            if await self.is_settled(row):
                return self._again(row)
            if chain_time > row.valid_before + _MARGIN_SECONDS:
                await when_free(lambda: self._store.expire(row.nonce))
        elif row.state == "reserved" and self._ledger.clock() > row.at + _RESERVED_SECONDS:
            await when_free(lambda: self._store.fail(row.nonce))
        return self._again(row)

    async def is_settled(self, row: PaymentRow) -> bool:
        """Whether the contract has accepted the payment; if so, that is written down."""
        wallet = checksummed(row.wallet)
        if not await self._node.is_used(wallet, row.nonce):
            return False
        try:
            found = await self._node.find_transaction(wallet, row.nonce)
        except NodeError:
            found = ""
        await when_free(lambda: self._store.settle(row.nonce, bytes.fromhex(found[2:])))
        return True

    async def wait(self, row: PaymentRow, seconds: float) -> PaymentRow | None:
        """The payment once the contract has accepted it; None if that takes too long."""
        give_up, pause = time.monotonic() + seconds, _FIRST_WAIT
        while True:
            try:
                if await self.is_settled(row):
                    return self._again(row)
            except NodeError:
                # The next look may find the node again.
                pass
            if time.monotonic() > give_up:
                return None
            await asyncio.sleep(pause)
            pause = min(_LONGEST_WAIT, pause * 1.5)

    async def reconcile(self) -> int:
        """Look at every payment whose end is not known; returns how many remain so."""
        rows = [row for row in self._store.open() if row.chain_id == self._ledger.rules.network.chain_id]
        for row in rows[:_MOST_ROWS]:
            await self.look(row)
        return sum(self._again(row).state in ("reserved", "signed") for row in rows)

    async def release_overdue(self) -> None:
        """Look at payments whose time is over by our clock, so that they do not fill the limits."""
        now = self._ledger.clock()
        for row in self._store.open()[:_MOST_ROWS]:
            is_overdue = row.state == "signed" and now > row.valid_before + _MARGIN_SECONDS
            if is_overdue and row.chain_id == self._ledger.rules.network.chain_id:
                await self.look(row)

    async def authorize(self, row: PaymentRow, valid_before: int) -> Authorization:
        """The authorization of a payment: the same one as before a crash, or a new one.

        From the moment this returns, a signature may exist.
        """
        if row.state == "reserved":
            if not await when_free(lambda: self._store.sign(row.nonce, valid_before)):
                raise ToolError("the payment was given up meanwhile; nothing was sent")
        else:
            valid_before = row.valid_before
        return Authorization(
            checksummed(row.wallet), checksummed(row.payee), row.amount, valid_before, row.nonce
        )

    def _again(self, row: PaymentRow) -> PaymentRow:
        return self._store.get(row.nonce) or row


def until(row: PaymentRow) -> str:
    """The local time at which a payment can no longer happen."""
    return datetime.fromtimestamp(row.valid_before + _MARGIN_SECONDS).strftime("%H:%M:%S")
