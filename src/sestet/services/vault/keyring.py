"""The keyring of the desktop, which keeps the key of one slot: the Secret Service over D-Bus.

Only the broker calls this. A keyring may be absent or locked, or it may hang: each call ends within
``PATIENCE`` and says why it failed. No dialogue of the desktop is opened: nobody may be there to answer it.
"""

import socket
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sestet.core.errors import VaultError

if TYPE_CHECKING:
    from jeepney.io.blocking import DBusConnection  # pyright: ignore[reportMissingTypeStubs] - it has none
    from secretstorage import Item

#: Seconds for one conversation with the keyring, with the start of its service.
PATIENCE = 5.0
LABEL = "Sestet vault"
_EXTRA = "the extra 'keyring' is not installed: pip install '.[keyring]' in the clone"
_LOCKED = "it is locked; log in to your desktop, or unlock it there"
_Result = TypeVar("_Result")


class KeyringError(VaultError):
    """The keyring could not be used, and why: a clause whose subject is the keyring."""


class KeyPlace(NamedTuple):
    """Where a key lies."""

    #: The address of the session bus; empty: there is none.
    bus: str
    vault_id: str
    slot_id: str = ""

    @property
    def attributes(self) -> Mapping[str, str]:
        """What the keyring finds the key by; without a slot's id, the keys of all slots of the vault."""
        slot = {"slot": self.slot_id} if self.slot_id else {}
        return {"application": "sestet", "vault": self.vault_id, **slot}


def store_key(place: KeyPlace, key: bytes) -> None:
    """Put a key into the default keyring, and read it back."""

    def store(connection: "DBusConnection") -> bytes:
        from secretstorage import get_collection_by_alias

        collection = get_collection_by_alias(connection, "default")
        # As text: some keyrings keep nothing else.
        item = collection.create_item(LABEL, dict(place.attributes), b64encode(key), replace=True)
        return item.get_secret()

    if _within_patience(place.bus, store) != b64encode(key):
        raise KeyringError("it did not keep the key as it is")


def read_key(place: KeyPlace) -> bytes:
    """The key of a slot; ``KeyringError``: it cannot be had now."""

    def read(connection: "DBusConnection") -> bytes:
        for item in _items(connection, place):
            return item.get_secret()
        raise _not_found(connection)

    try:
        return b64decode(_within_patience(place.bus, read), validate=True)
    except ValueError as error:
        raise KeyringError("it holds something else in the place of the vault's key") from error


def delete_keys(place: KeyPlace) -> None:
    """Remove the key of a slot, or of all slots of the vault; without such a key, nothing is done."""

    def delete(connection: "DBusConnection") -> None:
        for item in list(_items(connection, place)):
            item.delete()

    _within_patience(place.bus, delete)


def _items(connection: "DBusConnection", place: KeyPlace) -> Iterator["Item"]:
    from secretstorage import search_items

    return search_items(connection, dict(place.attributes))


def _not_found(connection: "DBusConnection") -> KeyringError:
    """Why the keyring has no such key: some find nothing while they are locked."""
    from secretstorage import get_all_collections

    if any(collection.is_locked() for collection in get_all_collections(connection)):
        return KeyringError(_LOCKED)
    return KeyringError("it does not hold the key of this vault")


def _within_patience(bus: str, work: Callable[["DBusConnection"], _Result]) -> _Result:
    """The result of ``work`` with a connection to the bus.

    A thread of its own does it, because the library waits for answers without a limit.
    """
    if not bus:
        raise KeyringError("it was not found: this session has no D-Bus (DBUS_SESSION_BUS_ADDRESS)")
    done: SimpleQueue[_Result | KeyringError] = SimpleQueue()
    open_channels: list[socket.socket] = []

    def run() -> None:
        try:
            import jeepney.bus  # pyright: ignore[reportMissingTypeStubs] - it has none
            import jeepney.io.blocking  # pyright: ignore[reportMissingTypeStubs] - it has none

            addresses: Any = jeepney.bus  # Any: the library has no types
            blocking: Any = jeepney.io.blocking
            with closing(blocking.prep_socket(addresses.get_bus(bus), timeout=PATIENCE)) as channel:
                open_channels.append(channel)
                with closing(blocking.DBusConnection(channel)) as connection:
                    done.put(work(connection))
        except Exception as error:  # the other side of the bus may send anything, which the library trusts
            done.put(_explained(error))

    threading.Thread(target=run, daemon=True).start()
    try:
        result = done.get(timeout=PATIENCE)
    except Empty:
        for channel in open_channels:
            # Wakes the thread, so that it ends.
            with suppress(OSError):
                channel.shutdown(socket.SHUT_RDWR)
        raise KeyringError(f"it did not answer within {PATIENCE:.0f} seconds") from None
    if isinstance(result, KeyringError):
        raise result
    return result


def _explained(error: Exception) -> KeyringError:
    """What went wrong, in words of our own: texts from the bus are not shown."""
    if isinstance(error, KeyringError):
        return error
    if isinstance(error, ModuleNotFoundError):
        return KeyringError(_EXTRA)
    if isinstance(error, TimeoutError):
        return KeyringError("it was not found: the session's D-Bus does not answer")
    if isinstance(error, OSError):
        return KeyringError(f"it was not found: the session's D-Bus cannot be reached ({error.strerror})")
    from secretstorage import (
        ItemNotFoundException,
        LockedException,
        PromptDismissedException,
        SecretServiceNotAvailableException,
    )

    if isinstance(error, LockedException | PromptDismissedException):
        return KeyringError(_LOCKED)
    if isinstance(error, SecretServiceNotAvailableException):
        return KeyringError("it was not found: no keyring runs in this session")
    if isinstance(error, ItemNotFoundException):
        return KeyringError("it has no default keyring yet; your desktop's program for passwords makes one")
    return KeyringError(f"it gave an answer that makes no sense ({type(error).__name__})")
