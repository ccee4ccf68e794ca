"""The slot of the vault's file whose key lies in the keyring: opened, added and removed.

A kill at any moment leaves a slot that works, or none: the new key is in the keyring before the file names
it, and the old key goes afterwards.
"""

import os

from sestet.core.errors import VaultError
from sestet.services.vault import ciphers
from sestet.services.vault.keyring import KeyPlace, KeyringError, delete_keys, read_key, store_key
from sestet.services.vault.open_vault import OpenVault
from sestet.services.vault.vault_file import VaultFile, unwrap_with_keyring


def open_with_keyring(file: VaultFile, bus: str) -> OpenVault | None:
    """The vault, opened; None: it has no such slot. ``KeyringError``: the keyring does not open it."""
    contents = file.read()
    if contents.keyring_slot is None:
        return None
    key = unwrap_with_keyring(contents, read_key(KeyPlace(bus, contents.id, contents.keyring_slot.id)))
    if key is None:
        raise KeyringError("it holds a key that does not fit the vault")
    return OpenVault(file, key)


def add_keyring(vault: OpenVault, bus: str) -> None:
    """Let the keyring open the vault, too. It takes the place of another keyring."""
    place = KeyPlace(bus, vault.contents.id, os.urandom(16).hex())
    outer = ciphers.random_key()
    try:
        store_key(place, outer)
    except KeyringError as error:
        raise VaultError(f"the keyring cannot be used, and nothing was changed: {error}") from error
    try:
        before = vault.add_keyring(place.slot_id, outer)
    except VaultError:
        _try_to_delete(place)
        raise
    if before:
        _try_to_delete(place._replace(slot_id=before))


def remove_keyring(vault: OpenVault, bus: str) -> tuple[bool, str]:
    """Let no keyring open the vault. Returns whether one did, and why its key may still be there."""
    had = vault.remove_keyring()
    return had, _try_to_delete(KeyPlace(bus, vault.contents.id)) if had else ""


def _try_to_delete(place: KeyPlace) -> str:
    """Remove a key that opens nothing any more. Returns why that was not possible."""
    try:
        delete_keys(place)
    except KeyringError as error:
        return str(error)
    return ""
