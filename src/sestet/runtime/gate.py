"""The gate: may a call run, must the person be asked, or is it forbidden? It asks no model.

Text that did not come from the person never chooses who receives data, money or a command.
"""

import os.path
from collections.abc import Sequence
from fnmatch import fnmatchcase
from types import ModuleType
from typing import TYPE_CHECKING, Literal, TypeAlias

from sestet.core.label import Label
from sestet.core.record import Record
from sestet.core.schema import JsonObject
from sestet.core.tool import Tool
from sestet.runtime.targets import LONGEST_VALUE, Target, Targets, find_targets

if TYPE_CHECKING:
    from sestet.runtime.mentions import Mentions

#: The rule that a question comes from; a standing answer is bound to it.
Why: TypeAlias = Literal["", "policy", "money", "target", "private", "risk", "small_model", "caller"]


class Verdict(Record):
    decision: Literal["allow", "ask", "block"]
    reason: str = ""
    #: The sources of the text that made the question necessary.
    sources: tuple[str, ...] = ()
    why: Why = ""


class Allowed(Record):
    """A target that the owner trusts for these tools; with ``private``, also with private data."""

    tool: str
    #: The exact value of a call, or ``*`` for every one.
    target: str
    private: bool = False


class Policy(Record):
    """The owner's rules: tools that never run, and targets that are trusted."""

    blocked: tuple[str, ...] = ()
    allowed: tuple[Allowed, ...] = ()
    #: Agents with a small model: the person is asked before every change they make.
    careful: frozenset[str] = frozenset()
    #: Directories in which untrusted text may choose the files.
    scratch: tuple[str, ...] = ()
    #: Tools that a caller, who is not the owner, may use as the owner's own turns do.
    caller_tools: tuple[str, ...] = ()


ALLOW = Verdict("allow")
#: How many files of one call may lie in a scratch directory unasked, and how deep.
_MOST_SCRATCH, _DEEPEST_SCRATCH = 8, 32
#: How many targets a reason names, and how many characters of each.
_MOST_NAMED, _LONGEST_NAMED = 3, 100
#: The kinds of target that only receive something, or are said.
_RECEIVERS = ("email", "url", "host", "site", "phone", "channel", "name", "account", "text")
_LEAVES = "private content would leave this machine"
#: The reason for a tool that does not say what is at stake.
_RISKS = {
    "guarded": "its author wants you to approve each call",
    "dangerous": "its author declares it dangerous, or declares no risk",
}


def judge(
    label: Label, tool: Tool, arguments: JsonObject, user_words: str, policy: Policy, agent: str = ""
) -> Verdict:
    """Decide about one call by what the agent has read and what the person has written."""
    if any(_blocks(pattern, tool.name) for pattern in policy.blocked):
        return Verdict("block", "the setting 'policy.block' forbids it", why="policy")
    if tool.blocked:
        return Verdict("block", tool.blocked, why="policy")
    strange = ""
    if tool.effect in ("local", "external", "money") and (label.untrusted or label.private):
        targets = find_targets(tool, arguments)
        strange = ""
        if label.untrusted and not tool.owner_allows:
            strange = _strangers(tool, targets, user_words, policy)
        leaves = (
            tool.effect == "external"
            and label.private
            and not _may_be_private(tool, targets, policy)
            and not _carries_own_words_only(tool, targets, arguments, user_words)
        )
        if tool.effect != "money" and strange:
            return _ask("target", label, tool.caution, strange, _LEAVES if leaves else "")
        if leaves:
            return _ask("private", label, tool.caution, _LEAVES)
    if tool.effect == "money" and not tool.owner_allows:
        moves = tool.caution or "it moves money, or does not declare that it does not"
        return _ask("money", label, moves, strange)
    if tool.risk != "safe":
        return _ask("risk", label, tool.caution or _RISKS[tool.risk])
    if _is_careful(tool, agent, policy):
        return _ask("small_model", label, "it changes something, and a small local model chose it")
    return ALLOW


def judge_for_caller(verdict: Verdict, tool: Tool, caller: str, label: Label, policy: Policy) -> Verdict:
    """The verdict in a turn that answers a caller: everything that a tool gives goes to them.

    So the owner is asked about each call, unless the settings let callers use the tool. No standing answer
    applies: it was given for the owner's own turns.
    """
    if verdict.decision == "block":
        return verdict
    if verdict.decision == "allow" and any(_blocks(each, tool.name) for each in policy.caller_tools):
        return verdict
    return _ask("caller", label, f"'{caller}' asks for it, and gets the answer", verdict.reason)


def _ask(why: Why, label: Label, *reasons: str) -> Verdict:
    return Verdict("ask", "; ".join(filter(None, reasons)), label.sources, why)


