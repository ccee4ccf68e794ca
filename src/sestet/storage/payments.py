"""Payments and the limits that they count against: one row for each, written before anything is signed."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from sestet.storage.database import Database

PaymentKind: TypeAlias = Literal["send", "x402"]
#: ``reserved``: it counts, and nothing is signed. ``signed``: a signature may exist, so it may happen until
#: ``valid_before``. ``settled``: the contract has accepted it. ``expired`` and ``failed``: it cannot happen.
PaymentState: TypeAlias = Literal["reserved", "signed", "settled", "expired", "failed"]

_COLUMNS = """nonce, kind, state, session_id, turn_id, call_id, wallet, payee, payee_name, amount, asset,
    chain_id, purpose, unasked, at, valid_before, transaction_hash"""
#: The states in which money has moved or may still move.
_COUNTED = "state IN ('reserved', 'signed', 'settled')"
#: Of two rows of one payment, the one with the higher number was written later.
_PROGRESS: Mapping[PaymentState, int] = {"reserved": 0, "signed": 1, "failed": 2, "expired": 2, "settled": 3}


class PaymentRow(NamedTuple):
    """Addresses, hashes and the nonce are bytes; the amount is in millionths."""

    nonce: bytes
    kind: PaymentKind
    state: PaymentState
    session_id: str
    turn_id: str
    call_id: str
    wallet: bytes
    payee: bytes
    payee_name: str
    amount: int
    asset: bytes
    chain_id: int
    purpose: str
    #: A standing budget allowed it, and no person was asked.
    unasked: int
    at: float
    valid_before: int = 0
    transaction_hash: bytes = b""

    @property
    def terms(self) -> tuple[str, bytes, bytes, int, bytes, int]:
        """What a payment with this nonce is for; a second one for anything else is refused."""
        return self.kind, self.wallet, self.payee, self.amount, self.asset, self.chain_id


class Paid(NamedTuple):
    """Sums of a period: everything, to one payee, and to that payee without a question."""

    all: int
    payee: int
    unasked: int


class PaymentStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def reserve(self, row: PaymentRow, since: float, check: Callable[[Paid], None]) -> PaymentRow:
        """Check the limits and count the payment, in one transaction; ``check`` raises if one refuses it.

        A payment that has a row already is returned as it is: it was counted before a crash.
        """
        with self._database.transaction(sync=True):
            known = self.get(row.nonce)
            if known is not None:
                return known
            check(self.paid(row.chain_id, row.payee, since))
            self._insert(row)
        return row

    def adopt(self, rows: Iterable[PaymentRow]) -> None:
        """Take over the payments of another database: they keep counting, without the words around them."""
        with self._database.transaction(sync=True):
            for row in rows:
                known = self.get(row.nonce)
                if known is None:
                    self._insert(row._replace(session_id="", turn_id="", call_id="", purpose=""))
                elif _PROGRESS[row.state] > _PROGRESS[known.state]:
                    self._database.execute(
                        """UPDATE payments SET state = ?, valid_before = ?, transaction_hash = ?
                           WHERE nonce = ?""",
                        (row.state, row.valid_before, row.transaction_hash, row.nonce),
                    )

    def _insert(self, row: PaymentRow) -> None:
        marks = ", ".join("?" for _ in row)
        self._database.execute(f"INSERT INTO payments ({_COLUMNS}) VALUES ({marks})", row)  # noqa: S608 - from above

    def get(self, nonce: bytes) -> PaymentRow | None:
        rows = self._database.execute(f"SELECT {_COLUMNS} FROM payments WHERE nonce = ?", (nonce,))  # noqa: S608 - from above
        return PaymentRow(*rows[0]) if rows else None

    def paid(self, chain_id: int, payee: bytes, since: float, without: bytes = b"") -> Paid:
        """What counts from this moment on. A row of the future counts too: a clock may have been set back."""
        row = self._database.execute(
            f"""SELECT coalesce(sum(amount), 0),
                   coalesce(sum(amount) FILTER (WHERE payee = :payee), 0),
                   coalesce(sum(amount) FILTER (WHERE payee = :payee AND unasked), 0)
               FROM payments WHERE chain_id = :chain AND at > :since AND nonce <> :without AND {_COUNTED}""",  # noqa: S608 - from above
            {"payee": payee, "chain": chain_id, "since": since, "without": without},
        ).only()
        return Paid(*row)

    def sign(self, nonce: bytes, valid_before: int) -> bool:
        """From now on a signature may exist; False if the row is no longer reserved."""
        return self._move(nonce, "reserved", "signed", "valid_before = ?", valid_before)

    def send(self, nonce: bytes, transaction_hash: bytes) -> bool:
        """Remember the transaction that is about to be sent."""
        return self._move(nonce, "signed", "signed", "transaction_hash = ?", transaction_hash)

    def fail(self, nonce: bytes) -> bool:
        """It was given up before anything was signed."""
        return self._move(nonce, "reserved", "failed")

    def expire(self, nonce: bytes) -> bool:
        """Its time is over, and the contract has not accepted it."""
        return self._move(nonce, "signed", "expired")

    def settle(self, nonce: bytes, transaction_hash: bytes) -> None:
        """The contract has accepted it, whatever was thought before."""
        with self._database.transaction(sync=True):
            self._database.execute(
                """UPDATE payments SET state = 'settled',
                       transaction_hash = CASE WHEN length(:hash) THEN :hash ELSE transaction_hash END
                   WHERE nonce = :nonce""",
                {"hash": transaction_hash, "nonce": nonce},
            )

    def _move(
        self,
        nonce: bytes,
        before: PaymentState,
        after: PaymentState,
        assigned: str = "nonce = nonce",
        *values: int | bytes,
    ) -> bool:
        with self._database.transaction(sync=True):
            done = self._database.execute(
                f"UPDATE payments SET state = ?, {assigned} WHERE nonce = ? AND state = ?",  # noqa: S608 - from above
                (after, *values, nonce, before),
            )
        return done.rowcount == 1

    def open(self) -> list[PaymentRow]:
        """Payments whose end is not known yet, the oldest first."""
        rows = self._database.execute(
            f"SELECT {_COLUMNS} FROM payments WHERE state IN ('reserved', 'signed') ORDER BY at"  # noqa: S608 - from above
        )
        return [PaymentRow(*row) for row in rows]

    def latest(self, limit: int) -> list[PaymentRow]:
        rows = self._database.execute(
            f"SELECT {_COLUMNS} FROM payments ORDER BY at DESC, nonce LIMIT ?",  # noqa: S608 - from above
            (limit,),
        )
        return [PaymentRow(*row) for row in rows]

    def leave_session(self, session_id: str) -> None:
        """Inside the transaction that deletes a session: its payments keep counting, without its words."""
        self._database.execute(
            """UPDATE payments SET session_id = '', turn_id = '', call_id = '', purpose = ''
               WHERE session_id = ?""",
            (session_id,),
        )


def read_payments(connection: sqlite3.Connection) -> list[PaymentRow]:
    """The payments of a database of any version; none if it is older than payments."""
    known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'payments'").fetchone()
    rows = connection.execute(f"SELECT {_COLUMNS} FROM payments").fetchall() if known else []  # noqa: S608 - from above
    return [PaymentRow(*row) for row in rows]
