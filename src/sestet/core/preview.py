"""What one call would change, found before the person is asked."""

from typing import NamedTuple

from sestet.core.record import Record


class DiffLine(NamedTuple):
    """One line of a diff. The mark is ``+``, ``-`` or a blank, and ``@`` for a heading."""

    mark: str
    text: str


class Changes(Record):
    """What a call would change, for the person to see; recorded with the question or with the call."""

    lines: tuple[DiffLine, ...] = ()
    #: How many further lines are not shown.
    left_out: int = 0
    #: A mark of what was found. The tool gets it back, and does nothing if it finds something else by then.
    basis: str = ""
