"""The limits: what one payment would count, whether they allow it, and what is left of them."""

import time
from collections.abc import Callable
from typing import NamedTuple

from sestet.core.errors import ToolError
from sestet.core.record import Record
from sestet.core.tool import CallInfo
from sestet.services.payments.amounts import show_amount
from sestet.services.payments.payees import Payee
from sestet.services.payments.rules import Rules
from sestet.storage.lock_wait import when_free
from sestet.storage.payments import Paid, PaymentKind, PaymentRow, PaymentStore

#: A day is any 24 hours: no midnight at which a limit could be used twice, and no time zone.
DAY_SECONDS = 86_400


class Left(NamedTuple):
    """What the limits still allow in this moment; never below 0."""

    day: int
    payee: int
    #: None: the payee has no standing budget.
    unasked: int | None


class Order(Record):
    """One payment, as a question shows it and as the approval binds it."""

    kind: PaymentKind
    nonce: bytes
    wallet: str
    payee: Payee
    amount: int
    purpose: str
    #: A standing budget covers it, so that nobody has to be asked.
    unasked: bool


class Ledger:
    def __init__(self, store: PaymentStore, rules: Rules, clock: Callable[[], float] = time.time) -> None:
        self.store = store
        self.rules = rules
        self.clock = clock

    def left(self, payee: str, nonce: bytes = b"") -> Left:
        """What is left without the payment of this nonce."""
        paid = self._paid(payee, nonce)
        limits, budget = self.rules.limits, self.rules.budgets.get(payee)
        return Left(
            max(0, limits.per_day - paid.all),
            max(0, limits.per_payee - paid.payee),
            None if budget is None else max(0, budget - paid.unasked),
        )

    def covers(self, payee: str, amount: int, nonce: bytes) -> bool:
        """Whether a standing budget covers the payment. One that was reserved keeps its own answer."""
        known = self.store.get(nonce)
        if known is not None:
            return bool(known.unasked)
        left = self.left(payee).unasked
        return left is not None and amount <= left

    def check(self, amount: int, payee: str, nonce: bytes) -> None:
        """Raise if a limit would refuse the payment in this moment."""
        if self.store.get(nonce) is None:
            self._check(amount, self._paid(payee, nonce))

    async def reserve(self, order: Order, call: CallInfo) -> PaymentRow:
        """Count the payment, or find it counted already; raise if a limit or its budget does not allow it."""
        network = self.rules.network
        row = PaymentRow(
            order.nonce,
            order.kind,
            "reserved",
            *(call.session_id, call.turn_id, call.call_id),
            *(_bytes(order.wallet), _bytes(order.payee.address), order.payee.name),
            order.amount,
            *(_bytes(network.usdc), network.chain_id),
            order.purpose,
            int(order.unasked),
            self.clock(),
        )

        def check(paid: Paid) -> None:
            self._check(order.amount, paid)
            budget = self.rules.budgets.get(order.payee.address, 0)
            if order.unasked and paid.unasked + order.amount > budget:
                raise ToolError(
                    f"the budget for {order.payee.shown} is used up for now (policy.budgets). Nothing was "
                    "sent; asked for again, it becomes a question"
                )

        known = await when_free(lambda: self.store.reserve(row, self._since(), check))
        if known.terms != row.terms:
            raise ToolError("this call has already made another payment; nothing was sent")
        return known

    def _check(self, amount: int, paid: Paid) -> None:
        limits = self.rules.limits
        for name, what, limit, used in (
            ("perPayment", "for one payment", limits.per_payment, 0),
            ("perDay", "for 24 hours", limits.per_day, paid.all),
            ("perPayee", "for 24 hours to one payee", limits.per_payee, paid.payee),
        ):
            if used + amount > limit:
                left = f", of which {show_amount(max(0, limit - used))} are left" if used else ""
                raise ToolError(
                    f"{show_amount(amount)} is more than the limit {what} allows: {show_amount(limit)}{left} "
                    f"(payments.limits.{name}). Nothing was sent"
                )

    def _paid(self, payee: str, without: bytes) -> Paid:
        return self.store.paid(self.rules.network.chain_id, _bytes(payee), self._since(), without)

    def _since(self) -> float:
        return self.clock() - DAY_SECONDS


def _bytes(address: str) -> bytes:
    return bytes.fromhex(address[2:])
