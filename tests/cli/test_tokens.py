"""``sestet tokens``, and the file with the owner's token."""

import json
import os
import stat
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from sestet.core.errors import StorageError
from sestet.services.tokens import BROWSER_SECONDS, OWNER_FILE, Tokens
from sestet.storage.database import Database
from tests.cli.conftest import Call
from tests.cli.program import Home


def test_a_token_is_made_listed_and_revoked(call: Call, home: Home) -> None:
    made = call("tokens", "new", "phone", "--scope", "read")
    token = made.out.strip()
    listed = call("tokens", "list")
    as_json = json.loads(call("tokens", "list", "--json").out)
    revoked = call("tokens", "revoke", "phone")

    assert made.code == 0
    assert token.startswith("sestet_")
    assert "'phone' may now look at conversations" in made.err
    assert listed.out.split()[:2] == ["phone", "read"]
    assert [(row["name"], row["scope"], row["used_at"]) for row in as_json] == [("phone", "read", 0)]
    assert (revoked.code, revoked.err) == (0, "'phone' is revoked\n")
    assert json.loads(call("tokens", "list", "--json").out) == []


def test_a_script_reads_a_new_token_as_json(call: Call) -> None:
    done = call("tokens", "new", "phone", "--json")
    made = json.loads(done.out)

    assert (made["name"], made["scope"], done.err) == ("phone", "chat", "")
    assert made["token"].startswith("sestet_")


def test_a_token_is_shown_only_once_and_stored_as_a_hash(call: Call, home: Home) -> None:
    token = call("tokens", "new", "phone").out.strip()
    for shown in (call("tokens", "list"), call("tokens", "list", "--json"), call("tokens", "new", "phone")):
        assert token not in shown.out + shown.err
        assert token.removeprefix("sestet_") not in shown.out + shown.err
    for file in home.data.rglob("*"):
        assert not file.is_file() or token.encode() not in file.read_bytes(), file


def test_mistakes_are_explained(call: Call) -> None:
    call("tokens", "new", "phone")
    for arguments, told in (
        (("new", "phone"), "there is already a token 'phone'"),
        (("new", "two words"), "cannot be a token's name"),
        (("new", "x" * 65), "cannot be a token's name"),
        (("revoke", "tablet"), "there is no token 'tablet'"),
    ):
        done = call("tokens", *arguments)
        assert (done.code, told in done.err) == (1, True), arguments
    assert call("tokens", "new", "tablet", "--scope", "all").code == 2


def test_a_list_without_tokens_says_who_makes_the_first(call: Call) -> None:
    done = call("tokens", "list")
    assert (done.code, done.out) == (0, "")
    assert "'sestet serve' makes the owner's" in done.err
    assert json.loads(call("tokens", "list", "--json").out) == []


@pytest.fixture
def tokens(tmp_path: Path) -> Generator[Tokens]:
    database = Database(tmp_path / "sestet.db")
    yield Tokens(database)
    database.close()


def test_the_owners_token_is_in_a_file_that_only_the_owner_reads(tokens: Tokens) -> None:
    mask = os.umask(0)
    try:
        file = tokens.owner_file()
    finally:
        os.umask(mask)
    row = tokens.find(file.read_text().strip())

    assert file.name == OWNER_FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert row is not None
    assert (row.name, row.scope) == ("owner", "owner")


def test_the_owners_token_stays_the_same_at_the_next_start(tokens: Tokens) -> None:
    first = tokens.owner_file().read_text()
    assert tokens.owner_file().read_text() == first


def lose(file: Path, tokens: Tokens) -> None:
    file.unlink()


def revoke(file: Path, tokens: Tokens) -> None:
    tokens.revoke("owner")


def empty(file: Path, tokens: Tokens) -> None:
    file.write_text("")


def show_to_others(file: Path, tokens: Tokens) -> None:
    file.chmod(0o644)


def put_another_token_there(file: Path, tokens: Tokens) -> None:
    file.write_text(tokens.new("phone", "chat"))


def put_a_link_there(file: Path, tokens: Tokens) -> None:
    file.rename(file.with_name("elsewhere"))
    file.symlink_to("elsewhere")


def put_a_pipe_there(file: Path, tokens: Tokens) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


@pytest.mark.parametrize(
    "happens",
    [
        lose,
        revoke,
        empty,
        show_to_others,
        put_another_token_there,
        put_a_link_there,
        put_a_pipe_there,
    ],
)
def test_the_owners_token_is_made_anew_after(tokens: Tokens, happens: Callable[[Path, Tokens], None]) -> None:
    file = tokens.owner_file()
    old = file.read_text().strip()
    happens(file, tokens)

    new = tokens.owner_file().read_text().strip()

    row = tokens.find(new)
    assert row is not None
    assert row.name == "owner"
    assert tokens.find(old) is None
    assert stat.S_ISREG(file.lstat().st_mode)
    assert stat.S_IMODE(file.lstat().st_mode) == 0o600
    assert [row.name for row in tokens.all()].count("owner") == 1


def test_a_link_in_the_way_of_the_new_file_is_not_followed(tokens: Tokens, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for name in (OWNER_FILE, f"{OWNER_FILE}.new"):
        (tmp_path / name).symlink_to(precious)

    file = tokens.owner_file()

    assert precious.read_text() == "mine"
    assert not file.is_symlink()


def test_a_folder_in_the_place_of_the_file_is_an_error_with_its_name(tokens: Tokens, tmp_path: Path) -> None:
    (tmp_path / OWNER_FILE / "full").mkdir(parents=True)
    with pytest.raises(StorageError, match=OWNER_FILE):
        tokens.owner_file()


def test_a_browser_that_stays_away_for_long_is_not_let_in_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    database = Database(tmp_path / "sestet.db")
    tokens = Tokens(database)
    browser, phone = tokens.new_for_browser(), tokens.new("phone", "chat")

    now += 0.9 * BROWSER_SECONDS
    used = tokens.find(browser)
    now += 0.9 * BROWSER_SECONDS
    renewed = tokens.find(browser)
    assert used is not None
    assert renewed is not None

    now += 1.1 * BROWSER_SECONDS
    assert tokens.find(browser) is None
    assert not tokens.is_valid(renewed)
    assert [row.name for row in tokens.all()] == ["phone"]
    assert tokens.find(phone) is not None
    tokens.new("tablet", "chat")
    assert database.execute("SELECT client FROM tokens ORDER BY id") == [("phone",), ("tablet",)]
    database.close()
