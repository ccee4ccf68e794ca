"""``sestet secrets``: at a terminal, through pipes, and what is refused."""

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cli.program import Home
from tests.services.vault.desktop import Desktop, open_desktop

VALUE = "sk-live-A1b2C3d4E5f6G7h8"


def _passphrase(home: Home, name: str = "passphrase", text: str = "correct horse") -> dict[str, str]:
    file = home.directory / name
    file.write_text(f"{text}\n")
    file.chmod(0o600)
    return {"SESTET_PASSPHRASE_FILE": str(file)}


def test_a_value_that_is_typed_is_shown_nowhere_and_kept(home: Home) -> None:
    with home.terminal("secrets", "set", "demo", "--to", "api.example.com") as terminal:
        terminal.expect("New passphrase: ")
        terminal.say("correct horse")
        terminal.expect("The same again: ")
        terminal.say("correct horse")
        terminal.expect("Value of 'demo': ")
        terminal.say(VALUE)
        terminal.expect("Stored as vault:demo, for https://api.example.com.")
        assert terminal.wait() == 0
        assert VALUE not in terminal.raw
        assert "correct horse" not in terminal.raw
    with home.terminal("secrets", "show", "demo") as terminal:
        terminal.expect("Passphrase of the vault: ")
        terminal.say("wrong horse")
        terminal.expect("this is not the passphrase of the vault")
        terminal.expect("Passphrase of the vault: ")
        terminal.say("correct horse")
        terminal.expect(VALUE)
        assert terminal.wait() == 0
    assert not any(VALUE.encode() in file.read_bytes() for file in home.data.rglob("*") if file.is_file())


def test_a_value_that_is_typed_ahead_is_not_shown_either(home: Home) -> None:
    with home.terminal("secrets", "set", "demo") as terminal:
        terminal.expect("New passphrase: ")
        terminal.say("correct horse")
        terminal.expect("The same again: ")
        terminal.say("correct horse")
        # The end of the line: the passphrase was read, and a key is derived from it.
        terminal.expect("\n")
        terminal.say(VALUE)
        terminal.expect("Value of 'demo': ")
        terminal.say(VALUE)
        terminal.expect("Stored as vault:demo")
        assert VALUE not in terminal.raw


def test_a_value_comes_through_a_pipe_and_is_listed_bound_and_deleted(home: Home) -> None:
    extra = _passphrase(home)
    done = home.run("secrets", "set", "demo", "--to", "a.example", stdin=f"{VALUE}\n", extra=extra)
    assert (done.returncode, done.stderr) == (0, "")

    listed = json.loads(home.run("secrets", "list", "--json", extra=extra).stdout)
    assert [(each["name"], each["kind"], each["watched"]) for each in listed] == [("demo", "secret", True)]
    bound = home.run("secrets", "bind", "demo", "--to", "b.example", "--for-settings", extra=extra)
    assert bound.stdout == "demo: for https://b.example; in the settings\n"
    assert home.run("secrets", "show-bindings", extra=extra).stdout == bound.stdout
    assert home.run("secrets", "delete", "demo", extra=extra).returncode == 1
    assert home.run("secrets", "delete", "demo", "--yes", extra=extra).stdout == "Deleted demo.\n"
    assert home.run("secrets", "list", extra=extra).stdout == "the vault holds nothing\n"


def test_a_secret_is_bound_to_commands_and_freed_again(home: Home) -> None:
    extra = _passphrase(home)
    stored = home.run(
        *("secrets", "set", "demo", "--to", "a.example", "--to-command", "curl *"), stdin=VALUE, extra=extra
    )
    assert stored.stdout == "Stored as vault:demo, for https://a.example, the command 'curl *'.\n"

    bound = home.run("secrets", "bind", "demo", "--to-command", "gh *", "--to-command", "cat -", extra=extra)
    assert bound.stdout == "demo: for https://a.example, the command 'gh *', the command 'cat -'\n"
    refused = home.run("secrets", "bind", "demo", "--to-command", "./deploy.sh *", extra=extra)
    assert refused.returncode == 1
    assert "must begin with a program of this computer" in refused.stderr
    freed = home.run("secrets", "bind", "demo", "--to-command", "", extra=extra)
    assert freed.stdout == "demo: for https://a.example\n"


