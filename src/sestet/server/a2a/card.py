"""The card of this assistant: one skill for each specialist that exists, in the words of its abilities."""

from collections.abc import Mapping

from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    HTTPAuthSecurityScheme,
    SecurityRequirement,
    SecurityScheme,
    StringList,
)

from sestet import __version__
from sestet.app import App
from sestet.core.agent import Agent, AgentSpec
from sestet.orchestration.capability import describe_capabilities, phrases_of

#: Where the protocols answer. JSON-RPC answers at the base address as well.
RPC_PATH = "/a2a"
REST_PATH = "/a2a/rest"
_TEXT = "text/plain"
_BEARER = "bearer"
_EXAMPLES = 3
_PROTOCOLS = (("JSONRPC", RPC_PATH), ("HTTP+JSON", REST_PATH))
#: A client of 0.3 finds the addresses of its own version too.
_VERSIONS = ("1.0", "0.3")


def build_card(app: App, base: str, pushes: bool) -> AgentCard:
    """``base``: the address at which the client reads the card; ``pushes``: tasks can be told about."""
    interfaces = [
        AgentInterface(url=f"{base}{path}", protocol_binding=protocol, protocol_version=version)
        for version in _VERSIONS
        for protocol, path in _PROTOCOLS
    ]
    specs = {spec.name: spec for spec in app.specs}
    agents = [agent for agent in app.root.sub_agents if agent.remote is None] or [app.root]
    return AgentCard(
        name="Sestet",
        description="A personal assistant. Its owner decides about everything that it does for others.",
        version=__version__,
        supported_interfaces=interfaces,
        capabilities=AgentCapabilities(streaming=True, push_notifications=pushes, extended_agent_card=False),
        security_schemes={
            _BEARER: SecurityScheme(
                http_auth_security_scheme=HTTPAuthSecurityScheme(
                    scheme="Bearer", description="A token that the owner of this assistant gives you"
                )
            )
        },
        security_requirements=[SecurityRequirement(schemes={_BEARER: StringList()})],
        default_input_modes=[_TEXT],
        default_output_modes=[_TEXT],
        skills=[_skill(agent, specs.get(agent.name), phrases_of(app.specs)) for agent in agents],
    )


def _skill(agent: Agent, spec: AgentSpec | None, phrases: Mapping[str, str]) -> AgentSkill:
    # Everybody may read the card, so it tells nothing of the owner's MCP servers.
    own = [tool for tool in agent.tools or () if tool.outside is None]
    phrases = {**phrases, **spec.capabilities} if spec else phrases
    abilities = f"Capabilities: {describe_capabilities(own, phrases)}" if own else ""
    return AgentSkill(
        id=agent.name,
        name=agent.name,
        description=". ".join(filter(None, (agent.summary, abilities))) or "Answers questions",
        tags=list(spec.keywords) if spec and spec.keywords else [agent.name],
        examples=list(spec.examples[:_EXAMPLES]) if spec else [],
    )
