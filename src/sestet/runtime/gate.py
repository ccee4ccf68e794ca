"""The gate: whether a call may run, has to be asked about, or is forbidden. Pure; no model is asked.

Text that did not come from the person never chooses who receives data, money or a command.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal

from sestet.core.label import Label
from sestet.core.record import Record
from sestet.core.schema import JsonObject, JsonValue
from sestet.core.tool import Tool


class Verdict(Record):
    decision: Literal["allow", "ask", "block"]
    reason: str = ""
    #: Where the text came from that made the question necessary.
    sources: tuple[str, ...] = ()


class Allowed(Record):
    """The owner trusts this target of these tools; with ``private``, also with private data."""

    tool: str
    target: str
    private: bool = False


class Policy(Record):
    """The owner's standing word: what is never run, and which targets are known."""

    blocked: tuple[str, ...] = ()
    allowed: tuple[Allowed, ...] = ()
    #: Agents that a small model answers for: whatever they would change, a person is asked about first.
    careful: frozenset[str] = frozenset()


ALLOW = Verdict("allow")
#: How many targets a reason names, and how much of each.
_MOST_NAMED, _LONGEST_NAMED = 3, 100


def judge(
    label: Label, tool: Tool, arguments: JsonObject, user_words: str, policy: Policy, agent: str = ""
) -> Verdict:
    """Decide about one call of an agent, from what it has read and what the person has said."""
    if any(_blocks(pattern, tool.name) for pattern in policy.blocked):
        return Verdict("block", f"'{tool.name}' is forbidden by the owner's policy")
    if tool.effect == "money":
        return Verdict("ask", "it moves money, or does not declare that it does not", label.sources)
    if tool.effect == "external":
        targets = tuple(target_values(tool, arguments))
        if label.untrusted and (strange := _strangers(tool, targets, user_words, policy)):
            return Verdict(
                "ask", f"{_named(strange)}: not your words, and untrusted text was read", label.sources
            )
        if label.private and not _allowed_for_private(tool, targets, policy):
            return Verdict("ask", "private content would leave this machine", label.sources)
    if tool.risk != "safe":
        return Verdict("ask", f"it is {tool.risk}", label.sources)
    if asks_every_time(tool, agent, policy):
        return Verdict("ask", "it changes something, and a small local model chose it", label.sources)
    return ALLOW


def _blocks(pattern: str, name: str) -> bool:
    """In doubt it does: nobody who writes ``Payment_*`` wants it to mean nothing."""
    return fnmatchcase(name.casefold(), pattern.strip().casefold())


def asks_every_time(tool: Tool, agent: str, policy: Policy) -> bool:
    """Whether no standing answer holds: for money, and for every change that a small model wants to make."""
    return tool.effect == "money" or (tool.effect != "none" and agent in policy.careful)


def target_values(tool: Tool, arguments: JsonObject) -> Iterator[str]:
    """The values that choose a receiver; without declared targets, every argument counts as one."""
    chosen = arguments if not tool.targets else {n: arguments[n] for n in tool.targets if n in arguments}
    for value in chosen.values():
        yield from _leaves(value)


def _strangers(tool: Tool, targets: Sequence[str], user_words: str, policy: Policy) -> list[str]:
    known = [allowed.target for allowed in policy.allowed if fnmatchcase(tool.name, allowed.tool)]
    return [value for value in targets if value not in known and not stands_in(value, user_words)]


def _named(values: Sequence[str]) -> str:
    """The first few, shortened: the question shows the arguments themselves, and a reason is to be read."""
    shown = [repr(v if len(v) <= _LONGEST_NAMED else f"{v[:_LONGEST_NAMED]}…") for v in values[:_MOST_NAMED]]
    more = [f"{len(values) - _MOST_NAMED} more"] if len(values) > _MOST_NAMED else []
    return ", ".join((*shown, *more))


def _allowed_for_private(tool: Tool, targets: Sequence[str], policy: Policy) -> bool:
    known = {a.target for a in policy.allowed if a.private and fnmatchcase(tool.name, a.tool)}
    return bool(targets) and known.issuperset(targets)


def stands_in(value: str, words: str) -> bool:
    """Whether a value stands in the words as a whole, not as a part of something longer."""
    edges = rf"(?<![\w@.+-]){re.escape(value.strip())}(?![\w@+-]|\.\w)"
    return re.search(edges, words) is not None


def _leaves(value: JsonValue) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield name
            yield from _leaves(item)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool) and str(value).strip():
        yield str(value)
