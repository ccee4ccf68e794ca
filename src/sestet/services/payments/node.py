"""Asks a node of the chain over JSON-RPC. What it answers is checked for its form, and never repeated."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import cast

from sestet.core.errors import ToolError
from sestet.core.masking import mask_address
from sestet.core.schema import JsonValue
from sestet.core.words import duration
from sestet.services.payments import ethereum
from sestet.services.payments.http_client import HttpClient, HttpError
from sestet.services.payments.networks import Network

_SECONDS = 20.0
#: How far back the event of a payment is looked for: about half an hour of Base's blocks.
_BLOCKS_BACK = 900


class NodeError(ToolError):
    """The node cannot be reached, does not understand, or is not one of this chain."""


class NodeRefusedError(NodeError):
    """The node understood the request and refused it, such as a call that would fail."""


class Node:
    """One node, asked for one chain. Every method raises ``NodeError``, with our words alone.

    What a node says is outside text, and could hold instructions for a model.
    """

    def __init__(self, url: str, network: Network, seconds: float = _SECONDS) -> None:
        self._url = url or network.rpc_url
        self._network = network
        self._seconds = seconds
        self._client: HttpClient | None = None
        self._users = 0

    @property
    def shown(self) -> str:
        """The address without what may be a key."""
        return mask_address(self._url)

    async def require_chain(self) -> None:
        """Raise unless the node speaks for the chain of the settings."""
        found = await self._number("eth_chainId")
        if found != self._network.chain_id:
            raise NodeError(
                f"the node speaks for the chain {found}, and not for {self._network.title} "
                f"({self._network.chain_id}); see payments.rpcUrl. Nothing was sent"
            )

    async def is_contract(self, address: str) -> bool:
        code = await self._text("eth_getCode", address, "latest")
        # An account that delegates to code, by EIP-7702, still belongs to the holder of its key.
        return code not in ("0x", "0x0") and not (code.startswith("0xef0100") and len(code) == 48)

    async def usdc(self, wallet: str) -> int:
        return _word(await self._call(ethereum.balance_data(wallet)))

    async def ether(self, wallet: str) -> int:
        return await self._number("eth_getBalance", wallet, "latest")

    async def is_used(self, wallet: str, nonce: bytes) -> bool:
        """Whether the contract has accepted an authorization with this nonce."""
        return _word(await self._call(ethereum.used_data(wallet, nonce))) != 0

    async def simulate(self, wallet: str, data: str) -> None:
        """Raise ``NodeRefusedError`` if the contract would refuse this call."""
        await self._call(data, wallet)

    async def estimate_gas(self, wallet: str, data: str) -> int:
        call = {"from": wallet, "to": self._network.usdc, "data": data}
        return await self._number("eth_estimateGas", call)

    async def chain_time(self) -> int:
        """The time of the latest block, in seconds since 1970."""
        return _number(_member(await self._latest(), "timestamp"))

    async def base_fee(self) -> int:
        return _number(_member(await self._latest(), "baseFeePerGas"))

    async def next_nonce(self, wallet: str) -> int:
        """The number of the wallet's next transaction, after those that wait."""
        return await self._number("eth_getTransactionCount", wallet, "pending")

    async def send(self, raw: bytes) -> None:
        await self._request("eth_sendRawTransaction", f"0x{raw.hex()}")

    async def knows(self, transaction: str) -> bool:
        """Whether a transaction waits, or is in a block."""
        return await self._request("eth_getTransactionByHash", transaction) is not None

    async def find_transaction(self, wallet: str, nonce: bytes) -> str:
        """The recent transaction in which the contract accepted the nonce; empty if none is found."""
        latest = _number(_member(await self._latest(), "number"))
        logs = await self._request(
            "eth_getLogs",
            {
                "address": self._network.usdc,
                "fromBlock": hex(max(0, latest - _BLOCKS_BACK)),
                "toBlock": "latest",
                "topics": [
                    ethereum.used_topic(),
                    f"0x{wallet[2:].lower():0>64}",
                    f"0x{nonce.hex()}",
                ],
            },
        )
        for log in logs if isinstance(logs, list) else []:
            found = _member(log, "transactionHash")
            if isinstance(found, str) and len(found) == 66:
                return found
        return ""

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[None]:
        """The requests inside share one connection, which is closed with the last of such blocks."""
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            if not self._users and self._client is not None:
                client, self._client = self._client, None
                await client.close()

    async def _latest(self) -> JsonValue:
        return await self._request("eth_getBlockByNumber", "latest", False)

    async def _call(self, data: str, wallet: str = "") -> JsonValue:
        call = {"to": self._network.usdc, "data": data} | ({"from": wallet} if wallet else {})
        return await self._request("eth_call", call, "latest")

    async def _number(self, method: str, *parameters: JsonValue) -> int:
        return _number(await self._request(method, *parameters))

    async def _text(self, method: str, *parameters: JsonValue) -> str:
        found = await self._request(method, *parameters)
        if not isinstance(found, str) or not found.startswith("0x"):
            raise _nonsense()
        return found

    async def _request(self, method: str, *parameters: JsonValue) -> JsonValue:
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(parameters)}
        try:
            async with asyncio.timeout(self._seconds):
                body = await self._post(json.dumps(asked).encode())
        except TimeoutError:
            raise NodeError(f"the node {self.shown} took longer than {duration(self._seconds)}") from None
        try:
            answer = cast("JsonValue", json.loads(body))
        except (ValueError, RecursionError):
            raise _nonsense() from None
        if not isinstance(answer, dict):
            raise _nonsense()
        if answer.get("error") is not None:
            raise NodeRefusedError(f"the node refused {method}")
        if "result" not in answer:
            raise _nonsense()
        return answer["result"]

    async def _post(self, body: bytes) -> bytes:
        if self._client is None:
            self._client = HttpClient(self._seconds, secure=self._url.startswith("https:"))
        try:
            answer = await self._client.post(self._url, {"Content-Type": "application/json"}, body)
        except HttpError as error:
            raise NodeError(f"the node {self.shown} {error}; see payments.rpcUrl") from None
        if answer.status != 200:
            raise NodeError(f"the node {self.shown} answered with status {answer.status}")
        return answer.body


def _member(value: JsonValue, name: str) -> JsonValue:
    if not isinstance(value, dict):
        raise _nonsense()
    return value.get(name)


def _number(value: JsonValue) -> int:
    """A number in hexadecimal digits, no larger than the chain can have."""
    if not isinstance(value, str) or not value.startswith("0x") or len(value) > 66:
        raise _nonsense()
    try:
        return int(value[2:], 16)
    except ValueError:
        raise _nonsense() from None


def _word(value: JsonValue) -> int:
    """The one word that a call of the contract returns; nothing means that there is no such contract."""
    if value == "0x":
        raise NodeError("there is no USDC contract on the chain of this node; see payments.rpcUrl")
    return _number(value)


def _nonsense() -> NodeError:
    return NodeError("the node's answer makes no sense; see payments.rpcUrl")
