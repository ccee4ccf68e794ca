"""The broker process: what it gives out, what it refuses, and how it ends."""

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from sestet.core.errors import VaultError
from sestet.services.vault.sources import Source
from sestet.services.vault.vault import Vault
from tests.services.vault.cheap import CHEAP, PASSPHRASE


@pytest.fixture
def vault(tmp_path: Path) -> Generator[Vault]:
    vault = Vault(tmp_path / "sestet.vault")
    vault.create(PASSPHRASE, cost=CHEAP)
    yield vault
    vault.close()


def _typing(*answers: tuple[bytes, bytes]) -> tuple[int, Callable[[], bytes]]:
    """A terminal at which a person waits for each prompt and types its answer; and what it has shown."""
    person, terminal = pty.openpty()
    shown = bytearray()

    def type_answers() -> None:
        for prompt, typed in answers:
            while prompt not in shown:
                shown.extend(os.read(person, 1000))
            os.write(person, typed)

    typist = threading.Thread(target=type_answers)
    typist.start()

    def finish() -> bytes:
        typist.join()
        os.set_blocking(person, False)
        try:
            while piece := os.read(person, 1000):
                shown.extend(piece)
        except OSError:
            pass
        os.close(person)
        os.close(terminal)
        return bytes(shown)

    return terminal, finish


def test_an_answer_tells_names_and_destinations_and_no_value(vault: Vault) -> None:
    stored = vault.store("GitHub token", b"ghp_value", ["api.github.com"])

    assert (stored.reference, stored.destinations) == ("vault:github-token", ("https://api.github.com",))
    assert [info.name for info in vault.infos()] == ["github-token"]


def test_a_locked_vault_says_so_and_opens_with_its_passphrase(vault: Vault) -> None:
    vault.store("token", b"a value")
    vault.close()

    with pytest.raises(VaultError, match="is locked") as told:
        vault.infos()
    assert told.value.locked
    assert not vault.is_unlocked

    vault.unlock(PASSPHRASE)
    assert [info.name for info in vault.infos()] == ["token"]


def test_the_broker_cannot_be_traced_and_dumps_no_core(vault: Vault) -> None:
    status = vault.status()

    assert (status.untraceable, status.no_core_dumps) == (True, True)


def test_the_broker_knows_no_key_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-in-the-environment")
    vault = Vault(tmp_path / "v")
    vault.status()
    try:
        environment = Path(f"/proc/{vault.broker_pid}/environ").read_bytes()
    except PermissionError:
        environment = b""  # no other process of this user may look, which is better still
    vault.close()

    assert b"sk-in-the-environment" not in environment


def test_the_broker_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom sestet.services.vault.vault import Vault\n"
        f"vault = Vault(Path({str(tmp_path / 'v')!r}))\nvault.status()\n"
        "print(vault.broker_pid, flush=True)\ntime.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    broker = os.pidfd_open(int(parent.stdout.readline()))

    parent.kill()
    parent.wait()
    parent.stdout.close()

    ended, _, _ = select.select([broker], [], [], 20)
    os.close(broker)
    assert ended


def test_a_killed_broker_is_told_and_the_next_one_is_locked(vault: Vault) -> None:
    assert vault.broker_pid is not None
    os.kill(vault.broker_pid, signal.SIGKILL)
    os.waitpid(vault.broker_pid, 0)

    with pytest.raises(VaultError, match="unlock the vault again") as told:
        vault.infos()
    assert told.value.locked
    vault.unlock(PASSPHRASE)
    assert vault.infos() == []


def test_a_value_typed_at_a_terminal_is_not_shown_there(vault: Vault) -> None:
    terminal, finish = _typing((b"Value: ", b"typd\x7fed val\xc3\xbc\x7fue\r"))
    source = Source("terminal", prompt="Value: ")

    vault.store("token", source, ["api.example.com"], in_settings=True, descriptor=terminal)
    echo = termios.tcgetattr(terminal)[3] & termios.ECHO
    shown = finish()

    assert vault.value_for_settings("token", "https://api.example.com") == "typed value"
    assert b"typ" not in shown
    assert echo, "the terminal shows again what is typed"


