"""What the owner has set for payments, checked and in whole units."""

from collections.abc import Mapping

from sestet.config import Settings
from sestet.core.errors import ConfigError, ToolError
from sestet.core.masking import mask_address
from sestet.core.record import Record
from sestet.services.payments.amounts import amount_of_setting
from sestet.services.payments.networks import NETWORKS, Network
from sestet.services.payments.payees import AddressBook


class Limits(Record):
    """In millionths of a USDC."""

    per_payment: int
    per_day: int
    per_payee: int


class Rules(Record):
    """The network, the limits, and who may be paid without a question."""

    network: Network
    limits: Limits
    book: AddressBook
    #: What may move unasked in a day, by address.
    budgets: Mapping[str, int]
    #: Hosts for paid requests that are not public.
    hosts: tuple[str, ...] = ()


def read_rules(settings: Settings) -> Rules:
    """The rules of these settings; raise ``ConfigError`` with every mistake."""
    payments, problems = settings.payments, list[str]()

    def units(where: str, number: float) -> int:
        found = amount_of_setting(number)
        if found is None:
            problems.append(f"{where}: {number!r} has more than the 6 decimals of USDC")
        return found or 0

    limits = Limits(
        units("payments.limits.perPayment", payments.limits.per_payment),
        units("payments.limits.perDay", payments.limits.per_day),
        units("payments.limits.perPayee", payments.limits.per_payee),
    )
    if payments.rpc_url and not _is_address(payments.rpc_url):
        shown = mask_address(payments.rpc_url)
        problems.append(
            f"payments.rpcUrl: {shown!r} must be the address of a node, such as https://base.example"
        )
    budgets: dict[str, int] = {}
    book = AddressBook({})
    try:
        book = AddressBook(payments.payees)
    except ConfigError as error:
        problems += error.problems
    else:
        for number, budget in enumerate(settings.policy.budgets):
            where = f"policy.budgets[{number}]"
            try:
                payee = book.find(budget.payee)
            except ToolError as error:
                problems.append(f"{where}.payee: {error}")
                continue
            if payee.address in budgets:
                problems.append(f"{where}.payee: '{budget.payee}' has a budget already")
            budgets[payee.address] = units(f"{where}.perDay", budget.per_day)
    if problems:
        raise ConfigError(problems)
    return Rules(NETWORKS[payments.network], limits, book, budgets, payments.x402_hosts)


def _is_address(url: str) -> bool:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
