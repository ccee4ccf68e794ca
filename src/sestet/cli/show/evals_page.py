"""A run of ``sestet eval`` as one page: no script, nothing loaded from elsewhere, every text escaped."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from sestet.cli.show.evals import (
    Table,
    cost_table,
    count,
    percent,
    remark,
    score_table,
    subject_line,
    tool_table,
    what_went_wrong,
)
from sestet.core.clean import one_line
from sestet.evals.figures import confusion_of, confusions_of, names_in, score
from sestet.evals.runs import Result, Run

_STYLE = Path(__file__).with_name("evals_page.css")
#: The browser runs and fetches nothing, even if a request of the run holds code.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_TEXT_WIDTH = 500

_HEIGHT = 36
_WIDE, _NARROW = 58, 42
#: With more columns than this they are narrow.
_MANY = 12
_EDGE = 8
#: The room of a letter: along a line, and upwards in the slanted names of the columns.
_LETTER, _SLANTED = 7.8, 5.6
_LONGEST_NAME = 30
_BASELINE = 5
#: The strength of the colour for the smallest share and for a whole row: visible, and readable through.
_FAINT, _FULL = 0.22, 0.65


def render_page(run: Run) -> str:
    """The whole page."""
    head = subject_line(run.info)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            f"<title>{_text(head)}</title>",
            f"<style>\n{_STYLE.read_text(encoding='utf-8')}</style>",
            "</head>",
            "<body>",
            *_body(run, head),
            "</body>",
            "</html>",
            "",
        ]
    )


def _body(run: Run, head: str) -> Iterator[str]:
    total = score(run.results)
    yield f"<h1>{percent(total.accuracy)} of {count(total.n, 'request')} right</h1>"
    left = run.info.cases - total.n
    yield f'<p class="about">{_text(head)}{f" · {left} not tried yet" if left else ""}</p>'
    if not run.results:
        return
    yield from _table(score_table(run))
    if run.info.eval == "tools":
        yield "<h2>Tools</h2>"
        yield from _table(tool_table(run.results))
    if run.info.eval in ("routing", "tools"):
        yield "<h2>Confusion matrix</h2>"
        yield f'<div class="wide">{draw_matrix(confusion_of(run.results))}</div>'
    yield "<h2>Time and cost by route</h2>"
    yield from _table(cost_table(run))
    if total.right < total.n:
        yield "<h2>What went wrong</h2>"
        yield from _mistakes(run)


def _mistakes(run: Run) -> Iterator[str]:
    wrong = [result for result in run.results if not result.right]
    if run.info.eval == "newcomer":
        yield from _failures("replies", wrong)
        return
    yield from _confusions(run.results)
    yield from _failures("wrong arguments", [result for result in wrong if result.given == result.expected])


def _table(table: Table) -> Iterator[str]:
    yield '<div class="wide"><table>'
    yield f"<tr>{''.join(_cell('th', cell, n < table.texts) for n, cell in enumerate(table.head))}</tr>"
    for number, row in enumerate(table.rows, 1):
        kind = ' class="total"' if number == len(table.rows) else ""
        yield f"<tr{kind}>{''.join(_cell('td', cell, n < table.texts) for n, cell in enumerate(row))}</tr>"
    yield "</table></div>"


def _cell(tag: str, text: str, is_text: bool) -> str:
    kind = ' class="text"' if is_text else ""
    return f"<{tag}{kind}>{_text(text)}</{tag}>"


def _confusions(results: Sequence[Result]) -> Iterator[str]:
    for pair in confusions_of(results):
        head = f"{pair.expected} taken for {pair.given}"
        yield f'<div><span class="wrong-route">{_text(head)}</span>: {len(pair.results)}</div>'
        yield '<ul class="requests">'
        for result in pair.results:
            yield f'<li>{_text(result.request)} <span class="quiet">{_text(remark(result))}</span></li>'
        yield "</ul>"


def _failures(title: str, results: Sequence[Result]) -> Iterator[str]:
    """Results that a word alone does not describe."""
    if not results:
        return
    yield f'<div><span class="wrong-route">{title}</span>: {len(results)}</div><ul class="requests">'
    for result in results:
        yield f'<li>{_text(result.request)} <span class="quiet">{_text(what_went_wrong(result))}</span></li>'
    yield "</ul>"


def _text(text: str) -> str:
    return escape(one_line(text, _TEXT_WIDTH))


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
