"""Deciding outside of a conversation: a waiting call is listed, shown and decided, and its turn goes on."""

import json
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import sestet
from sestet import app
from sestet.cli.options import ExitCode
from sestet.cli.talk.turns import finish_plainly
from sestet.core.event import (
    ApprovalDecided,
    Stamp,
    ToolCalled,
    ToolFinished,
    TurnCancelled,
    TurnPaused,
    TurnResumed,
    TurnStarted,
)
from sestet.core.label import CLEAN
from sestet.core.record import replace
from sestet.services.turn_summary import turn_state
from sestet.storage.database import FILE_NAME
from tests.cli import obedient
from tests.cli.conftest import Call, Done
from tests.cli.program import Home
from tests.faults.watched import When, watched_connections

WRITE = 'do fs_put {"path": "a.txt", "text": "hi"}'
PAY = 'do payment_send {"payee": "alice"}'


@pytest.fixture
def obey(call: Call, monkeypatch: pytest.MonkeyPatch) -> Call:
    """The program with tools that ask, called in this process."""
    monkeypatch.setattr(app, "open", partial(app.open, model=obedient.ObedientModel(), tools=obedient.TOOLS))
    return call


def leave_waiting(obey: Call, order: str, *options: str) -> Done:
    return obey("ask", "--wait-for-approval", *options, order)


def read_json(obey: Call, *arguments: str) -> Any:  # Any: JSON that a test looks into
    return json.loads(obey(*arguments, "--json").out)


def test_without_anybody_to_ask_a_call_is_denied_and_the_answer_says_so(home: Home, obey: Call) -> None:
    done = obey("ask", WRITE)
    assert done.code == ExitCode.DENIED
    assert "nobody can be asked here, 'sestet chat' asks you" in done.err
    assert "there is nobody to ask here" in done.out
    piped = home.with_program(obedient.__file__).run("chat", stdin=f"{WRITE}\n")
    assert "there is nobody to ask here" in piped.stdout
    assert read_json(obey, "approvals") == []
    assert not (home.work / "a.txt").exists()


def test_a_call_that_may_wait_leaves_the_turn_paused_and_the_question_on_stderr(obey: Call) -> None:
    done = leave_waiting(obey, WRITE)
    assert (done.code, done.out) == (3, "")
    assert "┌ operator wants to call fs_put" in done.err
    assert '│ path = "a.txt"' in done.err
    (question,) = read_json(obey, "approvals")
    assert f"sestet approvals approve {question['id']}" in done.err


def test_json_of_a_turn_that_waits_holds_its_questions(obey: Call) -> None:
    done = leave_waiting(obey, WRITE, "--json", "--session", "s1")
    turn = json.loads(done.out)
    assert (done.code, turn["state"], turn["text"]) == (3, "paused", "")
    (question,) = turn["approvals"]
    assert question["arguments"] == {"path": "a.txt", "text": "hi"}
    assert (question["agent"], question["tool"], question["reason"]) == (
        "operator",
        "fs_put",
        "its author wants you to approve each call",
    )
    assert "operator wants to call fs_put" in done.err
    (shown,) = read_json(obey, "sessions", "show", "s1")["turns"]
    assert (shown["state"], shown["approvals"]) == ("paused", [question])


def test_an_approved_call_runs_and_its_turn_goes_on_in_this_process(home: Home, obey: Call) -> None:
    leave_waiting(obey, WRITE)
    (question,) = read_json(obey, "approvals")
    assert question["id"] in obey("approvals").out
    done = obey("approvals", "approve", question["id"][:5])
    assert (done.code, done.out) == (0, "Done: wrote a.txt\n")
    assert "operator · fs_put" in done.err
    assert (home.work / "a.txt").read_text(encoding="utf-8") == "hi"
    assert "Nothing waits for your decision." in obey("approvals").err
    assert obey("approvals", "grants").err == "There is no standing answer.\n"


def test_a_denied_call_does_not_run_and_its_turn_goes_on_without_it(home: Home, obey: Call) -> None:
    leave_waiting(obey, WRITE)
    (question,) = read_json(obey, "approvals")
    done = obey("approvals", "deny", question["id"], "--json")
    turn = json.loads(done.out)
    assert (done.code, turn["state"]) == (0, "finished")
    assert "the person said no" in turn["text"]
    assert not (home.work / "a.txt").exists()


def test_a_decision_can_be_made_without_going_on(home: Home, obey: Call) -> None:
    leave_waiting(obey, WRITE)
    (question,) = read_json(obey, "approvals")
    done = obey("approvals", "approve", question["id"], "--no-resume")
    assert (done.code, done.out) == (0, "")
    assert f"{question['id']}: approved" in done.err
    assert not (home.work / "a.txt").exists()
    again = obey("approvals", "approve", question["id"])
    assert again.code == 1
    assert f"sestet: the question '{question['id']}' is approved" in again.err


