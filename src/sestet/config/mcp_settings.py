"""The settings of MCP servers: how each is started or reached, and the agent that gets its tools."""

from collections.abc import Mapping
from typing import Annotated, Literal

from sestet.config.secret import Secret
from sestet.config.section import Section
from sestet.core.record import field, force_setattr

_SECRET = {"writeOnly": True}
_VALUE = "a value may be ${VAR} or vault:NAME"


class McpToolSettings(Section):
    """What you declare about one tool of a server; a declaration that is left out counts as the worst."""

    risk: Annotated[
        Literal["safe", "guarded", "dangerous"], "Whether a call asks you first: all but safe ones do"
    ] = "dangerous"
    reads: Annotated[
        tuple[Literal["untrusted", "private"], ...],
        "The kind of text in its results; they always count as untrusted too",
    ] = ("untrusted", "private")
    effect: Annotated[
        Literal["none", "local", "external", "money"], "What a call changes, or where it sends something"
    ] = "money"
    targets: Annotated[
        tuple[str, ...], "The arguments that choose who receives something, or what is changed"
    ] = ()


class McpServerSettings(Section):
    """One MCP server: a program on this machine, or an address."""

    type: Annotated[
        Literal["", "stdio", "http", "streamable-http"],
        "How it is spoken with; empty: stdio with a command, http with a url",
    ] = ""
    command: Annotated[str, "The program that is started on first use, such as npx"] = ""
    args: Annotated[tuple[str, ...], "The arguments of the program; no shell reads them"] = ()
    env: Annotated[
        Mapping[str, Annotated[str, _SECRET]],
        f"Its whole environment, beside PATH, HOME and LANG; {_VALUE}",
    ] = field(default_factory=dict[str, str])
    url: Annotated[str, "Its address, for a server over streamable HTTP; in place of command"] = ""
    headers: Annotated[Mapping[str, Annotated[str, _SECRET]], f"Headers of each request; {_VALUE}"] = field(
        default_factory=dict[str, str]
    )
    agent: Annotated[str, "The agent that gets its tools; empty: nobody can call them"] = ""
    about: Annotated[str, "What it is for, in your own words: the orchestrator reads this"] = ""
    sandbox: Annotated[bool, "Start the program in the sandbox of commands"] = False
    network: Annotated[bool, "Whether the program may use the network in the sandbox"] = False
    seconds: Annotated[float, "Seconds that one call may take", {"minimum": 1}] = 60.0
    tools: Annotated[
        Mapping[str, McpToolSettings], "What you declare about its tools, by the server's own names for them"
    ] = field(default_factory=dict[str, McpToolSettings])

    def __post_init__(self) -> None:
        for name in ("env", "headers"):
            values: Mapping[str, str] = getattr(self, name)
            force_setattr(self, name, {key: Secret.of(value) for key, value in values.items()})
