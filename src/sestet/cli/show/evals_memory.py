"""The figures of ``sestet eval memory`` on the terminal."""

from collections.abc import Mapping, Sequence
from typing import cast

from rich.console import Console
from rich.text import Text

from sestet.cli.show.console import print_line
from sestet.core.clean import one_line

_WIDTH = 36
_MISS_WIDTH = 160


def print_month(console: Console, figures: Mapping[str, object], misses: Mapping[str, Sequence[str]]) -> None:
    """Each figure on a line, then what went wrong."""
    _print_figures(console, figures, "")
    for what, messages in misses.items():
        print_line(console, Text(""))
        print_line(console, Text(f"{what}: {len(messages)}"))
        for message in messages:
            print_line(console, Text(f"  {one_line(message, _MISS_WIDTH)}"))


def _print_figures(console: Console, figures: Mapping[str, object], indent: str) -> None:
    for name, figure in figures.items():
        if not isinstance(figure, dict):
            print_line(console, Text(f"{indent}{name:<{_WIDTH}} {figure}"))
            continue
        found = cast("Mapping[str, object]", figure)
        if "share" in found:
            line = f"{indent}{name:<{_WIDTH}} {found['right']} of {found['of']} ({found['share']})"
            print_line(console, Text(line))
        else:
            print_line(console, Text(f"{indent}{name}:"))
            _print_figures(console, found, f"{indent}  ")
