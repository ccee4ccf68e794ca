"""Opens the stored data alone, for commands that need no agents."""

from collections.abc import Generator
from contextlib import contextmanager

import typer

from sestet.cli.assistant import keep_log, load
from sestet.data import Data, open_data


@contextmanager
def open_stored(context: typer.Context) -> Generator[Data]:
    loaded = load(context)
    keep_log()
    with open_data(loaded.settings, loaded.file) as data:
        yield data
