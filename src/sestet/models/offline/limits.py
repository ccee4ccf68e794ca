"""Recognises requests that the built-in model cannot meet."""

import re
from functools import cache
from typing import NamedTuple

from sestet.models.offline.patterns import compiled, read_table
from sestet.models.offline.words import asks

#: A request to look something up, which asks as a question does.
_LOOKS_UP = re.compile(r"(?:tell|show|give|check|get|look up|find|search|read)\b", re.IGNORECASE)


class Limit(NamedTuple):
    """A specialist whose work the request is, or the line that says what is not possible."""

    agent: str = ""
    line: str = ""
    #: A part of the name of the tool that it takes; empty: any tool of the specialist.
    needs: str = ""
    #: A real model can meet it, without a tool.
    thinks: bool = False


class _Rule(NamedTuple):
    said: re.Pattern[str] | None
    anywhere: re.Pattern[str] | None
    limit: Limit


def find_limit(request: str, *, is_statement: bool) -> Limit | None:
    """The first limit that a request without its courtesies meets. A statement asks for nothing."""
    if is_statement:
        return None
    for rule in _rules():
        is_asked = (
            rule.anywhere and (asks(request) or _LOOKS_UP.match(request)) and rule.anywhere.search(request)
        )
        if is_asked or (rule.said and rule.said.match(request)):
            return rule.limit
    return None


@cache
def _rules() -> tuple[_Rule, ...]:
    return tuple(
        _Rule(
            compiled(entry["said"]) if "said" in entry else None,
            compiled(entry["anywhere"]) if "anywhere" in entry else None,
            Limit(
                entry.get("agent", ""),
                entry.get("line", ""),
                entry.get("needs", ""),
                bool(entry.get("thinks")),
            ),
        )
        for entry in read_table("limits")["limit"]
    )
