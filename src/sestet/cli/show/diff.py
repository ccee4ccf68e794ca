"""A diff in colours: what a call adds and removes."""

from typing import NamedTuple

from sestet.core.clean import reveal
from sestet.core.preview import Changes

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


class ShownLine(NamedTuple):
    text: str
    style: str


def diff_lines(changes: Changes, most: int) -> list[ShownLine]:
    """The first lines of a diff, and a note on the others. Invisible characters are written out."""
    shown = [
        ShownLine(f"{line.mark} {reveal(line.text)}", _STYLES.get(line.mark, ""))
        for line in changes.lines[:most]
    ]
    left = changes.left_out + len(changes.lines) - len(shown)
    note = [ShownLine(f"… {left:,} more line{'' if left == 1 else 's'}", "dim")] if left else []
    return [*shown, *note]
