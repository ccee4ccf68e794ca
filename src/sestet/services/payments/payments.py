"""Payments as tools and commands use them: what one would do, doing it, and what became of it."""

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from sestet.core.errors import InDoubtError, ToolError
from sestet.core.preview import Changes, DiffLine
from sestet.core.record import replace
from sestet.core.tool import CallInfo, Preview
from sestet.services.payments.amounts import parse_amount, show_amount
from sestet.services.payments.ethereum import authorization_digest, checksummed
from sestet.services.payments.http_client import HttpAnswer
from sestet.services.payments.ledger import Ledger, Left, Order
from sestet.services.payments.node import Node
from sestet.services.payments.payees import Payee
from sestet.services.payments.sender import Sender
from sestet.services.payments.settlement import VALID_SECONDS, Settlement, until
from sestet.services.payments.wallet import Wallet
from sestet.services.payments.web_request import WebRequest, check_address
from sestet.services.payments.x402 import PAYMENT_REQUIRED, Offer, payment_header, read_offer
from sestet.storage.payments import PaymentRow

#: A server may let the person wait for the chain.
_COLLECT_SECONDS = 20.0
_LONGEST_PURPOSE = 200
_ANYBODY = Payee("an account that the server will name")
_STATES = {
    "reserved": "not signed yet",
    "signed": "in doubt",
    "settled": "paid",
    "expired": "not paid: its time ran out",
    "failed": "not paid",
}


class Balance(NamedTuple):
    wallet: str
    #: In millionths of a USDC, and in wei.
    usdc: int
    ether: int


class Fetched(NamedTuple):
    """What a paid request has brought."""

    row: PaymentRow
    answer: HttpAnswer


_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def _connected(
    method: "Callable[Concatenate[Payments, _Given], Awaitable[_Result]]",
) -> "Callable[Concatenate[Payments, _Given], Coroutine[Any, Any, _Result]]":  # Any: of every coroutine
    """All requests of a method to the node share one connection, and none stays open."""

    @wraps(method)
    async def connected(self: "Payments", /, *given: _Given.args, **named: _Given.kwargs) -> _Result:
        async with self.node.connected():
            return await method(self, *given, **named)

    return connected