def test_no_command_but_show_prints_a_value_and_show_needs_a_terminal(home: Home) -> None:
    extra = _passphrase(home)
    home.run("secrets", "set", "demo", stdin=VALUE, extra=extra)

    for arguments in (("list",), ("list", "--json"), ("show-bindings", "--json"), ("show", "demo")):
        done = home.run("secrets", *arguments, extra=extra)
        assert VALUE not in done.stdout + done.stderr
    done = home.run("secrets", "show", "demo", extra=extra)
    assert done.returncode != 0
    assert "not a terminal" in done.stderr


def test_a_short_value_is_kept_with_a_warning(home: Home) -> None:
    done = home.run("secrets", "set", "pin", stdin="1234", extra=_passphrase(home))

    assert done.returncode == 0
    assert "the scanner cannot recognise it" in done.stderr


def test_mistakes_are_told_in_a_line_and_nothing_is_stored(home: Home) -> None:
    extra = _passphrase(home)
    cases = {
        ("set", "a/b"): "cannot be a name in the vault",
        ("set", "demo", "--to", "http://api.example.com"): "in the clear; use https",
        ("set", "demo", "--to", "https://a.example/path"): "without a path",
        ("set", "demo", "--wallet-key"): "64 hexadecimal digits",
        ("bind", "demo"): "say what to change",
        ("show-bindings", "nothing"): "holds no secret named 'nothing'",
        ("import", "/nowhere"): "does not exist",
    }
    for arguments, told in cases.items():
        extra_file = (
            ("--passphrase-file", extra["SESTET_PASSPHRASE_FILE"]) if arguments[0] == "import" else ()
        )
        done = home.run("secrets", *arguments, *extra_file, stdin=VALUE, extra=extra)
        assert done.returncode != 0, arguments
        assert told in done.stderr, (arguments, done.stderr)
        assert "Traceback" not in done.stderr
    assert json.loads(home.run("secrets", "list", "--json", extra=extra).stdout) == []


def test_without_a_terminal_and_a_passphrase_file_the_way_out_is_told(home: Home) -> None:
    home.run("secrets", "set", "demo", stdin=VALUE, extra=_passphrase(home))

    done = home.run("secrets", "list")

    assert done.returncode != 0
    assert "SESTET_PASSPHRASE_FILE" in done.stderr


def test_a_passphrase_is_changed_without_a_terminal(home: Home) -> None:
    old, new = _passphrase(home), _passphrase(home, "new", "battery staple")
    home.run("secrets", "set", "demo", stdin=VALUE, extra=old)

    changed = home.run(
        "secrets", "change-passphrase", "--new-passphrase-file", new["SESTET_PASSPHRASE_FILE"], extra=old
    )

    assert changed.returncode == 0, changed.stderr
    assert "not the passphrase" in home.run("secrets", "list", extra=old).stderr
    assert "demo" in home.run("secrets", "list", extra=new).stdout


def test_a_copy_moves_to_another_home(home: Home, tmp_path: Path) -> None:
    extra, copy = _passphrase(home), str(tmp_path / "copy.vault")
    home.run("secrets", "set", "demo", stdin=VALUE, extra=extra)
    file = ("--passphrase-file", extra["SESTET_PASSPHRASE_FILE"])

    assert home.run("secrets", "export", copy, *file, extra=extra).stdout == f"Wrote 1 into {copy}.\n"
    (tmp_path / "other").mkdir()
    other = Home(tmp_path / "other")
    assert other.run("secrets", "import", copy, *file, extra=extra).stdout == "Took over: demo.\n"
    assert "demo" in other.run("secrets", "list", extra=extra).stdout


def test_in_a_conversation_the_value_is_typed_with_the_approval(home: Home) -> None:
    with home.terminal("chat") as terminal:
        terminal.expect("/help")
        terminal.expect_keys()
        terminal.say("store a secret called demo key")
        terminal.expect("[y] once  [n] no")
        terminal.say("y")
        terminal.expect("New passphrase: ")
        terminal.say("correct horse")
        terminal.expect("The same again: ")
        terminal.say("correct horse")
        terminal.expect("Value of 'demo key', unseen: ")
        terminal.say(VALUE)
        terminal.expect("Stored as vault:demo-key")
        terminal.expect_keys()
        terminal.say(f"remember that my key is {VALUE}")
        terminal.expect("Remembered: my key is [vault:demo-key]")
    everywhere = (file.read_bytes() for file in home.data.rglob("*") if file.is_file())
    assert not any(VALUE.encode() in content for content in everywhere)


