"""``sestet undo`` and ``/undo``: what they list, ask, do and refuse."""

import json

from tests.cli.conftest import Call
from tests.cli.program import Home

PROMPT = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "


def test_a_new_file_is_written_unasked_and_undone(call: Call, home: Home) -> None:
    call("ask", "write hello to todo.txt")
    assert (home.work / "todo.txt").read_text() == "hello"

    done = call("undo", "--yes")

    assert done.code == 0
    assert "  delete todo.txt" in done.out
    assert done.err == "undone\n"
    assert not (home.work / "todo.txt").exists()


def test_undo_asks_and_changes_nothing_without_a_terminal(call: Call, home: Home) -> None:
    call("ask", "write hello to todo.txt")

    done = call("undo")

    assert done.code == 1
    assert "Undo this? (not a terminal: pass --yes)" in done.err
    assert (home.work / "todo.txt").exists()


def test_undo_refuses_where_a_file_changed_since(call: Call, home: Home) -> None:
    call("ask", "write hello to todo.txt")
    (home.work / "todo.txt").write_text("my own")

    done = call("undo", "--yes")

    assert done.code == 1
    assert "  has changed since: todo.txt" in done.out
    assert "has changed since; nothing was undone" in done.err
    assert (home.work / "todo.txt").read_text() == "my own"


def test_the_list_and_the_plan_are_json_too(call: Call, home: Home) -> None:
    call("ask", "--session", "s-one", "write hello to todo.txt")

    (listed,) = json.loads(call("undo", "--list", "--json").out)
    assert (listed["session"], listed["undoes"]) == ("s-one", None)
    assert listed["done"] == ["Wrote todo.txt, a new file: 1 line."]
    assert f"{listed['id']}  " in call("undo", "--list").out

    done = json.loads(call("undo", "--yes", "--json").out)
    assert done["steps"] == [{"action": "delete", "path": str(home.work / "todo.txt"), "to": None}]
    assert done["undone"] is True
    (undo,) = json.loads(call("undo", "--list", "--json").out)
    assert undo["undoes"] == listed["id"]
    call("undo", str(undo["id"]), "--yes")
    assert (home.work / "todo.txt").read_text() == "hello"


def test_without_changes_there_is_nothing_to_undo(call: Call) -> None:
    assert call("undo", "--list").err == "There is nothing to undo.\n"
    done = call("undo", "--yes")
    assert (done.code, done.err) == (1, "sestet: there is nothing to undo\n")


def test_a_deleted_session_takes_its_kept_contents_with_it(call: Call, home: Home) -> None:
    (home.work / "notes.txt").write_text("a private note")
    call("ask", "--session", "s-one", "--wait-for-approval", "delete notes.txt")
    (question,) = json.loads(call("approvals", "--json").out)
    assert question["changes"]["lines"][0] == ["-", "a private note"]
    call("approvals", "approve", question["id"])
    assert not (home.work / "notes.txt").exists()
    kept = home.data / "undo"
    assert [file.read_text() for file in kept.iterdir()] == ["a private note"]

    done = call("sessions", "delete", "s-one", "--yes")

    assert done.code == 0
    assert not list(kept.iterdir())
    assert call("undo", "--list").out == ""


def test_undo_after_a_restore_works_or_says_what_a_backup_lacks(call: Call, home: Home) -> None:
    (home.work / "notes.txt").write_text("a note")
    call("ask", "--wait-for-approval", "delete notes.txt")
    (question,) = json.loads(call("approvals", "--json").out)
    call("approvals", "approve", question["id"])
    call("backup", "copy.db")
    call("ask", "write hello to todo.txt")
    assert call("restore", "copy.db", "--yes").code == 0

    (home.data / "undo").rename(home.data / "elsewhere")
    done = call("undo", "--yes")
    assert done.code == 1
    assert "no longer has what was there before; a backup does not hold it; nothing was undone" in done.err
    assert not (home.work / "notes.txt").exists()

    (home.data / "elsewhere").rename(home.data / "undo")
    assert call("undo", "--yes").code == 0
    assert (home.work / "notes.txt").read_text() == "a note"
    assert (home.work / "todo.txt").read_text() == "hello"


def test_a_conversation_shows_the_diff_asks_and_undoes(home: Home) -> None:
    (home.work / "notes.txt").write_text("one\ntwo\n")
    with home.terminal("chat") as terminal:
        terminal.expect(PROMPT)
        terminal.say("write hello to todo.txt")
        terminal.expect("+ hello")
        terminal.expect("changed: todo.txt")
        terminal.say("delete notes.txt")
        terminal.expect("- two")
        terminal.expect("it deletes the file 'notes.txt'")
        terminal.expect("[y] once")
        terminal.say("y")
        terminal.expect("changed: notes.txt")
        assert not (home.work / "notes.txt").exists()
        terminal.say("/undo")
        terminal.expect("bring back notes.txt")
        terminal.expect("Undo this?")
        terminal.say("n")
        terminal.expect("nothing was undone")
        assert not (home.work / "notes.txt").exists()
        terminal.say("undo that")
        terminal.expect("@ bring back notes.txt")
        terminal.expect("why: it takes back changes of files (bring back notes.txt)")
        terminal.expect("[y] once")
        terminal.say("y")
        terminal.expect("Undone: brought back notes.txt")
    assert (home.work / "notes.txt").read_text() == "one\ntwo\n"
    assert (home.work / "todo.txt").read_text() == "hello"
