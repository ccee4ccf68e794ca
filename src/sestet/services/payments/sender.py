"""Sends a payment over the chain: simulate, sign, send, wait. The wallet pays the fee of the transaction."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from sestet.core.errors import InDoubtError, SestetError, ToolError
from sestet.services.payments.amounts import show_amount
from sestet.services.payments.ethereum import (
    Authorization,
    Transaction,
    authorization_digest,
    checksummed,
    keccak,
    plain_transfer_data,
    signed_transaction,
    transaction_digest,
    transfer_data,
)
from sestet.services.payments.ledger import Ledger
from sestet.services.payments.node import Node, NodeError, NodeRefusedError
from sestet.services.payments.settlement import VALID_SECONDS, Settlement, until
from sestet.services.payments.wallet import Wallet
from sestet.storage.lock_wait import when_free
from sestet.storage.locks import SessionLocks
from sestet.storage.payments import PaymentRow

_WAIT_SECONDS = 90.0
#: What such a call uses at most; checked before anything is signed.
_MOST_GAS = 150_000
_TIP = 1_000_000
#: In wei, about 500 times the usual fee: a node that lies about it could otherwise spend the wallet's ether.
_MOST_FEE = 5_000_000_000
#: The clocks of this machine and of the chain may differ by this many seconds.
_MOST_DRIFT = 900


class Sender:
    def __init__(
        self, ledger: Ledger, settlement: Settlement, node: Node, wallet: Wallet, database: Path
    ) -> None:
        self._ledger = ledger
        self._settlement = settlement
        self._node = node
        self._wallet = wallet
        self._database = database

    async def send(self, row: PaymentRow) -> PaymentRow:
        """Make the payment of a row, or finish one that a crash cut off; each step can be the last."""
        row = await self._settlement.look(row)
        if row.state == "settled":
            return row
        if row.state not in ("reserved", "signed"):
            raise ToolError(
                f"this payment of {show_amount(row.amount)} was not made and cannot be made any more; "
                "ask for a new one if it is still wanted"
            )
        if row.state == "reserved":
            await self._simulate(row)
        valid_before = int(self._ledger.clock()) + VALID_SECONDS
        authorization = await self._settlement.authorize(row, valid_before)
        row = self._ledger.store.get(row.nonce) or row
        await self._transmit(row, authorization)
        settled = await self._settlement.wait(row, _WAIT_SECONDS)
        if settled is None:
            raise self._in_doubt(row, "the chain has not confirmed it yet")
        return settled

    async def _simulate(self, row: PaymentRow) -> None:
        """Find out that it cannot work while nothing is signed; then it counts no longer."""
        try:
            await self._require_clock()
            wallet = checksummed(row.wallet)
            if await self._node.ether(wallet) < _MOST_GAS * await self._fee():
                raise ToolError(
                    f"the wallet {wallet} has too little ether for the fee of a transaction; send it a "
                    f"little on {self._ledger.rules.network.title}. Nothing was sent"
                )
            try:
                data = plain_transfer_data(checksummed(row.payee), row.amount)
                await self._node.simulate(wallet, data)
            except NodeRefusedError:
                raise ToolError(
                    f"the USDC contract would refuse this payment of {show_amount(row.amount)}: the wallet "
                    "has too little, or one of the two accounts is blocked. Nothing was sent"
                ) from None
        except SestetError:
            await when_free(lambda: self._ledger.store.fail(row.nonce))
            raise

    async def _require_clock(self) -> None:
        drift = abs(await self._node.chain_time() - self._ledger.clock())
        if drift > _MOST_DRIFT:
            raise ToolError(
                f"the clocks of this machine and of the chain differ by {int(drift / 60)} minutes: set this "
                "machine's clock, or see payments.rpcUrl. Nothing was sent"
            )

    async def _fee(self) -> int:
        """The most that the wallet pays for one unit of gas."""
        fee = 2 * await self._node.base_fee() + _TIP
        if fee > _MOST_FEE:
            raise ToolError(
                "the fee of the network is unusually high, or the node is wrong; nothing was sent"
            )
        return fee

    async def _transmit(self, row: PaymentRow, authorization: Authorization) -> None:
        """Sign and send. Whatever fails from here on, the payment may still happen."""
        network = self._ledger.rules.network
        try:
            sent = f"0x{row.transaction_hash.hex()}" if row.transaction_hash else ""
            if sent and await self._node.knows(sent):
                return
            signature = await self._wallet.sign(authorization_digest(network, authorization))
            data = transfer_data(authorization, signature)
            # One transaction at a time takes its number and is sent, in all processes.
            async with self._holding(authorization.wallet):
                gas = await self._node.estimate_gas(authorization.wallet, data)
                transaction = Transaction(
                    network.chain_id,
                    await self._node.next_nonce(authorization.wallet),
                    network.usdc,
                    data,
                    min(_MOST_GAS, gas * 5 // 4),
                    await self._fee(),
                    _TIP,
                )
                signed = await self._wallet.sign(transaction_digest(transaction))
                raw = signed_transaction(transaction, signed)
                await when_free(lambda: self._ledger.store.send(row.nonce, keccak(raw)))
                await self._node.send(raw)
        except SestetError as error:
            if await self._may_be_settled(row):
                return
            raise self._in_doubt(row, str(error)) from None

    @asynccontextmanager
    async def _holding(self, wallet: str) -> AsyncGenerator[None]:
        """Nobody else sends from this wallet, in this process or in another one."""
        locks = SessionLocks.beside(self._database)
        try:
            async with locks.hold(f"\0wallet {wallet}"):
                yield
        finally:
            locks.close()

    async def _may_be_settled(self, row: PaymentRow) -> bool:
        try:
            return await self._settlement.is_settled(row)
        except NodeError:
            return False

    def _in_doubt(self, row: PaymentRow, cause: str) -> InDoubtError:
        return InDoubtError(
            f"{cause}. The payment of {show_amount(row.amount)} to {checksummed(row.payee)} may still happen "
            f"until {until(row)}; it is never made twice. 'sestet payments history' shows what became of it"
        )
