"""A confusion matrix as a drawing: a row for each expected, a column for each given."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from sestet.cli.show.clean import one_line
from sestet.evals.figures import names_in

_CELL_WIDTH = 58
_CELL_HEIGHT = 36
_EDGE = 8
#: Room for the names of the columns, which stand at a slant.
_TOP = 92
_RIGHT = 80
_LETTER = 7.4
_LONGEST_NAME = 24
_BASELINE = 5
#: A share is never so faint that nobody sees the colour.
_FAINTEST = 0.12


def draw_matrix(matrix: Mapping[str, Mapping[str, int]]) -> str:
    """The matrix as an SVG element; its colours are classes of the page around it."""
    names = names_in(matrix)
    left = _EDGE * 2 + max(len(one_line(name, _LONGEST_NAME)) for name in (*matrix, "expected")) * _LETTER
    width = left + len(names) * _CELL_WIDTH + _RIGHT
    height = _TOP + len(matrix) * _CELL_HEIGHT + _EDGE
    total = sum(sum(row.values()) for row in matrix.values())
    right = sum(row.get(expected, 0) for expected, row in matrix.items())
    title = f"Confusion matrix: {right} of {total} requests on the diagonal"
    return "\n".join(
        [
            f'<svg class="matrix" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}"'
            f' role="img" aria-label="{escape(title)}">',
            f"<title>{escape(title)}</title>",
            f'<text class="axis" x="{_EDGE}" y="{_TOP - 30}">given →</text>',
            f'<text class="axis" x="{_EDGE}" y="{_TOP - 12}">expected ↓</text>',
            *_column_names(names, left),
            *(
                line
                for number, (expected, row) in enumerate(matrix.items())
                for line in _row(expected, row, names, left, _TOP + number * _CELL_HEIGHT)
            ),
            "</svg>",
        ]
    )


def _column_names(names: Sequence[str], left: float) -> Iterator[str]:
    for number, name in enumerate(names):
        x, y = left + (number + 0.4) * _CELL_WIDTH, _TOP - 10
        yield (
            f'<text class="column" transform="translate({x:.1f} {y}) rotate(-40)">'
            f"{escape(one_line(name, _LONGEST_NAME))}</text>"
        )


def _row(
    expected: str, row: Mapping[str, int], names: Sequence[str], left: float, top: float
) -> Iterator[str]:
    middle = top + _CELL_HEIGHT / 2 + _BASELINE
    total = sum(row.values())
    yield (
        f'<text class="row" x="{left - _EDGE:.1f}" y="{middle:.1f}" text-anchor="end">'
        f"{escape(one_line(expected, _LONGEST_NAME))}</text>"
    )
    for number, given in enumerate(names):
        count = row.get(given, 0)
        kind = "none" if not count else "right" if given == expected else "wrong"
        strength = max(_FAINTEST, count / total) if count else 1
        x = left + number * _CELL_WIDTH
        told = f"{expected} given to {given}: {count} of {total}"
        yield f'<g class="{kind}"><title>{escape(one_line(told, 200))}</title>'
        yield (
            f'<rect x="{x + 1:.1f}" y="{top + 1:.1f}" width="{_CELL_WIDTH - 2}" height="{_CELL_HEIGHT - 2}"'
            f' rx="3" fill-opacity="{strength:.2f}"/>'
        )
        shown = (
            f'<text x="{x + _CELL_WIDTH / 2:.1f}" y="{middle:.1f}" text-anchor="middle">{count or "·"}</text>'
        )
        yield f"{shown}</g>"
