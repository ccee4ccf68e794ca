"""Where a value came from: the two flags that travel with every context, and their sources."""

from collections.abc import Iterable
from typing import NamedTuple

from sestet.core.message import Found
from sestet.core.outside import Outside
from sestet.core.record import Record
from sestet.core.schema import JsonValue

#: Untrusted sources are all kept, up to a bound; the others fill the list up.
_MOST_SOURCES = 12
_MOST_UNTRUSTED = 32


class Label(Record):
    """``untrusted``: it holds text that the person did not write. ``private``: it holds the person's data.

    Labels are joined with ``|`` and only ever grow.
    """

    untrusted: bool = False
    private: bool = False
    #: The sources of untrusted text first.
    sources: tuple[str, ...] = ()
    #: How many sources, at the end of the list, are only private.
    only_private: int = 0

    @property
    def untrusted_sources(self) -> tuple[str, ...]:
        return self.sources[: len(self.sources) - self.only_private] if self.untrusted else ()

    def __or__(self, other: "Label") -> "Label":
        if other is CLEAN or other == self or other.adds_nothing_to(self):
            return self
        if self.adds_nothing_to(other):
            return other
        untrusted = _first_and_last((*self.untrusted_sources, *other.untrusted_sources))
        others = [s for s in dict.fromkeys((*self.sources, *other.sources)) if s not in untrusted]
        others = others[: max(0, _MOST_SOURCES - len(untrusted))]
        return Label(
            self.untrusted or other.untrusted,
            self.private or other.private,
            (*untrusted, *others),
            len(others) if self.untrusted or other.untrusted else 0,
        )

    def adds_nothing_to(self, other: "Label") -> bool:
        """Whether joining this one to the other leaves the other as it is."""
        return (
            self.untrusted <= other.untrusted
            and self.private <= other.private
            and all(source in other.sources for source in self.sources)
            and all(source in other.untrusted_sources for source in self.untrusted_sources)
        )


def _first_and_last(sources: tuple[str, ...]) -> tuple[str, ...]:
    kept = tuple(dict.fromkeys(sources))
    half = _MOST_UNTRUSTED // 2
    return kept if len(kept) <= _MOST_UNTRUSTED else (*kept[:half], *kept[-half:])


#: The person's own words.
CLEAN = Label()
#: Text that came through a pipe, if the person did not say that it is theirs.
PIPED = Label(untrusted=True, sources=("text from standard input",))


class Origin(NamedTuple):
    """Where a stored row came from; it is kept with the row for good."""

    session_id: str
    turn_id: str
    label: Label


class Labelled(NamedTuple):
    """A result with a label of its own, such as a stored row. The label replaces the tool's ``reads``."""

    value: JsonValue
    label: Label
    #: The sources of the passages in ``value``, as an answer may cite them.
    citations: tuple[str, ...] = ()
    #: What was found, one by one, where ``value`` is a text about it.
    found: tuple[Found, ...] = ()
    #: The same for the person, where ``value`` instructs the model; empty: ``value`` is for both.
    for_person: str = ""
    #: The call could have sent or changed something, and has not: the end of the turn tells nothing of it.
    no_effect: bool = False


class Findings(NamedTuple):
    """A result with what was found, one by one. Its label is the one that the tool's ``reads`` declare."""

    value: JsonValue
    found: tuple[Found, ...]


def stored_label(source: str, labels: Iterable[Label]) -> Label:
    """The label of rows from a store: the labels they were stored with, and ``private``."""
    label = Label(private=True, sources=(source,))
    for stored in labels:
        label |= stored
    return label


def remote_label(agent: str) -> Label:
    """The label of a remote agent's answer: untrusted."""
    return Label(untrusted=True, sources=(f"the remote agent {agent}",))


def caller_label(caller: str) -> Label:
    """The label of words that a caller sent, who is not the owner: untrusted."""
    return Label(untrusted=True, sources=(f"the caller {caller}",))


def others_words(caller: str) -> Label:
    """The label of a message that the person did not write: a caller's, or one from a pipe."""
    return caller_label(caller) if caller else PIPED


def error_label(source: str) -> Label:
    """The label of an error's text: a server or a library outside of Sestet may have written it."""
    return Label(untrusted=True, sources=(source,))


def outside_label(servers: Iterable[Outside | None]) -> Label:
    """The label of the tool descriptions that these servers wrote; None: nobody outside wrote one."""
    names = dict.fromkeys(server.name for server in servers if server)
    sources = tuple(f"the tool descriptions of {name}" for name in names)
    return Label(untrusted=True, sources=sources) if sources else CLEAN


def card_label(agents: Iterable[str]) -> Label:
    """The label of the remote agents' own descriptions, which the orchestrator reads; clean without any."""
    sources = tuple(f"the card of the remote agent {agent}" for agent in agents)
    return Label(untrusted=True, sources=sources) if sources else CLEAN
