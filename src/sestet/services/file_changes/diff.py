"""The lines that a change adds and removes, for the person to see."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from sestet.core.message import whole
from sestet.core.preview import Changes, DiffLine

#: Lines of a diff, and characters of each.
_MOST_LINES = 200
_LONGEST_LINE = 400
#: Equal lines around a change.
_CONTEXT = 3
#: More lines than these are not compared one by one.
_MOST_COMPARED = 2_000


def diff(old: str, new: str, basis: str) -> Changes:
    """The difference of two texts."""
    return as_changes(_diff_lines(old.splitlines(), new.splitlines(), _end_notes(old, new)), basis)


def as_changes(lines: Iterable[DiffLine], basis: str) -> Changes:
    """The first lines, each shortened, and the number of the others."""
    rest = iter(lines)
    shown = tuple(DiffLine(line.mark, _short(line.text)) for line in islice(rest, _MOST_LINES))
    return Changes(shown, sum(1 for _ in rest), basis)


def _short(line: str) -> str:
    return whole(line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…")


def _end_notes(old: str, new: str) -> Iterator[DiffLine]:
    ends = [text.endswith("\n") for text in (old, new)]
    if old and new and ends[0] != ends[1]:
        yield DiffLine(
            "@", "the last line ends with a line end now" if ends[1] else "no line end at the end now"
        )


def _diff_lines(old: Sequence[str], new: Sequence[str], notes: Iterable[DiffLine]) -> Iterator[DiffLine]:
    before = next(
        (number for number, (one, two) in enumerate(zip(old, new, strict=False)) if one != two),
        min(len(old), len(new)),
    )
    most = min(len(old), len(new)) - before
    after = next((number for number in range(most) if old[-1 - number] != new[-1 - number]), most)
    first, last = max(0, before - _CONTEXT), max(0, after - _CONTEXT)
    parts = (old[first : len(old) - last], new[first : len(new) - last])
    if parts[0] == parts[1]:
        return iter(notes)
    show = _compared if max(map(len, parts)) <= _MOST_COMPARED else _replaced
    return chain(show(*parts, first), notes)


def _replaced(old: Sequence[str], new: Sequence[str], first: int) -> Iterator[DiffLine]:
    yield _heading(first)
    yield from (DiffLine("-", line) for line in old)
    yield from (DiffLine("+", line) for line in new)


def _compared(old: Sequence[str], new: Sequence[str], first: int) -> Iterator[DiffLine]:
    # Loaded on use: most processes show no diff.
    from difflib import SequenceMatcher

    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT):
        if old and new:
            yield _heading(first + group[0][1])
        for kind, one, one_end, two, two_end in group:
            if kind == "equal":
                yield from (DiffLine(" ", line) for line in old[one:one_end])
                continue
            yield from (DiffLine("-", line) for line in old[one:one_end])
            yield from (DiffLine("+", line) for line in new[two:two_end])


def _heading(first: int) -> DiffLine:
    return DiffLine("@", f"from line {first + 1}")
