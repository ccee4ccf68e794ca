"""One message, one answer."""

import json
from pathlib import Path

import pytest

import sestet
from sestet import ModelReply, ScriptedModel, ToolCall
from sestet.cli.options import ExitCode
from sestet.cli.talk.turns import answer_plainly
from sestet.core.errors import ModelError
from sestet.core.model import Usage
from sestet.services.session_markdown import session_markdown
from sestet.services.sessions import read_turns, require_session
from sestet.services.turn_summary import describe_turn
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


def test_the_specialist_that_is_named_answers(call: Call) -> None:
    turn = json.loads(call("ask", "--json", "--agent", "operator", "list the files here").out)
    assert (turn["state"], turn["agent"]) == ("finished", "operator")
    called = [event["author"] for event in turn["events"] if event["kind"] == "model_called"]
    assert set(called) == {"operator"}


def test_a_wrong_specialist_is_refused_with_the_valid_names(call: Call) -> None:
    done = call("ask", "--agent", "gardener", "hello")
    assert (done.code, done.out) == (1, "")
    assert "there is no specialist 'gardener'; the specialists are: " in done.err
    assert "operator" in done.err


def test_a_name_that_cannot_be_a_session_is_refused(call: Call) -> None:
    done = call("ask", "--session", "a/b", "hello")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("sestet: 'a/b' cannot be the name of a session")


async def test_a_failed_turn_tells_what_specialists_found_and_what_it_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request = {"agent_name": "operator", "request": "read"}
    first = ModelReply(
        calls=(ToolCall("transfer_to_agent", request),), usage=Usage(1_000, 20, nano_dollars=4_200_000)
    )
    script = [first, ModelReply("They say tea.", usage=Usage(10, 5)), ModelError("the wire broke")]
    async with sestet.open({}, model=ScriptedModel(script), home=tmp_path) as app:
        code = await answer_plainly(app, "s1", "what did I want?")
        turns = read_turns(app.journal, "s1")
        row = require_session(app.journal, "s1")

    said = capsys.readouterr()
    assert code == ExitCode.FAILED
    assert said.out == ""
    assert said.err == (
        "→ operator: read\n"
        "from operator:\n\nThey say tea.\n\n"
        "I could not answer: the model failed: the wire broke.\n"
        "used: 1,035 tokens · $0.0042\n"
        "changed: nothing\n"
    )
    assert "- operator answered:\n\n  > They say tea.\n" in session_markdown(row, turns)
    assert describe_turn(turns[0])["usage"] == {"input_tokens": 1_010, "output_tokens": 25}
