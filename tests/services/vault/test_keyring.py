"""The keyring of the desktop opens the vault: a real Secret Service on a D-Bus of its own."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jeepney.io.blocking import DBusConnection  # pyright: ignore[reportMissingTypeStubs] - it has none

from sestet.core.errors import VaultError
from sestet.services.vault import keyring
from sestet.services.vault.keyring import KeyPlace, KeyringError, read_key
from sestet.services.vault.keyring_slot import add_keyring, open_with_keyring
from sestet.services.vault.open_vault import OpenVault
from sestet.services.vault.vault import RemovedKeyring, Vault
from sestet.services.vault.vault_file import VaultFile
from tests.services.vault.cheap import CHEAP, PASSPHRASE, make_vault
from tests.services.vault.desktop import Desktop, open_desktop


@pytest.fixture
def desktop() -> Generator[Desktop]:
    with open_desktop() as desktop:
        yield desktop


@pytest.fixture
def vault(tmp_path: Path, desktop: Desktop) -> Generator[Vault]:
    """A locked vault that the keyring can open."""
    vault = Vault(tmp_path / "v", bus=desktop.bus)
    vault.create(PASSPHRASE, cost=CHEAP)
    vault.store("token", b"a value")
    vault.add_keyring()
    vault.close()
    yield vault
    vault.close()


def test_the_keyring_opens_the_vault_without_a_question(vault: Vault) -> None:
    assert vault.unlock_unattended()

    assert [info.name for info in vault.infos()] == ["token"]
    assert vault.keyring_problem == ""


def test_the_keyring_opens_it_also_after_the_next_login(vault: Vault, desktop: Desktop) -> None:
    desktop.log_out()
    desktop.log_in()

    assert vault.unlock_unattended()


def test_neither_the_file_nor_the_keyring_alone_holds_the_data_key(vault: Vault, desktop: Desktop) -> None:
    (key,) = desktop.keys()

    assert key not in vault.path.read_bytes()


def test_a_locked_keyring_is_told_and_the_passphrase_opens_the_vault(vault: Vault, desktop: Desktop) -> None:
    desktop.lock()

    assert not vault.unlock_unattended()

    assert "it is locked" in vault.keyring_problem
    vault.unlock(PASSPHRASE)
    assert [info.name for info in vault.infos()] == ["token"]


def test_a_keyring_that_is_gone_is_told(vault: Vault, desktop: Desktop) -> None:
    desktop.log_out()

    assert not vault.unlock_unattended()

    assert "no keyring runs in this session" in vault.keyring_problem


def test_a_keyring_that_hangs_is_given_up(vault: Vault, desktop: Desktop) -> None:
    desktop.hang()

    assert not vault.unlock_unattended()

    assert "did not answer within 5 seconds" in vault.keyring_problem


def test_a_keyring_that_failed_is_tried_again_only_if_the_person_asks(vault: Vault, desktop: Desktop) -> None:
    desktop.log_out()
    assert not vault.unlock_unattended()
    desktop.log_in()

    assert not vault.unlock_unattended()
    assert vault.unlock_unattended(again=True)
    assert vault.keyring_problem == ""


def test_without_a_session_bus_the_reason_is_told(vault: Vault) -> None:
    elsewhere = Vault(vault.path)
    try:
        assert not elsewhere.unlock_unattended()
    finally:
        elsewhere.close()

    assert "DBUS_SESSION_BUS_ADDRESS" in elsewhere.keyring_problem


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (b"no base64!", "something else in the place of the vault's key"),
        (b"QUJD", "a key that does not fit"),
        (b"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=", "a key that does not fit"),
    ],
)
def test_another_value_in_the_keyring_does_not_open_the_vault(
    vault: Vault, desktop: Desktop, value: bytes, told: str
) -> None:
    desktop.replace_keys(value)

    assert not vault.unlock_unattended()
    assert told in vault.keyring_problem


def test_a_key_that_was_deleted_in_the_keyring_is_told(vault: Vault, desktop: Desktop) -> None:
    desktop.forget_everything()

    assert not vault.unlock_unattended()
    assert "does not hold the key of this vault" in vault.keyring_problem


def test_a_passphrase_file_goes_before_the_keyring(vault: Vault, tmp_path: Path, desktop: Desktop) -> None:
    file = tmp_path / "passphrase"
    file.write_bytes(b"wrong horse")
    file.chmod(0o600)
    named = Vault(vault.path, file, desktop.bus)
    try:
        with pytest.raises(VaultError, match="not the passphrase"):
            named.unlock_unattended()
    finally:
        named.close()


def test_adding_to_a_locked_keyring_changes_nothing(vault: Vault, desktop: Desktop) -> None:
    desktop.lock()
    before = vault.path.read_bytes()
    vault.unlock(PASSPHRASE)

    with pytest.raises(VaultError, match="nothing was changed: it is locked"):
        vault.add_keyring()

    assert vault.path.read_bytes() == before


def test_a_locked_vault_gets_no_keyring(vault: Vault, desktop: Desktop) -> None:
    with pytest.raises(VaultError, match="is locked"):
        vault.add_keyring()

    assert len(desktop.keys()) == 1


def test_adding_again_leaves_one_key_in_the_keyring(vault: Vault, desktop: Desktop) -> None:
    vault.unlock_unattended()
    (before,) = desktop.keys()

    vault.add_keyring()

    (after,) = desktop.keys()
    assert after != before
    vault.close()
    assert vault.unlock_unattended()


def test_removing_takes_the_key_out_of_the_keyring(vault: Vault, desktop: Desktop) -> None:
    vault.unlock_unattended()

    assert vault.remove_keyring() == RemovedKeyring(had=True, problem="")

    assert desktop.keys() == []
    assert not vault.has_keyring()
    assert vault.remove_keyring() == RemovedKeyring(had=False, problem="")


def test_removing_works_while_the_keyring_is_gone(vault: Vault, desktop: Desktop) -> None:
    desktop.log_out()
    vault.unlock(PASSPHRASE)

    removed = vault.remove_keyring()

    assert (removed.had, removed.problem) == (True, "it was not found: no keyring runs in this session")
    assert not vault.has_keyring()
    desktop.log_in()
    vault.close()
    assert not vault.unlock_unattended()


def test_sestets_own_process_does_not_speak_with_the_keyring(vault: Vault, desktop: Desktop) -> None:
    program = (
        "import sys\nfrom pathlib import Path\nfrom sestet.services.vault.vault import Vault\n"
        f"vault = Vault(Path({str(vault.path)!r}), bus={desktop.bus!r})\n"
        "print(vault.unlock_unattended(), {'jeepney', 'secretstorage', 'cryptography'} & set(sys.modules))\n"
        "vault.close()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "True set()\n"


def test_a_kill_at_any_moment_of_adding_leaves_a_slot_that_works(tmp_path: Path, desktop: Desktop) -> None:
    path = tmp_path / "v"
    add_keyring(make_vault(path, token=b"a value"), desktop.bus)
    first = VaultFile(path).read().keyring_slot
    moment, status = 0, 9
    while os.WIFSIGNALED(status):
        moment += 1
        child = os.fork()
        if not child:
            _add_until(path, desktop.bus, moment)
        _, status = os.waitpid(child, 0)
        opened = open_with_keyring(VaultFile(path), desktop.bus)
        assert opened is not None, moment
        assert opened.get("token").content == b"a value"
        assert OpenVault.unlock(VaultFile(path), PASSPHRASE).entries == opened.entries
    assert os.waitstatus_to_exitcode(status) == 0
    assert moment > 20
    assert VaultFile(path).read().keyring_slot != first


def _add_until(path: Path, bus: str, moment: int) -> None:
    """In a child: add the keyring again, and die by SIGKILL before the given message or write."""
    left = moment

    def dying(owner: Any, name: str) -> None:  # Any: a module or a class
        real = getattr(owner, name)

        def call(*given: object, **named: object) -> object:
            nonlocal left
            left -= 1
            if not left:
                os.kill(os.getpid(), 9)
            return real(*given, **named)

        setattr(owner, name, call)

    with suppress(BaseException):
        vault = OpenVault.unlock(VaultFile(path), PASSPHRASE)
        for name in ("open", "write", "fsync", "close", "link", "rename", "unlink"):
            dying(os, name)
        dying(DBusConnection, "send_message")
        add_keyring(vault, bus)
        os._exit(0)
    os._exit(1)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.booleans())
def test_a_bus_that_says_anything_at_all_is_a_keyring_that_failed(
    monkeypatch: pytest.MonkeyPatch, said: bytes, accepts: bool
) -> None:
    monkeypatch.setattr(keyring, "PATIENCE", 1.0)
    with TemporaryDirectory() as directory, closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(f"{directory}/bus")
        listener.listen()

        def serve() -> None:
            channel, _ = listener.accept()
            with channel, suppress(OSError):
                if accepts:
                    channel.recv(100)
                    channel.sendall(b"OK 0123456789abcdef0123456789abcdef\r\n")
                channel.recv(1000)
                channel.sendall(said)

        server = threading.Thread(target=serve)
        server.start()
        with pytest.raises(KeyringError):
            read_key(KeyPlace(f"unix:path={directory}/bus", "vault", "slot"))
        server.join()


def test_without_the_extra_the_way_to_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jeepney.bus", None)

    with pytest.raises(KeyringError, match=r"pip install '.\[keyring\]'"):
        read_key(KeyPlace("unix:path=/nowhere", "vault", "slot"))


@pytest.mark.parametrize("address", ["nonsense", "tcp:host=127.0.0.1,port=1", "unix:path=/nowhere", "unix:"])
def test_an_address_that_leads_nowhere_is_a_keyring_that_failed(address: str) -> None:
    with pytest.raises(KeyringError):
        read_key(KeyPlace(address, "vault", "slot"))