def test_a_question_is_shown_whole(obey: Call) -> None:
    long = "\\n".join(map(str, range(100)))
    leave_waiting(obey, f'do fs_put {{"path": "a\u202e.txt", "text": "{long}"}}')
    (question,) = read_json(obey, "approvals")
    shown = obey("approvals", "show", question["id"]).out
    assert "a<U+202E>.txt" in shown
    assert all(f"│   {number}\n" in shown for number in range(100))
    assert read_json(obey, "approvals", "show", question["id"]) == question


def test_an_injected_receiver_is_asked_about_with_its_source(obey: Call) -> None:
    done = leave_waiting(obey, 'do browser_fetch {"url": "http://x"}')
    assert done.code == 3
    assert '│ to = "mallory@evil.example"' in done.err
    assert "in full, and untrusted text was read" in done.err
    assert "│ read before: browser_fetch of navigator" in done.err


def test_a_standing_answer_holds_is_listed_and_can_be_revoked(obey: Call) -> None:
    leave_waiting(obey, WRITE)
    (question,) = read_json(obey, "approvals")
    obey("approvals", "approve", question["id"], "--scope", "always")
    (grant,) = read_json(obey, "approvals", "grants")
    assert (grant["tool"], grant["pattern"], grant["session_id"]) == ("fs_put", {"path": "a.txt"}, None)
    assert 'operator · fs_put  path="a.txt"  always' in obey("approvals", "grants").out
    assert obey("ask", WRITE).out == "Done: wrote a.txt\n"
    assert obey("approvals", "revoke", str(grant["id"])).code == 0
    assert "nobody can be asked here" in obey("ask", WRITE).err
    gone = obey("approvals", "revoke", str(grant["id"]))
    assert (gone.code, gone.out) == (1, "")
    assert gone.err.startswith("sestet: there is no grant")


def test_money_is_approved_one_call_at_a_time(obey: Call) -> None:
    leave_waiting(obey, PAY)
    (question,) = read_json(obey, "approvals")
    done = obey("approvals", "approve", question["id"], "--scope", "always")
    assert done.code == 1
    assert "can only be approved once" in done.err
    assert len(read_json(obey, "approvals")) == 1
    assert obey("approvals", "approve", question["id"]).out == "Done: paid 1 to alice\n"


def test_a_turn_with_several_questions_waits_for_all_of_them(obey: Call) -> None:
    leave_waiting(obey, f"{WRITE} and {PAY}")
    first, second = read_json(obey, "approvals")
    turn_id = first["turn_id"]
    ambiguous = obey("approvals", "approve", turn_id)
    assert ambiguous.code == 1
    assert f"{first['id']}, {second['id']}" in ambiguous.err
    waiting = obey("approvals", "approve", first["id"])
    assert (waiting.code, waiting.out) == (3, "")
    assert second["id"] in waiting.err
    done = obey("approvals", "deny", second["id"])
    assert done.out.startswith("Done: wrote a.txt; ")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            ("show", "nothing"),
            1,
            "the question 'nothing' does not exist; 'sestet approvals' lists the open ones",
        ),
        (("approve", ""), 1, "the question '' does not exist"),
        (("approve", "x", "--scope", "sometimes"), 2, "'sometimes' is not one of"),
        (("revoke", "first"), 2, "'first' is not a whole number"),
        (("aprove", "x"), 2, "Did you mean 'approve'"),
    ],
)
def test_what_cannot_be_meant_is_said(obey: Call, arguments: tuple[str, ...], code: int, said: str) -> None:
    leave_waiting(obey, WRITE)
    done = obey("approvals", *arguments)
    assert (done.code, done.out) == (code, "")
    assert said in done.err


def test_a_call_in_doubt_is_said_twice_and_never_repeated(home: Home, obey: Call) -> None:
    home.with_program(obedient.__file__)
    killed = home.run("ask", "--session", "s1", 'do exec_crash {"what": "paid"}')
    assert killed.returncode == -9
    (home.work / "crashed").unlink()
    report = obey("doctor").out
    assert "1 cut off before the end, in s1" in report
    with home.terminal("chat") as terminal:
        terminal.expect("1 turn was cut off:")
        terminal.expect("s1")
        terminal.say("/continue")
        terminal.expect("!! IN DOUBT: operator · exec_crash what=paid was cut off.")
        terminal.expect("Done: ")
        terminal.expect("!! IN DOUBT: operator · exec_crash what=paid")
        terminal.say("/exit")
        assert terminal.wait() == 0
    assert not (home.work / "crashed").exists()
    assert obey("sessions", "show", "s1").out.count("!! IN DOUBT") == 2
    (turn,) = read_json(obey, "sessions", "show", "s1")["turns"]
    assert [event["outcome"] for event in turn["in_doubt"]] == ["in_doubt"]


