import logging
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sestet.core.scanner import HeldBackText
from sestet.services.vault import scanner as scanning
from sestet.services.vault.scanner import Scanner
from sestet.services.vault.vault import Vault
from sestet.services.vault.watch import FINGERPRINT_BITS, Watch
from tests.services.vault.cheap import CHEAP, PASSPHRASE
from tests.services.vault.spellings import CAUGHT, MISSED

CANARY = "ghp_Zx9/Qw+8Lm-3Tn5Rk7Vd2Bc4Fj6Hs"
_PROSE = "The quick brown fox jumps over the lazy dog, 42 times in 2026 (see https://example.com/a?b=c%20d). "


@pytest.fixture
def vault(tmp_path: Path) -> Generator[Vault]:
    vault = Vault(tmp_path / "sestet.vault")
    vault.create(PASSPHRASE, cost=CHEAP)
    yield vault
    vault.close()


@pytest.fixture
def scanner(vault: Vault) -> Generator[Scanner]:
    scanner = Scanner(vault)
    vault.store("canary", CANARY.encode())
    yield scanner
    scanner.close()


@pytest.fixture(scope="module")
def shared_vault(tmp_path_factory: pytest.TempPathFactory) -> Generator[Vault]:
    """One broker for the many texts that are only scanned; no test stores anything here."""
    vault = Vault(tmp_path_factory.mktemp("shared") / "sestet.vault")
    vault.create(PASSPHRASE, cost=CHEAP)
    vault.store("canary", CANARY.encode())
    yield vault
    vault.close()


@pytest.fixture
def shared_scanner(shared_vault: Vault) -> Generator[Scanner]:
    scanner = Scanner(shared_vault)
    yield scanner
    # It cleans the log records of this process as long as it is open.
    scanner.close()


@pytest.mark.parametrize("spelling", CAUGHT)
def test_a_value_is_found_in_each_spelling(shared_scanner: Scanner, spelling: str) -> None:
    written = CAUGHT[spelling](CANARY)

    cleaned = shared_scanner.clean(f"{_PROSE}<<{written}>>{_PROSE}")

    assert "[vault:canary]" in cleaned
    assert written not in cleaned
    assert cleaned.startswith(_PROSE)
    assert cleaned.endswith(_PROSE)


@pytest.mark.parametrize("header", ["Authorization: Bearer ", "X-Api-Key: ", "authorization:Basic  "])
def test_the_token_of_a_whole_header_is_found_without_the_header(scanner: Scanner, header: str) -> None:
    token = "9fK2mQ7xT4wB8zR1cV6n"
    scanner.vault.store("header", f"{header}{token}\n".encode())

    assert scanner.clean(f"you sent: {token}.") == "you sent: [vault:header]."
    assert scanner.clean("Authorization: Bearer is a header") == "Authorization: Bearer is a header"


def test_at_least_24_of_30_spellings_are_found() -> None:
    watch = Watch([("canary", CANARY.encode())])
    found = [name for name, write in {**CAUGHT, **MISSED}.items() if watch.clean(write(CANARY)).found]

    assert len(found) >= 0.8 * len({**CAUGHT, **MISSED}) >= 24
    # A limit that is gone should be deleted from the documentation too.
    assert not set(found) & set(MISSED)


@settings(max_examples=60)
@given(
    value=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=12, max_size=60),
    before=st.text(max_size=80),
    after=st.text(max_size=80),
    spelling=st.sampled_from(
        ["as it is", "base64", "hexadecimal", "percent signs everywhere", "reversed", "JSON"]
    ),
)
def test_any_value_is_found_between_any_texts(value: str, before: str, after: str, spelling: str) -> None:
    watch = Watch([("any", value.encode())])
    if not watch.names:
        return  # too few letters and digits

    cleaned = watch.clean(f"{before} {CAUGHT[spelling](value)} {after}")

    assert cleaned.found == ["any"]
    assert CAUGHT[spelling](value) not in cleaned.text


def test_ordinary_text_comes_back_as_it_is(scanner: Scanner) -> None:
    numbers = random.Random(1)
    for _ in range(200):
        text = "".join(chr(numbers.randrange(32, 0x500)) for _ in range(numbers.randrange(400)))
        assert scanner.clean(text) == text


def test_every_place_of_a_value_is_replaced(scanner: Scanner) -> None:
    text = f"{CANARY} and {CAUGHT['hexadecimal'](CANARY)} and {CANARY}"

    assert scanner.clean(text) == "[vault:canary] and [vault:canary] and [vault:canary]"


def test_a_text_full_of_a_value_is_withheld_as_a_whole(scanner: Scanner) -> None:
    assert scanner.clean(f"{CANARY} {_PROSE} " * 50) == "[withheld: it held vault:canary]"
    assert scanner.clean(CANARY + _PROSE * 3000) == "[withheld: it held vault:canary]"


def test_a_piece_of_a_long_value_is_found(vault: Vault) -> None:
    scanner = Scanner(vault)
    value = "".join(f"{number:03d}abcxyz"[number % 5 :] for number in range(60))
    vault.store("long", value.encode())

    assert "[vault:long]" in scanner.clean(f"the beginning is {value[30:70]}, guess the rest")


def test_a_short_value_is_not_watched_and_says_so(vault: Vault) -> None:
    scanner = Scanner(vault)

    assert not vault.store("pin", b"1234").watched
    assert not scanner.watches
    assert vault.store("longer", b"12345678").watched


