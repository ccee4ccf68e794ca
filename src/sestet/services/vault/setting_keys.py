"""Keys in the settings that lie in the vault: ``apiKey: vault:NAME``.

Such a key comes into this process, because the vendor's library that sends it runs here. The broker gives out
only a secret that the person marked for the settings, and only for the host that the settings send it to.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from sestet.config.mcp_settings import McpServerSettings
from sestet.config.settings import ProviderSettings, RemoteAgentSettings, Secret, Settings
from sestet.config.vendors import VENDORS
from sestet.core.errors import ConfigError, VaultError
from sestet.core.record import replace
from sestet.services.vault.entries import REFERENCE
from sestet.services.vault.vault import Vault


class KeyInVault(NamedTuple):
    """A setting whose key lies in the vault."""

    setting: str
    name: str
    #: Where the key is sent.
    address: str


def keys_in_vault(settings: Settings) -> Iterator[KeyInVault]:
    """The keys of everything that the settings use; an entry that nothing uses needs no key."""
    for provider_id in used_providers(settings):
        provider = settings.providers[provider_id]
        if provider.api_key.startswith(REFERENCE):
            setting = f"providers.{provider_id}.apiKey"
            yield KeyInVault(setting, _name(provider.api_key), address_of(provider))
    embedding = settings.embedding
    if embedding.provider == "openai" and embedding.api_key.startswith(REFERENCE):
        address = embedding.base_url or VENDORS["openai"].url
        yield KeyInVault("embedding.apiKey", _name(embedding.api_key), address)
    if settings.search.url and settings.search.api_key.startswith(REFERENCE):
        yield KeyInVault("search.apiKey", _name(settings.search.api_key), settings.search.url)
    for agent in settings.a2a.remote_agents if settings.a2a.enabled else ():
        if agent.api_key.startswith(REFERENCE):
            yield KeyInVault(_remote_setting(agent), _name(agent.api_key), agent.url)
    for name, server in settings.mcp_servers.items():
        for setting, value in _values_of(name, server) if server.agent else ():
            reference = value.rpartition(" ")[2]
            if reference.startswith(REFERENCE):
                # A program has no host, so its secrets are bound to a name of its own.
                yield KeyInVault(setting, _name(reference), server.url or f"https://{program_host(name)}")


def with_vault_keys(settings: Settings, vault: Vault, unlock: Callable[[Vault], None]) -> Settings:
    """The settings with the keys themselves; without such keys, the vault is not touched. Blocking."""
    wanted = list(keys_in_vault(settings))
    if not wanted:
        return settings
    problems: list[str] = []
    values: dict[str, Secret] = {}
    try:
        if not vault.is_unlocked:
            unlock(vault)
    except VaultError as error:
        raise ConfigError([f"{wanted[0].setting}: {error}"]) from error
    for setting, name, address in wanted:
        try:
            values[setting] = Secret(vault.value_for_settings(name, address))
        except VaultError as error:
            problems.append(f"{setting}: {error}")
    if problems:
        raise ConfigError(problems)
    return _filled(settings, values)


def used_providers(settings: Settings) -> list[str]:
    """The ids under ``providers`` that an agent's model or a fallback names."""
    named = [settings.agent.provider, *(agent.provider for agent in settings.agents.values())]
    named += [model.partition("/")[0] for model in settings.agent.fallback]
    return [provider_id for provider_id in dict.fromkeys(named) if provider_id in settings.providers]


def address_of(provider: ProviderSettings) -> str:
    return provider.base_url or VENDORS[provider.type].url


def _filled(settings: Settings, values: dict[str, Secret]) -> Settings:
    providers = {
        id_: replace(provider, api_key=values.get(f"providers.{id_}.apiKey", provider.api_key))
        for id_, provider in settings.providers.items()
    }
    embedding, search, a2a = settings.embedding, settings.search, settings.a2a
    remote_agents = tuple(
        replace(agent, api_key=values.get(_remote_setting(agent), agent.api_key))
        for agent in a2a.remote_agents
    )
    servers = {
        name: replace(
            server,
            env=_with_values(server.env, f"mcpServers.{name}.env", values),
            headers=_with_values(server.headers, f"mcpServers.{name}.headers", values),
        )
        for name, server in settings.mcp_servers.items()
    }
    return replace(
        settings,
        mcp_servers=servers,
        providers=providers,
        embedding=replace(embedding, api_key=values.get("embedding.apiKey", embedding.api_key)),
        search=replace(search, api_key=values.get("search.apiKey", search.api_key)),
        a2a=replace(a2a, remote_agents=remote_agents),
    )


def program_host(server: str) -> str:
    """The host to which a secret for the program of an MCP server is bound."""
    return f"{server.lower().replace('_', '-')}.mcp"


def _with_values(given: Mapping[str, str], setting: str, values: Mapping[str, Secret]) -> dict[str, str]:
    filled = dict(given)
    for key, value in given.items():
        if (found := values.get(f"{setting}.{key}")) is not None:
            # "Bearer vault:NAME" keeps its first word.
            first, blank, _ = value.rpartition(" ")
            filled[key] = Secret(f"{first}{blank}{found}")
    return filled


def _values_of(name: str, server: McpServerSettings) -> Iterator[tuple[str, str]]:
    for group, values in (("env", server.env), ("headers", server.headers)):
        yield from ((f"mcpServers.{name}.{group}.{key}", value) for key, value in values.items())


def _remote_setting(agent: RemoteAgentSettings) -> str:
    return f"a2a.remoteAgents.{agent.name}.apiKey"


def _name(reference: str) -> str:
    return reference.removeprefix(REFERENCE)
