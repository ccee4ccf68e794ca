"""Signing with keys that stay in the vault, as other services see it."""

from typing import NamedTuple, Protocol

from sestet.services.vault.entries import EntryInfo, KeyKind


class Signature(NamedTuple):
    """A signature over secp256k1. It is the same at each call, and ``s`` is the smaller of its two values."""

    r: int
    s: int


class Signer(Protocol):
    """Makes keys and signs with them; no method gives a key out. Every method blocks: call it from a thread.

    Each raises ``VaultError``: for a locked vault with ``locked`` set, and for a name that is not a key.
    """

    def has_key(self, name: str) -> bool: ...

    def generate_key(self, name: str, kind: KeyKind) -> EntryInfo:
        """Make a key; a name that is in use is refused."""
        ...

    def public_key(self, name: str) -> bytes:
        """The public point of a key of kind secp256k1: 04, then x and y, 65 bytes in all."""
        ...

    def sign_digest(self, name: str, digest: bytes) -> Signature:
        """Sign 32 bytes with a key of kind secp256k1."""
        ...
