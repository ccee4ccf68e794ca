"""What the model sees of a page: lines of what a person can see, with the frames in their places."""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import cast

from sestet.core.record import Record
from sestet.services.browser.connection import BrowserError
from sestet.services.browser.frames import Frame
from sestet.services.browser.page_script import call_script, hold_result
from sestet.services.browser.shadow_roots import adopt_closed_roots

#: The most characters that the model gets of a page in one answer.
MOST_CHARACTERS = 12_000
#: Lines before and after each place that a search shows, and the most places.
_AROUND, _MOST_PLACES = 2, 25
#: The most frames of one page, and how deep they lie in each other.
_MOST_FRAMES, _DEEPEST = 30, 4
#: How many closed shadow roots may lie in each other.
_DEEPEST_ROOTS = 4
#: A line that is longer is cut when it is shown; a search finds all of it.
_LONGEST_LINE = 4_000
#: More lines than this are compared as a heap and not in their order.
_MOST_COMPARED = 3_000
_FRAME_MARK = "\x01"
#: A control or a link in a line; a page's own text never begins like one.
_MARK = re.compile(r"\[(e\d+)\b[^\]]*\]")


class Item(Record):
    """A control or a link of a reading."""

    ref: str
    role: str
    name: str
    #: The host to which a link leads, if it is not the page's own.
    host: str
    #: The full address of a link.
    href: str
    frame: Frame

    def __str__(self) -> str:
        role = "" if self.role == "link" else f" {self.role}"
        return f"[{self.ref}{role} {self.name}]"


class Reading(Record):
    """A page at one moment."""

    title: str
    url: str
    lines: tuple[str, ...]
    items: tuple[Item, ...]
    frames: tuple[Frame, ...]
    #: The number that the next new ref gets.
    next_ref: int
    #: How many nodes were not looked at, since the page is too large.
    omitted: int = 0

    @property
    def links(self) -> list[str]:
        """The addresses of all links."""
        return [item.href for item in self.items if item.href]

    @property
    def controls(self) -> list[Item]:
        """Everything that a person can use, but links, in the order of the page."""
        return [item for item in self.items if item.role != "link"]


class _Joined:
    """The lines and items of a page's frames, as they are found."""

    def __init__(self, next_ref: int) -> None:
        self.next_ref = next_ref
        self.items: list[Item] = []
        self.frames: list[Frame] = []
        self.omitted = 0
        self.title = ""
        self.url = ""

    async def read(self, frame: Frame, depth: int = 0) -> list[str]:
        self.frames.append(frame)
        found = await call_script(frame, "read", self.next_ref)
        # A closed root may have further ones inside.
        for _ in range(_DEEPEST_ROOTS):
            if not found["hosts"] or not await adopt_closed_roots(frame):
                break
            found = await call_script(frame, "read", found["next"])
        self.next_ref = cast("int", found["next"])
        self.omitted += cast("int", found["omitted"])
        if depth == 0:
            self.title, self.url = cast("str", found["title"]), cast("str", found["url"])
        rows = cast("list[tuple[str, str, str, str, str]]", found["items"])
        self.items += [Item(ref, role, name, host, href, frame) for ref, role, name, host, href in rows]
        lines: list[str] = []
        for line in cast("list[str]", found["lines"]):
            if line.startswith(_FRAME_MARK):
                lines += await self._child(frame, int(line[1:]), depth + 1)
            else:
                lines.append(line)
        return lines

    async def _child(self, parent: Frame, number: int, depth: int) -> list[str]:
        if depth > _DEEPEST or len(self.frames) >= _MOST_FRAMES:
            return ["(a frame that was not read: there are too many)"]
        try:
            held = await hold_result(parent, "frameOf", number)
            child = await parent.child(held) if held else None
            lines = await self.read(child, depth) if child is not None else []
        except BrowserError:
            return ["(a frame that could not be read)"]
        return lines


async def read_page(page: Frame, next_ref: int = 1) -> Reading:
    """Read the page with its frames. New refs begin at ``next_ref``."""
    joined = _Joined(next_ref)
    lines = await joined.read(page)
    return Reading(
        joined.title,
        joined.url,
        tuple(lines),
        tuple(joined.items),
        tuple(joined.frames),
        joined.next_ref,
        joined.omitted,
    )


def plain_lines(reading: Reading, most: int) -> list[str]:
    """The first lines as a person reads them: links by their names, and no controls."""
    return _plain(reading, reading.lines[: 3 * most])[:most]


def plain_passages(reading: Reading, text: str, most: int) -> list[str]:
    """The lines with this text as a person reads them. A heading with it, but the page's own, stands for all
    below it.
    """
    wanted, found, level = " ".join(text.split()).casefold(), list[str](), 0
    for line in reading.lines:
        heading = len(line) - len(line.lstrip("#"))
        if heading and heading <= level:
            level = 0
        if wanted in line.casefold():
            level = level or (heading if heading > 1 else 0)
            found.append(line)
        elif level:
            found.append(line)
    return _plain(reading, found)[:most]


