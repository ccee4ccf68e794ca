"""The gate: may a call run, must the person be asked, or is it forbidden? Pure; it asks no model.

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
    #: The sources of the text that made the question necessary.
    sources: tuple[str, ...] = ()


class Allowed(Record):
    """A target that the owner trusts for these tools; with ``private``, also with private data."""

    tool: str
    target: str
    private: bool = False


class Policy(Record):
    """The owner's rules: tools that never run, and targets that are trusted."""

    blocked: tuple[str, ...] = ()
    allowed: tuple[Allowed, ...] = ()
    #: Agents with a small model: the person is asked before every change they make.
    careful: frozenset[str] = frozenset()


ALLOW = Verdict("allow")
#: How many targets a reason names, and how many characters of each.
_MOST_NAMED, _LONGEST_NAMED = 3, 100


def judge(
    label: Label, tool: Tool, arguments: JsonObject, user_words: str, policy: Policy, agent: str = ""
) -> Verdict:
    """Decide about one call by what the agent has read and what the person has written."""
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
    """Ignores case and blanks: an owner who writes ``Payment_*`` means ``payment_*``."""
    return fnmatchcase(name.casefold(), pattern.strip().casefold())


def asks_every_time(tool: Tool, agent: str, policy: Policy) -> bool:
    """Whether standing answers never apply: to money, and to changes that a small model makes."""
    return tool.effect == "money" or (tool.effect != "none" and agent in policy.careful)


def target_values(tool: Tool, arguments: JsonObject) -> Iterator[str]:
    """The values that choose a receiver; without declared targets, every argument counts as a target."""
    chosen = arguments if not tool.targets else {n: arguments[n] for n in tool.targets if n in arguments}
    for value in chosen.values():
        yield from _leaves(value)


def _strangers(tool: Tool, targets: Sequence[str], user_words: str, policy: Policy) -> list[str]:
    known = [allowed.target for allowed in policy.allowed if fnmatchcase(tool.name, allowed.tool)]
    return [value for value in targets if value not in known and not stands_in(value, user_words)]


def _named(values: Sequence[str]) -> str:
    """The first few values, shortened: the question itself shows all arguments."""
    shown = [repr(v if len(v) <= _LONGEST_NAMED else f"{v[:_LONGEST_NAMED]}…") for v in values[:_MOST_NAMED]]
    more = [f"{len(values) - _MOST_NAMED} more"] if len(values) > _MOST_NAMED else []
    return ", ".join((*shown, *more))


def _allowed_for_private(tool: Tool, targets: Sequence[str], policy: Policy) -> bool:
    known = {a.target for a in policy.allowed if a.private and fnmatchcase(tool.name, a.tool)}
    return bool(targets) and known.issuperset(targets)


def stands_in(value: str, words: str) -> bool:
    """Whether the words contain the value as a whole, not as a part of something longer."""
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
