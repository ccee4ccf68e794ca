"""Lets the vault's broker ask the person at the terminal for a passphrase or a value, which is not shown."""

import os
import sys
import termios
from collections.abc import Generator
from contextlib import contextmanager

import typer

from sestet.config.load import PASSPHRASE_FILE
from sestet.core.errors import VaultError
from sestet.services.vault.sources import Source
from sestet.services.vault.vault import Vault, open_terminal

_TRIES = 3
#: Their place among the attributes of a terminal.
_LOCAL_MODES = 3


@contextmanager
def terminal() -> Generator[int]:
    """The person's terminal, also if stdin or stdout is a pipe."""
    descriptor = open_terminal()
    if descriptor is None:
        raise VaultError(
            "not a terminal: write the passphrase into a file that only you can read, and set "
            f"{PASSPHRASE_FILE} to its path",
            locked=True,
        )
    try:
        with _unseen(descriptor):
            yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _unseen(descriptor: int) -> Generator[None]:
    """Also what is typed ahead, while a key is derived from the passphrase, does not appear on the screen."""
    before = termios.tcgetattr(descriptor)
    quiet = [*before]
    quiet[_LOCAL_MODES] &= ~termios.ECHO
    termios.tcsetattr(descriptor, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, before)


def unlock(vault: Vault) -> None:
    """Open the vault, with a question at the terminal if that is needed."""
    if vault.unlock_unattended(again=True):
        return
    if not vault.exists():
        raise VaultError("there is no vault yet; 'sestet secrets set NAME' makes one", locked=True)
    if vault.keyring_problem:
        typer.echo(f"The vault is locked: {vault.keyring_problem}", err=True)
    with terminal() as descriptor:
        for left in reversed(range(_TRIES)):
            try:
                vault.unlock(Source("terminal", prompt="Passphrase of the vault: "), terminal=descriptor)
                return
            except VaultError as error:
                if not error.wrong or not left:
                    raise
                typer.echo(str(error), err=True)


def unlock_or_create(vault: Vault) -> None:
    """The same; without a vault, one is made."""
    if vault.exists():
        unlock(vault)
    elif vault.passphrase_file is not None:
        vault.create(Source("file", path=str(vault.passphrase_file.absolute())))
    else:
        with terminal() as descriptor:
            typer.echo(
                "There is no vault yet. Nobody can open it without the passphrase of your choice.", err=True
            )
            source = Source("terminal", prompt="New passphrase: ", twice=True)
            vault.create(source, terminal=descriptor)


@contextmanager
def value_source(prompt: str) -> Generator[tuple[Source, int]]:
    """Where a value comes from: typed at the terminal, or everything on stdin."""
    if not sys.stdin.isatty():
        yield Source("stream"), sys.stdin.fileno()
        return
    with terminal() as descriptor:
        yield Source("terminal", prompt=prompt), descriptor


def type_held_value(vault: Vault, key: str, name: str) -> None:
    """Let the person type a value for a call that they approve; the broker keeps it until the call runs."""
    unlock_or_create(vault)
    with terminal() as descriptor:
        vault.hold(key, Source("terminal", prompt=f"  Value of '{name}', unseen: "), descriptor=descriptor)
