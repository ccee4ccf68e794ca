"""What the doctor says of the vault."""

from collections.abc import Generator
from pathlib import Path

import pytest

from sestet.config import settings_from
from sestet.doctor.vault import check_vault
from sestet.services.vault.scanner import Scanner
from sestet.services.vault.vault import Vault
from tests.services.vault.cheap import CHEAP, PASSPHRASE
from tests.services.vault.desktop import open_desktop


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Vault]:
    monkeypatch.setenv("SESTET_HOME", str(tmp_path))
    monkeypatch.delenv("SESTET_PASSPHRASE_FILE", raising=False)
    vault = Vault(tmp_path / "sestet.vault")
    vault.create(PASSPHRASE, cost=CHEAP)
    vault.store("openai", b"sk-live-A1b2C3d4", ["api.openai.com"], in_settings=True)
    yield vault
    vault.close()


def test_a_vault_is_described_with_what_was_caught(vault: Vault) -> None:
    scanner = Scanner(vault)
    scanner.clean("here: sk-live-A1b2C3d4")

    (check,), _ = check_vault(settings_from({}))

    assert check.status == "ok"
    assert check.detail.startswith("1 entry, locked; no other process of yours can read its broker")
    assert "the scanner has caught a value 1 time" in check.detail


def test_a_damaged_file_is_a_problem_that_names_the_version_before(vault: Vault) -> None:
    content = vault.path.read_bytes()
    vault.path.write_bytes(content[:-10])

    (check,), _ = check_vault(settings_from({}))

    assert check.status == "problem"
    assert "it was cut short or changed" in check.detail
    assert "'sestet.vault.old' beside it" in check.detail


def test_a_key_of_the_settings_in_a_locked_vault_is_a_problem(vault: Vault) -> None:
    settings = settings_from(
        {"agent": {"provider": "openai", "model": "m"}, "providers": {"openai": {"apiKey": "vault:openai"}}}
    )

    (_, check), usable = check_vault(settings)

    assert usable is None
    assert (check.status, check.detail.partition(":")[0]) == ("problem", "providers.openai.apiKey")
    assert "SESTET_PASSPHRASE_FILE" in check.way_out


def test_with_a_passphrase_file_the_key_is_found(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "passphrase"
    file.write_bytes(PASSPHRASE)
    file.chmod(0o600)
    monkeypatch.setenv("SESTET_PASSPHRASE_FILE", str(file))
    settings = settings_from(
        {"agent": {"provider": "openai", "model": "m"}, "providers": {"openai": {"apiKey": "vault:openai"}}}
    )

    _, usable = check_vault(settings)

    assert usable is not None
    assert usable.providers["openai"].api_key == "sk-live-A1b2C3d4"


def test_without_a_vault_the_way_to_one_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESTET_HOME", str(tmp_path))

    (check,), _ = check_vault(settings_from({}))

    assert (check.status, check.detail) == ("ok", "there is none yet; 'sestet secrets set NAME' makes one")


def test_a_keyring_that_works_is_mentioned_and_one_that_does_not_is_a_warning(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_desktop() as desktop:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", desktop.bus)
        connected = Vault(vault.path, bus=desktop.bus)
        connected.unlock(PASSPHRASE)
        connected.add_keyring()
        connected.close()

        (works,), _ = check_vault(settings_from({}))
        desktop.lock()
        (described, warning), _ = check_vault(settings_from({}))

    assert works.detail.startswith("1 entry, open;")
    assert "the keyring of the desktop opens it, too" in works.detail
    assert described.detail.startswith("1 entry, locked;")
    assert (warning.name, warning.status) == ("keyring", "warning")
    assert "it is locked" in warning.detail
    assert "sestet secrets remove-keyring" in warning.way_out
