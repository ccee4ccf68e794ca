"""Opens what a command needs: the settings, the assistant, the log."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

import typer

from sestet import app
from sestet.cli.show.clean import clean
from sestet.config import Loaded, Settings, data_directory, load_settings
from sestet.models.choice import check_models
from sestet.storage.database import FILE_NAME, Database

LOG_NAME = "sestet.log"
_LOG_BYTES = 1_000_000
_Result = TypeVar("_Result")


def load(context: typer.Context, file: Path | None = None) -> Loaded:
    """The settings from this file, the one that ``--config`` names, or the first that is found."""
    loaded = load_settings(file or cast("Path | None", context.obj))
    if loaded.workspace and (notice := loaded.workspace.notice):
        warn_once(notice)
    # A provider that is not there is a mistake in the settings too: found before anything is written.
    check_models(loaded.settings)
    return loaded


#: Lines that stand on stderr already: the settings may be loaded several times by one command.
_warned: set[str] = set()


def warn_once(text: str) -> None:
    """One line on stderr, unless this command has said it."""
    if text not in _warned:
        _warned.add(text)
        typer.echo(f"warning: {clean(text)}", err=True)


def has_warned(text: str) -> bool:
    return text in _warned


@asynccontextmanager
async def open_app(context: typer.Context) -> AsyncGenerator[app.App]:
    """The assistant of these settings. Settings with a mistake end it before anything is written."""
    loaded = load(context)
    _keep_log()
    async with app.open(loaded) as opened:
        yield opened


class Storage(NamedTuple):
    settings: Settings
    database: Database


@contextmanager
def open_storage(context: typer.Context) -> Generator[Storage]:
    """The database of these settings, for what needs no agents."""
    settings = load(context).settings
    _keep_log()
    database = Database(data_directory() / FILE_NAME, power=settings.storage.durability == "power")
    try:
        yield Storage(settings, database)
    finally:
        database.close()


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
    """An error may repeat what a server or a file said, and a log is read on a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return clean(super().format(record))


def _keep_log() -> None:
    """What goes wrong inside is written to a file and not into the conversation."""
    # A log that cannot be written must not disturb the conversation either.
    logging.raiseExceptions = False
    file = data_directory() / LOG_NAME
    handler = _PrivateFile(file, maxBytes=_LOG_BYTES, backupCount=1, encoding="utf-8", delay=True)
    handler.setFormatter(_HarmlessLines("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
