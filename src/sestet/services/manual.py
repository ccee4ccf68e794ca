"""The pages of the documentation: those that ship in a wheel, or those of the checkout."""

import re
from pathlib import Path
from typing import NamedTuple

from sestet.core.errors import PersonError
from sestet.core.schema import suggest

_PACKAGE = Path(__file__).parents[1]
#: In a wheel the pages are part of the package; in a checkout they stand beside its source.
_FOLDERS = (_PACKAGE / "docs", _PACKAGE.parents[1] / "docs")
_INDEX = "index"
#: A row of a table in the index: the page, and what it is for.
_ROW = re.compile(r"^\| \[[^]]+\]\((?P<topic>[\w-]+)\.md\) \| (?P<about>.+) \|$", re.MULTILINE)


class Page(NamedTuple):
    topic: str
    #: What the reader wants to do or to know.
    about: str


def pages() -> list[Page]:
    """Every page: first those that the index names in its text, then those of its tables, in their order."""
    rows = dict(_ROW.findall(_read(_INDEX)))
    topics = sorted(path.stem for path in _folder().glob("*.md") if path.stem != _INDEX)
    first = [Page(topic, _title(topic)) for topic in topics if topic not in rows]
    return [*first, *(Page(topic, about) for topic, about in rows.items() if topic in topics)]


def read_page(wanted: str) -> str:
    """The text of a page by its name, with or without ``.md``; an error names the nearest."""
    topic = wanted.casefold().removeprefix("docs/").removesuffix(".md")
    known = [found.topic for found in pages()]
    if topic not in (*known, _INDEX):
        near = suggest(topic, known) or "; 'sestet docs' lists them"
        raise PersonError(f"there is no page '{wanted}'{near}")
    return _read(topic)


def _title(topic: str) -> str:
    return _read(topic).splitlines()[0].removeprefix("# ")


def _read(topic: str) -> str:
    return (_folder() / f"{topic}.md").read_text(encoding="utf-8")


def _folder() -> Path:
    found = next((folder for folder in _FOLDERS if (folder / f"{_INDEX}.md").is_file()), None)
    if found is None:
        raise PersonError("the documentation is missing from this installation: install Sestet again")
    return found
