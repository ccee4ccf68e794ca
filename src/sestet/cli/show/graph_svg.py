"""A tree of facts as a drawing: a column for each step, a row for each branch, so that no texts overlap."""

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from rich.cells import cell_len

from sestet.cli.show.graph import Branch
from sestet.core.clean import one_line

_ROW = 30
_EDGE = 24
_TEXT = 14
_SMALL = 11
#: From the middle of a name down to its baseline: not every viewer can centre text by itself.
_BASELINE = 5
_LONGEST_NAME = 32
_LONGEST_PREDICATE = 24
#: Between a node's name and the first bend, and on both sides of a predicate.
_BEND = 36
_GAP = 10

_STYLE = f"""
    text {{ font: {_TEXT}px system-ui, sans-serif; fill: #1c2430 }}
    .predicate {{ font-size: {_SMALL}px; fill: #35618e }}
    .again {{ font-style: italic; fill: #5c6670 }}
    .start {{ font-weight: 600 }}
    .note {{ font-size: {_SMALL}px; fill: #5c6670 }}
    path {{ fill: none; stroke: #7d8ea0; stroke-width: 1.3 }}
    .head {{ fill: #7d8ea0; stroke: none }}
    .untrusted {{ stroke: #b5651d; stroke-dasharray: 5 3 }}
    .head.untrusted {{ fill: #b5651d }}
"""


class _Placed(NamedTuple):
    branch: Branch
    parent: "_Placed | None"
    column: int
    y: float


class _Column(NamedTuple):
    """Where the names of a column begin, and how much room the widest takes."""

    x: float
    width: float
    #: Of the widest predicate that leads into the column.
    predicate: float


def draw(root: Branch, complete: bool = True) -> str:
    """The tree as an SVG document of its own."""
    placed = [*_place(root)]
    columns = _columns(placed)
    notes = [*_notes(placed, complete)]
    rows = sum(not node.branch.children for node in placed)
    height = 2 * _EDGE + rows * _ROW + len(notes) * _ROW
    width = max(columns[-1].x + columns[-1].width + _EDGE, 420)
    title = escape(f"What is connected with {one_line(root.name, 200)}")
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}"'
        f' width="{width:.0f}" height="{height:.0f}" role="img">',
        f"<title>{title}</title>",
        f"<style>{_STYLE}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        *(part for node in placed if node.parent for part in _draw_fact(node, columns)),
        *(_draw_name(node, columns) for node in placed),
    ]
    for number, note in enumerate(notes, 1):
        y = height - _EDGE - (len(notes) - number) * _ROW
        lines.append(f'<text class="note" x="{_EDGE}" y="{y:.1f}">{escape(note)}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _place(root: Branch) -> Iterator[_Placed]:
    """Leaves take a row each, from the top; a node stands in the middle of its branches."""
    middles: dict[int, float] = {}
    row = 0

    def measure(branch: Branch) -> float:
        nonlocal row
        if not branch.children:
            middles[id(branch)] = row
            row += 1
        else:
            rows = [measure(child) for child in branch.children]
            middles[id(branch)] = (rows[0] + rows[-1]) / 2
        return middles[id(branch)]

    measure(root)
    todo: list[tuple[Branch, _Placed | None, int]] = [(root, None, 0)]
    while todo:
        branch, parent, column = todo.pop()
        node = _Placed(branch, parent, column, _EDGE + (middles[id(branch)] + 0.5) * _ROW)
        yield node
        todo += ((child, node, column + 1) for child in reversed(branch.children))


def _columns(placed: list[_Placed]) -> list[_Column]:
    columns: list[_Column] = []
    x = float(_EDGE)
    for number in range(max(node.column for node in placed) + 1):
        here = [node.branch for node in placed if node.column == number]
        predicate = max(_width(_predicate(branch), _SMALL) for branch in here)
        if columns:
            x = columns[-1].x + columns[-1].width + _BEND + predicate + 3 * _GAP
        columns.append(_Column(x, max(_width(_name(branch), _TEXT) for branch in here), predicate))
    return columns


def _draw_fact(node: _Placed, columns: list[_Column]) -> Iterator[str]:
    """From the parent's name in a bend to the row of the node, where the predicate stands above the line."""
    assert node.parent is not None
    assert node.branch.triple is not None
    before, here = columns[node.parent.column], columns[node.column]
    start = before.x + _width(_name(node.parent.branch), _TEXT) + _GAP / 2
    bend = before.x + before.width + _GAP / 2
    straight = bend + _BEND - _GAP
    end = here.x - _GAP / 2
    middle = (bend + straight) / 2
    kind = " untrusted" if node.branch.triple.label.untrusted else ""
    yield (
        f'<path class="line{kind}" d="M{start:.1f} {node.parent.y:.1f}H{bend:.1f}'
        f"C{middle:.1f} {node.parent.y:.1f} {middle:.1f} {node.y:.1f} {straight:.1f} {node.y:.1f}"
        f'H{end:.1f}"/>'
    )
    tip, back = (end, end - 7) if node.branch.outgoing else (straight, straight + 7)
    yield (
        f'<path class="head{kind}" d="M{tip:.1f} {node.y:.1f}L{back:.1f} {node.y - 4:.1f}'
        f'V{node.y + 4:.1f}Z"/>'
    )
    yield (
        f'<text class="predicate" x="{(straight + end) / 2:.1f}" y="{node.y - 5:.1f}"'
        f' text-anchor="middle">{escape(_predicate(node.branch))}</text>'
    )


def _draw_name(node: _Placed, columns: list[_Column]) -> str:
    kind = "start" if node.parent is None else "again" if node.branch.again else "node"
    full = escape(one_line(node.branch.name, 1_000))
    return (
        f'<text class="{kind}" x="{columns[node.column].x:.1f}" y="{node.y + _BASELINE:.1f}">'
        f"{escape(_name(node.branch))}<title>{full}</title></text>"
    )


def _notes(placed: list[_Placed], complete: bool) -> Iterator[str]:
    if any(node.branch.triple and node.branch.triple.label.untrusted for node in placed):
        yield "Dashed: from untrusted text."
    if any(node.branch.again for node in placed):
        yield "Slanted: drawn elsewhere as well, with its facts."
    if not complete:
        yield "There are more facts than were drawn."


def _name(branch: Branch) -> str:
    return one_line(branch.name, _LONGEST_NAME)


def _predicate(branch: Branch) -> str:
    return one_line(branch.triple.predicate, _LONGEST_PREDICATE) if branch.triple else ""


def _width(text: str, size: float) -> float:
    """Room enough in any usual font: wide characters count twice."""
    return cell_len(text) * size * 0.6
