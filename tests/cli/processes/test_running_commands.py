"""Commands in a conversation: read-only ones run at once, others ask, and all end with their turn."""

import signal
from pathlib import Path

import pytest

from sestet.cli.options import ExitCode
from tests.cli.program import Home, Terminal

PROMPT = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
CTRL_C = "\x03"


def test_a_command_that_only_reads_runs_without_a_question(home: Home) -> None:
    done = home.run("ask", "run wc -w notes.txt")
    assert (done.returncode, "2 notes.txt" in done.stdout) == (0, True)
    assert "changed: nothing" in done.stderr


def test_a_command_that_may_change_files_waits_for_approval(home: Home) -> None:
    done = home.run("ask", "run the command touch made.txt")
    assert done.returncode == ExitCode.DENIED
    assert "it may change files: 'touch'" in done.stderr
    assert not (home.work / "made.txt").exists()


def test_the_question_shows_each_command_of_a_line(home: Home) -> None:
    done = home.run("ask", "--wait-for-approval", "run wc -w notes.txt && touch made.txt")
    assert done.returncode == ExitCode.WAITS
    assert "the commands in it" in done.stderr
    assert "wc -w notes.txt   (only reads or is allowed)" in done.stderr
    assert "touch made.txt   (asks)" in done.stderr


def test_nobody_is_asked_about_a_catastrophe(home: Home) -> None:
    done = home.run("ask", "--wait-for-approval", "run rm -rf /")
    assert done.returncode == ExitCode.DENIED
    assert "it would delete '/' with all that is in it" in done.stdout


def test_commands_of_the_settings_run_without_a_question(home: Home) -> None:
    (home.work / "sestet.yaml").write_text("sandbox: {allowed: ['touch *']}\n", encoding="utf-8")
    done = home.run("ask", "run the command touch made.txt")
    assert (done.returncode, (home.work / "made.txt").exists()) == (0, True)


def test_settings_can_forbid_commands_altogether(home: Home) -> None:
    (home.work / "sestet.yaml").write_text("policy: {block: ['exec_*']}\n", encoding="utf-8")
    assert "the setting 'policy.block' forbids it" in home.run("ask", "run wc -w notes.txt").stdout


def begin_slow_command(home: Home, terminal: Terminal) -> None:
    """Let the person approve a command that runs until a file is there."""
    script = "echo begun; touch made.txt; while [ ! -e go ]; do sleep 0.1; done; echo over\n"
    (home.work / "slow.sh").write_text(script, encoding="utf-8")
    terminal.expect(PROMPT)
    terminal.say("run bash slow.sh")
    terminal.expect("operator wants to call exec_run")
    terminal.expect("why: it may change files: 'bash'")
    terminal.expect('would let operator run exactly "bash slow.sh" without asking')
    terminal.expect(f"[n] no {PROMPT}")
    terminal.say("y")
    terminal.expect("begun")


def test_an_approved_command_shows_its_output_while_it_runs(home: Home) -> None:
    with home.terminal("chat") as terminal:
        begin_slow_command(home, terminal)
        (home.work / "go").touch()
        terminal.expect("Exit code 0")
        terminal.expect("over")
        terminal.expect("changed: bash slow.sh")
    assert (home.work / "made.txt").exists()


def test_ctrl_c_ends_the_command_and_then_the_turn(home: Home) -> None:
    with home.terminal("chat") as terminal:
        begin_slow_command(home, terminal)
        assert commands_in(home.work)
        terminal.press(CTRL_C)
        terminal.expect(PROMPT)
        assert not commands_in(home.work)


def test_no_command_survives_the_death_of_the_program(home: Home) -> None:
    with home.terminal("chat") as terminal:
        begin_slow_command(home, terminal)
        terminal.kill()
        wait_until_gone(home.work)


def commands_in(place: Path) -> list[str]:
    """The processes that work in a directory, apart from Sestet itself."""
    found: list[str] = []
    for process in filter(lambda each: each.name.isdecimal(), Path("/proc").iterdir()):
        try:
            name = (process / "comm").read_text().strip()
            if name in ("bash", "sh", "sleep") and (process / "cwd").resolve() == place:
                found.append(name)
        except OSError:
            continue
    return found


def wait_until_gone(place: Path) -> None:
    for _ in range(200):
        if not commands_in(place):
            return
        signal.sigtimedwait([], 0.05)
    pytest.fail(f"still running: {commands_in(place)}")
