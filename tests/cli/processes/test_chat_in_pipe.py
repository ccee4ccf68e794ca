"""The conversation through a pipe: answers on stdout, everything else on stderr."""

import io
import signal
import sys
from pathlib import Path

import pytest

import sestet
from sestet import ScriptedModel
from sestet.cli.chat import talk_in_pipe
from sestet.cli.talk.turns import answer_plainly
from tests.cli.hanging import HangingModel
from tests.cli.program import Home


def test_only_the_answer_goes_to_stdout(home: Home) -> None:
    done = home.run("chat", stdin="list the files here\n")
    assert done.returncode == 0
    assert "notes.txt" in done.stdout
    assert "operator" not in done.stdout
    assert "Sestet" not in done.stdout
    assert done.stderr == "→ operator\noperator · fs_list\nchanged: nothing\n"
    assert "\x1b" not in done.stdout + done.stderr


def test_each_line_is_a_message_of_one_session_and_empty_lines_are_none(home: Home) -> None:
    done = home.run("chat", "-s", "tea", stdin="remember that I like tea\n\n  \nwhat do I like?\n")
    assert done.returncode == 0
    assert done.stdout.count("I like tea") == 2
    (session,) = home.json("sessions")
    assert (session["id"], session["turns"]) == ("tea", 2)


def test_the_exit_code_is_that_of_the_last_turn(home: Home) -> None:
    # A delegation takes three calls of the model, a greeting takes one.
    limit = {"SESTET_LIMITS__MODELCALLS": "1"}
    failed = home.run("chat", stdin="hello\nlist the files here\n", extra=limit)
    assert failed.returncode == 1
    assert failed.stdout.startswith("Hello!")
    assert "I could not answer: " in failed.stderr
    recovered = home.run("chat", stdin="list the files here\nhello\n", extra=limit)
    assert recovered.returncode == 0


def test_bytes_that_are_not_text_do_not_end_the_conversation(home: Home) -> None:
    argument = home.run("ask", "caf\udce9")
    assert (argument.returncode, argument.stderr.splitlines()[-1]) == (0, "changed: nothing")
    strict = home.run("ask", "-", stdin="caf\udce9", extra={"PYTHONIOENCODING": "utf-8:strict"})
    assert (strict.returncode, strict.stderr.splitlines()[-1]) == (0, "changed: nothing")
    poor = home.run("ask", "list the files here", extra={"PYTHONIOENCODING": "latin-1:strict"})
    assert (poor.returncode, poor.stderr[:11]) == (0, "? operator\n")


async def test_an_answer_keeps_no_control_sequence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ScriptedModel(["a\x1b]0;owned\x07b\u202ec"])
    async with sestet.open({}, model=model, home=tmp_path) as app:
        await answer_plainly(app, "s1", "go")
    assert capsys.readouterr() == ("abc\n", "changed: nothing\n")


async def test_ctrl_c_ends_the_conversation_with_the_turn(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(home.work)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"wait\nhello\n")))
    async with sestet.open({}, model=HangingModel(begun=press_ctrl_c), home=home.data) as app:
        assert await talk_in_pipe(app, "s1", mine=False) == 130
    assert capsys.readouterr() == ("", "Stopped.\nchanged: nothing\n")


def press_ctrl_c() -> None:
    signal.raise_signal(signal.SIGINT)
