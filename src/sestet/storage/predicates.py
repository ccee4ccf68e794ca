"""The ways in which two things can be linked: those with a name of their own, and those that are declared."""

import re
from collections.abc import Iterable

from sestet.core.errors import ConfigError
from sestet.core.schema import suggest

#: Every graph has these.
NAMED = (
    "related_to",
    "caused_by",
    "resolved_by",
    "follows",
    "similar_to",
    "contains",
    "in_session",
    "reflects_on",
    "learned_from",
)


class UnknownPredicateError(ValueError):
    """A link that nobody declared; the text names the nearest, and the way to declare one."""


class Predicates:
    """The predicates of these settings."""

    def __init__(self, declared: Iterable[str] = ()) -> None:
        """Any spelling of a declared name will do: works at, works-at, works_at."""
        names = {name: predicate_name(name) for name in declared}
        if unusable := [name for name, spelled in names.items() if not re.search(r"\w", spelled)]:
            raise ConfigError([f"graph.predicates: {name!r} is no name" for name in unusable])
        self.declared = tuple(dict.fromkeys(name for name in names.values() if name not in NAMED))
        self.names = NAMED + self.declared

    def knows(self, text: str) -> bool:
        return predicate_name(text) in self.names

    def require(self, text: str, also: Iterable[str] = ()) -> str:
        """The one spelling of a predicate that is known here, or that is among the others."""
        name = predicate_name(text)
        known = tuple(dict.fromkeys((*self.names, *also)))
        if name not in known:
            raise UnknownPredicateError(
                f"there is no predicate {name!r}{suggest(name, known) or '.'} Known: {', '.join(known)}. "
                "Another one is declared in the settings, under graph.predicates"
            )
        return name


def predicate_name(text: str) -> str:
    """The one spelling of a predicate: works_at."""
    return "_".join(re.findall(r"[^\s_-]+", text.casefold()))
