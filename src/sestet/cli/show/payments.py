"""Payments, balances and limits, as lines and as JSON."""

from collections.abc import Iterable, Iterator

from sestet.core.clean import reveal
from sestet.core.schema import JsonValue
from sestet.core.words import written_time
from sestet.services.payments.amounts import plain_amount, show_amount
from sestet.services.payments.ethereum import checksummed
from sestet.services.payments.payments import Balance, PaymentRow, Payments

_WEI = 10**18


def payment_lines(payments: Payments, rows: Iterable[PaymentRow]) -> Iterator[str]:
    """A payment is two to four lines: when and what, what for, and its transaction."""
    for row in rows:
        first, *rest = payments.describe(row).split("\n")
        yield reveal(f"{written_time(row.at)}  {first}")
        if row.purpose:
            yield reveal(f"  for {row.purpose}")
        if row.transaction_hash:
            yield f"  {payments.network.explorer}/tx/0x{row.transaction_hash.hex()}"
        elif rest:
            yield f"  {' '.join(rest)}"
        if row.unasked:
            yield "  without a question, by policy.budgets"


def describe_payment(row: PaymentRow) -> dict[str, JsonValue]:
    return {
        "at": row.at,
        "kind": row.kind,
        "state": row.state,
        "amount": plain_amount(row.amount).replace(",", ""),
        "payee": checksummed(row.payee),
        "payeeName": row.payee_name,
        "purpose": row.purpose,
        "unasked": bool(row.unasked),
        "chainId": row.chain_id,
        "asset": checksummed(row.asset),
        "wallet": checksummed(row.wallet),
        "nonce": f"0x{row.nonce.hex()}",
        "validBefore": row.valid_before or None,
        "transaction": f"0x{row.transaction_hash.hex()}" if row.transaction_hash else None,
        "session": row.session_id,
    }


def balance_lines(payments: Payments, balance: Balance) -> Iterator[str]:
    yield f"{show_amount(balance.usdc)} and {balance.ether / _WEI:.6f} ether for fees"
    yield f"{balance.wallet} on {payments.network.title}"


def describe_balance(payments: Payments, balance: Balance) -> dict[str, JsonValue]:
    return {
        "wallet": balance.wallet,
        "network": payments.network.name,
        "usdc": plain_amount(balance.usdc).replace(",", ""),
        "wei": str(balance.ether),
    }


def limit_lines(payments: Payments, payee: str) -> Iterator[str]:
    limits, left = payments.ledger.rules.limits, payments.left(payee)
    yield f"one payment       {show_amount(limits.per_payment)}"
    yield f"any 24 hours      {show_amount(limits.per_day)}, of which {show_amount(left.day)} are left"
    rest = f", of which {show_amount(left.payee)} are left to '{reveal(payee)}'" if payee else ""
    yield f"to one payee      {show_amount(limits.per_payee)} in any 24 hours{rest}"
    for address, budget in payments.ledger.rules.budgets.items():
        of_payee = payments.ledger.left(address).unasked or 0
        shown = payments.ledger.rules.book.named(address).shown
        yield (
            f"without question  {show_amount(budget)} to {shown}, of which {show_amount(of_payee)} are left"
        )


def describe_limits(payments: Payments, payee: str) -> dict[str, JsonValue]:
    limits, left = payments.ledger.rules.limits, payments.left(payee)
    return {
        "network": payments.network.name,
        "perPayment": _plain(limits.per_payment),
        "perDay": _plain(limits.per_day),
        "perDayLeft": _plain(left.day),
        "perPayee": _plain(limits.per_payee),
        "perPayeeLeft": _plain(left.payee) if payee else None,
        "budgets": [
            {
                "payee": address,
                "name": payments.ledger.rules.book.named(address).name,
                "perDay": _plain(budget),
                "left": _plain(payments.ledger.left(address).unasked or 0),
            }
            for address, budget in payments.ledger.rules.budgets.items()
        ],
    }


def _plain(units: int) -> str:
    return plain_amount(units).replace(",", "")
