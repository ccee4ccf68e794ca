"""Offers to move a key that was typed in the set-up from the settings into the vault."""

from pathlib import Path

from rich.console import Console

from sestet.assembly import vault_in
from sestet.cli.setup_prompts import ask, note
from sestet.cli.vault_prompts import unlock_or_create
from sestet.config import data_directory, settings_from
from sestet.config.edit import edit_settings
from sestet.core.errors import PersonError
from sestet.services.vault.entries import REFERENCE, entry_name, origin
from sestet.services.vault.setting_keys import address_of
from sestet.setup.choices import Choice


def offer_vault(console: Console, file: Path, choice: Choice, key: str) -> None:
    """Ask the person, and move the key if they want that."""
    said = ask("Keep the key in the vault, encrypted, instead of the settings? y: yes. Enter: no ")
    if said.casefold() not in ("y", "yes"):
        return
    provider = settings_from({"providers": {choice.provider: dict(choice.entry)}}).providers[choice.provider]
    vault, host = vault_in(data_directory()), origin(address_of(provider))
    try:
        name = entry_name(choice.provider)
        unlock_or_create(vault)
        vault.store(name, key.encode(), [host], in_settings=True, replace=True)
        edit_settings(file, {("providers", choice.provider, "apiKey"): f"{REFERENCE}{name}"})
    except PersonError as error:
        note(console, f"The key stays in the settings: {error}", "yellow")
    else:
        note(console, f"The key is in the vault, for {host} alone; the settings say {REFERENCE}{name}.\n")
    finally:
        vault.close()
