"""The wire format of x402: what a server asks for, and the header that pays it.

The only module that knows the package x402. Its parser reads; the choice, the nonce and the signature are
ours: the package would take a random nonce, and the name of the coin from the server.
"""

import base64
import binascii
import json
from typing import TYPE_CHECKING, NamedTuple, cast

from sestet.core.errors import ToolError
from sestet.services.payments.amounts import MOST
from sestet.services.payments.ethereum import Authorization, Signature
from sestet.services.payments.http_client import HttpAnswer
from sestet.services.payments.networks import Network
from sestet.services.payments.payees import parse_address

if TYPE_CHECKING:
    from x402.schemas import PaymentRequirements, ResourceInfo
    from x402.schemas.v1 import PaymentRequirementsV1

PAYMENT_REQUIRED = 402
_REQUIRED_HEADER = "payment-required"
#: The header that carries the payment, by version.
_PAYMENT_HEADERS = {1: "X-PAYMENT", 2: "PAYMENT-SIGNATURE"}
_MOST_OFFERS = 20
_LONGEST_HEADER = 16_000


class Offer(NamedTuple):
    """One way to pay that we can take."""

    version: int
    payee: str
    amount: int
    #: How long the server wants the payment to hold.
    seconds: int
    #: As the server wrote it: the payment repeats it.
    requirements: "PaymentRequirements | PaymentRequirementsV1"
    resource: "ResourceInfo | None" = None


def read_offer(answer: HttpAnswer, network: Network) -> Offer:
    """The cheapest offer in USDC on our network; raise ``ToolError`` if there is none."""
    offers = [offer for offer in _offers(answer) if _is_ours(offer, network)]
    if not offers:
        raise ToolError(
            f"the server asks for no payment in USDC on {network.title} that could be made; nothing was paid"
        )
    best = min(offers, key=lambda offer: offer.amount)
    return best._replace(payee=parse_address(best.payee))


def payment_header(
    offer: Offer, network: Network, authorization: Authorization, signature: Signature
) -> dict[str, str]:
    """The header of the second request."""
    from x402.http.utils import encode_payment_signature_header
    from x402.schemas import PaymentPayload, PaymentRequirements
    from x402.schemas.v1 import PaymentPayloadV1

    payload = {
        "signature": signature.as_hex,
        "authorization": {
            "from": authorization.wallet,
            "to": authorization.payee,
            "value": str(authorization.amount),
            "validAfter": "0",
            "validBefore": str(authorization.valid_before),
            "nonce": f"0x{authorization.nonce.hex()}",
        },
    }
    if isinstance(offer.requirements, PaymentRequirements):
        paid = PaymentPayload(payload=payload, accepted=offer.requirements, resource=offer.resource)
    else:
        paid = PaymentPayloadV1(scheme="exact", network=network.x402_names[1], payload=payload)
    return {_PAYMENT_HEADERS[offer.version]: encode_payment_signature_header(paid)}


def _offers(answer: HttpAnswer) -> list[Offer]:
    from x402.schemas import PaymentRequired
    from x402.schemas.v1 import PaymentRequiredV1

    asked = _asked(answer)
    try:
        if asked.get("x402Version") == 1:
            found = PaymentRequiredV1.model_validate(asked)
            return [
                Offer(1, each.pay_to, _units(each.max_amount_required), each.max_timeout_seconds, each)
                for each in found.accepts[:_MOST_OFFERS]
            ]
        found = PaymentRequired.model_validate(asked)
    except ValueError:
        raise ToolError(
            "the server asks for a payment in a form that is not x402; nothing was paid"
        ) from None
    return [
        Offer(2, each.pay_to, _units(each.amount), each.max_timeout_seconds, each, found.resource)
        for each in found.accepts[:_MOST_OFFERS]
    ]


def _asked(answer: HttpAnswer) -> dict[str, object]:
    """The second version asks in a header, the first in the body."""
    header = answer.headers.get(_REQUIRED_HEADER, "")
    try:
        text = base64.b64decode(header, validate=True) if 0 < len(header) < _LONGEST_HEADER else answer.body
        asked = json.loads(text)
    except (ValueError, binascii.Error, RecursionError):
        asked = None
    if not isinstance(asked, dict):
        raise ToolError("the server asks for a payment without saying how; nothing was paid")
    return cast("dict[str, object]", asked)


def _units(amount: str) -> int:
    """The amount in millionths; 0, which no offer may have, for anything else."""
    plain = amount.isascii() and amount.isdigit() and len(amount) <= len(str(MOST))
    return int(amount) if plain and int(amount) <= MOST else 0


def _is_ours(offer: Offer, network: Network) -> bool:
    """Another coin, chain, scheme or way to move the money is none that we sign."""
    asked, extra = offer.requirements, offer.requirements.extra or {}
    return (
        asked.scheme == "exact"
        and asked.network == network.x402_names[0 if offer.version == 2 else 1]
        and asked.asset.lower() == network.usdc.lower()
        and extra.get("assetTransferMethod", "eip3009") == "eip3009"
        and offer.amount > 0
        and offer.seconds > 0
    )
