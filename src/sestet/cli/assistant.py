"""Opens for a command what it needs: the settings, the assistant, and the log."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TypeVar, cast

import typer

from sestet import app
from sestet.cli.show.console import echo
from sestet.cli.vault_prompts import unlock
from sestet.config import Loaded, data_directory, load_settings
from sestet.core.clean import clean
from sestet.core.masking import mask_addresses
from sestet.models.choice import check_models

LOG_NAME = "sestet.log"
_LOG_BYTES = 1_000_000
_Result = TypeVar("_Result")


def load(context: typer.Context, file: Path | None = None) -> Loaded:
    """The settings from this file, the one that ``--config`` names, or the first that is found."""
    loaded = load_settings(file or cast("Path | None", context.obj))
    if loaded.workspace and (notice := loaded.workspace.notice):
        warn_once(notice)
    # A provider that does not exist is a mistake in the settings too: report it before anything is written.
    check_models(loaded.settings)
    return loaded


#: Warnings that this command has printed: it may load the settings several times.
_warned: set[str] = set()


def warn_once(text: str) -> None:
    """Print a warning on stderr, unless this command has printed it before."""
    if text not in _warned:
        _warned.add(text)
        echo(f"warning: {clean(mask_addresses(text))}", err=True)


def has_warned(text: str) -> bool:
    return text in _warned


@asynccontextmanager
async def open_app(context: typer.Context) -> AsyncGenerator[app.App]:
    """The assistant of these settings. A mistake in them raises before anything is written."""
    loaded = load(context)
    keep_log()
    async with app.open(loaded, unlock=unlock) as opened:
        yield opened


def run(work: Coroutine[object, object, _Result]) -> _Result:
    return asyncio.run(work)


class _PrivateFile(RotatingFileHandler):
    """A log that only its owner can read, made when the first line is written."""

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        return open(descriptor, "a", encoding="utf-8", errors="replace")


class _HarmlessLines(logging.Formatter):
    """An error may repeat text of a server or a file, and a log is read on a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return clean(mask_addresses(super().format(record)))


def keep_log() -> None:
    """Write warnings and errors to a file instead of into the conversation."""
    # A log that cannot be written must not disturb the conversation either.
    logging.raiseExceptions = False
    file = data_directory() / LOG_NAME
    handler = _PrivateFile(file, maxBytes=_LOG_BYTES, backupCount=1, encoding="utf-8", delay=True)
    handler.setFormatter(_HarmlessLines("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
