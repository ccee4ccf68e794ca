"""The broker: the only process that holds the vault's key and its values.

Sestet sends requests; the broker answers with names, references, signatures and responses of servers. One
request alone gives a value out, ``value``, for secrets that the person has marked for the settings. A command
gets its secret by way of ``offer`` and ``fill``, through a pipe.
"""

import os
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, get_args

from sestet.core.errors import VaultError
from sestet.core.record import as_dict, convert
from sestet.services.vault import ciphers, framing
from sestet.services.vault.command_binding import command_pattern, words_for
from sestet.services.vault.command_pipes import CommandPipes
from sestet.services.vault.entries import CAUGHT_SUFFIX, REFERENCE, KeyKind
from sestet.services.vault.hardening import Hardening
from sestet.services.vault.keyring import KeyringError
from sestet.services.vault.keyring_slot import add_keyring, open_with_keyring, remove_keyring
from sestet.services.vault.open_vault import (
    Entry,
    OpenVault,
    forms,
    new_entry,
    require_destination,
    require_recognised,
)
from sestet.services.vault.page_field import type_into_field
from sestet.services.vault.sources import Cost, Source, Terminals, read_private_file, read_stream
from sestet.services.vault.vault_file import VaultFile
from sestet.services.vault.watch import Watch
from sestet.services.vault.web_request import WebRequest, checked, send

_Json: TypeAlias = dict[str, Any]  # Any: a request is JSON of Sestet's own half of the vault
_MOST_HELD = 16


