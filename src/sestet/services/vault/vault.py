"""Sestet's side of the vault: starts the broker, sends it requests, and never sees a value."""

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import Any

from sestet.core.errors import VaultError
from sestet.core.record import Record, as_dict, convert
from sestet.services.vault.broker_process import BrokerProcess
from sestet.services.vault.command_pipes import OfferedSecret
from sestet.services.vault.entries import CAUGHT_SUFFIX, EntryInfo, KeyKind, destination, entry_name
from sestet.services.vault.framing import Message
from sestet.services.vault.page_field import PageField
from sestet.services.vault.signing import Signature
from sestet.services.vault.sources import USUAL_COST, Cost, Source

_UNLOCKING = frozenset({"create", "unlock", "unlock_with_keyring"})
_CHANGING = _UNLOCKING | {"store", "delete", "generate", "decrypt", "import_from"}
_ANY_KIND = ("secret", "aes256", "ed25519", "secp256k1")


class Status(Record):
    """The state of the vault and of its broker."""

    exists: bool
    unlocked: bool
    untraceable: bool
    no_core_dumps: bool
    memory_locked: bool
    #: None while it is locked.
    entries: int | None = None


class RemovedKeyring(Record):
    """What became of the keyring's part in the vault."""

    #: Whether a keyring could open it.
    had: bool
    #: Why its key may still lie in the keyring, where it opens nothing any more; empty: it is gone.
    problem: str


class WebResponse(Record):
    status: int
    headers: dict[str, str]
    body: str


