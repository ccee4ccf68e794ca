"""What the vault holds: secrets with the places that may receive them, and keys that never leave."""

import re
from typing import Literal, TypeAlias

from sestet.core.errors import VaultError
from sestet.core.record import Record

#: A text that a person stored, and the keys that the vault makes.
EntryKind: TypeAlias = Literal["secret", "aes256", "ed25519", "secp256k1"]
KeyKind: TypeAlias = Literal["aes256", "ed25519", "secp256k1"]

#: The vault's file in the data directory.
FILE_NAME = "sestet.vault"
#: The size of the file with this suffix is the number of values that the scanner has caught.
CAUGHT_SUFFIX = ".caught"
#: What stands before a name in a reference.
REFERENCE = "vault:"
MOST_BYTES = 100_000
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_HOST = re.compile(
    r"(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*|\[[0-9a-f:.]+\]"
)
_PORTS = {"https": 443, "http": 80}
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class EntryInfo(Record):
    """One entry, without its value."""

    name: str
    kind: EntryKind
    #: Origins that may receive a secret, such as ``https://api.example.com``.
    destinations: tuple[str, ...] = ()
    #: Whether the secret may stand in the body of a request too, and not in a header alone.
    in_body: bool = False
    #: Whether Sestet's own process may have it, for a key in the settings.
    in_settings: bool = False
    version: int = 1
    created_at: float = 0.0
    #: The public half of a signing key, in hexadecimal.
    public: str = ""
    #: Whether the scanner recognises the value; short values have no form of their own.
    watched: bool = False
    #: Patterns of commands that may get a secret, such as ``curl *``.
    commands: tuple[str, ...] = ()

    @property
    def reference(self) -> str:
        return REFERENCE + self.name


def entry_name(text: str) -> str:
    """The name of an entry as the vault writes it: 'GitHub token' → 'github-token'."""
    name = re.sub(r"\s+", "-", text.strip().removeprefix(REFERENCE).casefold())
    if not _NAME.fullmatch(name):
        raise VaultError(
            f"'{text}' cannot be a name in the vault: use letters, digits, '.', '_' and '-', at most 64"
        )
    return name


def origin(address: str) -> str:
    """Scheme, host and port of an address, in one spelling. Without a scheme, https is meant.

    http is possible only on this machine: elsewhere everybody on the way could read the secret.
    """
    # Loaded on use: every start loads this module.
    from urllib.parse import urlsplit

    text = address.strip()
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
        scheme, host, port = (
            parts.scheme.casefold(),
            (parts.hostname or "").casefold().rstrip("."),
            parts.port,
        )
    except ValueError:
        raise _bad_origin(address) from None
    host = f"[{host}]" if ":" in host else host
    if scheme not in _PORTS or not _HOST.fullmatch(host) or parts.username is not None or port == 0:
        raise _bad_origin(address)
    if scheme == "http" and host not in _LOOPBACK:
        raise VaultError(f"'{scheme}://{host}' would send a secret in the clear; use https")
    return f"{scheme}://{host}" + (f":{port}" if port and port != _PORTS[scheme] else "")


def destination(text: str) -> str:
    """The origin of a destination; one with a path would promise a limit that there is not."""
    from urllib.parse import urlsplit

    found = origin(text)
    parts = urlsplit(text.strip() if "://" in text else f"https://{text.strip()}")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise VaultError(f"'{text}': a destination is a host such as api.example.com, without a path")
    return found


def _bad_origin(address: str) -> VaultError:
    return VaultError(
        f"'{address}' is not the address of a host, such as api.example.com or http://127.0.0.1:8000"
    )
