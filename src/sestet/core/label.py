"""Where a value came from: the two flags that travel with every context, and their sources."""

from collections.abc import Iterable
from typing import NamedTuple

from sestet.core.record import Record
from sestet.core.schema import JsonValue

_MOST_SOURCES = 12


class Label(Record):
    """``untrusted``: somebody else's words are in it. ``private``: the person's own data is in it.

    Labels are joined with ``|`` and only ever grow.
    """

    untrusted: bool = False
    private: bool = False
    sources: tuple[str, ...] = ()

    def __or__(self, other: "Label") -> "Label":
        if other.adds_nothing_to(self):
            return self
        if self.adds_nothing_to(other):
            return other
        sources = tuple(dict.fromkeys((*self.sources, *other.sources)))[:_MOST_SOURCES]
        return Label(self.untrusted or other.untrusted, self.private or other.private, sources)

    def adds_nothing_to(self, other: "Label") -> bool:
        """Whether joining this one to the other leaves the other as it is."""
        return (
            self.untrusted <= other.untrusted
            and self.private <= other.private
            and all(source in other.sources for source in self.sources)
        )


#: The person's own words.
CLEAN = Label()


class Origin(NamedTuple):
    """Where a stored row came from; it is kept with the row for good."""

    session_id: str
    turn_id: str
    label: Label


class Labelled(NamedTuple):
    """A result that knows its own label, such as a row that was stored with one; it replaces ``reads``."""

    value: JsonValue
    label: Label
    #: The sources of the passages in ``value``, as an answer may cite them.
    citations: tuple[str, ...] = ()


def stored_label(source: str, labels: Iterable[Label]) -> Label:
    """What rows that were read from a store add: the labels they were stored with, and ``private``."""
    label = Label(private=True, sources=(source,))
    for stored in labels:
        label |= stored
    return label


def remote_label(agent: str) -> Label:
    """What another machine's answer adds: nobody here vouches for it."""
    return Label(untrusted=True, sources=(f"the remote agent {agent}",))


def card_label(agents: Iterable[str]) -> Label:
    """What remote agents say about themselves, which the orchestrator is told; without them, nothing."""
    sources = tuple(f"the card of the remote agent {agent}" for agent in agents)
    return Label(untrusted=True, sources=sources) if sources else CLEAN
