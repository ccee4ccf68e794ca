"""Rows of payments: what counts, what may follow what, and what stays of a deleted session."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sestet.core.errors import ToolError
from sestet.storage.database import Database
from sestet.storage.payments import Paid, PaymentRow, PaymentStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[PaymentStore]:
    database = Database(tmp_path / "sestet.db")
    yield PaymentStore(database)
    database.close()


def a_row(
    nonce: bytes, amount: int = 5, payee: bytes = b"alice", at: float = 100.0, unasked: int = 0
) -> PaymentRow:
    ids = ("s1", "t1", "c1")
    return PaymentRow(
        nonce, "send", "reserved", *ids, b"me", payee, "alice", amount, b"usdc", 1, "tea", unasked, at
    )


def allow(paid: Paid) -> None:
    """Every limit allows it."""


def test_a_payment_counts_from_its_reservation_until_it_cannot_happen(store: PaymentStore) -> None:
    def counted() -> int:
        return store.paid(1, b"alice", 0.0).all

    store.reserve(a_row(b"1"), 0.0, allow)
    assert counted() == 5
    assert store.sign(b"1", 200)
    assert counted() == 5
    assert store.expire(b"1")
    assert counted() == 0
    store.settle(b"1", b"hash")
    assert counted() == 5


def test_a_signed_payment_is_never_given_up_as_if_nothing_was_signed(store: PaymentStore) -> None:
    store.reserve(a_row(b"1"), 0.0, allow)
    store.sign(b"1", 200)

    assert not store.fail(b"1")
    assert not store.sign(b"1", 300)
    row = store.get(b"1")
    assert row is not None
    assert (row.state, row.valid_before) == ("signed", 200)


def test_a_payment_that_was_given_up_is_not_signed(store: PaymentStore) -> None:
    store.reserve(a_row(b"1"), 0.0, allow)
    assert store.fail(b"1")
    assert not store.sign(b"1", 200)


def test_a_refused_check_writes_nothing(store: PaymentStore) -> None:
    def refuse(paid: Paid) -> None:
        raise ToolError("too much")

    with pytest.raises(ToolError):
        store.reserve(a_row(b"1"), 0.0, refuse)
    assert store.latest(9) == []


def test_sums_know_the_period_the_payee_the_chain_and_what_went_unasked(store: PaymentStore) -> None:
    for number, row in enumerate(
        (
            a_row(b"1", 1),
            a_row(b"2", 2, b"bob"),
            a_row(b"3", 4, unasked=1),
            a_row(b"4", 8, at=10.0),
            a_row(b"5", 16, at=9e9),
            a_row(b"6", 32)._replace(chain_id=2),
        )
    ):
        assert store.reserve(row, 0.0, allow).nonce == str(number + 1).encode()

    # The row of the future counts: the clock was set back since.
    assert store.paid(1, b"alice", 50.0) == Paid(1 + 2 + 4 + 16, 1 + 4 + 16, 4)
    assert store.paid(1, b"alice", 50.0, b"1") == Paid(2 + 4 + 16, 4 + 16, 4)
    assert store.paid(2, b"alice", 50.0) == Paid(32, 32, 0)


def test_a_payment_that_has_a_row_is_not_counted_again(store: PaymentStore) -> None:
    first = store.reserve(a_row(b"1"), 0.0, allow)

    def refuse(paid: Paid) -> None:
        raise AssertionError("it was checked before")

    assert store.reserve(a_row(b"1", 99), 0.0, refuse) == first


def test_payments_of_a_deleted_session_keep_counting_without_its_words(store: PaymentStore) -> None:
    store.reserve(a_row(b"1"), 0.0, allow)
    store.leave_session("s1")

    (row,) = store.latest(9)
    assert (row.session_id, row.turn_id, row.call_id, row.purpose) == ("", "", "", "")
    assert store.paid(1, b"alice", 0.0).all == 5
