"""Where a value came from: the two flags that travel with every context, and their sources."""

from dataclasses import dataclass

from sestet.core.tool import Tool

_MOST_SOURCES = 12


@dataclass(frozen=True, slots=True)
class Label:
    """``untrusted``: somebody else's words are in it. ``private``: the person's own data is in it.

    Labels are joined with ``|`` and only ever grow.
    """

    untrusted: bool = False
    private: bool = False
    sources: tuple[str, ...] = ()

    def __or__(self, other: "Label") -> "Label":
        if other is self or other == CLEAN:
            return self
        sources = tuple(dict.fromkeys((*self.sources, *other.sources)))[:_MOST_SOURCES]
        return Label(self.untrusted or other.untrusted, self.private or other.private, sources)


#: The person's own words.
CLEAN = Label()


def result_label(tool: Tool, agent: str) -> Label:
    """What a tool's result adds to the context that reads it."""
    if not tool.reads:
        return CLEAN
    return Label("untrusted" in tool.reads, "private" in tool.reads, (f"{tool.name} of {agent}",))


def remote_label(agent: str) -> Label:
    """What another machine's answer adds: nobody here vouches for it."""
    return Label(untrusted=True, sources=(f"the remote agent {agent}",))