class Payments:
    """Payments in USDC on one network, by one wallet, within the owner's limits."""

    def __init__(self, ledger: Ledger, node: Node, wallet: Wallet, database: Path) -> None:
        self.ledger = ledger
        self.network = ledger.rules.network
        self.node = node
        self._wallet = wallet
        self._settlement = Settlement(ledger, node)
        self._sender = Sender(ledger, self._settlement, node, wallet, database)
        self._web = WebRequest(ledger.rules.hosts)

    async def address(self) -> str:
        return await self._wallet.address()

    async def create_wallet(self) -> str:
        """Make a key in the vault; raise if there is a wallet. Returns its address."""
        return await self._wallet.create()

    @_connected
    async def balance(self) -> Balance:
        wallet = await self._wallet.address()
        await self.node.require_chain()
        return Balance(wallet, await self.node.usdc(wallet), await self.node.ether(wallet))

    def left(self, payee: str = "") -> Left:
        """What the limits still allow, for a payee by name or address."""
        found = self.ledger.rules.book.find(payee).address if payee else checksummed(bytes(20))
        return self.ledger.left(found)

    def history(self, limit: int) -> list[PaymentRow]:
        return self.ledger.store.latest(limit)

    @_connected
    async def reconcile(self) -> int:
        """Ask the chain about payments whose end is not known; returns how many remain so."""
        if not self.ledger.store.open():
            return 0
        await self.node.require_chain()
        return await self._settlement.reconcile()

    # Sending to a payee.

    @_connected
    async def preview_send(self, call: CallInfo, to: str, amount: str, purpose: str) -> Preview:
        await self.node.require_chain()
        await self._settlement.release_overdue()
        order = await self._send_order(call, to, amount, purpose)
        await self._require_account(order.payee)
        return await self._preview(order)

    @_connected
    async def send(self, call: CallInfo, to: str, amount: str, purpose: str) -> str:
        """Make exactly the payment that was previewed. Returns what became of it, in words."""
        order = await self._send_order(call, to, amount, purpose)
        order = self._require_basis(call, order)
        await self.node.require_chain()
        await self._require_account(order.payee)
        row = await self.ledger.reserve(order, call)
        return self.describe(await self._sender.send(row))

    @_connected
    async def result_of(self, call: CallInfo) -> str | None:
        """After a crash: the result of a call that paid; None if it can be made now without paying twice."""
        row = self.ledger.store.get(nonce_of(call))
        if row is None:
            return None
        await self.node.require_chain()
        row = await self._settlement.look(row)
        return self.describe(row) if row.state == "settled" else None

    async def _send_order(self, call: CallInfo, to: str, amount: str, purpose: str) -> Order:
        payee, units = self.ledger.rules.book.find(to), parse_amount(amount)
        return await self._order(call, "send", payee, units, " ".join(purpose.split())[:_LONGEST_PURPOSE])

    # Paying for a page.

    @_connected
    async def preview_fetch(self, call: CallInfo, url: str, max_amount: str) -> Preview:
        """What the page costs and who is paid, if asking for it tells the server nothing but your words.

        Once untrusted or private text was read, the address itself could carry it away. Then nothing is asked
        before the person approves, and the question says that the payee is not known yet.
        """
        limit, address = parse_amount(max_amount), check_address(url, self.ledger.rules.hosts)
        await self.node.require_chain()
        await self._settlement.release_overdue()
        if call.label.untrusted or call.label.private:
            order = await self._order(call, "x402", _ANYBODY, limit, address.url)
            return await self._preview(order, f"it pays {address.host}, whatever account that names")
        offer = await self._offer(address.url, limit)
        order = await self._order(call, "x402", self._payee(offer), offer.amount, address.url)
        await self._require_account(order.payee)
        return await self._preview(order)

    @_connected
    async def fetch(self, call: CallInfo, url: str, max_amount: str) -> Fetched:
        limit, address = parse_amount(max_amount), check_address(url, self.ledger.rules.hosts)
        await self.node.require_chain()
        offer = await self._offer(address.url, limit)
        order = await self._order(call, "x402", self._payee(offer), offer.amount, address.url)
        if call.basis == self._basis(replace(order, payee=_ANYBODY, amount=limit, unasked=False)):
            # The person approved any payee of this server, up to the amount.
            order = replace(order, unasked=False)
        else:
            order = self._require_basis(call, order)
        await self._require_account(order.payee)
        row = await self._settlement.look(await self.ledger.reserve(order, call))
        if row.state not in ("reserved", "signed"):
            paid = "was paid, but its answer was lost" if row.state == "settled" else "was not made"
            raise ToolError(f"this payment {paid}; ask for a new one if it is still wanted")
        return await self._pay_for(row, offer, address.url)

    async def _pay_for(self, row: PaymentRow, offer: Offer, url: str) -> Fetched:
        seconds = min(VALID_SECONDS, offer.seconds)
        authorization = await self._settlement.authorize(row, int(self.ledger.clock()) + seconds)
        row = self.ledger.store.get(row.nonce) or row
        signature = await self._wallet.sign(authorization_digest(self.network, authorization))
        header = payment_header(offer, self.network, authorization, signature)
        try:
            answer = await self._web.get(url, header)
        except ToolError as error:
            raise self._uncollected(row, str(error)) from None
        if not 200 <= answer.status < 300:
            raise self._uncollected(row, f"the server answered with status {answer.status} to the payment")
        return Fetched(await self._settlement.wait(row, _COLLECT_SECONDS) or row, answer)

    def _uncollected(self, row: PaymentRow, cause: str) -> InDoubtError:
        return InDoubtError(
            f"{cause}. The server has a signed payment of {show_amount(row.amount)} and may collect it until "
            f"{until(row)}, once; 'sestet payments history' shows what became of it"
        )

    async def _offer(self, url: str, limit: int) -> Offer:
        answer = await self._web.get(url)
        if 300 <= answer.status < 400:
            raise ToolError("the server leads elsewhere, which is not followed; nothing was paid")
        if answer.status != PAYMENT_REQUIRED:
            raise ToolError(
                f"the server asks for no payment (status {answer.status}), so nothing was paid; read it as "
                "an ordinary page"
            )
        offer = read_offer(answer, self.network)
        if offer.amount > limit:
            raise ToolError(
                f"the server asks for {show_amount(offer.amount)}, which is more than {show_amount(limit)}; "
                "nothing was paid"
            )
        return offer

    def _payee(self, offer: Offer) -> Payee:
        return self.ledger.rules.book.named(offer.payee)

    # What both have in common.

    async def _order(self, call: CallInfo, kind: str, payee: Payee, amount: int, purpose: str) -> Order:
        nonce, wallet = nonce_of(call), await self._wallet.address()
        if payee.address == wallet:
            raise ToolError("that is the wallet's own address; nothing was sent")
        self.ledger.check(amount, _address(payee), nonce)
        unasked = payee is not _ANYBODY and self.ledger.covers(payee.address, amount, nonce)
        return Order("x402" if kind == "x402" else "send", nonce, wallet, payee, amount, purpose, unasked)

    async def _require_account(self, payee: Payee) -> None:
        if await self.node.is_contract(payee.address):
            raise ToolError(
                f"{payee.shown} is a contract, and not an account of a person; money that is sent to a "
                "contract may be lost. Nothing was sent"
            )

    def _require_basis(self, call: CallInfo, order: Order) -> Order:
        """The order as it was approved; raise if anything of it has changed since."""
        for unasked in (False, True):
            approved = replace(order, unasked=unasked)
            if call.basis == self._basis(approved):
                return approved
        raise ToolError(
            "payee, amount, asset, chain or wallet are not those that were approved; nothing was sent. "
            "Ask for the payment again"
        )

    def _basis(self, order: Order) -> str:
        """What an approval binds."""
        network = self.network
        return " ".join(
            (
                *(order.kind, str(network.chain_id), network.usdc, order.wallet),
                *(order.payee.address, str(order.amount), order.nonce.hex(), order.purpose),
                "budget" if order.unasked else "person",
            )
        )

    async def _preview(self, order: Order, caution: str = "") -> Preview:
        network, left = self.network, self.ledger.left(_address(order.payee), order.nonce)
        most = "at most " if order.payee is _ANYBODY else ""
        lines = [
            f"payee:   {order.payee.shown}",
            f"amount:  {most}{show_amount(order.amount)}",
            f"asset:   USDC {network.usdc}",
            f"chain:   {network.title}, {network.chain_id}",
            f"wallet:  {order.wallet}",
            f"nonce:   0x{order.nonce.hex()}",
            f"left after it: {show_amount(left.day - order.amount)} in 24 hours, "
            f"{show_amount(left.payee - order.amount)} to this payee",
        ]
        if left.unasked is not None:
            covered = "covers" if order.unasked else "does not cover"
            lines.append(f"budget:  {show_amount(left.unasked)} are left of it, which {covered} this")
        money = "test money" if network.is_test else "real money"
        return Preview(
            "safe" if order.unasked else "dangerous",
            caution or f"it moves {money}, and a payment cannot be taken back",
            Changes(tuple(DiffLine(" ", line) for line in lines), basis=self._basis(order)),
            owner_allows=order.unasked,
        )

    def describe(self, row: PaymentRow) -> str:
        """A payment in a line or two, without words that somebody else has written."""
        payee = Payee(checksummed(row.payee), row.payee_name)
        text = f"{show_amount(row.amount)} to {payee.shown} on {self.network.title}: {_STATES[row.state]}"
        if row.state == "signed":
            text += f"; it may still happen until {until(row)}"
        if row.transaction_hash:
            text += f"\nTransaction: 0x{row.transaction_hash.hex()}"
        return text


def nonce_of(call: CallInfo) -> bytes:
    """The idempotency key of a payment: no other call has it, and a resumed one has it again."""
    from hashlib import sha256

    parts = "\0".join(("sestet payment 1", call.session_id, call.turn_id, call.call_id))
    return sha256(parts.encode("utf-8", "surrogatepass")).digest()


def _address(payee: Payee) -> str:
    """The address that limits count for; nobody's if the payee is not known yet."""
    return checksummed(bytes(20)) if payee is _ANYBODY else payee.address
