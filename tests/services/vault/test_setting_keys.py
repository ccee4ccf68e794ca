"""``apiKey: vault:NAME`` in the settings."""

from collections.abc import Generator
from pathlib import Path

import pytest

import sestet
from sestet.config import settings_from
from sestet.core.errors import ConfigError
from sestet.services.vault.setting_keys import keys_in_vault, with_vault_keys
from sestet.services.vault.vault import Vault
from tests.services.vault.cheap import CHEAP, PASSPHRASE

KEY = "sk-live-A1b2C3d4E5f6"


@pytest.fixture
def vault(tmp_path: Path) -> Generator[Vault]:
    vault = Vault(tmp_path / "sestet.vault")
    vault.create(PASSPHRASE, cost=CHEAP)
    vault.store("openai", KEY.encode(), ["api.openai.com"], in_settings=True)
    yield vault
    vault.close()


def _settings(**provider: str) -> sestet.Settings:
    return settings_from(
        {
            "agent": {"provider": "mine", "model": "m"},
            "providers": {"mine": {"apiKey": "vault:openai", **provider}, "unused": {"apiKey": "vault:gone"}},
        }
    )


def _never(_: Vault) -> None:
    raise AssertionError("nobody should be asked")


def test_a_key_is_filled_in_for_the_vendors_own_host(vault: Vault) -> None:
    filled = with_vault_keys(_settings(), vault, _never)

    assert filled.providers["mine"].api_key == KEY
    assert repr(filled.providers["mine"].api_key) == "'***'"


def test_a_foreign_address_does_not_get_the_key(vault: Vault) -> None:
    with pytest.raises(
        ConfigError, match=r"providers\.mine\.apiKey: 'openai' may not go to https://evil\.example"
    ):
        with_vault_keys(_settings(baseUrl="https://evil.example/v1"), vault, _never)


def test_a_secret_that_is_not_meant_for_the_settings_is_refused(vault: Vault) -> None:
    vault.bind("openai", in_settings=False)

    with pytest.raises(ConfigError, match="is not meant for the settings"):
        with_vault_keys(_settings(), vault, _never)


def test_embedding_and_search_have_keys_too(vault: Vault) -> None:
    vault.store("search", b"search key", ["http://127.0.0.1:8888"], in_settings=True)
    settings = settings_from(
        {
            "embedding": {"provider": "openai", "model": "m", "apiKey": "vault:openai"},
            "search": {"url": "http://127.0.0.1:8888", "apiKey": "vault:search"},
        }
    )

    assert [key.setting for key in keys_in_vault(settings)] == ["embedding.apiKey", "search.apiKey"]
    filled = with_vault_keys(settings, vault, _never)
    assert (filled.embedding.api_key, filled.search.api_key) == (KEY, "search key")


def test_a_remote_agent_has_its_key_for_its_own_address(vault: Vault) -> None:
    vault.store("peer", b"a key of the peer", ["https://peer.example"], in_settings=True)
    entry = {"name": "weather", "url": "https://peer.example/a2a", "apiKey": "vault:peer"}
    settings = settings_from({"a2a": {"enabled": True, "remoteAgents": [entry]}})

    (agent,) = with_vault_keys(settings, vault, _never).a2a.remote_agents
    assert agent.api_key == "a key of the peer"
    moved = settings_from(
        {"a2a": {"enabled": True, "remoteAgents": [{**entry, "url": "https://evil.example"}]}}
    )
    with pytest.raises(ConfigError, match=r"a2a\.remoteAgents\.weather\.apiKey: 'peer' may not go to"):
        with_vault_keys(moved, vault, _never)


def test_without_such_keys_no_broker_is_started(tmp_path: Path) -> None:
    vault = Vault(tmp_path / "v")

    assert with_vault_keys(settings_from({}), vault, _never) == settings_from({})
    assert vault.broker_pid is None


async def test_a_locked_vault_ends_the_start_with_a_way_out(tmp_path: Path, vault: Vault) -> None:
    vault.close()

    with pytest.raises(
        ConfigError, match=r"providers\.mine\.apiKey: the vault is locked.*SESTET_PASSPHRASE_FILE"
    ):
        async with sestet.open(_settings(), home=tmp_path):
            pass


async def test_a_passphrase_file_opens_the_vault_at_the_start(
    tmp_path: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.close()
    file = tmp_path / "passphrase"
    _write_private(file)
    monkeypatch.setenv("SESTET_PASSPHRASE_FILE", str(file))

    async with sestet.open(_settings(), home=tmp_path) as app:
        assert app.vault.is_unlocked
        assert app.settings.providers["mine"].api_key == KEY
        assert app.journal.scanner.clean(f"the key is {KEY}") == "the key is [vault:openai]"


def _write_private(file: Path) -> None:
    file.write_bytes(PASSPHRASE)
    file.chmod(0o600)


def _with_server(**entry: object) -> sestet.Settings:
    return settings_from({"mcpServers": {"tracker_one": {"agent": "librarian", **entry}}})


def test_a_program_of_an_mcp_server_gets_a_secret_that_is_bound_to_its_name(vault: Vault) -> None:
    settings = _with_server(command="tracker", env={"TOKEN": "vault:openai", "MODE": "fast"})
    with pytest.raises(ConfigError, match=r"mcpServers\.tracker_one\.env\.TOKEN: .*tracker-one\.mcp"):
        with_vault_keys(settings, vault, _never)
    vault.bind("openai", destinations=["tracker-one.mcp"])
    filled = with_vault_keys(settings, vault, _never).mcp_servers["tracker_one"]
    assert filled.env == {"TOKEN": KEY, "MODE": "fast"}
    assert KEY not in repr(filled)


def test_a_header_for_an_mcp_server_is_bound_to_its_host_and_keeps_its_first_word(vault: Vault) -> None:
    headers = {"Authorization": "Bearer vault:openai"}
    filled = with_vault_keys(_with_server(url="https://api.openai.com/mcp", headers=headers), vault, _never)
    assert filled.mcp_servers["tracker_one"].headers == {"Authorization": f"Bearer {KEY}"}
    with pytest.raises(ConfigError, match=r"may not go to https://evil\.example"):
        with_vault_keys(_with_server(url="https://evil.example/mcp", headers=headers), vault, _never)


def test_a_server_without_an_agent_needs_no_secret(vault: Vault) -> None:
    settings = _with_server(command="tracker", env={"TOKEN": "vault:gone"}, agent="")
    assert not list(keys_in_vault(settings))