def test_fingerprints_tell_a_few_bits_of_a_value_and_differ_between_brokers(vault: Vault) -> None:
    vault.store("canary", CANARY.encode())
    multiplier, values = vault.fingerprints()
    vault.close()
    vault.unlock(PASSPHRASE)

    assert all(value < 2**FINGERPRINT_BITS for value in values)
    # Each stands for the first eight of sixteen characters of a piece.
    assert len(values) <= len(CANARY) // 8
    assert vault.fingerprints()[0] != multiplier


@pytest.mark.parametrize(("keep", "is_there"), [("never", False), ("keep", True)])
def test_the_scanning_process_never_holds_the_value(tmp_path: Path, keep: str, is_there: bool) -> None:
    """The positive control reads the value into its memory, and finds it there."""
    (tmp_path / "value").write_text(CANARY)
    turned = bytes(255 - byte for byte in CANARY.encode()[4:20]).hex()
    program = [sys.executable, "-m", "tests.services.vault.memory_search"]

    found = subprocess.run(
        [*program, tmp_path / "v", tmp_path / "value", turned, keep],
        capture_output=True,
        text=True,
        check=True,
    )

    assert (int(found.stdout.split()[0]) > 0) == is_there


def test_a_locked_vault_costs_nothing_and_watches_nothing(vault: Vault, scanner: Scanner) -> None:
    assert scanner.watches
    vault.close()

    assert not scanner.watches
    assert scanner.clean(CANARY) == CANARY


def test_what_another_process_stored_is_watched_after_the_next_look(vault: Vault, tmp_path: Path) -> None:
    scanner = Scanner(vault)
    other = Vault(tmp_path / "sestet.vault")
    other.unlock(PASSPHRASE)
    other.store("canary", CANARY.encode())
    other.close()
    assert not scanner.watches

    scanner.look_again()

    assert scanner.clean(CANARY) == "[vault:canary]"


def test_without_its_broker_a_text_that_may_hold_a_value_is_withheld(vault: Vault, scanner: Scanner) -> None:
    assert vault.broker_pid is not None
    os.kill(vault.broker_pid, signal.SIGKILL)
    os.waitpid(vault.broker_pid, 0)

    assert CANARY not in scanner.clean(f"here: {CANARY}")
    assert scanner.clean(_PROSE) == _PROSE


def test_what_was_caught_is_counted_across_processes(vault: Vault, scanner: Scanner) -> None:
    scanner.clean(CANARY)
    scanner.clean(f"again {CANARY}")

    assert vault.caught() == 2


def test_log_records_of_every_logger_are_cleaned(scanner: Scanner, caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise ValueError(f"bad key {CANARY}")
    except ValueError:
        logging.getLogger("some.vendor").exception("sent %s with %d", {"key": CANARY}, 3)

    formatted = logging.Formatter().format(caplog.records[0])
    assert CANARY not in formatted
    assert "ValueError: bad key [vault:canary]" in formatted
    assert "with 3" in formatted

    scanner.close()
    logging.getLogger("some.vendor").error("sent %s", CANARY)
    assert CANARY in logging.Formatter().format(caplog.records[1])


@pytest.mark.parametrize("size", [1, 3, 7, 40, 1000])
@pytest.mark.parametrize("spelling", ["as it is", "base64", "hexadecimal", "JSON with \\u"])
def test_a_streamed_text_is_cleaned_whatever_its_pieces_are(
    shared_scanner: Scanner, size: int, spelling: str
) -> None:
    written = CAUGHT[spelling](CANARY)
    text = f"{_PROSE * 4}{written} {_PROSE * 4}"
    stream, shown = HeldBackText(shared_scanner), ""
    for at in range(0, len(text), size):
        shown += stream.feed(text[at : at + size])
        # At no moment has more of it been shown than a scanner would accept.
        assert shared_scanner.clean(shown) == shown
    shown += stream.rest()

    assert "[vault:canary]" in shown
    assert shown.startswith(_PROSE * 4)


def test_a_text_that_is_looked_at_while_its_value_is_stored_is_looked_at_again(
    scanner: Scanner, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = "sk-Later7Qw8Lm3Tn5Rk7Vd2Bc4Fj"
    look = scanning._suspects  # pyright: ignore[reportPrivateUsage] - the moment between two steps

    def store_meanwhile(*given: Any) -> list[str]:  # Any: what it takes is not looked at
        monkeypatch.setattr(scanning, "_suspects", look)
        suspects = look(*given)
        vault.store("later", later.encode())
        return suspects

    monkeypatch.setattr(scanning, "_suspects", store_meanwhile)
    scanner.clean(f"my key is {later}")

    assert scanner.clean(f"my key is {later}") == "my key is [vault:later]"


def test_two_values_that_are_stored_at_once_are_both_watched(
    scanner: Scanner, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = "sk-One7Qw8Lm3Tn5Rk7Vd2Bc4Fj", "sk-Other9Zx3Tn5Rk7Vd2Bc4Fj"
    ask = vault.fingerprints
    storing = threading.Thread(target=vault.store, args=("other", other.encode()))

    def store_meanwhile() -> tuple[int, list[int]]:
        monkeypatch.setattr(vault, "fingerprints", ask)
        known = ask()
        storing.start()
        # It may have to wait for us.
        storing.join(1)
        return known

    monkeypatch.setattr(vault, "fingerprints", store_meanwhile)
    vault.store("one", one.encode())
    storing.join()

    # One by one: the broker looks at a text for all values, once one of them was noticed.
    assert [scanner.clean(value) for value in (one, other)] == ["[vault:one]", "[vault:other]"]
