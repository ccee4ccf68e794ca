"""The conversation as a person has it: at a real terminal, with keys and a screen."""

import re
import sys

from tests.cli import hanging
from tests.cli.program import Home, Terminal

PROMPT = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
CTRL_C, CTRL_D = "\x03", "\x04"
COLOUR = re.compile(r"\x1b\[(?:\d+;)*3[0-7]m|\x1b\[0;3[0-7]")


def test_a_conversation_greets_shows_its_work_and_answers(home: Home) -> None:
    with home.terminal("chat") as terminal:
        greeting = terminal.expect(PROMPT)
        assert re.search(r"Sestet · session \d{8}-[0-9a-f]{4} \(new\) · model offline · /help", greeting)
        assert "sestet docs models" in greeting
        terminal.say("list the files here")
        terminal.expect("→ operator")
        terminal.expect("operator · fs_list")
        terminal.expect("notes.txt")
        terminal.expect(PROMPT)
        assert COLOUR.search(terminal.raw)
        terminal.press(CTRL_D)
        assert terminal.wait() == 0
    history = home.data / "history"
    assert "list the files here" in history.read_text(encoding="utf-8")
    assert history.stat().st_mode & 0o777 == 0o600


def test_ctrl_c_stops_a_running_turn_and_the_prompt_comes_back(home: Home) -> None:
    command = [sys.executable, hanging.__file__]
    with Terminal(command, home.work, home.environment({"NO_COLOR": "1"})) as terminal:
        terminal.expect(PROMPT)
        terminal.say("wait")
        terminal.expect(hanging.BEGINNING)
        terminal.press(CTRL_C)
        stopped = terminal.expect("Stopped.")
        assert "^C" not in stopped
        terminal.expect(PROMPT)
        terminal.say("still there?")
        terminal.expect(hanging.ANSWER)
        terminal.expect(PROMPT)
        terminal.press("never mind")
        terminal.expect("never mind")
        terminal.press(CTRL_C)
        terminal.expect("Ctrl-C again")
        terminal.press(CTRL_C)
        assert terminal.wait() == 0
    assert not COLOUR.search(terminal.raw)


def test_what_was_typed_ahead_is_not_sent_after_ctrl_c_and_can_be_edited(home: Home) -> None:
    command = [sys.executable, hanging.__file__]
    with Terminal(command, home.work, home.environment({"NO_COLOR": "1"})) as terminal:
        terminal.expect(PROMPT)
        terminal.say("wait")
        terminal.expect(hanging.BEGINNING)
        terminal.press("are you\x1b[D there\rand here")
        terminal.press(CTRL_C)
        terminal.expect("Stopped.")
        terminal.expect("are you there")
        terminal.expect("and here")
        terminal.press("?")
        terminal.expect("?")
        assert hanging.ANSWER not in terminal.raw
        terminal.press("\r")
        terminal.expect(hanging.ANSWER)
        terminal.expect(PROMPT)
    (asked,) = home.json("sessions", "search", "there")
    assert asked["asked"] == "are you there and here?"


def test_at_a_dumb_terminal_one_ctrl_c_does_not_leave(home: Home) -> None:
    with home.terminal("chat", extra={"TERM": "dumb"}) as terminal:
        terminal.expect(PROMPT)
        terminal.expect_keys()
        terminal.press("never mind" + CTRL_C)
        terminal.expect("Ctrl-C again to leave")
        terminal.expect_keys()
        terminal.say("hello")
        terminal.expect("Hello!")
        terminal.expect(PROMPT)
        terminal.expect_keys()
        terminal.press(CTRL_C)
        terminal.expect("Ctrl-C again to leave")
        terminal.expect(PROMPT)
        terminal.expect_keys()
        terminal.press(CTRL_C)
        assert terminal.wait() == 0


def test_a_session_is_resumed_with_the_last_things_said(home: Home) -> None:
    home.run("ask", "--session", "20261115-aaaa", "remember that I like green tea")
    with home.terminal("chat", "--resume") as terminal:
        greeting = terminal.expect(PROMPT + "remember that I like green tea")
        assert "session 20261115-aaaa (1 turn)" in greeting
        terminal.expect("green tea")
        terminal.say("/exit")
        assert terminal.wait() == 0


def test_slash_commands_work_where_messages_are_written(home: Home) -> None:
    with home.terminal("chat", "--session", "first") as terminal:
        terminal.expect(PROMPT)
        terminal.expect_keys()
        terminal.say("/hlep")
        terminal.expect("there is no command '/hlep'; did you mean '/help'?")
        terminal.say("/new")
        terminal.expect("(new)")
        terminal.say("/resume first")
        terminal.expect("there is no session 'first'")
        terminal.say("/exit")
        assert terminal.wait() == 0
