"""One message, one answer."""

import json

from tests.cli.conftest import Call
from tests.cli.program import Home


def test_the_answer_alone_is_on_stdout(home: Home) -> None:
    done = home.run("ask", "read notes.txt")
    assert done.returncode == 0
    assert "buy tea" in done.stdout
    assert done.stderr == "→ operator\noperator · fs_read path=notes.txt\nchanged: nothing\n"


def test_words_need_no_quotes_and_a_dash_reads_stdin(home: Home, call: Call) -> None:
    assert "buy tea" in call("ask", "read", "notes.txt").out
    assert "buy tea" in home.run("ask", "-", stdin="read\nnotes.txt\n").stdout


def test_an_empty_message_is_a_mistake(call: Call) -> None:
    done = call("ask", " ")
    assert done.code == 2
    assert "the message is empty" in done.err


def test_json_tells_the_whole_turn(call: Call) -> None:
    done = call("ask", "--json", "--session", "s1", "list the files here")
    turn = json.loads(done.out)
    assert (done.code, done.err) == (0, "")
    assert turn["session"] == "s1"
    assert turn["state"] == "finished"
    assert turn["agent"] == "operator"
    assert "notes.txt" in turn["text"]
    assert set(turn["usage"]) == {"input_tokens", "output_tokens"}
    assert turn["milliseconds"] >= 0
    kinds = [event["kind"] for event in turn["events"]]
    assert kinds[0] == "turn_started"
    assert kinds[-1] == "turn_finished"
    assert "tool_called" in kinds
    assert "text_streamed" not in kinds
    assert {event["seq"] for event in turn["events"] if "text" in event}


def test_a_turn_that_fails_says_so_in_json_and_in_the_exit_code(home: Home, call: Call) -> None:
    (home.work / "sestet.yaml").write_text("limits: {modelCalls: 1}\n", encoding="utf-8")
    done = call("ask", "--json", "list the files here")
    turn = json.loads(done.out)
    assert done.code == 1
    assert (turn["state"], turn["agent"]) == ("failed", "orchestrator")
    assert turn["text"].startswith("I could not answer: ")


def test_a_session_that_is_named_goes_on(call: Call) -> None:
    call("ask", "--session", "20261115-aaaa", "remember that I like tea")
    call("ask", "--session", "aaaa", "what do I like?")
    (session,) = json.loads(call("sessions", "--json").out)
    assert (session["id"], session["turns"]) == ("20261115-aaaa", 2)


def test_a_name_that_cannot_be_a_session_is_refused(call: Call) -> None:
    done = call("ask", "--session", "a/b", "hello")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("sestet: 'a/b' cannot be the name of a session")
