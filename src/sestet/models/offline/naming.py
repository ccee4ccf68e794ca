"""Finds the files that a description means: "the april stock", "the one for 5a"."""

import re
from collections.abc import Sequence
from functools import lru_cache

from sestet.models.offline.answering import same_word, shortened_words

_PART = re.compile(r"[^\W\d_]+|\d+")
#: Words that say nothing, and words that only say what kind of thing is named.
_EMPTY = frozenset(
    """
    a an the my our your his her their this that these those for of with from in on at about to and please
    again now called named me us s one ones thing which is it if possible full whole complete entire
    """.split()  # noqa: SIM905
)
_KINDS = frozenset(
    """
    file files document documents doc list text note notes table sheet spreadsheet recipe letter folder csv
    txt md page report plan contents content
    """.split()  # noqa: SIM905
)
_MONTHS = tuple(
    """
    january february march april may june july august september october november december
    """.split()  # noqa: SIM905
)
#: How days and months are shortened.
_SHORT = {word[:3]: word for word in shortened_words()}


def files_named(description: str, paths: Sequence[str], near: str = "") -> list[str]:
    """The files whose paths have all telling words of a description, the best first if one is better.

    ``near``: a file that was read before; the files that are most like it are meant.
    """
    words = [word for word in _parts(description) if word not in _EMPTY]
    telling = [word for word in words if word not in _KINDS] or words
    if not telling:
        return []
    fitting = [path for path in paths if all(_is_in(word, path) for word in telling)]
    return _best(fitting, words, near)


def alike(path: str, other: str) -> int:
    """How much two paths have in common: words, the folder and the ending."""
    shared = set(_parts(path)) & set(_parts(other))
    return len(shared) + 2 * (_folder(path) == _folder(other)) + (_ending(path) == _ending(other))


def most_alike(path: str, others: Sequence[str]) -> list[str]:
    """The paths that have the most in common with a path."""
    closest = max((alike(path, other) for other in others), default=0)
    return [other for other in others if alike(path, other) == closest]


def numbered(path: str, number: int, paths: Sequence[str]) -> str:
    """The path with another number in the place of its own; empty if there is none."""
    for other in paths:
        pairs = list(zip(_parts(path), _parts(other), strict=False))
        differing = [(one, two) for one, two in pairs if one != two]
        if len(_parts(path)) == len(_parts(other)) and len(differing) == 1 and differing[0][1] == str(number):
            return other
    return ""


def siblings(path: str, paths: Sequence[str]) -> list[str]:
    """The other files beside a file: those with its ending, else all in its folder."""
    beside = [other for other in paths if other != path and _folder(other) == _folder(path)]
    return [other for other in beside if _ending(other) == _ending(path)] or beside


def _best(paths: list[str], words: Sequence[str], near: str) -> list[str]:
    """The files with the most of the words, in their names rather than in their folders' names."""
    scores = {path: (sum(_is_in(word, path) for word in words), _in_name(path, words)) for path in paths}
    best = max(scores.values(), default=None)
    found = [path for path in paths if scores[path] == best]
    if near and len(found) > 1:
        found = most_alike(near, found)
    return found


def _in_name(path: str, words: Sequence[str]) -> int:
    name = path.rpartition("/")[2]
    return sum(_is_in(word, name) for word in words)


def _is_in(word: str, path: str) -> bool:
    parts = _parts(path)
    if word in parts or (word.isalpha() and len(word) > 2 and any(same_word(word, part) for part in parts)):
        return True
    if word in _MONTHS and any(len(part) == 4 and part.isdigit() for part in parts):
        # 2025-03 is March 2025.
        return f"{_MONTHS.index(word) + 1:02}" in parts
    return any(_SHORT.get(part) == word or (part in _SHORT.values() and word == part[:3]) for part in parts)


@lru_cache(maxsize=4096)
def _parts(text: str) -> tuple[str, ...]:
    return tuple(_PART.findall(text.casefold().replace("to-do", "todo").replace("to do list", "todo list")))


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _ending(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2]