def _blocks(pattern: str, name: str) -> bool:
    """Ignores case and blanks: an owner who writes ``Payment_*`` means ``payment_*``."""
    return fnmatchcase(name.casefold(), pattern.strip().casefold())


def asks_every_time(tool: Tool, agent: str, policy: Policy) -> bool:
    """Whether standing answers never apply: to money, to typed values, and to changes of a small model."""
    return tool.effect == "money" or bool(tool.typed) or _is_careful(tool, agent, policy)


def _is_careful(tool: Tool, agent: str, policy: Policy) -> bool:
    return tool.effect != "none" and agent in policy.careful


def is_allowed(tool: str, target: str, policy: Policy) -> bool:
    """Whether the owner's policy trusts this target of this tool."""
    return any(entry.target in (target, "*") for entry in policy.allowed if fnmatchcase(tool, entry.tool))


def _strangers(tool: Tool, targets: Targets, user_words: str, policy: Policy) -> str:
    """Why untrusted text may have chosen the targets; empty if the person or the owner named all of them."""
    read = "and untrusted text was read"
    if targets.too_many:
        return f"it has too many targets to check each, {read}"
    if targets.unknown:
        return f"it does not say whom or what it is for ({_named(targets.unknown)}), {read}"
    if not targets.known:
        return "untrusted text was read, which may have asked for it"
    mentions = _mentions(user_words)
    strange = [
        target.value
        for target in targets.known
        if not is_allowed(tool.name, target.value, policy)
        and not mentions.name(target.value, target.kind)
        and not (len(targets.known) <= _MOST_SCRATCH and _is_scratch(tool, target, policy))
    ]
    named = _named([repr(_short(value)) for value in strange])
    if not strange:
        return ""
    # Without words of the person there is no message of theirs: a pipe or a file wrote this one.
    says = "your message does not name" if user_words.strip() else "you did not type the message that names"
    in_full = " in full" if user_words.strip() else ""
    if all(_has_word(user_words, value) for value in strange):
        # A plain word such as "drafts" is in the message, and may be any word there.
        return f"{named} in your message may mean something else, {read}"
    return f"{says} {named}{in_full}, {read}"


def _has_word(words: str, value: str) -> bool:
    """Whether a value stands in the words by itself, and not only as a part of a longer word or address."""
    said = [word.strip(".,;:!?\"'`()").casefold() for word in words.split()]
    return bool(value) and value.casefold() in said


def names_address(words: str, address: str) -> bool:
    """Whether the person's words name a web address in full."""
    return _mentions(words).name(address, "url")


def _mentions(words: str) -> "Mentions":
    return _mentions_module().mentions_in(words)


def _mentions_module() -> ModuleType:
    # Loaded on use: most turns read nothing untrusted, and the patterns take a while to compile.
    from sestet.runtime import mentions

    return mentions


def _is_scratch(tool: Tool, target: Target, policy: Policy) -> bool:
    """Whether the file lies in a directory where untrusted text may choose, also behind links."""
    path = target.value
    if not policy.scratch or tool.effect != "local" or target.kind != "path" or not path.isprintable():
        return False
    # Each directory on the way costs a look at the file system.
    if len(path) > LONGEST_VALUE or path.count("/") > _DEEPEST_SCRATCH:
        return False
    # An earlier call may have put a link there, such as one out of an archive.
    path = os.path.realpath(os.path.expanduser(path))
    return any(path.startswith(f"{os.path.realpath(place).rstrip('/')}/") for place in policy.scratch)


def _named(values: Sequence[str]) -> str:
    """The first few values: the question itself shows all arguments."""
    more = [f"{len(values) - _MOST_NAMED} more"] if len(values) > _MOST_NAMED else []
    return ", ".join((*values[:_MOST_NAMED], *more))


def _short(value: str) -> str:
    return value if len(value) <= _LONGEST_NAMED else f"{value[:_LONGEST_NAMED]}…"


def _carries_own_words_only(tool: Tool, targets: Targets, arguments: JsonObject, user_words: str) -> bool:
    """Whether a call has only receivers, and otherwise words of the person's message.

    Then nothing leaves that an agent has read. A path, an id or a thing stands for what is stored under it,
    so a call with such a target can carry more. So can a call that says nothing: its content is elsewhere.
    """
    if targets.are_unclear or any(target.kind not in _RECEIVERS for target in targets.known):
        return False
    if not any(isinstance(value, str) for name, value in arguments.items() if name not in tool.targets):
        return False
    return _mentions_module().says_all(user_words, arguments)


def _may_be_private(tool: Tool, targets: Targets, policy: Policy) -> bool:
    if targets.are_unclear:
        return False
    private = Policy(allowed=tuple(entry for entry in policy.allowed if entry.private))
    return all(is_allowed(tool.name, target.value, private) for target in targets.known)
