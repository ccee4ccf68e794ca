"""A vault whose passphrase costs little to try, for tests."""

from pathlib import Path

from sestet.services.vault.open_vault import OpenVault, new_entry
from sestet.services.vault.sources import Cost
from sestet.services.vault.vault_file import VaultFile, unwrap_with_keyring

CHEAP = Cost(memory_kib=8, passes=1, lanes=1)
PASSPHRASE = b"correct horse"
#: The key that the keyring keeps, in tests without a keyring.
OUTER = bytes(range(32))


def make_vault(path: Path, **secrets: bytes) -> OpenVault:
    vault = OpenVault.create(VaultFile(path), PASSPHRASE, CHEAP)
    for name, value in secrets.items():
        vault.put(name, new_entry("secret", value, ["https://api.example.com"]))
    return vault


def make_vault_with_keyring(path: Path, **secrets: bytes) -> OpenVault:
    """The same, and the key ``OUTER`` opens it, too."""
    vault = make_vault(path, **secrets)
    vault.add_keyring("slot", OUTER)
    return vault


def open_with_outer(path: Path) -> OpenVault | None:
    """The vault, opened by its slot for the keyring; None: that slot does not open it."""
    file = VaultFile(path)
    key = unwrap_with_keyring(file.read(), OUTER)
    return OpenVault(file, key) if key else None
