"""The only module that knows eth-account and the libraries below it: hashes, signatures, transactions.

They take most of a second to import, so each function imports what it uses. ``require_extra`` comes first.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, NamedTuple

from sestet.config.installation import install_command
from sestet.core.errors import PersonError
from sestet.core.record import Record
from sestet.services.payments.networks import Network

_TRANSFER = "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)"
_TRANSFER_TYPES = (
    "address",
    "address",
    "uint256",
    "uint256",
    "uint256",
    "bytes32",
    "uint8",
    "bytes32",
    "bytes32",
)
#: The fields of an authorization, as EIP-3009 orders and types them.
_AUTHORIZATION_FIELDS = (
    ("from", "address"),
    ("to", "address"),
    ("value", "uint256"),
    ("validAfter", "uint256"),
    ("validBefore", "uint256"),
    ("nonce", "bytes32"),
)
_DOMAIN_FIELDS = (
    ("name", "string"),
    ("version", "string"),
    ("chainId", "uint256"),
    ("verifyingContract", "address"),
)


class Authorization(Record):
    """Moves an amount once: the contract accepts the nonce of a wallet a single time."""

    wallet: str
    payee: str
    amount: int
    #: Seconds since 1970. From this moment on the contract refuses it.
    valid_before: int
    nonce: bytes


class Signature(NamedTuple):
    y_parity: int
    r: int
    s: int

    @property
    def as_hex(self) -> str:
        return f"0x{self.r:064x}{self.s:064x}{27 + self.y_parity:02x}"


class Transaction(Record):
    """A call of the contract that the wallet pays for itself."""

    chain_id: int
    nonce: int
    to: str
    data: str
    gas: int
    max_fee: int
    max_priority_fee: int


@contextmanager
def _same_recursion_limit() -> Generator[None]:
    """Undo what py_ecc, below eth-account, does on import: it raises the limit a hundredfold.

    Deeply nested JSON from any server would then crash the process, instead of being an error.
    """
    limit = sys.getrecursionlimit()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def require_extra() -> None:
    """Raise if the extra is not installed."""
    if find_spec("eth_account") is None:
        raise PersonError(
            f"payments need the extra 'payments': {install_command('payments')}, "
            "or set payments.enabled to false"
        )


def keccak(data: bytes) -> bytes:
    from eth_utils.crypto import keccak as digest

    return digest(data)


def checksummed(address: bytes) -> str:
    """Twenty bytes as people and programs write them, with the checksum in the case of the letters."""
    digits = address.hex()
    marks = keccak(digits.encode()).hex()
    return "0x" + "".join(
        digit.upper() if int(mark, 16) > 7 else digit for digit, mark in zip(digits, marks, strict=False)
    )


def address_of_key(public_key: bytes) -> str:
    """The address of an uncompressed public key: 65 bytes, the first of them a 4."""
    return checksummed(keccak(public_key[1:])[-20:])


def complete_signature(r: int, s: int, digest: bytes, wallet: str) -> Signature:
    """The signature with the bit that tells the signer; raise if the wallet did not sign this."""
    from eth_keys.datatypes import Signature as Recoverable
    from eth_keys.exceptions import BadSignature

    for y_parity in (0, 1):
        try:
            key = Recoverable(vrs=(y_parity, r, s)).recover_public_key_from_msg_hash(digest)
        except BadSignature:
            continue
        if key.to_checksum_address() == wallet:
            return Signature(y_parity, r, s)
    raise PersonError("the vault signed with another key than the wallet's; nothing was sent")


def authorization_digest(network: Network, authorization: Authorization) -> bytes:
    """What the wallet signs, by EIP-712: the domain is the network's own, whatever a server claims."""
    with _same_recursion_limit():
        from eth_account.messages import encode_typed_data

    message = encode_typed_data(
        full_message={
            "types": {
                "EIP712Domain": [{"name": name, "type": kind} for name, kind in _DOMAIN_FIELDS],
                "TransferWithAuthorization": [
                    {"name": name, "type": kind} for name, kind in _AUTHORIZATION_FIELDS
                ],
            },
            "primaryType": "TransferWithAuthorization",
            "domain": {
                "name": network.token_name,
                "version": network.token_version,
                "chainId": network.chain_id,
                "verifyingContract": network.usdc,
            },
            "message": {
                "from": authorization.wallet,
                "to": authorization.payee,
                "value": authorization.amount,
                "validAfter": 0,
                "validBefore": authorization.valid_before,
                "nonce": authorization.nonce,
            },
        }
    )
    return keccak(b"\x19" + message.version + message.header + message.body)


def transfer_data(authorization: Authorization, signature: Signature) -> str:
    """The call of the contract that executes an authorization."""
    values = (
        *(authorization.wallet, authorization.payee, authorization.amount),
        *(0, authorization.valid_before, authorization.nonce),
        *(27 + signature.y_parity, signature.r.to_bytes(32, "big"), signature.s.to_bytes(32, "big")),
    )
    return _call_data(_TRANSFER, _TRANSFER_TYPES, values)


def plain_transfer_data(payee: str, amount: int) -> str:
    """An ordinary transfer, which is only ever simulated: it fails for the reasons an authorization would."""
    return _call_data("transfer(address,uint256)", ("address", "uint256"), (payee, amount))


def balance_data(wallet: str) -> str:
    return _call_data("balanceOf(address)", ("address",), (wallet,))


def used_data(wallet: str, nonce: bytes) -> str:
    """Asks whether the contract has accepted this nonce."""
    return _call_data("authorizationState(address,bytes32)", ("address", "bytes32"), (wallet, nonce))


def used_topic() -> str:
    """The mark of the event that the contract writes when it accepts a nonce."""
    return f"0x{keccak(b'AuthorizationUsed(address,bytes32)').hex()}"


def transaction_digest(transaction: Transaction) -> bytes:
    return _typed(transaction).hash()


def signed_transaction(transaction: Transaction, signature: Signature) -> bytes:
    return _typed(transaction, v=signature.y_parity, r=signature.r, s=signature.s).encode()


def _typed(transaction: Transaction, **signature: int) -> Any:  # Any: the library has no type for its result
    with _same_recursion_limit():
        from eth_account.typed_transactions.typed_transaction import TypedTransaction

    fields = {
        "type": 2,
        "chainId": transaction.chain_id,
        "nonce": transaction.nonce,
        "to": transaction.to,
        "value": 0,
        "gas": transaction.gas,
        "maxFeePerGas": transaction.max_fee,
        "maxPriorityFeePerGas": transaction.max_priority_fee,
        "data": transaction.data,
    }
    return TypedTransaction.from_dict({**fields, **signature})


def _call_data(function: str, types: tuple[str, ...], values: tuple[object, ...]) -> str:
    from eth_abi.abi import encode

    return f"0x{(keccak(function.encode())[:4] + encode(types, values)).hex()}"
