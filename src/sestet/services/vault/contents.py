"""What stands in the vault's file, and its form as bytes. No cipher is needed for that.

    SESTET-VAULT 1
    {"id": …, "generation": …, "slots": […], "entries": […], "seal": …}
    <SHA-256 of the lines above>

The SHA-256 tells a damaged file from a wrong passphrase before anybody types one.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import TypeAlias

from sestet.core.errors import VaultError
from sestet.core.record import Record, convert, to_json
from sestet.services.vault.sources import Cost

#: The version before the last write; it stays until the next one.
OLD_SUFFIX = ".old"
_MAGIC = b"SESTET-VAULT 1\n"
_LARGEST = 16_000_000


class PassphraseSlot(Record, tag_field="kind", tag="passphrase"):
    """The data key, wrapped by a passphrase."""

    wrapped: str
    salt: str = ""
    cost: Cost = Cost()


class KeyringSlot(Record, tag_field="kind", tag="keyring"):
    """The data key, wrapped by a random key that lies in the keyring of the desktop."""

    wrapped: str
    #: Names the key in the keyring.
    id: str


Slot: TypeAlias = PassphraseSlot | KeyringSlot


class SealedEntry(Record):
    name: str
    version: int
    sealed: str


class Contents(Record):
    """Everything that is in the file."""

    id: str
    #: Grows by one with each write.
    generation: int = 0
    slots: tuple[Slot, ...] = ()
    entries: tuple[SealedEntry, ...] = ()
    seal: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.entries)

    @property
    def passphrase_slots(self) -> tuple[PassphraseSlot, ...]:
        return tuple(slot for slot in self.slots if isinstance(slot, PassphraseSlot))

    @property
    def keyring_slot(self) -> KeyringSlot | None:
        return next((slot for slot in self.slots if isinstance(slot, KeyringSlot)), None)


def new_contents() -> Contents:
    return Contents(os.urandom(16).hex())


def encode(contents: Contents) -> bytes:
    body = _MAGIC + to_json(contents) + b"\n"
    return body + _digest(body)


def decode(content: bytes, file: Path) -> Contents:
    """What ``encode`` wrote; ``VaultError`` for anything else."""
    if not content.startswith(_MAGIC):
        kind = "a vault of a later version" if content.startswith(_MAGIC[:13]) else "no vault"
        raise damaged(file, f"it is {kind}" if content else "it is empty")
    body, digest = content[:-65], content[-65:]
    if digest != _digest(body):
        raise damaged(file, "it was cut short or changed")
    try:
        return convert(json.loads(body[len(_MAGIC) :]), Contents)
    except (ValueError, RecursionError) as error:
        raise damaged(file, f"it does not have the form of a vault ({error})") from error


def read_contents(path: Path) -> Contents:
    try:
        # Never waits for a pipe, and follows no link at the file's own name.
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        with open(os.open(path, flags), "rb") as stream:
            content = stream.read(_LARGEST + 1)
    except FileNotFoundError:
        raise VaultError(f"there is no vault yet: '{path}' does not exist") from None
    except OSError as error:
        raise VaultError(f"{path} cannot be read: {error.strerror}") from error
    if len(content) > _LARGEST:
        raise damaged(path, f"it is larger than {_LARGEST:,} bytes")
    return decode(content, path)


def damaged(file: Path, why: str) -> VaultError:
    old = file.with_name(file.name + OLD_SUFFIX)
    way_out = (
        f"the version before the last change is '{old.name}' beside it"
        if old.exists()
        else ("bring it back from a copy, or from a file that 'sestet secrets export' wrote")
    )
    return VaultError(f"{file} cannot be used: {why}; nothing was written; {way_out}")


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode() + b"\n"
