"""``sestet memory``, and the ordinary story: tell something today, be asked about it tomorrow."""

import json
import re
import sqlite3
from pathlib import Path

from tests.cli.conftest import Call
from tests.cli.program import Home


def test_what_is_told_today_is_known_tomorrow_and_gone_when_it_is_forgotten(home: Home) -> None:
    """Each step is a process of its own."""
    assert (
        "Remembered: I prefer window seats" in home.run("ask", "remember that I prefer window seats").stdout
    )

    asked = home.run("ask", "what do you know about seats?")
    assert "I prefer window seats (m1, " in asked.stdout
    assert "recalled m1" in asked.stderr

    done = home.run("memory", "forget", "m1", "--everywhere")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("m1: forgotten")
    assert "remember anything yet" in home.run("ask", "what do you know about seats?").stdout
    assert not any(b"window" in path.read_bytes().lower() for path in home.data.iterdir())


def test_a_long_conversation_is_observed_and_every_row_says_where_it_came_from(
    home: Home, call: Call
) -> None:
    (home.work / "sestet.yaml").write_text("observationalMemory: {observeTokens: 50}\n", encoding="utf-8")
    for text in ("I walk to work every day. " * 8, "I have a dog called Rex. " * 8):
        call("ask", "--session", "walks", text)

    rows = json.loads(call("memory", "list", "--sort", "observation", "--json").out)

    assert [row["text"] for row in reversed(rows)] == [
        "The person said: I walk to work every day.",
        "The person said: I have a dog called Rex.",
    ]
    assert [(row["session"], row["turn_number"], row["by"]) for row in reversed(rows)] == [
        ("walks", 1, "rules"),
        ("walks", 2, "rules"),
    ]
    listed = call("memory", "list")
    assert re.search(r"yours +\S.*session walks, turn 2 +rules", listed.out)
    assert "observed and reflected 2 times, 0 tokens" in listed.err
    doctor = call("doctor").out
    assert "2 turns observed, 0 waiting until a session has 50 tokens of them" in doctor


def test_a_row_is_shown_edited_searched_and_restored(call: Call) -> None:
    call("ask", "remember that my gate code is 11")
    call("ask", "remember that my gate code is 22")

    assert "replaced by m2" in call("memory", "show", "m1").out
    assert "my gate code is 11 (replaced by m2)" in call("memory", "list").out
    assert [row["id"] for row in json.loads(call("memory", "search", "gate", "--json").out)] == ["m2"]
    assert call("memory", "search", "boats").err.startswith("No remembered row has these words")
    assert "my gate code is 22" in call("memory", "search", "gate", "code").out
    assert "the query is empty" in call("memory", "search", " ").err
    assert call("memory", "list", "--session", "none").err.startswith("No remembered row fits.")
    assert "my gate code is 33" in call("memory", "edit", "m2", "my gate code is 33").out
    edited = json.loads(call("memory", "show", "m2", "--json").out)
    assert (edited["by"], edited["untrusted"], edited["private"]) == ("you", False, True)
    assert json.loads(call("memory", "edit", "m1", "--restore", "--json").out)["used_by"] == []
    assert "which it had replaced" not in call("memory", "forget", "m2").err


def test_on_a_narrow_screen_what_a_row_says_is_not_cut_off(home: Home) -> None:
    home.run("ask", "remember that my gate code is 11 and the key is under the mat")
    with home.terminal("memory", "list", extra={"COLUMNS": "80"}) as terminal:
        terminal.expect("my gate code is 11 and the key is under")
        assert terminal.wait() == 0


def test_what_cannot_be_done_is_said_in_one_line(call: Call) -> None:
    for arguments, answer in (
        (("show", "m1"), "there is no memory 'm1'; 'sestet memory list' shows the ids"),
        (("show", "tea"), "'tea' is not an id: m3 is a fact, o3 an observation, r3 a reflection"),
        (("edit", "m1", "x"), "there is no memory 'm1'"),
        (("forget", "r1"), "there is no memory 'r1'"),
        (("import", "nowhere.jsonl"), "'nowhere.jsonl' does not exist"),
    ):
        done = call("memory", *arguments)
        assert (done.code, done.out) == (1, "")
        assert answer in done.err
        assert "Traceback" not in done.err
    assert "is not a whole number from 1 to 100,000" in call("memory", "list", "--limit", "9" * 20).err
    call("ask", "remember that I like tea")
    assert "the new text is empty; 'sestet memory forget m1' removes it" in call("memory", "edit", "m1").err
    assert "'m1' was not replaced" in call("memory", "edit", "m1", "--restore").err


