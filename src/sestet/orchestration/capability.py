"""Turns tool names into the words that a person would use for them."""

from collections.abc import Iterable, Mapping

from sestet.core.agent import AgentSpec
from sestet.core.tool import Tool

GENERAL = "general actions"


def phrases_of(specs: Iterable[AgentSpec]) -> dict[str, str]:
    """Every prefix with its phrase, over all specs; the first spec to name a prefix decides."""
    phrases: dict[str, str] = {}
    for spec in specs:
        for prefix, phrase in spec.capabilities.items():
            phrases.setdefault(prefix, phrase)
    return phrases


def capability_of(tool_name: str, phrases: Mapping[str, str]) -> str:
    """The phrase of the longest prefix that matches, or nothing."""
    matches = [prefix for prefix in phrases if tool_name.startswith(prefix)]
    return phrases[max(matches, key=len)] if matches else ""


def describe_capabilities(tools: Iterable[Tool], phrases: Mapping[str, str]) -> str:
    """The phrases of a set of tools, each once, in order of first appearance."""
    found = (_phrase_of(tool, phrases) for tool in tools)
    return ", ".join(dict.fromkeys(found))


def _phrase_of(tool: Tool, phrases: Mapping[str, str]) -> str:
    if tool.outside is None:
        return capability_of(tool.name, phrases) or GENERAL
    # A stranger chose the tool's name, and the owner these words.
    return tool.outside.about or f"the tools of {tool.outside.name}"
