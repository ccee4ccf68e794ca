"""The cryptography of the vault. Only the broker process loads this module and its vendor."""

import os

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from sestet.core.errors import SestetError

KEY_BYTES = 32
_NONCE_BYTES = 12
#: The order of the group of secp256k1. Ethereum accepts only the smaller of the two values of ``s``.
_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


class SealError(SestetError):
    """A sealed text was changed, or sealed with another key or for another place."""


def random_key() -> bytes:
    return os.urandom(KEY_BYTES)


def stretch(passphrase: bytes, salt: bytes, memory_kib: int, passes: int, lanes: int) -> bytes:
    """A key from a passphrase, by Argon2id; ``SealError`` for a salt or a cost that it does not take."""
    try:
        derivation = Argon2id(
            salt=salt, length=KEY_BYTES, iterations=passes, lanes=lanes, memory_cost=memory_kib
        )
        return derivation.derive(passphrase)
    except ValueError as error:
        raise SealError from error


def seal(key: bytes, text: bytes, place: bytes) -> bytes:
    """AES-256-GCM with a random nonce in front; ``place`` is authenticated with it."""
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, text, place)


def unseal(key: bytes, sealed: bytes, place: bytes) -> bytes:
    """The text that ``seal`` sealed with this key for this place; else ``SealError``."""
    try:
        return AESGCM(key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], place)
    except (InvalidTag, ValueError) as error:
        raise SealError from error


def new_ed25519() -> bytes:
    return Ed25519PrivateKey.generate().private_bytes_raw()


def ed25519_public(private: bytes) -> bytes:
    return Ed25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def ed25519_sign(private: bytes, message: bytes) -> bytes:
    return Ed25519PrivateKey.from_private_bytes(private).sign(message)


def ed25519_verify(public: bytes, message: bytes, signature: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def new_secp256k1() -> bytes:
    return ec.generate_private_key(ec.SECP256K1()).private_numbers().private_value.to_bytes(32, "big")


def secp256k1_public(private: bytes) -> bytes:
    """The public point without compression: 04, then x and y, 65 bytes in all."""
    return _secp256k1(private).public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def secp256k1_sign(private: bytes, digest: bytes) -> tuple[int, int]:
    """The signature ``(r, s)`` of a digest, the same at each call (RFC 6979), with the smaller ``s``."""
    algorithm = ec.ECDSA(Prehashed(hashes.SHA256()), deterministic_signing=True)
    r, s = decode_dss_signature(_secp256k1(private).sign(digest, algorithm))
    return r, min(s, _ORDER - s)


def _secp256k1(private: bytes) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(private, "big"), ec.SECP256K1())


def is_secp256k1(private: bytes) -> bool:
    """Whether these bytes are a private key of the curve."""
    return len(private) == KEY_BYTES and 0 < int.from_bytes(private, "big") < _ORDER


def from_hex(text: str) -> bytes:
    """The bytes that hexadecimal digits stand for; none if these are no such digits."""
    try:
        return bytes.fromhex(text.strip().removeprefix("0x"))
    except ValueError:
        return b""