class Broker:
    """Answers requests: each public method is one, and its parameters are the request's fields."""

    def __init__(self, file: VaultFile, hardening: Hardening) -> None:
        self._file = file
        self._hardening = hardening
        self._open: OpenVault | None = None
        #: Values that a person typed for calls that have not run yet.
        self._held: dict[str, bytes] = {}
        self._watch: tuple[tuple[int, int, int], Watch] | None = None
        self._pipes = CommandPipes()
        self._lock = threading.RLock()
        self.terminals = Terminals()

    def answer(self, request: _Json, descriptors: Sequence[int]) -> framing.Message:
        """The answer to one request. A failure of ours is told without its text, which may hold a value."""
        operation = request.pop("op")
        try:
            taken = {name: self._taken(name, given, descriptors) for name, given in request.items()}
            if operation in SLOW:
                return _message(SLOW[operation](self, **taken))
            with self._lock:
                return _message(OPERATIONS[operation](self, **taken))
        except VaultError as error:
            return _message({"error": str(error), "locked": error.locked, "wrong": error.wrong})
        except Exception as error:
            return _message({"error": f"the vault failed at '{operation}' ({type(error).__name__})"})

    def _taken(self, name: str, given: object, descriptors: Sequence[int]) -> object:
        """The field of a request; one that names a source becomes what the source gives."""
        if name in ("terminal", "browser"):
            return descriptors[0]
        if name not in ("passphrase", "new_passphrase", "typed"):
            return given
        source = convert(given, Source)
        if source.kind == "terminal":
            return self.terminals.read(descriptors[0], source)
        if source.kind == "stream":
            return read_stream(descriptors[0])
        return read_private_file(Path(source.path)) if source.kind == "file" else source.text.encode()

    @property
    def _vault(self) -> OpenVault:
        if self._open is None:
            why = "is locked" if self._file.exists() else "does not exist yet"
            raise VaultError(f"the vault {why}", locked=True)
        return self._open

    def status(self) -> _Json:
        return {
            "exists": self._file.exists(),
            "unlocked": self._open is not None,
            "entries": len(self._open.entries) if self._open else None,
            **as_dict(self._hardening),
        }

    def create(self, passphrase: bytes, cost: _Json) -> _Json:
        if not passphrase.strip():
            raise VaultError("an empty passphrase protects nothing; no vault was made")
        self._open = OpenVault.create(self._file, passphrase, convert(cost, Cost))
        return {}

    def unlock(self, passphrase: bytes) -> _Json:
        self._open = OpenVault.unlock(self._file, passphrase)
        return {}

    def change_passphrase(self, passphrase: bytes, new_passphrase: bytes, cost: _Json) -> _Json:
        if not new_passphrase.strip():
            raise VaultError("an empty passphrase protects nothing; nothing was changed")
        self._vault.change_passphrase(passphrase, new_passphrase, convert(cost, Cost))
        return {}

    def unlock_with_keyring(self, bus: str) -> _Json:
        """Open the vault without a passphrase; ``problem`` says why the keyring that was added does not."""
        try:
            opened = open_with_keyring(self._file, bus)
        except KeyringError as error:
            return {"opened": False, "problem": str(error)}
        if opened is not None:
            with self._lock:
                self._open = opened
        return {"opened": opened is not None, "problem": ""}

    def add_keyring(self, bus: str) -> _Json:
        add_keyring(self._vault, bus)
        return {}

    def remove_keyring(self, bus: str) -> _Json:
        had, problem = remove_keyring(self._vault, bus)
        return {"had": had, "problem": problem}

    def export(self, target: str, passphrase: bytes, cost: _Json) -> _Json:
        return {"entries": self._vault.export(Path(target), passphrase, convert(cost, Cost))}

    def import_from(self, source: str, passphrase: bytes, replace: bool) -> _Json:
        return {"names": self._vault.import_from(Path(source), passphrase, replace_existing=replace)}

    def infos(self) -> _Json:
        return {"infos": [as_dict(info) for info in self._vault.infos()]}

    def hold(self, call: str, typed: bytes) -> _Json:
        """Keep a typed value for a call that was approved and has not run yet."""
        if not typed:
            raise VaultError("nothing was typed")
        while len(self._held) >= _MOST_HELD:
            self._held.pop(next(iter(self._held)))
        self._held[call] = typed
        return {}

    def store(
        self,
        name: str,
        destinations: list[str],
        in_body: bool = False,
        in_settings: bool = False,
        commands: Sequence[str] = (),
        kind: str = "secret",
        replace: bool = False,
        held: str = "",
        typed: bytes = b"",
    ) -> _Json:
        vault = self._vault
        value = self._held.pop(held, b"") if held else typed
        if held and not value:
            raise VaultError(f"nobody has typed the value of '{name}'; run: sestet secrets set {name}")
        uses = {"in_body": in_body, "in_settings": in_settings}
        patterns = [command_pattern(each) for each in commands]
        entry = new_entry("secret", value, destinations, **uses, commands=patterns)
        if commands:
            require_recognised(name, entry)
        if kind == "secp256k1":
            private = ciphers.from_hex(value.decode("latin-1"))
            if not ciphers.is_secp256k1(private):
                raise VaultError("this is not a private key: 64 hexadecimal digits are expected")
            entry = new_entry(kind, private)
        vault.put(name, entry, replace_existing=replace)
        return {"info": as_dict(vault.info(name))}

    def bind(
        self,
        name: str,
        destinations: list[str] | None = None,
        in_body: bool | None = None,
        in_settings: bool | None = None,
        commands: list[str] | None = None,
    ) -> _Json:
        """Change where a secret may go; None leaves a field as it is."""
        given = {"destinations": destinations, "in_body": in_body, "in_settings": in_settings}
        given["commands"] = None if commands is None else [command_pattern(each) for each in commands]
        changes = {field: value for field, value in given.items() if value is not None}
        entry = convert({**as_dict(self._entry(name, "secret")), **changes}, Entry)
        if commands:
            require_recognised(name, entry)
        self._vault.put(name, entry, replace_existing=True)
        return {"info": as_dict(self._vault.info(name))}

    def delete(self, name: str, kinds: list[str]) -> _Json:
        self._entry(name, *kinds)
        self._vault.delete(name)
        return {}

    def value(self, name: str, address: str) -> _Json:
        """A value for the settings: only what the person marked for them, for its own destination."""
        entry = self._entry(name, "secret")
        if not entry.in_settings:
            way_out = f"sestet secrets bind {name} --for-settings"
            raise VaultError(f"'{name}' is not meant for the settings; allow it with: {way_out}")
        require_destination(name, entry, address)
        return {"value": entry.content.decode()}

    def reveal(self, name: str, terminal: int) -> _Json:
        """Write a value on the person's terminal, and nowhere else."""
        if not os.isatty(terminal):
            raise VaultError("a value is shown at a terminal only")
        os.write(terminal, self._entry(name, "secret").content + b"\r\n")
        return {}

    def generate(self, name: str, kind: KeyKind) -> _Json:
        if kind not in get_args(KeyKind):
            raise VaultError(f"there is no kind of key '{kind}'; known: {', '.join(get_args(KeyKind))}")
        self._vault.generate(name, kind)
        return {"info": as_dict(self._vault.info(name))}

    def public_key(self, name: str) -> _Json:
        return {"public": ciphers.secp256k1_public(self._entry(name, "secp256k1").content).hex()}

    def sign_digest(self, name: str, digest: str) -> _Json:
        content = bytes.fromhex(digest)
        if len(content) != ciphers.KEY_BYTES:
            raise VaultError(f"a digest has 32 bytes, not {len(content)}")
        r, s = ciphers.secp256k1_sign(self._entry(name, "secp256k1").content, content)
        return {"r": hex(r), "s": hex(s)}

    def sign(self, name: str, text: str) -> _Json:
        signature = ciphers.ed25519_sign(self._entry(name, "ed25519").content, text.encode())
        return {"signature": signature.hex(), "public": self._vault.info(name).public}

    def verify(self, text: str, signature: str, public: str) -> _Json:
        return {
            "valid": ciphers.ed25519_verify(
                ciphers.from_hex(public), text.encode(), ciphers.from_hex(signature)
            )
        }

    def encrypt(self, name: str, text: str) -> _Json:
        key = self._entry(name, "aes256").content
        return {"sealed": b64encode(ciphers.seal(key, text.encode(), b"crypto_encrypt")).decode()}

    def decrypt(self, name: str, sealed: str, into: str) -> _Json:
        """Store the decrypted text as a secret without destinations."""
        try:
            key = self._entry(name, "aes256").content
            text = ciphers.unseal(key, b64decode(sealed, validate=True), b"crypto_encrypt")
        except (ciphers.SealError, ValueError):
            raise VaultError(f"this text was not encrypted with '{name}', or was changed since") from None
        self._vault.put(into, new_entry("secret", text))
        return {"info": as_dict(self._vault.info(into))}

    def fingerprints(self) -> _Json:
        multiplier, values = self._current_watch().fingerprints()
        return {"multiplier": multiplier, "values": values}

    def is_watched(self, suspects: list[str]) -> _Json:
        return {"watched": self._current_watch().holds_any(suspects)}

    def clean(self, text: str) -> _Json:
        """A text with references in the places of values."""
        with self._lock:
            watch = self._current_watch()
        return {"text": self._cleaned(watch, text)}

    def web_request(self, name: str, method: str, url: str, headers: dict[str, str], body: str) -> _Json:
        """Make a request with a secret in it; of the answer, no value comes back."""
        request = checked(WebRequest(method, url, headers, body))
        with self._lock:
            entry, watch = self._entry(name, "secret"), self._current_watch()
            require_destination(name, entry, url)
        secret = entry.content.decode()
        if any(sign < " " and sign != "\t" for sign in secret) or not secret.isascii():
            raise VaultError(f"'{name}' holds signs that no header can carry")
        status, received, content = send(request.filled(secret, in_body=entry.in_body))

        def shown(text: str) -> str:
            # A value that is too short to be watched is at least not repeated as it stands.
            return self._cleaned(watch, text.replace(secret, f"[{REFERENCE}{name}]"))

        return {
            "status": status,
            "headers": {shown(field): shown(value) for field, value in received.items()},
            "body": shown(content.decode("utf-8", "replace")),
        }

    def type_into_page(self, name: str, address: str, field: tuple[int, str, str], browser: int) -> _Json:
        """Put a value into one field of a page that may have it; the browser's own pipe carries it there."""
        entry = self._entry(name, "secret")
        require_destination(name, entry, address)
        require_recognised(name, entry, "page")
        type_into_field(browser, *field, entry.content.decode())
        return {}

    def check_command(self, name: str, command: str) -> _Json:
        """The words of a command line that may have the secret."""
        entry = self._entry(name, "secret")
        words = words_for(name, entry.commands, command)
        require_recognised(name, entry)
        return {"words": words}

    def offer(self, name: str, command: str) -> framing.Message:
        """The empty pipe of a command that may have the secret."""
        words = self.check_command(name, command)["words"]
        pipe, reader = self._pipes.open(name)
        return framing.Message({"pipe": pipe, "words": words}, [reader])

    def fill(self, pipe: str) -> _Json:
        """Put the value into the pipe of a command that has started."""
        with self._lock:
            value = self._entry(self._pipes.name_of(pipe), "secret").content
        self._pipes.fill(pipe, value)
        return {}

    def withdraw(self, pipe: str) -> _Json:
        self._pipes.close(pipe)
        return {}

    def _current_watch(self) -> Watch:
        """The watch over what the vault holds now."""
        stamp = self._vault.stamp
        if self._watch is None or self._watch[0] != stamp:
            values = [(name, each) for name, entry in self._vault.entries.items() for each in forms(entry)]
            self._watch = (stamp, Watch(values))
        return self._watch[1]

    def _cleaned(self, watch: Watch, text: str) -> str:
        cleaned = watch.clean(text)
        if cleaned.found:
            # One byte for each: processes can count in the same file without a lock.
            file = f"{self._file.path}{CAUGHT_SUFFIX}"
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            os.write(descriptor, b"." * len(cleaned.found))
            os.close(descriptor)
        return cleaned.text

    def _entry(self, name: str, *kinds: str) -> Entry:
        entry = self._vault.get(name)
        if kinds and entry.kind not in kinds:
            wanted = " or ".join(_KINDS[kind] for kind in kinds)
            raise VaultError(f"'{name}' is {_KINDS[entry.kind]}, not {wanted}")
        return entry


