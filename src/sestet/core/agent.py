"""A specialist before it is built (its spec) and after (an agent)."""

import re
from collections.abc import Callable, Mapping
from typing import Protocol

from sestet.core.errors import DefinitionError
from sestet.core.record import Record, field, force_setattr
from sestet.core.tool import Tool

ORCHESTRATOR = "orchestrator"
ASSISTANT = "assistant"
UNMATCHED = "unmatched"
#: The owner of a request that the orchestrator answers itself.
DIRECT = "direct"

#: The calls that every tree offers and no agent owns.
TRANSFER = "transfer_to_agent"
REJECT_TASK = "reject_task"
SHOW_RESULTS = "show_results"


#: What every vendor accepts as the name of a function or an agent.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
NAME_RULE = "must start with a letter and have only letters, digits, '_' and '-', 64 at most"


def is_valid_name(name: str) -> bool:
    """Whether an agent or a tool may have this name; ``NAME_RULE`` is the rule in words."""
    return _NAME.fullmatch(name) is not None


def normalise_name(name: str) -> str:
    """The form in which two names are compared: case, spaces and punctuation do not count."""
    return "".join(character for character in name.casefold() if character.isalnum())


class AgentSpec(Record):
    """The data of a plaque (AGENT.md): what the orchestrator has to know to send a specialist work."""

    name: str
    description: str = ""
    #: Tool-name prefixes that it owns. Left empty, they are the keys of ``capabilities``.
    prefixes: tuple[str, ...] = ()
    #: Prefix → the words a person would use for it.
    capabilities: Mapping[str, str] = field(default_factory=dict[str, str])
    keywords: tuple[str, ...] = ()
    accepts: str | tuple[str, ...] = ""
    returns: str | tuple[str, ...] = ""
    cannot: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    #: Name of another agent → the requests that belong to that one instead.
    not_for: Mapping[str, str] = field(default_factory=dict[str, str])
    #: Created even when no tool matches.
    always_include: bool = False
    #: Its own prompt, before the fragments that every specialist gets.
    instruction: str = ""
    #: Works on one delegation at a time; others wait.
    exclusive: bool = False
    #: An entry that applies only with a tool, or without it → that tool, or how its name begins.
    needs: Mapping[str, str] = field(default_factory=dict[str, str])
    lacks: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        for name in ("prefixes", "keywords", "cannot", "examples"):
            if isinstance(getattr(self, name), str):
                raise DefinitionError(f"agent '{self.name}': {name} must be a tuple of texts")
        if not self.prefixes and self.capabilities:
            force_setattr(self, "prefixes", tuple(self.capabilities))

    def owns(self, tool_name: str) -> bool:
        return tool_name.startswith(self.prefixes)


class RemotePeer(Protocol):
    """A specialist on another machine. It receives the request and nothing else."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    async def ask(self, request: str, on_text: Callable[[str], None] = ...) -> str: ...

    async def close(self) -> None: ...


class Agent(Record):
    """A built node of the tree. The orchestrator's ``tools`` is None: it has none and never will."""

    name: str
    description: str = ""
    instruction: str = ""
    tools: tuple[Tool, ...] | None = ()
    sub_agents: tuple["Agent", ...] = ()
    remote: RemotePeer | None = None
    exclusive: bool = False
    #: The description without the list of what its tools can do, for a person who sees the tools anyway.
    summary: str = ""

    def sub_agent(self, name: str) -> "Agent | None":
        """The sub-agent with this name; case, spaces and punctuation do not count."""
        for agent in self.sub_agents:
            if agent.name == name:
                return agent
        wanted = normalise_name(name)
        return next((agent for agent in self.sub_agents if normalise_name(agent.name) == wanted), None)
