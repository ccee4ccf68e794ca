"""Kinds of things: "jazz" is music, so "I like jazz" answers "what music do I like?"."""

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from sestet.models.offline.patterns import read_table

_NONE = frozenset[str]()
#: Asks for a thing of a kind that the person likes, plays or has.
_ASKED = re.compile(
    r"(?:and |so )?(?:what|which)(?: (?:kind|sort|type|style)s? of)? (?P<kind>[a-z]+) "
    r"(?:do|did|am|was|have|can|would) i (?:really |usually |often |most |also )*(?P<deed>[a-z]+)\b.*"
    r"|what is my (?P<deed2>favou?rite) (?P<kind2>[a-z]+)",
    re.IGNORECASE,
)


class AskedKind(NamedTuple):
    """ "What music do I like?": the kind of thing, and what the person does with it."""

    kind: str
    deed: str


def read_asked_kind(question: str) -> AskedKind | None:
    found = _ASKED.fullmatch(question.strip(" ?.!"))
    if found is None:
        return None
    return AskedKind(
        (found["kind"] or found["kind2"]).casefold(), (found["deed"] or found["deed2"]).casefold()
    )


def things_of(kind: str) -> frozenset[str]:
    """Words for things of a kind; none for a word that names no kind."""
    return _members().get(_names().get(kind, kind), _NONE)


def is_of_another_kind(kind: str, words: Iterable[str]) -> bool:
    """Whether the words name a kind, or a thing of a kind, and nothing of this one."""
    said = frozenset(words)
    if said & (things_of(kind) | {kind}):
        return False
    return any(said & (things | {other}) for other, things in _members().items()) or bool(
        said & _names().keys()
    )


@cache
def _members() -> dict[str, frozenset[str]]:
    return {kind: frozenset(things.split()) for kind, things in read_table("categories")["members"].items()}


@cache
def _names() -> dict[str, str]:
    return dict(read_table("categories")["names"])
