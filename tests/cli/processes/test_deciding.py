"""Deciding in a conversation, at a real terminal: the turn waits, asks, and goes on in place."""

import pytest

from tests.cli import obedient
from tests.cli.program import Home

PROMPT = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
ALL = f"[y] once  [s] this session  [a] always  [n] no {PROMPT}"
ONCE = f"[y] once  [n] no {PROMPT}"
CTRL_C, CTRL_D = "\x03", "\x04"
WRITE = 'do fs_put {"path": "a.txt", "text": "hi"}'


@pytest.fixture
def home(home: Home) -> Home:
    """The program with tools that ask."""
    return home.with_program(obedient.__file__)


def test_a_call_is_shown_approved_and_carried_out_in_place(home: Home) -> None:
    with home.terminal("chat") as terminal:
        terminal.expect(PROMPT)
        terminal.say('do fs_put {"path": "a.txt", "text": "x\u202ey"}')
        terminal.expect("┌ operator wants to call fs_put")
        terminal.expect('text = "x<U+202E>y"')
        terminal.expect(ALL)
        assert not (home.work / "a.txt").exists()
        terminal.say("maybe")
        terminal.expect("y, s, a, n: one of these")
        terminal.expect(ALL)
        terminal.say("Y")
        terminal.expect("the turn goes on")
        terminal.expect("Done: wrote a.txt")
        terminal.expect(PROMPT)
    assert (home.work / "a.txt").read_text(encoding="utf-8") == "x\u202ey"
    assert home.json("approvals", "grants") == []
    assert "Y" not in (home.data / "history").read_text(encoding="utf-8").splitlines()


def test_several_questions_are_asked_one_after_the_other_and_money_only_once(home: Home) -> None:
    with home.terminal("chat") as terminal:
        terminal.expect(PROMPT)
        terminal.say(f'{WRITE} and do payment_send {{"payee": "alice"}}')
        terminal.expect("question 1 of 2")
        terminal.expect("fs_put")
        terminal.expect(ALL)
        terminal.say("s")
        terminal.expect("question 2 of 2")
        terminal.expect("payment_send")
        terminal.expect(ONCE)
        terminal.say("a")
        terminal.expect("y, n: one of these")
        terminal.expect(ONCE)
        terminal.say("n")
        said = terminal.expect("Done: wrote a.txt; ")
        assert said.count("the turn goes on") == 1
    (grant,) = home.json("approvals", "grants")
    assert grant["tool"] == "fs_put"
    assert grant["session_id"]


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D], ids=["Ctrl-C", "Ctrl-D"])
def test_a_question_can_be_left_open_and_taken_up_again(home: Home, key: str) -> None:
    with home.terminal("chat", "--session", "first") as terminal:
        terminal.expect(PROMPT)
        terminal.say(WRITE)
        terminal.expect(ALL)
        terminal.press(key)
        terminal.expect("The turn waits for you: /approvals shows the calls, /continue goes on")
        terminal.expect(PROMPT)
        terminal.say("/approvals")
        terminal.expect("operator wants to call fs_put")
        terminal.expect("1 turn waits for your decision:")
        terminal.say("/exit")
        assert terminal.wait() == 0
    with home.terminal("chat") as terminal:
        terminal.expect("1 turn waits for your decision:")
        terminal.expect("waits for you  first")
        terminal.expect(PROMPT)
        terminal.say("/continue 1")
        terminal.expect("session first")
        terminal.expect(ALL)
        terminal.say("y")
        terminal.expect("Done: wrote a.txt")
        terminal.say("/continue")
        terminal.expect("no turn is waiting or was cut off")


def test_what_was_typed_before_the_question_stood_there_is_no_answer_to_it(home: Home) -> None:
    with home.terminal("chat") as terminal:
        terminal.expect(PROMPT)
        terminal.press(f"{WRITE}\ry\r")
        terminal.expect(ALL)
        terminal.say("n")
        terminal.expect("the person said no")
    assert not (home.work / "a.txt").exists()


def test_a_long_argument_can_be_viewed_before_deciding(home: Home) -> None:
    lines = "\\n".join(map(str, range(100)))
    with home.terminal("chat") as terminal:
        terminal.expect(PROMPT)
        terminal.say(f'do fs_put {{"path": "a.txt", "text": "{lines}"}}')
        card = terminal.expect("more characters are not shown here")
        assert "│   99\n" not in card
        terminal.expect("[v] view all")
        terminal.say("v")
        terminal.expect("│   99\n")
        terminal.expect("[v] view all")
        terminal.say("n")
        terminal.expect("Done: ")


def test_an_unfinished_turn_can_be_given_up(home: Home) -> None:
    home.run("ask", "--wait-for-approval", WRITE)
    with home.terminal("chat") as terminal:
        terminal.expect("1 turn waits for your decision:")
        terminal.say("/abandon 7")
        terminal.expect("there is no unfinished turn '7'")
        terminal.say("/abandon 1")
        terminal.expect("The turn is given up.")
    assert home.json("approvals") == []
    assert not (home.work / "a.txt").exists()


def test_a_turn_that_is_running_elsewhere_is_not_offered_as_cut_off(home: Home) -> None:
    with home.terminal("chat", "--session", "busy") as busy:
        busy.expect(PROMPT)
        busy.say('do exec_hang {"what": "for ever"}')
        busy.expect("operator · exec_hang")
        with home.terminal("chat") as terminal:
            assert "cut off" not in terminal.expect(PROMPT)
            terminal.say("/resume busy")
            terminal.expect("session busy")
            terminal.expect(PROMPT)
            terminal.say("and another thing")
            terminal.expect("orchestrator")
            terminal.press(CTRL_C)
            terminal.expect("the session 'busy' is busy, and you did not wait for it")
            terminal.expect(PROMPT)
        assert "none waits or was cut off" in home.run("doctor").stdout
