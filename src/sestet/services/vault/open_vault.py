"""An unlocked vault: its data key, and everything that needs it. It lives in the broker process alone."""

import json
import re
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from sestet.core.errors import VaultError
from sestet.core.record import Record, convert, to_json
from sestet.services.vault import ciphers, vault_file
from sestet.services.vault.contents import Contents, damaged, new_contents
from sestet.services.vault.encodings import SHORTEST, fold
from sestet.services.vault.entries import MOST_BYTES, EntryInfo, EntryKind, KeyKind, origin
from sestet.services.vault.sources import Cost
from sestet.services.vault.vault_file import VaultFile

_MAKE: dict[KeyKind, Callable[[], bytes]] = {
    "aes256": ciphers.random_key,
    "ed25519": ciphers.new_ed25519,
    "secp256k1": ciphers.new_secp256k1,
}
_PUBLIC: dict[EntryKind, Callable[[bytes], bytes]] = {
    "ed25519": ciphers.ed25519_public,
    "secp256k1": ciphers.secp256k1_public,
}
#: A value that is a whole header, as ``curl -H @file`` wants it; the token in it.
_HEADER = re.compile(rb"[A-Za-z][A-Za-z0-9-]*:[ \t]*(?:[A-Za-z]+[ \t]+)?(\S{16,})\s*")
_WRONG = "this is not the passphrase of the vault"


class Entry(Record):
    """One entry with its value, as it is sealed into the file."""

    kind: EntryKind
    #: Base64.
    value: str
    destinations: tuple[str, ...] = ()
    in_body: bool = False
    in_settings: bool = False
    created_at: float = 0.0
    commands: tuple[str, ...] = ()

    @property
    def content(self) -> bytes:
        return b64decode(self.value)


def new_entry(
    kind: EntryKind,
    value: bytes,
    destinations: Iterable[str] = (),
    *,
    in_body: bool = False,
    in_settings: bool = False,
    commands: Iterable[str] = (),
) -> Entry:
    if not value:
        raise VaultError("the value is empty; nothing was stored")
    if len(value) > MOST_BYTES:
        raise VaultError(f"the value is longer than {MOST_BYTES:,} bytes; nothing was stored")
    uses = (in_body, in_settings, time.time(), tuple(commands))
    return Entry(kind, b64encode(value).decode(), tuple(destinations), *uses)


def is_recognised(entry: Entry) -> bool:
    """Whether the scanner would find the value in a text; a short one has no form of its own."""
    return all(len(fold(form)) >= SHORTEST for form in forms(entry))


def require_destination(name: str, entry: Entry, address: str) -> str:
    """The origin of an address, if the secret may go there."""
    receiver = origin(address)
    if receiver not in entry.destinations:
        allowed = ", ".join(entry.destinations) or "no host"
        raise VaultError(
            f"'{name}' may not go to {receiver}: it is bound to {allowed}; "
            f"'sestet secrets bind {name} --to {receiver}' changes that"
        )
    return receiver


def require_recognised(name: str, entry: Entry, receiver: str = "command") -> None:
    """Commands and pages show things: a value that the scanner cannot find there goes to none of them."""
    if not is_recognised(entry):
        raise VaultError(
            f"'{name}' has fewer than {SHORTEST} letters and digits, so it could not be recognised in the "
            f"output of a {receiver}; no {receiver} can get it"
        )


def forms(entry: Entry) -> Iterator[bytes]:
    """The texts in which a value would be recognised: as it is, or the usual spellings of a key."""
    if entry.kind == "secret":
        # The name of a header is no secret, and a server that repeats the token leaves it out.
        header = _HEADER.fullmatch(entry.content)
        yield header[1] if header else entry.content
    else:
        yield from (entry.content.hex().encode(), b64encode(entry.content))