_KINDS = {
    "secret": "a secret",
    "aes256": "a key to encrypt with (aes256)",
    "ed25519": "a key to sign with (ed25519)",
    "secp256k1": "a wallet key (secp256k1)",
}
OPERATIONS: dict[str, Callable[..., _Json | framing.Message]] = {
    operation.__name__: operation
    for operation in (
        Broker.status,
        Broker.create,
        Broker.unlock,
        Broker.change_passphrase,
        Broker.add_keyring,
        Broker.remove_keyring,
        Broker.export,
        Broker.import_from,
        Broker.infos,
        Broker.hold,
        Broker.store,
        Broker.bind,
        Broker.delete,
        Broker.value,
        Broker.reveal,
        Broker.generate,
        Broker.public_key,
        Broker.sign_digest,
        Broker.sign,
        Broker.verify,
        Broker.encrypt,
        Broker.decrypt,
        Broker.fingerprints,
        Broker.is_watched,
        Broker.type_into_page,
        Broker.check_command,
        Broker.offer,
        Broker.withdraw,
    )
}
#: These may take a while, and hold the lock only while they look at the vault.
SLOW: dict[str, Callable[..., _Json]] = {
    operation.__name__: operation
    for operation in (Broker.clean, Broker.web_request, Broker.fill, Broker.unlock_with_keyring)
}


def _message(answer: _Json | framing.Message) -> framing.Message:
    return answer if isinstance(answer, framing.Message) else framing.Message(answer, [])
