"""Calls of the vault for tools: in a thread, with the vault unlocked if nobody has to be asked for that."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from sestet.core.errors import ToolError, VaultError
from sestet.services.vault.vault import Vault

_Result = TypeVar("_Result")
_LOCKED = (
    "the vault is locked: /unlock opens it in a conversation; without a terminal, SESTET_PASSPHRASE_FILE "
    "names a file with the passphrase"
)
_NONE = "there is no vault yet: 'sestet secrets set NAME' makes one"


async def ask_vault(vault: Vault, work: Callable[[], _Result]) -> _Result:
    """Do something that needs the vault; every refusal becomes a ``ToolError``."""

    def unlocked() -> _Result:
        vault.unlock_unattended()
        return work()

    try:
        return await asyncio.to_thread(unlocked)
    except VaultError as error:
        if error.locked:
            raise ToolError(_LOCKED if vault.exists() else _NONE) from error
        raise ToolError(str(error)) from error