class Vault:
    """One vault. The broker starts at the first request that needs it. Every method blocks."""

    def __init__(self, path: Path, passphrase_file: Path | None = None, bus: str = "") -> None:
        """``passphrase_file``: where the broker finds the passphrase without anybody to ask.

        ``bus``: the address of the session bus, on which the keyring of the desktop is.
        """
        self.path = path
        self.passphrase_file = passphrase_file
        self._bus = bus
        #: Why the keyring of the desktop did not open the vault when it was tried last.
        self.keyring_problem = ""
        self._broker = BrokerProcess(path)
        self.is_unlocked = False
        #: Called after the entries have changed, or the vault was locked or unlocked.
        self.on_change: Callable[[], None] = lambda: None

    # The life of the vault

    def exists(self) -> bool:
        return self.path.exists()

    @property
    def broker_pid(self) -> int | None:
        """The broker's process; None: it does not run."""
        return self._broker.pid

    def status(self) -> Status:
        return convert(self._request("status"), Status)

    def create(
        self, passphrase: bytes | Source, *, cost: Cost = USUAL_COST, terminal: int | None = None
    ) -> None:
        """Make a new vault; it is unlocked then."""
        source = _source(passphrase)
        self._request("create", passphrase=as_dict(source), cost=as_dict(cost), descriptor=terminal)

    def unlock(self, passphrase: bytes | Source, *, terminal: int | None = None) -> None:
        """Open the vault until ``close``; a wrong passphrase is a ``VaultError``."""
        self._request("unlock", passphrase=as_dict(_source(passphrase)), descriptor=terminal)

    def unlock_unattended(self, *, again: bool = False) -> bool:
        """Open the vault without asking anybody, if there is a way; False: there is none.

        A passphrase file that cannot be used is a ``VaultError``: the person meant it to be used. A keyring
        that failed is tried ``again`` only if the person asks for it: it may take its time to fail.
        """
        if self.is_unlocked or not self.exists():
            return self.is_unlocked
        if self.passphrase_file is not None:
            self.unlock(Source("file", path=str(self.passphrase_file.absolute())))
            return True
        return (again or not self.keyring_problem) and self.unlock_with_keyring()

    def unlock_with_keyring(self) -> bool:
        """Open the vault with the keyring of the desktop; False: none was added, or it does not open it."""
        self.keyring_problem = ""
        if not self.has_keyring():
            return False
        answer = self._request("unlock_with_keyring", bus=self._bus)
        if answer["problem"]:
            self.keyring_problem = f"the keyring did not open it: {answer['problem']}"
        return bool(answer["opened"])

    def has_keyring(self) -> bool:
        """Whether a keyring may open the vault. The broker is not needed to see that."""
        # Loaded on use: most starts have no vault.
        from sestet.services.vault.contents import read_contents

        return read_contents(self.path).keyring_slot is not None

    def add_keyring(self) -> None:
        """Let the keyring of the desktop open the vault, too."""
        self._request("add_keyring", bus=self._bus)

    def remove_keyring(self) -> RemovedKeyring:
        """Let no keyring open the vault."""
        return convert(self._request("remove_keyring", bus=self._bus), RemovedKeyring)

    def close(self) -> None:
        """End the broker, and with it everything that it knows."""
        self.is_unlocked = False
        self.on_change()
        self._broker.close()

    # Secrets

    def infos(self) -> list[EntryInfo]:
        return convert(self._request("infos")["infos"], list[EntryInfo])

    def info(self, name: str) -> EntryInfo:
        wanted = entry_name(name)
        for info in self.infos():
            if info.name == wanted:
                return info
        raise VaultError(f"the vault holds nothing named '{wanted}'")

    def store(
        self,
        name: str,
        value: bytes | Source,
        destinations: Sequence[str] = (),
        *,
        in_body: bool = False,
        in_settings: bool = False,
        commands: Sequence[str] = (),
        replace: bool = False,
        descriptor: int | None = None,
    ) -> EntryInfo:
        """Store a secret whose value the broker takes from its source."""
        fields = {"in_body": in_body, "in_settings": in_settings, "replace": replace}
        places = [destination(each) for each in destinations]
        typed = as_dict(_source(value))
        return self._entry_request(
            "store",
            name,
            destinations=places,
            commands=list(commands),
            typed=typed,
            descriptor=descriptor,
            **fields,
        )

    def store_key(
        self, name: str, value: bytes | Source, *, replace: bool = False, descriptor: int | None = None
    ) -> EntryInfo:
        """Store a private key over secp256k1 that exists already, in hexadecimal."""
        typed = as_dict(_source(value))
        return self._entry_request(
            "store",
            name,
            typed=typed,
            kind="secp256k1",
            destinations=(),
            replace=replace,
            descriptor=descriptor,
        )

    def hold(self, call: str, value: bytes | Source, *, descriptor: int | None = None) -> None:
        """Let the broker keep a value that the person types now, for a call that runs afterwards."""
        self._request("hold", call=call, typed=as_dict(_source(value)), descriptor=descriptor)

    def store_held(self, call: str, name: str, destinations: Sequence[str], *, replace: bool) -> EntryInfo:
        """Store the value that was typed for a call."""
        places = [destination(each) for each in destinations]
        return self._entry_request("store", name, destinations=places, replace=replace, held=call)

    def bind(
        self,
        name: str,
        destinations: Sequence[str] | None = None,
        *,
        in_body: bool | None = None,
        in_settings: bool | None = None,
        commands: Sequence[str] | None = None,
    ) -> EntryInfo:
        """Change where a secret may go; None leaves it as it is."""
        places = None if destinations is None else [destination(each) for each in destinations]
        patterns = None if commands is None else list(commands)
        uses = {"in_body": in_body, "in_settings": in_settings}
        return self._entry_request("bind", name, destinations=places, commands=patterns, **uses)

    def delete(self, name: str, kinds: Sequence[str] = _ANY_KIND) -> None:
        self._request("delete", name=entry_name(name), kinds=list(kinds))

    def value_for_settings(self, name: str, address: str) -> str:
        """A key for a vendor's library in this process: only a secret that is marked for that."""
        return str(self._request("value", name=entry_name(name), address=address)["value"])

    def reveal(self, name: str, terminal: int) -> None:
        """Let the broker write a value on a terminal."""
        self._request("reveal", name=entry_name(name), terminal=True, descriptor=terminal)

    # The file

    def change_passphrase(
        self,
        old: bytes | Source,
        new: bytes | Source,
        *,
        cost: Cost = USUAL_COST,
        terminal: int | None = None,
    ) -> None:
        sources = {"passphrase": as_dict(_source(old)), "new_passphrase": as_dict(_source(new))}
        self._request("change_passphrase", **sources, cost=as_dict(cost), descriptor=terminal)

    def export(
        self,
        target: Path,
        passphrase: bytes | Source,
        *,
        cost: Cost = USUAL_COST,
        terminal: int | None = None,
    ) -> int:
        """Write a copy with a passphrase of its own. Returns how many entries it has."""
        facts = {"target": str(target.absolute()), "cost": as_dict(cost)}
        answer = self._request(
            "export", **facts, passphrase=as_dict(_source(passphrase)), descriptor=terminal
        )
        return int(answer["entries"])

    def import_from(
        self, source: Path, passphrase: bytes | Source, *, replace: bool = False, terminal: int | None = None
    ) -> list[str]:
        """Store every entry of an exported file, or none. Returns their names."""
        facts = {"source": str(source.absolute()), "replace": replace}
        answer = self._request(
            "import_from", **facts, passphrase=as_dict(_source(passphrase)), descriptor=terminal
        )
        return convert(answer["names"], list[str])

    # Use without sight

    def web_request(
        self, name: str, method: str, url: str, headers: Mapping[str, str], body: str
    ) -> WebResponse:
        """Let the broker make a request with a secret in it; the answer holds no value."""
        answer = self._request(
            "web_request", name=entry_name(name), method=method, url=url, headers=dict(headers), body=body
        )
        return convert(answer, WebResponse)

    def type_into_page(self, name: str, address: str, place: PageField) -> None:
        """Let the broker put a secret into one password field of a page, over the browser's pipe."""
        *field, pipe = place
        facts = {"address": address, "field": field, "browser": ""}
        self._request("type_into_page", name=entry_name(name), **facts, descriptor=pipe)

    def check_command(self, name: str, command: str) -> list[str]:
        """The words of a command line that may have a secret; any other is a ``VaultError``."""
        answer = self._request("check_command", name=entry_name(name), command=command)
        return convert(answer["words"], list[str])

    def offer(self, name: str, command: str) -> OfferedSecret:
        """An empty pipe for a command that may have a secret. ``fill`` puts the value into it."""
        answer = self._message("offer", name=entry_name(name), command=command)
        words = convert(answer.content["words"], list[str])
        return OfferedSecret(str(answer.content["pipe"]), FileIO(answer.descriptors[0]), words)

    def fill(self, offered: OfferedSecret) -> None:
        """Let the broker write the value, once the command alone can read it."""
        self._request("fill", pipe=offered.pipe)

    def withdraw(self, offered: OfferedSecret) -> None:
        """Give nothing to the command any more."""
        self._request("withdraw", pipe=offered.pipe)

    def fingerprints(self) -> tuple[int, list[int]]:
        """A random multiplier, and a few bits of each value, for the scanner."""
        answer = self._request("fingerprints")
        return int(answer["multiplier"]), convert(answer["values"], list[int])

    def connect(self) -> socket.socket:
        """A connection of its own to the broker."""
        return self._broker.connect()

    def stamp(self) -> tuple[int, int, int]:
        """Changes whenever any process has written the file."""
        try:
            state = self.path.stat()
        except OSError:
            return 0, 0, 0
        return state.st_ino, state.st_mtime_ns, state.st_size

    def caught(self) -> int:
        """How many values the scanner has caught so far."""
        try:
            return os.stat(f"{self.path}{CAUGHT_SUFFIX}").st_size
        except OSError:
            return 0

    # Keys

    def has_key(self, name: str) -> bool:
        return any(info.name == name and info.kind != "secret" for info in self.infos())

    def generate_key(self, name: str, kind: KeyKind) -> EntryInfo:
        return self._entry_request("generate", name, kind=kind)

    def public_key(self, name: str) -> bytes:
        return bytes.fromhex(self._request("public_key", name=entry_name(name))["public"])

    def sign_digest(self, name: str, digest: bytes) -> Signature:
        answer = self._request("sign_digest", name=entry_name(name), digest=digest.hex())
        return Signature(int(answer["r"], 16), int(answer["s"], 16))

    def sign(self, name: str, text: str) -> str:
        """The Ed25519 signature of a text, in hexadecimal."""
        return str(self._request("sign", name=entry_name(name), text=text)["signature"])

    def verify(self, text: str, signature: str, public: str) -> bool:
        return bool(self._request("verify", text=text, signature=signature, public=public)["valid"])

    def encrypt(self, name: str, text: str) -> str:
        return str(self._request("encrypt", name=entry_name(name), text=text)["sealed"])

    def decrypt(self, name: str, sealed: str, into: str) -> EntryInfo:
        """Decrypt a text into a new secret."""
        into = entry_name(into)
        answer = self._request("decrypt", name=entry_name(name), sealed=sealed, into=into)
        return convert(answer["info"], EntryInfo)

    def _entry_request(
        self, operation: str, name: str, *, descriptor: int | None = None, **fields: object
    ) -> EntryInfo:
        answer = self._request(operation, name=entry_name(name), descriptor=descriptor, **fields)
        return convert(answer["info"], EntryInfo)

    def _request(self, operation: str, *, descriptor: int | None = None, **fields: object) -> dict[str, Any]:
        # Any: an answer is JSON of our own broker.
        return self._message(operation, descriptor=descriptor, **fields).content

    def _message(self, operation: str, *, descriptor: int | None = None, **fields: object) -> Message:
        try:
            answer = self._broker.request(operation, fields, () if descriptor is None else (descriptor,))
        except VaultError as error:
            if error.locked and self.is_unlocked:
                self.is_unlocked = False
                self.on_change()
            raise
        if operation in _UNLOCKING and answer.content.get("opened", True):
            self.is_unlocked = True
        if operation in _CHANGING:
            self.on_change()
        return answer


def held_key(turn_id: str, name: str) -> str:
    """Under which the broker keeps what the person typed for a call of this turn."""
    return f"{turn_id}/{entry_name(name)}"


def _source(given: bytes | Source) -> Source:
    return given if isinstance(given, Source) else Source("text", text=given.decode())


def open_terminal() -> int | None:
    """A descriptor of the person's terminal; None: there is none."""
    try:
        return os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        return None
