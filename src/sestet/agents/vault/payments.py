"""Tools to pay in USDC, and to see what was paid and what may be."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated

from sestet.core.errors import PersonError, StorageError, ToolError, VaultError
from sestet.core.message import whole
from sestet.core.schema import JsonValue
from sestet.core.tool import CallInfo, Preview, tool
from sestet.core.words import day
from sestet.services.payments.amounts import show_amount
from sestet.services.payments.payments import Payments

#: Longer than the chain and a server are waited for, so that the payment itself reports its end.
_PATIENCE = 240.0
_MOST_PAYMENTS = 5
_WEI = 10**18
#: For a vault that is locked, or that nobody has made yet.
_WAY_OUT = "/unlock opens it in the conversation; 'sestet payments wallet create' makes the first one"

_To = Annotated[str, "A name of the address book, or an address with 0x", {"format": "account"}]
_Amount = Annotated[str, "USDC in plain digits, such as 5 or 0.05", {"format": "amount"}]
_Purpose = Annotated[str, "What it is for, in a few words, for the history"]
_Url = Annotated[str, "The whole address, with https", {"format": "uri"}]
_MaxAmount = Annotated[str, "The most that it may cost, in USDC, such as 0.01", {"format": "amount"}]


@contextmanager
def _told() -> Generator[None]:
    """A locked vault or a missing wallet is for the model to report."""
    try:
        yield
    except StorageError:
        raise
    except VaultError as error:
        raise ToolError(f"{error}; {_WAY_OUT}" if error.locked else str(error)) from error
    except PersonError as error:
        raise ToolError(str(error)) from error


@tool(
    risk="safe",
    reads=(),
    effect="none",
    recovery="pure",
    examples=(
        "show me my wallet address",
        "show me my wallet",
        "which wallet do i pay with",
        "where can somebody send me usdc",
        "give me my wallet address",
        "what is the address of my wallet",
    ),
)
async def payment_wallet(payments: Payments, /) -> str:
    """Show the address of the wallet and the network it is on."""
    with _told():
        network = payments.network
        return f"{await payments.address()}\nUSDC on {network.title}, chain {network.chain_id}."


@tool(
    risk="safe",
    reads=("private",),
    effect="none",
    recovery="pure",
    examples=(
        "show my wallet balance",
        "how much usdc is in my wallet",
        "how much usdc do i have",
        "how much money is in my wallet",
        "show my usdc balance",
        "check my wallet balance",
    ),
)
async def payment_balance(payments: Payments, /) -> str:
    """Show how much USDC the wallet holds, and how much ether for fees."""
    with _told():
        found = await payments.balance()
        ether = f"{found.ether / _WEI:.6f} ether for fees"
        return f"{show_amount(found.usdc)} and {ether}, on {payments.network.title}."


@tool(
    risk="safe",
    reads=("private",),
    effect="none",
    recovery="pure",
    examples=(
        "list my payment limits",
        "how much may i still pay today",
        "how much may you pay",
        "how much can i still send to {payee}",
        "show my payment limits",
        "what is left of my payment limits",
    ),
)
async def payment_limits(
    payments: Payments, /, payee: Annotated[str, "A name or an address; empty for all"] = ""
) -> str:
    """Show the limits of payments, and what is left of them. Only the person can change them."""
    with _told():
        left, limits = payments.left(payee), payments.ledger.rules.limits
        lines = [
            f"One payment: at most {show_amount(limits.per_payment)}.",
            f"In any 24 hours: {show_amount(limits.per_day)}, of which {show_amount(left.day)} are left.",
        ]
        to_payee = f"To one payee in any 24 hours: {show_amount(limits.per_payee)}"
        lines.append(f"{to_payee}, of which {show_amount(left.payee)} are left." if payee else f"{to_payee}.")
        if left.unasked is not None:
            lines.append(f"Without a question to this payee: {show_amount(left.unasked)} are left.")
        return "\n".join(lines)


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "show my payment history",
        "show me my payments",
        "what did i pay",
        "whom did i pay",
        "list my payments",
        "did the payment go through",
    ),
)
async def payment_history(
    payments: Payments, /, limit: Annotated[int, "How many", {"minimum": 1, "maximum": 50}] = 10
) -> str:
    """List the last payments, with what became of each."""
    with _told():
        await payments.reconcile()
        listed: list[str] = []
        for row in payments.history(limit):
            listed.append(f"{day(row.at)}  {payments.describe(row)}")
            if row.purpose:
                listed.append(f"For: {row.purpose}")
        return whole("\n".join(listed)) or "Nothing was paid yet."


async def _preview_send(
    call: CallInfo, payments: Payments, /, to: str, amount: str, purpose: str = ""
) -> Preview:
    with _told():
        return await payments.preview_send(call, to, amount, purpose)


async def _result_of(call: CallInfo, payments: Payments, /, **arguments: JsonValue) -> str | None:
    with _told():
        return await payments.result_of(call)


@tool(
    risk="dangerous",
    caution="it moves money, and a payment cannot be taken back",
    reads=(),
    effect="money",
    targets=("to", "amount"),
    recovery="probe",
    probe=_result_of,
    preview=_preview_send,
    timeout=_PATIENCE,
    calls_per_turn=_MOST_PAYMENTS,
    examples=(
        "send {amount} usdc to {to}",
        "pay {amount} usdc to {to}",
        "pay {to} {amount} usdc",
        "send {to} {amount} usdc",
        "transfer {amount} usdc to {to}",
        "send {amount} usdc to {to} for {purpose}",
        "pay {amount} usdc to {to} for {purpose}",
    ),
)
async def payment_send(
    call: CallInfo, payments: Payments, /, to: _To, amount: _Amount, purpose: _Purpose = ""
) -> str:
    """Send USDC to somebody, once, and wait until the chain confirms it. The person approves each payment."""
    with _told():
        return await payments.send(call, to, amount, purpose)


async def _preview_fetch(call: CallInfo, payments: Payments, /, url: str, max_amount: str) -> Preview:
    with _told():
        return await payments.preview_fetch(call, url, max_amount)


@tool(
    risk="dangerous",
    caution="it moves money, and a payment cannot be taken back",
    reads=("untrusted",),
    effect="money",
    targets=("url", "max_amount"),
    recovery="probe",
    probe=_result_of,
    preview=_preview_fetch,
    timeout=_PATIENCE,
    calls_per_turn=_MOST_PAYMENTS,
    examples=(
        "fetch {url} and pay at most {max_amount} usdc",
        "get {url} for at most {max_amount} usdc",
        "buy {url} for at most {max_amount} usdc",
        "pay for {url} with at most {max_amount} usdc",
        "pay at most {max_amount} usdc for {url}",
        "fetch the paid page {url} for at most {max_amount} usdc",
    ),
)
async def payment_x402_fetch(call: CallInfo, payments: Payments, /, url: _Url, max_amount: _MaxAmount) -> str:
    """Get a page that asks for a payment by x402, and pay it in USDC, up to an amount."""
    with _told():
        fetched = await payments.fetch(call, url, max_amount)
    body = fetched.answer.body.decode("utf-8", "replace")
    return whole(f"{payments.describe(fetched.row)}\n\n{body}")
