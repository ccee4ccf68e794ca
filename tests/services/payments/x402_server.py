"""A server on loopback that sells a page by x402, and settles on the local chain like a facilitator."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from x402.http.utils import (
    decode_payment_signature_header,
    encode_payment_required_header,
    encode_payment_response_header,
)
from x402.schemas import (
    PaymentPayload,
    PaymentRequired,
    PaymentRequirements,
    ResourceInfo,
    SettleResponse,
)
from x402.schemas.v1 import PaymentPayloadV1, PaymentRequiredV1, PaymentRequirementsV1

from sestet.services.payments.ethereum import Authorization, Signature, transfer_data
from tests.chain.local_chain import Chain
from tests.remote.server import Server, plain_server

PAGE = "The weather in Oslo is fine."


class Shop:
    """What the server does; a test changes one thing."""

    def __init__(self, chain: Chain, payee: str) -> None:
        self.chain = chain
        self.payee = payee
        self.version = 2
        #: The price of each request in turn; the last one stays.
        self.prices = [10_000]
        self.settles = True
        self.answers_with = 200
        self.redirects_to = ""
        self.is_free = False
        #: Parts of the offer that are not as they should be.
        self.claims: dict[str, Any] = {}
        self.asked = 0
        self.payments: list[PaymentPayload | PaymentPayloadV1] = []

    @property
    def price(self) -> int:
        return self.prices[min(self.asked, len(self.prices)) - 1]

    async def respond(self, request: Request) -> Response:
        self.asked += 1
        if self.is_free:
            return PlainTextResponse(PAGE)
        if self.redirects_to:
            return RedirectResponse(self.redirects_to)
        header = request.headers.get("PAYMENT-SIGNATURE" if self.version == 2 else "X-PAYMENT")
        if header is None or self.answers_with == 402:
            if header is not None:
                self.payments.append(decode_payment_signature_header(header))
            return self.ask(str(request.url))
        payment = decode_payment_signature_header(header)
        self.payments.append(payment)
        transaction = await asyncio.to_thread(self.settle, payment.payload) if self.settles else "0x"
        settled = SettleResponse(success=True, transaction=transaction, network="eip155:84532")
        headers = {"PAYMENT-RESPONSE": encode_payment_response_header(settled)}
        return PlainTextResponse(PAGE, self.answers_with, headers)

    def ask(self, url: str) -> Response:
        offer: dict[str, Any] = {
            "scheme": "exact",
            "network": "eip155:84532" if self.version == 2 else "base-sepolia",
            "asset": self.chain.network.usdc,
            "payTo": self.payee,
            "maxTimeoutSeconds": 60,
            "extra": {"name": "USDC", "version": "2"},
        }
        offer |= {"amount": str(self.price)} if self.version == 2 else {"maxAmountRequired": str(self.price)}
        if self.version == 1:
            offer["resource"] = url
        offer |= self.claims
        if self.version == 1:
            asked = PaymentRequiredV1(accepts=[PaymentRequirementsV1.model_validate(offer)])
            return Response(asked.model_dump_json(by_alias=True), 402)
        accepts = [PaymentRequirements.model_validate(offer)]
        required = PaymentRequired(accepts=accepts, resource=ResourceInfo(url=url))
        headers = {"PAYMENT-REQUIRED": encode_payment_required_header(required)}
        return PlainTextResponse("payment required", 402, headers)

    def settle(self, payload: dict[str, Any]) -> str:
        """Send the authorization over the chain with the server's own ether."""
        signed, given = bytes.fromhex(payload["signature"][2:]), payload["authorization"]
        signature = Signature(
            signed[64] - 27, int.from_bytes(signed[:32], "big"), int.from_bytes(signed[32:64], "big")
        )
        authorization = Authorization(
            given["from"],
            given["to"],
            int(given["value"]),
            int(given["validBefore"]),
            bytes.fromhex(given["nonce"][2:]),
        )
        transaction = self.chain.ask(
            "eth_sendTransaction",
            {
                "from": self.chain.ask("eth_accounts")[1],
                "to": self.chain.network.usdc,
                "data": transfer_data(authorization, signature),
            },
        )
        assert self.chain.wait_for(transaction)["status"] == "0x1"
        return transaction


@asynccontextmanager
async def open_shop(shop: Shop) -> AsyncGenerator[Server]:
    async with plain_server(shop.respond) as server:
        yield server


def host_of(server: Server) -> str:
    return server.url.removeprefix("http://")
