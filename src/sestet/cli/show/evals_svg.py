"""A confusion matrix as a drawing: a row for each expected, a column for each given."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from sestet.cli.show.clean import one_line
from sestet.evals.figures import names_in

_HEIGHT = 36
_WIDE, _NARROW = 58, 42
#: With more columns than this they are narrow.
_MANY = 12
_EDGE = 8
#: Room for a letter: along a line, and upwards in the names of the columns, which stand at a slant.
_LETTER, _SLANTED = 7.8, 5.6
_LONGEST_NAME = 30
_BASELINE = 5
#: How strong the colour of a small share and of a whole row is: seen in both, and readable through both.
_FAINT, _FULL = 0.22, 0.65


class _Grid(NamedTuple):
    """Where the cells are."""

    names: Sequence[str]
    left: float
    top: float
    cell: float


def draw_matrix(matrix: Mapping[str, Mapping[str, int]]) -> str:
    """The matrix as an SVG element; its colours are classes of the page around it."""
    names = names_in(matrix)
    longest = max(len(_short(name)) for name in (*names, "expected ↓"))
    cell = _NARROW if len(names) > _MANY else _WIDE
    grid = _Grid(names, 2 * _EDGE + longest * _LETTER, 3 * _EDGE + longest * _SLANTED, cell)
    # The last name leans out over the last column.
    width = grid.left + len(names) * cell + longest * _LETTER * 0.6
    height = grid.top + len(matrix) * _HEIGHT + _EDGE
    total = sum(sum(row.values()) for row in matrix.values())
    right = sum(row.get(expected, 0) for expected, row in matrix.items())
    title = f"Confusion matrix: {right} of {total} requests on the diagonal"
    lines = [
        f'<svg class="matrix" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}"'
        f' height="{height:.0f}" role="img" aria-label="{title}">',
        f"<title>{title}</title>",
        f'<text class="axis" x="{_EDGE}" y="{grid.top - 30:.1f}">given →</text>',
        f'<text class="axis" x="{_EDGE}" y="{grid.top - 12:.1f}">expected ↓</text>',
        *_column_names(grid),
    ]
    for number, (expected, row) in enumerate(matrix.items()):
        lines += _row(expected, row, grid, grid.top + number * _HEIGHT)
    return "\n".join([*lines, "</svg>"])


def _column_names(grid: _Grid) -> Iterator[str]:
    for number, name in enumerate(grid.names):
        x, y = grid.left + (number + 0.4) * grid.cell, grid.top - 10
        turned = f'transform="translate({x:.1f} {y:.1f}) rotate(-40)"'
        yield f'<text class="column" {turned}>{escape(_short(name))}</text>'


def _row(expected: str, row: Mapping[str, int], grid: _Grid, top: float) -> Iterator[str]:
    line = top + _HEIGHT / 2 + _BASELINE
    name = escape(_short(expected))
    yield f'<text x="{grid.left - _EDGE:.1f}" y="{line:.1f}" text-anchor="end">{name}</text>'
    total = sum(row.values())
    for number, given in enumerate(grid.names):
        count = row.get(given, 0)
        kind = "none" if not count else "right" if given == expected else "wrong"
        told = escape(f"{_short(expected)} given to {_short(given)}: {count} of {total}")
        strength = _FAINT + (_FULL - _FAINT) * count / total
        x, width = grid.left + number * grid.cell, grid.cell - 2
        yield f'<g class="{kind}"><title>{told}</title>'
        yield (
            f'<rect x="{x + 1:.1f}" y="{top + 1:.1f}" width="{width}" height="{_HEIGHT - 2}" rx="3"'
            f' fill-opacity="{strength:.2f}"/>'
        )
        middle = x + grid.cell / 2
        yield f'<text x="{middle:.1f}" y="{line:.1f}" text-anchor="middle">{count or "·"}</text></g>'


def _short(name: str) -> str:
    return one_line(name, _LONGEST_NAME)