def _plain(reading: Reading, lines: Sequence[str]) -> list[str]:
    links = {item.ref: item.name for item in reading.items if item.role == "link"}
    shown = (_MARK.sub(lambda mark: links.get(mark[1], ""), line) for line in lines)
    return [text for line in shown if (text := line.strip(" #|"))]


def show(reading: Reading, *, status: int = 0, from_line: int = 1) -> str:
    """The title, the address, the status, and the lines from ``from_line`` on, as many as fit."""
    total = len(reading.lines)
    if from_line > max(total, 1):
        raise BrowserError(f"the page has only {total} lines; from_line can be 1 to {max(total, 1)}")
    first = max(from_line, 1)
    head = _head(reading, status)
    shown: list[str] = []
    size = len(head) + 200
    for line in reading.lines[first - 1 :]:
        line = _cut(line)
        if size + len(line) + 1 > MOST_CHARACTERS:
            break
        shown.append(line)
        size += len(line) + 1
    last = first - 1 + len(shown)
    foot: list[str] = []
    if last < total:
        foot.append(f"(lines {first} to {last} of {total}; more with from_line={last + 1})")
    elif first > 1:
        foot.append(f"(lines {first} to {total}, the end)")
    if not total:
        foot.append("(nothing to read on this page)")
    if reading.omitted and last >= total:
        foot.append("(the page is too large: its rest was left out)")
    return "\n".join([head, *shown, *foot])


def _head(reading: Reading, status: int) -> str:
    said = f"{reading.url} (HTTP {status})" if status else reading.url
    return "\n".join(filter(None, (reading.title[:300], said[:500])))


def _cut(line: str) -> str:
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[:_LONGEST_LINE]}… ({len(line) - _LONGEST_LINE:,} more characters)"


def find(reading: Reading, text: str) -> str:
    """The lines with this text, each with a few lines around it and their numbers."""
    wanted = " ".join(text.split()).casefold()
    if not wanted:
        raise BrowserError("the text to find is empty")
    hits = [at for at, line in enumerate(reading.lines) if wanted in line.casefold()]
    if not hits:
        rest = "; the page is too large, and its rest was left out" if reading.omitted else ""
        return f"'{text[:100]}' is not on the page, which has {len(reading.lines)} lines{rest}"
    parts = [f"{len(hits)} of {len(reading.lines)} lines have '{text[:100]}'"]
    size, last = len(parts[0]) + 100, -1
    for number, hit in enumerate(hits):
        block: list[str] = []
        for at in range(max(hit - _AROUND, last + 1), min(hit + _AROUND + 1, len(reading.lines))):
            block.append(f"{at + 1}: {_around(reading.lines[at], wanted)}")
        added = "\n".join(block)
        if number >= _MOST_PLACES or size + len(added) > MOST_CHARACTERS:
            parts.append(f"(the next is in line {hit + 1}; read on with from_line={hit + 1})")
            break
        if block and hit - _AROUND > last + 1 and number:
            parts.append("…")
        parts += block
        size += len(added) + 3
        last = max(last, hit + _AROUND)
    return "\n".join(parts)


def _around(line: str, wanted: str) -> str:
    """A line; of a very long one the part around the text."""
    if len(line) <= 500:
        return line
    at = max(line.casefold().find(wanted), 0)
    start = max(0, at - 200)
    end = min(len(line), at + len(wanted) + 200)
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def changes(before: Reading, after: Reading) -> str:
    """The lines that an action has added and removed; '' if there are none."""
    if before.url.split("#")[0] != after.url.split("#")[0] and not _share(before.lines, after.lines):
        return show(after)
    old, new = before.lines, after.lines
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    told = _differences(old[start : len(old) - end], new[start : len(new) - end])
    if before.title != after.title:
        told.insert(0, f"+ title: {after.title}")
    shown: list[str] = []
    size = 0
    for number, line in enumerate(map(_cut, told)):
        if size + len(line) > MOST_CHARACTERS - 200:
            shown.append(f"({len(told) - number} more lines changed; read the page)")
            break
        shown.append(line)
        size += len(line) + 1
    return "\n".join(shown)


def _share(old: Sequence[str], new: Sequence[str]) -> bool:
    """At least a third of the lines stayed."""
    return 3 * len(set(old) & set(new)) >= len(set(new))


def _differences(old: Sequence[str], new: Sequence[str]) -> list[str]:
    if len(old) + len(new) > _MOST_COMPARED:
        gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
        return [f"- {line}" for line in gone.elements()] + [f"+ {line}" for line in come.elements()]
    told: list[str] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            told += [f"- {line}" for line in old[a:b]] + [f"+ {line}" for line in new[c:d]]
    return told
