"""Lines that look like reading, and change something because of how bash reads them."""

import subprocess
from pathlib import Path

import pytest

from sestet.services.commands.command_rules import judge_command

#: Each writes ``mark``, or runs a program of the workspace that does.
HIDING = [
    # The text of a here-document begins after the line, whatever ends the line.
    "cat <<cat ;\ncat\ntouch mark\ncat",
    "cat <<cat |\ncat\ntouch mark\ncat",
    "cat <<cat &&\ncat\ntouch mark\ncat",
    "echo $(cat <<E) ; touch mark\nE\n)",
    "cat <<:\nx\\\n:\n: '\n$(touch mark)\n'\n:\n",
    "cat <<$'E'\nE\ntouch mark\n$'E'\n",
    "cat \u0663<<cat\ncat '\n$(touch mark)\ncat '\ncat",
    # Joined lines make one operator of two characters.
    'echo "$\\\n(touch mark)"',
    "echo $\\\n'a\\'b'\ntouch mark\nls #'",
    "for cat in 'a[$(touch mark)]'; do echo $(\\\n(cat)); done",
    # No comment begins in a pattern.
    "[[ a =~ (#) ]]; touch mark; ls\n]]; ls",
    # Braces in braces.
    "sort a {-o,mark,{b}c}",
    "find . {-fprint,mark,-name,{b}c}",
    # A second file, though the first is stdin, follows dashes, or comes from a pattern.
    "uniq - mark",
    "uniq -- -a mark",
    "uniq {a,mark}",
    # Variables that get a value in passing: PATH becomes a folder of the workspace.
    "printf '%n' PATH; ls",
    ": {PATH}</etc/passwd; ls",
]
#: Where bash needs a program or rights that a machine of tests may not have.
CHANGING = [
    "pip list --log mark",
    "pip show --log-file=mark pip",
    "npm --version false exec -- touch mark",
    "npm ls --logs-dir=mark",
    "date 010100002030",
    "date 01010000",
    "hostname other",
    "printf '%5hhn' PATH",
]
READING = [
    "cat <<E\nhello $x\nE\nls",
    "cat <<'E' | wc -l\na\\\nE",
    "cat $(cat <<E\nlist.txt\nE\n)",
    "[[ a =~ ^(b|c)$ ]] && ls",
    "printf '100%%\\n'",
    "ls -l \\\n  -a",
    "date -d tomorrow +%F",
    "uniq -c a",
    "hostname -f",
    "pip list",
    "npm --version",
]


@pytest.mark.parametrize("text", HIDING)
def test_bash_changes_something_that_the_line_hides(text: str, tmp_path: Path) -> None:
    """The control of the next test."""
    for name in ("a", "-a", "{b}c"):
        (tmp_path / name).write_text("a\n")
    for folder in ("0", "10"):
        program = tmp_path / folder / "ls"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n: > mark\n")
        program.chmod(0o755)
    subprocess.run(
        ["/bin/bash", "-c", text],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=20,
    )

    assert (tmp_path / "mark").exists()


@pytest.mark.parametrize("text", [*HIDING, *CHANGING])
def test_a_hidden_change_is_asked_about(text: str) -> None:
    assert judge_command(text).kind == "asks"


@pytest.mark.parametrize("text", READING)
def test_a_line_of_the_same_form_that_only_reads_needs_no_question(text: str) -> None:
    assert judge_command(text).kind == "read_only"