def test_giving_up_a_turn_says_which_call_is_in_doubt(home: Home, obey: Call) -> None:
    home.with_program(obedient.__file__)
    home.run("ask", "--session", "s1", 'do exec_crash {"what": "paid"}')
    with home.terminal("chat") as terminal:
        terminal.expect("1 turn was cut off:")
        terminal.say("/abandon")
        terminal.expect("The turn is given up.")
        terminal.expect("!! IN DOUBT: operator · exec_crash what=paid was cut off.")
        terminal.say("/exit")
        assert terminal.wait() == 0
    (turn,) = read_json(obey, "sessions", "show", "s1")["turns"]
    assert [event["outcome"] for event in turn["in_doubt"]] == ["in_doubt"]


async def test_a_doubt_that_a_process_died_before_showing_is_shown_by_the_next_one(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home.work)
    home.with_program(obedient.__file__).run("ask", 'do exec_crash {"what": "paid"}')
    model = obedient.ObedientModel()
    async with sestet.open({}, model=model, tools=obedient.TOOLS, home=home.data) as opened:
        (turn,) = opened.unfinished_turns()
        *_, intent = opened.journal.events_of(turn.id)
        assert isinstance(intent, ToolCalled)
        stamp = replace(intent.stamp, seq=intent.seq + 1)
        opened.journal.append(ToolFinished(stamp, intent.call, "in_doubt", "cut off", 0.0, CLEAN))
        await finish_plainly(opened, turn)
    assert capsys.readouterr().err.count("!! IN DOUBT: operator · exec_crash what=paid") == 2


async def test_a_call_in_doubt_is_said_on_stderr_where_it_is_found_and_below_the_answer(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home.work)
    home.with_program(obedient.__file__).run("ask", 'do exec_crash {"what": "paid"}')
    model = obedient.ObedientModel()
    async with sestet.open({}, model=model, tools=obedient.TOOLS, home=home.data) as opened:
        (turn,) = opened.unfinished_turns()
        await finish_plainly(opened, turn)
    said = capsys.readouterr()
    assert said.out.startswith("Done: ")
    assert said.err.count("!! IN DOUBT: operator · exec_crash what=paid") == 2


def test_the_state_of_a_turn_is_that_of_its_last_end_unless_it_went_on() -> None:
    stamp = Stamp("s1", "t1", 1, "user", "", 1.0)
    paused = [
        TurnStarted(stamp, "go"),
        TurnPaused(stamp, ("q",)),
        ApprovalDecided(stamp, "q", "deny", "once"),
    ]
    assert turn_state(paused[:1]) == "running"
    assert turn_state(paused) == "paused"
    assert turn_state([*paused, TurnResumed(stamp)]) == "running"
    assert turn_state([*paused, TurnCancelled(stamp)]) == "cancelled"


def test_the_history_of_a_session_tells_what_was_asked_and_decided(obey: Call) -> None:
    leave_waiting(obey, WRITE, "--session", "s1")
    waiting = obey("sessions", "show", "s1").out
    assert "waits for your decision: its author wants you to approve each call" in waiting
    assert waiting.endswith("This turn waits for your decision.\n")
    assert "1 waiting for your decision, in s1" in obey("doctor").out
    (question,) = read_json(obey, "approvals")
    obey("approvals", "approve", question["id"], "--scope", "session")
    shown = obey("sessions", "show", "s1").out
    facts = [
        "waits for your decision",
        "the turn goes on",
        "you approved, for this session",
        "Done: wrote a.txt",
    ]
    positions = [shown.index(fact) for fact in facts]
    assert positions == sorted(positions)
    assert "This turn" not in shown
    assert "none waits or was cut off" in obey("doctor").out


@pytest.mark.parametrize("words", [("approve",), ("deny",), ("approve", "--scope", "always")])
def test_a_decision_waits_while_another_process_has_locked_the_database(
    home: Home, obey: Call, words: tuple[str, ...]
) -> None:
    leave_waiting(obey, WRITE)
    (question,) = read_json(obey, "approvals")

    with locked_for_tries(home.data / FILE_NAME, "BEGIN IMMEDIATE"):
        done = obey("approvals", words[0], question["id"], *words[1:], "--no-resume")

    assert done.code == 0, done.err
    assert read_json(obey, "approvals") == []


def test_taking_back_an_answer_waits_while_another_process_has_locked_the_database(
    home: Home, obey: Call
) -> None:
    leave_waiting(obey, WRITE)
    (question,) = read_json(obey, "approvals")
    obey("approvals", "approve", question["id"], "--scope", "always")

    with locked_for_tries(home.data / FILE_NAME, "DELETE FROM grants"):
        done = obey("approvals", "revoke", "1")

    assert (done.code, done.err) == (0, "1: revoked\n")


@contextmanager
def locked_for_tries(path: Path, statement: str) -> Generator[None]:
    """Another process locks the database until a statement was tried three times."""
    tries: list[str] = []
    other = sqlite3.connect(path, isolation_level=None)

    def watch(when: When, sql: str, parameters: Sequence[object]) -> None:
        if when == "before" and sql.startswith(statement):
            tries.append(sql)
            if len(tries) == 3:
                other.execute("ROLLBACK")

    other.execute("BEGIN IMMEDIATE")
    with watched_connections(watch):
        yield
    other.close()
