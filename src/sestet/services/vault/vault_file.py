"""The vault's file: read whole and checked, written whole and replaced at once; and what seals it.

A random data key seals each entry, and each slot holds that key, wrapped by a passphrase or by a key in the
keyring of the desktop. The seal authenticates everything else with the data key, so nobody without the key
can remove an entry, bring back an older one or change a slot.
"""

import fcntl
import os
from base64 import b64decode, b64encode
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from sestet.core.errors import VaultError
from sestet.core.record import replace, to_json
from sestet.services.vault import ciphers
from sestet.services.vault.contents import (
    OLD_SUFFIX,
    Contents,
    KeyringSlot,
    PassphraseSlot,
    SealedEntry,
    encode,
    read_contents,
)
from sestet.services.vault.sources import Cost

_NEW_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


class VaultFile:
    """One vault on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def exists(self) -> bool:
        return self.path.exists()

    def stamp(self) -> tuple[int, int, int]:
        """Changes whenever the file was replaced."""
        try:
            state = self.path.stat()
        except FileNotFoundError:
            return 0, 0, 0
        return state.st_ino, state.st_mtime_ns, state.st_size

    def read(self) -> Contents:
        return read_contents(self.path)

    @contextmanager
    def locked(self) -> Generator[None]:
        """Nobody else writes the file meanwhile: read, change, write."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = self.path.with_name(self.path.name + ".lock")
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def write(self, contents: Contents, *, keep_old: bool = True) -> None:
        """Replace the file. A crash at any moment leaves the old version or the new one, whole.

        ``keep_old`` False: the old version is removed once the new one is on the disk.
        """
        old = self.path.with_name(self.path.name + OLD_SUFFIX)
        new = self.path.with_name(f"{self.path.name}.{os.urandom(6).hex()}.new")
        try:
            _write_durably(new, encode(contents))
            if keep_old and self.path.exists():
                second_name = self.path.with_name(f"{self.path.name}.{os.urandom(6).hex()}.kept")
                os.link(self.path, second_name)
                os.rename(second_name, old)
            os.rename(new, self.path)
            _sync_directory(self.path.parent)
        except OSError as error:
            raise VaultError(f"{self.path} cannot be written: {error.strerror}") from error
        finally:
            with suppress(OSError):
                os.unlink(new)
        if not keep_old:
            with suppress(FileNotFoundError):
                os.unlink(old)
        self._remove_leftovers()

    def _remove_leftovers(self) -> None:
        """Remove files of a process that was killed while it wrote; the lock is held, so none writes now."""
        for suffix in ("new", "kept"):
            for leftover in self.path.parent.glob(f"{self.path.name}.*.{suffix}"):
                with suppress(OSError):
                    os.unlink(leftover)


def _write_durably(file: Path, content: bytes) -> None:
    descriptor = os.open(file, _NEW_FLAGS, 0o600)
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(descriptor, left) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def seal_contents(contents: Contents, key: bytes) -> Contents:
    """The contents as they are written next: one generation later, and sealed."""
    if not contents.passphrase_slots:
        # A keyring can be lost with its desktop, and everything in the vault with it.
        raise VaultError("a vault keeps a passphrase; nothing was written")
    bare = replace(contents, generation=contents.generation + 1, seal="")
    return replace(bare, seal=_text(ciphers.seal(key, b"", _place(contents, "seal") + to_json(bare))))


def is_sealed_with(contents: Contents, key: bytes) -> bool:
    bare = replace(contents, seal="")
    try:
        ciphers.unseal(key, _bytes(contents.seal), _place(contents, "seal") + to_json(bare))
    except ciphers.SealError:
        return False
    return True


def wrap_with_passphrase(contents: Contents, key: bytes, passphrase: bytes, cost: Cost) -> Contents:
    """The contents with one passphrase: this one."""
    salt = os.urandom(16)
    outer = ciphers.stretch(passphrase, salt, cost.memory_kib, cost.passes, cost.lanes)
    wrapped = _text(ciphers.seal(outer, key, _place(contents, "slot", "passphrase")))
    others = tuple(slot for slot in contents.slots if slot not in contents.passphrase_slots)
    return replace(contents, slots=(PassphraseSlot(wrapped, _text(salt), cost), *others))


def unwrap_with_passphrase(contents: Contents, passphrase: bytes) -> bytes | None:
    """The data key; None: it is not the passphrase of any slot."""
    for slot in contents.passphrase_slots:
        if not slot.cost.is_sane:
            continue
        cost = slot.cost
        with suppress(ciphers.SealError):
            outer = ciphers.stretch(passphrase, _bytes(slot.salt), cost.memory_kib, cost.passes, cost.lanes)
            return ciphers.unseal(outer, _bytes(slot.wrapped), _place(contents, "slot", "passphrase"))
    return None


def wrap_with_keyring(contents: Contents, key: bytes, slot_id: str, outer: bytes) -> Contents:
    """The contents with one slot for a keyring: the one whose key is ``outer``."""
    wrapped = _text(ciphers.seal(outer, key, _place(contents, "slot", "keyring", slot_id)))
    return replace(contents, slots=(*contents.passphrase_slots, KeyringSlot(wrapped, slot_id)))


def unwrap_with_keyring(contents: Contents, outer: bytes) -> bytes | None:
    """The data key; None: no slot was wrapped with this key."""
    slot = contents.keyring_slot
    if slot is None or len(outer) != ciphers.KEY_BYTES:
        return None
    with suppress(ciphers.SealError):
        return ciphers.unseal(outer, _bytes(slot.wrapped), _place(contents, "slot", "keyring", slot.id))
    return None


def without_keyring(contents: Contents) -> Contents:
    return replace(contents, slots=contents.passphrase_slots)


def with_entry(contents: Contents, key: bytes, name: str, text: bytes) -> Contents:
    """The contents with this entry, in the place of one of the same name."""
    before = next((entry for entry in contents.entries if entry.name == name), None)
    version = before.version + 1 if before else 1
    sealed = ciphers.seal(key, text, _place(contents, "entry", name, str(version)))
    others = tuple(entry for entry in contents.entries if entry is not before)
    entries = sorted((*others, SealedEntry(name, version, _text(sealed))), key=lambda entry: entry.name)
    return replace(contents, entries=tuple(entries))


def without_entry(contents: Contents, name: str) -> Contents:
    return replace(contents, entries=tuple(entry for entry in contents.entries if entry.name != name))


def open_entry(contents: Contents, key: bytes, entry: SealedEntry) -> bytes:
    place = _place(contents, "entry", entry.name, str(entry.version))
    return ciphers.unseal(key, _bytes(entry.sealed), place)


def _place(contents: Contents, *parts: str) -> bytes:
    """What a sealed text is bound to: this vault, and its place in it."""
    return to_json(("sestet-vault-1", contents.id, *parts))


def _text(content: bytes) -> str:
    return b64encode(content).decode()


def _bytes(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError as error:
        raise ciphers.SealError from error
