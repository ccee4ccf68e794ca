"""The settings of payments: network, node, limits, payees and standing budgets."""

from collections.abc import Mapping
from typing import Annotated, Literal

from sestet.config.section import Section
from sestet.core.record import field

_AMOUNT = {"minimum": 0, "maximum": 1_000_000}


class PaymentLimitSettings(Section):
    """What may be paid, in USDC. A day is any 24 hours."""

    per_payment: Annotated[float, "USDC in one payment", _AMOUNT] = 1.0
    per_day: Annotated[float, "USDC in any 24 hours, all payees together", _AMOUNT] = 5.0
    per_payee: Annotated[float, "USDC in any 24 hours to one payee", _AMOUNT] = 2.0


class PaymentSettings(Section):
    """Payments in USDC."""

    enabled: Annotated[bool, "The payment tools; they need the extra 'payments' and a wallet"] = False
    network: Annotated[
        Literal["base-sepolia", "base"],
        "Where money moves: base-sepolia is the test network; base is the main network, with real money",
    ] = "base-sepolia"
    rpc_url: Annotated[str, "The node that is asked; empty: the public one of the network"] = ""
    limits: PaymentLimitSettings = PaymentLimitSettings()
    payees: Annotated[Mapping[str, str], "Your address book: names and their addresses"] = field(
        default_factory=dict[str, str]
    )
    x402_hosts: Annotated[
        tuple[str, ...],
        "Hosts that a paid request may also go to although they are in your own network or speak plain "
        "http, such as 127.0.0.1:8402",
    ] = ()


class BudgetSettings(Section):
    """A payee that may be paid without a question."""

    payee: Annotated[str, "A name under payments.payees, or an address"]
    per_day: Annotated[float, "USDC in any 24 hours that move to this payee unasked", _AMOUNT]
