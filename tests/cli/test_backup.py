"""``sestet backup`` and ``sestet restore``, as a person uses them."""

import json

from tests.cli.conftest import Call
from tests.cli.program import Home


def test_a_backup_is_restored_while_a_conversation_is_open(home: Home) -> None:
    home.run("ask", "remember that I like tea")
    home.run("backup", "copy.db")
    home.run("ask", "remember that I like milk")
    with home.terminal("chat") as terminal:
        terminal.expect("(new)")

        done = home.run("restore", "copy.db", "--yes")

        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr.startswith("copy.db: restored\n  1 conversation, 1 memory\n")
        assert "the data from before is kept in " in done.stderr
        terminal.say("what do I like?")
        assert "milk" not in terminal.expect("changed: nothing")
    assert [row["text"] for row in home.json("memory", "list")] == ["I like tea"]


def test_a_backup_says_what_it_holds_and_what_not(home: Home, call: Call) -> None:
    call("ask", "remember that I like tea")

    done = call("backup", "copy.db")

    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("copy.db: written and checked\n  1 conversation, 1 memory\n")
    assert "not in it: your settings, keys and plug-ins (~/.config/sestet)" in done.err
    assert (home.work / "copy.db").stat().st_mode & 0o777 == 0o600
    assert "'copy.db' is there already" in call("backup", "copy.db").err
    described = json.loads(call("backup", "copy.db", "--force", "--json").out)
    assert (described["file"], described["memories"]) == ("copy.db", 1)


def test_a_backup_says_that_the_vault_and_the_skills_are_not_in_it(home: Home, call: Call) -> None:
    call("ask", "hello")
    assert "nor: " not in call("backup", "first.db").err
    (home.data / "sestet.vault").touch()
    (home.data / "skills").mkdir()

    done = call("backup", "second.db")

    assert "  nor: the vault and the skills (" in done.err


def test_a_restore_asks_first_and_shows_both_sides(home: Home, call: Call) -> None:
    call("ask", "remember that I like tea")
    call("backup", "copy.db")
    call("ask", "remember that I like milk")

    done = call("restore", "copy.db")

    assert done.code == 1
    assert "the backup:\n  1 conversation, 1 memory\n" in done.err
    assert "the present data, of which a copy is kept:\n  2 conversations, 2 memories\n" in done.err
    assert "(not a terminal: pass --yes)\nnothing was changed\n" in done.err
    restored = json.loads(call("restore", "copy.db", "--yes", "--json").out)
    assert restored["safety_copy"].startswith(str(home.data / "sestet-before-restore-"))
    checks = {check["name"]: check for check in json.loads(call("doctor", "--json").out)["checks"]}
    assert "sestet-before-restore-" in checks["copies"]["detail"]


def test_a_restore_says_that_the_present_data_is_damaged(home: Home, call: Call) -> None:
    call("ask", "remember that I like tea")
    call("backup", "copy.db")
    (home.data / "sestet.db").write_bytes(b"no database")

    assert "of which a copy is kept:\n  damaged: it cannot be read\n" in call("restore", "copy.db").err
    assert call("restore", "copy.db", "--yes").code == 0
    assert "I like tea" in call("memory", "list").out


def test_a_backup_and_a_restore_need_no_settings_that_are_right(home: Home, call: Call) -> None:
    call("ask", "remember that I like tea")
    (home.work / "sestet.yaml").write_text("nonsense: true\n", encoding="utf-8")

    assert call("backup", "copy.db").code == 0
    assert call("restore", "copy.db", "--yes").code == 0
