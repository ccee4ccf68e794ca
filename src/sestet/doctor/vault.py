"""Checks of the vault: its file, its broker, the scanner, and the keys that settings take from it."""

from sestet.assembly import unlock_unattended, vault_in
from sestet.config import Settings, data_directory
from sestet.core.errors import ConfigError, PersonError, VaultError
from sestet.core.pages import page
from sestet.doctor.check import Check
from sestet.services.vault.setting_keys import keys_in_vault, with_vault_keys
from sestet.services.vault.vault import Status, Vault

_NAME = "vault"
_SWAP = "its memory may be written to swap space: your user may lock too little memory (ulimit -l)"
_DAMAGED = f"put a whole copy in its place: see {page('vault')}"
_UNLOCK = f"SESTET_PASSPHRASE_FILE unlocks it without a question: see {page('vault')}"
_KEYRING = (
    "the passphrase opens it still; 'sestet secrets add-keyring' connects it with this desktop's keyring, "
    "'sestet secrets remove-keyring' with none"
)


def check_vault(settings: Settings) -> tuple[list[Check], Settings | None]:
    """The state of the vault, and the settings with the keys in it; None if a key cannot be had."""
    try:
        vault = vault_in(data_directory())
    except ConfigError:
        # The check of the data directory tells it.
        return [], settings
    try:
        return _check(vault, settings)
    except OSError as error:
        detail = f"{vault.path} cannot be looked at: {error.strerror}"
        return [Check(_NAME, "problem", detail, "let your user read that directory")], settings
    finally:
        vault.close()


def _check(vault: Vault, settings: Settings) -> tuple[list[Check], Settings | None]:
    wanted = list(keys_in_vault(settings))
    if not vault.exists():
        found = [Check(_NAME, "ok", "there is none yet; 'sestet secrets set NAME' makes one")]
    else:
        try:
            found = _check_file(vault)
        except VaultError as error:
            found = [Check(_NAME, "problem", str(error), _UNLOCK if error.locked else _DAMAGED)]
    if not wanted:
        return found, settings
    try:
        return found, with_vault_keys(settings, vault, unlock_unattended)
    except ConfigError as error:
        return [*found, *(Check(_NAME, "problem", problem, _UNLOCK) for problem in error.problems)], None


def _check_file(vault: Vault) -> list[Check]:
    # The file alone can be checked without the passphrase. The module loads the ciphers.
    from sestet.services.vault.vault_file import VaultFile

    entries = len(VaultFile(vault.path).read().entries)
    try:
        vault.unlock_unattended()
    except PersonError as error:
        return [Check(_NAME, "problem", f"it cannot be unlocked: {error}", "correct the passphrase file")]
    found = [Check(_NAME, "ok", _described(vault, vault.status(), entries))]
    # Also if a passphrase file has opened it: the keyring is to be trusted to work.
    if not vault.unlock_with_keyring() and vault.keyring_problem:
        found.append(Check("keyring", "warning", vault.keyring_problem, _KEYRING))
    return found


def _described(vault: Vault, status: Status, entries: int) -> str:
    caught = vault.caught()
    return "; ".join(
        (
            f"{entries} {'entry' if entries == 1 else 'entries'}, {'open' if status.unlocked else 'locked'}",
            "no other process of yours can read its broker"
            if status.untraceable
            else "its broker can be traced",
            *(() if status.memory_locked else (_SWAP,)),
            f"the scanner has caught a value {caught:,} {'time' if caught == 1 else 'times'}",
            "the keyring of the desktop opens it, too"
            if vault.has_keyring()
            else "the keyring of the desktop is not used",
        )
    )
