"""A specialist before it is built (its spec) and after (an agent)."""

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

from sestet.core.errors import DefinitionError
from sestet.core.record import Values, record
from sestet.core.tool import Tool

ORCHESTRATOR = "orchestrator"
ASSISTANT = "assistant"
UNMATCHED = "unmatched"

#: The two calls that every tree offers and nobody owns.
TRANSFER = "transfer_to_agent"
REJECT_TASK = "reject_task"


#: What every vendor accepts as the name of a function or an agent.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def name_problem(name: str) -> str:
    """What is wrong with the name of a tool or an agent, to follow "its name"; empty when nothing is."""
    rule = "must start with a letter and have letters, digits, '_' and '-', 64 at most"
    return "" if _NAME.fullmatch(name) else rule


def normalise_name(name: str) -> str:
    """The form in which two names are the same: case, spaces and punctuation do not count."""
    return "".join(character for character in name.casefold() if character.isalnum())


@record
class AgentSpec(Values):
    """The plaque on a specialist's door: all that anybody needs to know to send it work."""

    name: str
    description: str = ""
    #: Tool-name prefixes that it owns. Left empty, they are the keys of ``capabilities``.
    prefixes: tuple[str, ...] = ()
    #: Prefix → the words a person would use for it.
    capabilities: Mapping[str, str] = field(default_factory=dict[str, str])
    keywords: tuple[str, ...] = ()
    accepts: str = ""
    returns: str = ""
    cannot: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    #: Another agent's name → when that one is right instead.
    not_for: Mapping[str, str] = field(default_factory=dict[str, str])
    #: Created even when no tool matches.
    always_include: bool = False
    #: Its own prompt, before the fragments that every specialist gets.
    instruction: str = ""
    #: Works on one delegation at a time; others wait.
    exclusive: bool = False

    def __post_init__(self) -> None:
        for name in ("prefixes", "keywords", "cannot", "examples"):
            if isinstance(getattr(self, name), str):
                raise DefinitionError(f"agent '{self.name}': {name} must be a tuple of texts")
        if not self.prefixes and self.capabilities:
            object.__setattr__(self, "prefixes", tuple(self.capabilities))

    def owns(self, tool_name: str) -> bool:
        return tool_name.startswith(self.prefixes)


class RemotePeer(Protocol):
    """A specialist that lives elsewhere. It is given a request, and never anything else."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    async def ask(self, request: str) -> str: ...

    async def close(self) -> None: ...


@record
class Agent(Values):
    """A built node of the tree. The orchestrator's ``tools`` is None: it has none and never will."""

    name: str
    description: str = ""
    instruction: str = ""
    tools: tuple[Tool, ...] | None = ()
    sub_agents: tuple["Agent", ...] = ()
    remote: RemotePeer | None = None
    exclusive: bool = False

    def sub_agent(self, name: str) -> "Agent | None":
        """The child of that name, however it was spelt."""
        for agent in self.sub_agents:
            if agent.name == name:
                return agent
        wanted = normalise_name(name)
        return next((agent for agent in self.sub_agents if normalise_name(agent.name) == wanted), None)
