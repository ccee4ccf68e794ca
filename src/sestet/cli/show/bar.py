"""A bar for work that takes a while."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeAlias

from sestet.cli.show.clean import one_line
from sestet.cli.show.console import open_console

#: Is told how much is done, of how much, and what is at hand.
Watch: TypeAlias = Callable[[int, int, str], None]

_NAME_WIDTH = 40


@contextmanager
def open_bar(what: str, *, hidden: bool = False) -> Generator[Watch | None]:
    """A bar on stderr, where there is somebody to see it."""
    console = open_console(stderr=True)
    if hidden or not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # Without markup: a name may have brackets of its own.
    name_column = TextColumn("{task.fields[name]}", markup=False)
    with Progress(*columns, name_column, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, name="")

        def watch(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, name=one_line(name, _NAME_WIDTH))

        yield watch