def test_a_passphrase_that_was_typed_differently_makes_no_vault(tmp_path: Path) -> None:
    vault = Vault(tmp_path / "v")
    terminal, finish = _typing((b"New: ", b"one\r"), (b"again", b"two\r"))

    with pytest.raises(VaultError, match="differ"):
        vault.create(Source("terminal", prompt="New: ", twice=True), cost=CHEAP, terminal=terminal)

    finish()
    vault.close()
    assert not vault.exists()


def test_ctrl_c_at_the_prompt_stores_nothing(vault: Vault) -> None:
    terminal, finish = _typing((b"Value: ", b"half\x03"))

    with pytest.raises(VaultError, match="nothing was typed"):
        vault.store("token", Source("terminal", prompt="Value: "), descriptor=terminal)

    finish()
    assert vault.infos() == []


def test_a_value_comes_through_a_pipe_without_its_line_end(vault: Vault) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"line one\nline two\n")
    os.close(writing)

    vault.store("token", Source("stream"), ["a.example"], in_settings=True, descriptor=reading)

    os.close(reading)
    assert vault.value_for_settings("token", "https://a.example") == "line one\nline two"


def test_a_passphrase_file_that_others_can_read_is_refused(tmp_path: Path, vault: Vault) -> None:
    file = tmp_path / "passphrase"
    file.write_bytes(PASSPHRASE + b"\n")
    file.chmod(0o640)
    vault.close()
    vault.passphrase_file = file

    with pytest.raises(VaultError, match="chmod 600"):
        vault.unlock_unattended()

    file.chmod(0o600)
    assert vault.unlock_unattended()


def test_a_value_leaves_only_for_the_settings_and_its_own_host(vault: Vault) -> None:
    vault.store("token", b"a value", ["api.example.com"])
    with pytest.raises(VaultError, match="not meant for the settings"):
        vault.value_for_settings("token", "https://api.example.com/v1")

    vault.bind("token", in_settings=True)

    assert vault.value_for_settings("token", "https://api.example.com/v1") == "a value"
    for elsewhere in (
        "https://evil.example",
        "https://api.example.com.evil.example",
        "https://api.example.com:8443",
        "https://api.example.com@evil.example/",
        "http://api.example.com",
    ):
        with pytest.raises(VaultError):
            vault.value_for_settings("token", elsewhere)


def test_a_failure_inside_the_broker_is_told_without_its_text(vault: Vault) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"\xff\xfe")
    os.close(writing)
    vault.store("token", Source("stream"), ["a.example"], in_settings=True, descriptor=reading)
    os.close(reading)

    with pytest.raises(VaultError) as told:
        vault.value_for_settings("token", "https://a.example")

    assert str(told.value) == "the vault failed at 'value' (UnicodeDecodeError)"


def test_a_digest_is_signed_the_same_each_time_and_the_key_stays(vault: Vault) -> None:
    info = vault.generate_key("wallet", "secp256k1")

    first, second = (vault.sign_digest("wallet", b"\x01" * 32) for _ in range(2))

    assert first == second
    assert vault.public_key("wallet").hex() == info.public
    with pytest.raises(VaultError, match="32 bytes"):
        vault.sign_digest("wallet", b"\x01" * 31)
    with pytest.raises(VaultError, match="already holds"):
        vault.generate_key("wallet", "secp256k1")


def test_a_wallet_key_signs_no_text_and_a_text_key_no_digest(vault: Vault) -> None:
    vault.generate_key("wallet", "secp256k1")
    vault.generate_key("letters", "ed25519")

    with pytest.raises(VaultError, match="is a wallet key"):
        vault.sign("wallet", "text")
    with pytest.raises(VaultError, match="is a key to sign with"):
        vault.sign_digest("letters", b"\x01" * 32)


def test_a_known_private_key_gives_its_known_public_key(vault: Vault) -> None:
    vault.store_key("one", b"0x" + b"00" * 31 + b"01")

    # The generator of the curve.
    assert vault.public_key("one").hex().startswith("0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f28")
    with pytest.raises(VaultError, match="not a private key"):
        vault.store_key("two", b"00" * 32)