def test_an_export_is_private_never_replaces_a_file_and_is_imported_elsewhere(home: Home, call: Call) -> None:
    call("ask", "remember that I like tea")
    file = home.work / "memory.jsonl"

    assert call("memory", "export", str(file)).err == f"1 row in {file}\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert "is there already" in call("memory", "export", str(file)).err
    assert json.loads(call("memory", "export").out)["text"] == "I like tea"
    call("memory", "forget", "m1")
    assert json.loads(call("memory", "import", str(file), "--json").out) == {"added": 1, "known": 0}
    assert "I like tea" in call("memory", "list").out
    file.write_bytes(b"\xff\n")
    assert "not text in UTF-8" in call("memory", "import", str(file)).err


def test_forgetting_says_what_it_leaves(call: Call) -> None:
    call("ask", "remember that I like tea")

    said = call("memory", "forget", "m1").err

    assert "the conversation still holds what was said (session " in said
    assert "--everywhere blanks that too" in said


def test_nothing_a_row_holds_is_obeyed_by_the_terminal(home: Home, call: Call) -> None:
    call("memory", "list")
    connection = sqlite3.connect(home.data / "sestet.db")
    connection.execute(
        """INSERT INTO memories (text, session_id, turn_id, created_at, untrusted, private, sources)
           VALUES (?, ?, '', 1, 1, 1, '[]')""",
        ("\x1b]0;owned\x07[red]tea", "\x1b[2Js"),
    )
    connection.commit()
    connection.close()

    for arguments in (("list",), ("show", "m1"), ("search", "tea"), ("list", "--json"), ("export",)):
        done = call("memory", *arguments)
        assert "\x1b" not in done.out
        assert "[red]tea" in done.out


def test_doctor_names_the_key_when_observing_is_off(home: Home, call: Call) -> None:
    Path(home.work / "sestet.yaml").write_text("observationalMemory: {enabled: false}\n", encoding="utf-8")

    assert "observationalMemory.enabled: true turns observing on" in call("doctor").out


def test_words_are_forgotten_everywhere_although_no_row_has_them_any_more(home: Home, call: Call) -> None:
    call("ask", "remember that my gate code is zanzibar7731")
    call("memory", "forget", "m1")

    again = call("memory", "forget", "m1", "--everywhere")
    assert "m1: already forgotten" in again.err
    assert "sestet memory forget --everywhere 'WORDS'" in again.err
    done = call("memory", "forget", "--everywhere", "my gate code is zanzibar7731")

    assert (done.code, done.err) == (0, "these words: forgotten\n")
    assert not any(b"zanzibar" in path.read_bytes().lower() for path in home.data.iterdir())
    assert json.loads(call("memory", "forget", "m1", "--json").out)["already"] == "m1"
    short = call("memory", "forget", "--everywhere", "ab")
    assert "'ab' is too short" in short.err


def test_forgetting_says_which_turn_it_had_to_end(home: Home, call: Call) -> None:
    call("ask", "remember that I like tea")
    connection = sqlite3.connect(home.data / "sestet.db")
    connection.execute("UPDATE turns SET state = 'running'")
    connection.commit()
    connection.close()

    said = call("memory", "forget", "m1").err

    assert "turn 1 of session " in said
    assert "was still open; it is ended now, because it would bring the words back" in said


def test_the_later_statement_answers_the_question_and_the_older_one_is_kept(call: Call) -> None:
    """The example of docs/memory.md, with the built-in model."""
    for message in ("I live in Oslo", "my dog is called Rex", "I work at Acme"):
        assert "Remembered" in call("ask", message).out
    moved = call("ask", "I moved to Bergen").out
    assert "It replaces: I live in Oslo" in moved
    assert "It replaces: my dog is called Rex" in call("ask", "actually, my dog is called Max, not Rex").out
    assert "It replaces: I work at Acme" in call("ask", "I changed jobs, I now work for Globex").out

    assert re.fullmatch(
        r"You told me:\n- I moved to Bergen \(m4, .+\)\n", call("ask", "where do I live?").out
    )
    assert "Max" in call("ask", "what is my dog called?").out
    who = call("ask", "who am I?").out
    assert "Bergen" in who
    assert "Globex" in who
    assert "Max" not in who
    assert "I live in Oslo (replaced by m4)" in call("memory", "list").out


def test_a_secret_is_kept_by_nobody_unless_you_insist(call: Call) -> None:
    refused = "not kept: this looks like a password, which belongs in the vault: sestet secrets set NAME"

    answer = call("ask", "remember that my wifi password is hunter2").out
    assert answer.startswith(refused.capitalize().replace("name", "NAME"))
    assert "it stays in this conversation, which 'sestet sessions delete' removes" in answer
    done = call("knowledge", "save", "wifi password", "hunter2")
    assert (done.code, done.err) == (1, f"sestet: {refused}; --anyway keeps it here\n")
    call("ask", "remember that my wifi is called Fjord")
    assert refused in call("memory", "edit", "m1", "my wifi password is hunter2").err
    assert "hunter2" not in call("memory", "list").out + call("knowledge", "list").out

    assert call("knowledge", "save", "wifi password", "hunter2", "--anyway").code == 0
    assert call("memory", "edit", "m1", "my wifi password is hunter2", "--anyway").code == 0
