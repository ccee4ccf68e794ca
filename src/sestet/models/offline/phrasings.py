"""Everyday phrasings: the same request in the words that its specialist knows."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from sestet.core.tool import Tool
from sestet.models.offline.parameters import FILE, QUOTED
from sestet.models.offline.patterns import compiled, read_table
from sestet.models.offline.words import without_article

_LONGEST = 2_000
#: A group that stands for another one in a second wording: text, text2, text3.
_SAME_GROUP = re.compile(r"\d+$")


class Rephrased(NamedTuple):
    agent: str
    request: str
    #: Whether memory and knowledge are asked first, about ``subject``.
    is_lookup: bool = False
    subject: str = ""
    #: A folder that is listed instead, if it is there.
    folder: str = ""
    #: A document, which is a file here or was ingested.
    document: str = ""


class _Phrasing(NamedTuple):
    said: re.Pattern[str]
    agent: str
    request: str
    #: The request when ``said`` fits without its value.
    otherwise: str
    is_lookup: bool
    #: The tool that it takes; empty: the request alone says which.
    needs: str


def rephrase(request: str, tools: Mapping[str, Sequence[Tool]]) -> Rephrased | None:
    """The request in its specialist's words, for the specialists that are there."""
    if len(request) > _LONGEST:
        return None
    for phrasing in _phrasings():
        names = [tool.name for tool in tools.get(phrasing.agent, ())]
        if phrasing.agent not in tools or (phrasing.needs and phrasing.needs not in names):
            continue
        if found := phrasing.said.fullmatch(request):
            groups = {name: value for name, value in found.groupdict().items() if value}
            values = {_SAME_GROUP.sub("", name): value.strip(" ,.!?") for name, value in groups.items()}
            if phrasing.agent == "operator":
                values = {name: without_article(value) for name, value in values.items()}
            folder, document = values.pop("folder", "").casefold(), values.pop("document", "")
            if all(values.values()):
                request = phrasing.request if values or not phrasing.otherwise else phrasing.otherwise
                subject = next(iter(values.values()), "")
                asked = request.format(**values)
                return Rephrased(phrasing.agent, asked, phrasing.is_lookup, subject, folder, document)
    return None


@cache
def _phrasings() -> tuple[_Phrasing, ...]:
    table = read_table("phrasings")
    parts = {**table["words"], "file": FILE, "quoted": QUOTED}
    return tuple(
        _Phrasing(
            compiled(entry["said"], parts),
            entry["agent"],
            entry["request"],
            entry.get("otherwise", ""),
            bool(entry.get("lookup")),
            entry.get("needs", ""),
        )
        for entry in table["phrasing"]
    )
