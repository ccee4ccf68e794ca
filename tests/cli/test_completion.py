"""Shells complete commands, options and names, by the script that ``sestet completion`` prints."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.cli.program import PATIENCE, Home

#: Sets what bash sets when Tab is pressed, and calls the function of the script.
_PRESS_TAB = """
eval "$(sestet completion bash)"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
"$(complete -p sestet | sed 's/.*-F \\([^ ]*\\) .*/\\1/')" sestet
printf '%s\\n' "${COMPREPLY[@]}"
"""


def with_path(home: Home) -> dict[str, str]:
    environment = home.environment()
    return {**environment, "PATH": f"{Path(sys.executable).parent}:{environment['PATH']}"}


def complete(home: Home, *words: str) -> list[str]:
    done = subprocess.run(
        ["bash", "--norc", "-c", _PRESS_TAB, "bash", *words],
        cwd=home.work,
        env=with_path(home),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["mem"], ["memory"]),
        (["memory", "f"], ["forget"]),
        (["memory", "list", "--so"], ["--sort"]),
        (["memory", "list", "--sort", ""], ["fact", "observation", "reflection"]),
        (["docs", "li"], ["limit-your-spending", "library"]),
        (["prompt", "--agent", "li"], ["librarian"]),
        (["--ver"], ["--version"]),
    ],
    ids=" ".join,
)
def test_bash_completes_commands_options_and_names(home: Home, words: list[str], found: list[str]) -> None:
    assert complete(home, "sestet", *words) == found
    assert not home.data.exists()


def test_bash_completes_the_ids_of_sessions_and_no_other_words_of_them(home: Home, call: Call) -> None:
    call("ask", "--session", "tea", "hello $(touch pwned)")

    assert complete(home, "sestet", "ask", "--session", "") == ["last", "tea"]
    assert complete(home, "sestet", "sessions", "show", "t") == ["tea"]
    assert not (home.work / "pwned").exists()


@pytest.mark.parametrize(("shell", "sign"), [("zsh", "compdef"), ("fish", "complete --command sestet")])
def test_zsh_and_fish_get_a_script_and_an_answer_to_its_question(home: Home, shell: str, sign: str) -> None:
    assert sign in home.run("completion", shell).stdout
    asked = {
        "_SESTET_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": "sestet mem",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    answer = home.run(extra=asked)

    assert "memory" in answer.stdout
    assert answer.stderr == ""


def test_another_shell_is_refused_with_those_that_there_are(call: Call) -> None:
    done = call("completion", "tcsh")

    assert done.code == 2
    assert "'bash', 'zsh', 'fish'" in done.err