class OpenVault:
    """Reads and changes one vault. Every method sees what other processes have written."""

    def __init__(self, file: VaultFile, key: bytes) -> None:
        self._file = file
        self._key = key
        self._stamp: tuple[int, int, int] = (0, 0, 0)
        self._contents = Contents("")
        self._entries: dict[str, Entry] = {}
        self._read()

    @classmethod
    def create(cls, file: VaultFile, passphrase: bytes, cost: Cost) -> "OpenVault":
        """A new, empty vault; one that exists is never replaced."""
        key = ciphers.random_key()
        with file.locked():
            if file.exists():
                raise VaultError(f"there is a vault already: '{file.path}'")
            contents = vault_file.wrap_with_passphrase(new_contents(), key, passphrase, cost)
            file.write(vault_file.seal_contents(contents, key))
        return cls(file, key)

    @classmethod
    def unlock(cls, file: VaultFile, passphrase: bytes) -> "OpenVault":
        key = vault_file.unwrap_with_passphrase(file.read(), passphrase)
        if key is None:
            raise VaultError(_WRONG, wrong=True)
        return cls(file, key)

    @property
    def entries(self) -> dict[str, Entry]:
        """Every entry by its name, as the file holds them now."""
        self._read()
        return self._entries

    @property
    def contents(self) -> Contents:
        """The file as it is now."""
        self._read()
        return self._contents

    @property
    def stamp(self) -> tuple[int, int, int]:
        """Changes when the entries may have changed."""
        return self._file.stamp()

    def get(self, name: str) -> Entry:
        if (entry := self.entries.get(name)) is None:
            raise VaultError(f"the vault holds nothing named '{name}'")
        return entry

    def infos(self) -> list[EntryInfo]:
        return [self.info(name) for name in self.entries]

    def info(self, name: str) -> EntryInfo:
        entry = self.get(name)
        version = next(each.version for each in self._contents.entries if each.name == name)
        public = _PUBLIC[entry.kind](entry.content).hex() if entry.kind in _PUBLIC else ""
        facts = (entry.kind, entry.destinations, entry.in_body, entry.in_settings)
        own = (version, entry.created_at, public, is_recognised(entry), entry.commands)
        return EntryInfo(name, *facts, *own)

    def put(self, name: str, entry: Entry, *, replace_existing: bool = False) -> None:
        self.put_all({name: entry}, replace_existing=replace_existing)

    def put_all(self, entries: dict[str, Entry], *, replace_existing: bool = False) -> None:
        """Store entries, all of them or none."""

        def change(contents: Contents) -> Contents:
            for name, entry in entries.items():
                if name in contents.names and not replace_existing:
                    raise VaultError(f"the vault already holds '{name}'; nothing was changed")
                contents = vault_file.with_entry(contents, self._key, name, to_json(entry))
            return contents

        self._change(change)

    def generate(self, name: str, kind: KeyKind) -> None:
        """Make a key that only this vault knows."""
        self.put(name, new_entry(kind, _MAKE[kind]()))

    def delete(self, name: str) -> None:
        """Remove an entry, also from the version that is kept."""
        self.get(name)
        self._change(lambda contents: vault_file.without_entry(contents, name), keep_old=False)

    def change_passphrase(self, old: bytes, new: bytes, cost: Cost) -> None:
        """Wrap the data key by another passphrase. The kept version, which the old one opens, is removed."""

        def change(contents: Contents) -> Contents:
            if vault_file.unwrap_with_passphrase(contents, old) is None:
                raise VaultError(f"{_WRONG}; nothing was changed", wrong=True)
            return vault_file.wrap_with_passphrase(contents, self._key, new, cost)

        self._change(change, keep_old=False)

    def add_keyring(self, slot_id: str, outer: bytes) -> str:
        """Let a key of the keyring open the vault, too. Returns the id of the slot that it replaces."""
        before = ""

        def change(contents: Contents) -> Contents:
            nonlocal before
            before = contents.keyring_slot.id if contents.keyring_slot else ""
            return vault_file.wrap_with_keyring(contents, self._key, slot_id, outer)

        self._change(change)
        return before

    def remove_keyring(self) -> bool:
        """No keyring opens the vault any more, nor the kept version. Returns whether one did."""
        had = self.contents.keyring_slot is not None
        self._change(vault_file.without_keyring, keep_old=False)
        return had

    def export(self, target: Path, passphrase: bytes, cost: Cost) -> int:
        """Write every entry into a vault file of its own, with its own passphrase. Returns how many."""
        if target.exists() or target.is_symlink():
            raise VaultError(f"'{target}' exists already; choose another file")
        if not target.parent.is_dir():
            raise VaultError(f"the directory '{target.parent}' does not exist")
        key, contents = ciphers.random_key(), new_contents()
        contents = vault_file.wrap_with_passphrase(contents, key, passphrase, cost)
        for name, entry in self.entries.items():
            contents = vault_file.with_entry(contents, key, name, to_json(entry))
        VaultFile(target).write(vault_file.seal_contents(contents, key))
        return len(contents.entries)

    def import_from(self, source: Path, passphrase: bytes, *, replace_existing: bool) -> list[str]:
        """Store every entry of an exported file, or none. Returns their names."""
        imported = OpenVault.unlock(VaultFile(source), passphrase).entries
        self.put_all(imported, replace_existing=replace_existing)
        return list(imported)

    def _change(self, change: Callable[[Contents], Contents], *, keep_old: bool = True) -> None:
        with self._file.locked():
            self._read()
            changed = change(self._contents)
            self._file.write(vault_file.seal_contents(changed, self._key), keep_old=keep_old)
        self._read()

    def _read(self) -> None:
        """Read and check the file, if it was written since."""
        stamp = self._file.stamp()
        if stamp == self._stamp and self._contents.id:
            return
        contents = self._file.read()
        if not vault_file.is_sealed_with(contents, self._key):
            raise damaged(self._file.path, "somebody without its key has changed it")
        if self._contents.id and contents.generation < self._contents.generation:
            raise damaged(self._file.path, "it was replaced by an older version of itself")
        try:
            entries = {
                sealed.name: convert(json.loads(vault_file.open_entry(contents, self._key, sealed)), Entry)
                for sealed in contents.entries
            }
        except (ciphers.SealError, ValueError) as error:
            raise damaged(self._file.path, "an entry cannot be opened") from error
        self._contents, self._entries, self._stamp = contents, entries, stamp