def test_a_locked_vault_is_opened_in_a_conversation(home: Home) -> None:
    home.run("secrets", "set", "demo", stdin=VALUE, extra=_passphrase(home))

    with home.terminal("chat") as terminal:
        terminal.expect("/help")
        terminal.expect_keys()
        terminal.say("which secrets have i stored")
        terminal.expect("/unlock")
        terminal.expect_keys()
        terminal.say("/unlock")
        terminal.expect("Passphrase of the vault: ")
        terminal.say("correct horse")
        terminal.expect("The vault is open until this conversation ends.")
        terminal.expect_keys()
        terminal.say("which secrets have i stored")
        terminal.expect("- vault:demo")


@pytest.fixture
def desktop() -> Generator[Desktop]:
    with open_desktop() as desktop:
        yield desktop


def test_the_keyring_opens_the_vault_in_place_of_the_passphrase(home: Home, desktop: Desktop) -> None:
    bus = {"DBUS_SESSION_BUS_ADDRESS": desktop.bus}
    home.run("secrets", "set", "demo", stdin=VALUE, extra=_passphrase(home))
    added = home.run("secrets", "add-keyring", extra=_passphrase(home) | bus)
    assert (added.returncode, added.stderr) == (0, "")
    assert "The passphrase opens it, too" in added.stdout

    assert "demo" in home.run("secrets", "list", extra=bus).stdout

    removed = home.run("secrets", "remove-keyring", extra=bus)
    assert (removed.stdout, removed.stderr) == ("The passphrase alone opens the vault now.\n", "")
    assert desktop.keys() == []
    refused = home.run("secrets", "list", extra=bus)
    assert refused.returncode != 0
    assert "SESTET_PASSPHRASE_FILE" in refused.stderr


def test_a_locked_keyring_leads_to_the_question_for_the_passphrase(home: Home, desktop: Desktop) -> None:
    bus = {"DBUS_SESSION_BUS_ADDRESS": desktop.bus}
    home.run("secrets", "set", "demo", stdin=VALUE, extra=_passphrase(home))
    home.run("secrets", "add-keyring", extra=_passphrase(home) | bus)
    desktop.lock()

    with home.terminal("secrets", "list", extra=bus) as terminal:
        terminal.expect("The vault is locked: the keyring did not open it: it is locked")
        terminal.expect("Passphrase of the vault: ")
        terminal.say("correct horse")
        terminal.expect("demo")
        assert terminal.wait() == 0


def test_a_conversation_says_why_the_keyring_did_not_open_the_vault(home: Home, desktop: Desktop) -> None:
    bus = {"DBUS_SESSION_BUS_ADDRESS": desktop.bus}
    home.run("secrets", "set", "demo", stdin=VALUE, extra=_passphrase(home))
    home.run("secrets", "add-keyring", extra=_passphrase(home) | bus)
    desktop.log_out()

    with home.terminal("chat", extra=bus) as terminal:
        terminal.expect("the vault stays locked: the keyring did not open it")
        terminal.expect_keys()
        desktop.log_in()
        terminal.say("/unlock")
        terminal.expect("The vault is open until this conversation ends.")
        terminal.expect_keys()
        terminal.say("which secrets have i stored")
        terminal.expect("- vault:demo")


def test_without_a_keyring_nothing_is_added_and_nothing_can_be_removed(home: Home) -> None:
    extra = _passphrase(home)
    home.run("secrets", "set", "demo", stdin=VALUE, extra=extra)
    # A runtime directory of its own: the person who runs the tests may have a desktop.
    nowhere = extra | {"XDG_RUNTIME_DIR": str(home.directory)}

    added = home.run("secrets", "add-keyring", extra=nowhere)
    assert added.returncode != 0
    assert "the keyring cannot be used, and nothing was changed: it was not found" in added.stderr
    assert home.run("secrets", "remove-keyring", extra=nowhere).stdout == "No keyring could open the vault.\n"
