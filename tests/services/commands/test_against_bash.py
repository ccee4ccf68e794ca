"""Every command that a real bash runs is found by our reader, or the line counts as unreadable."""

import random
import subprocess
from pathlib import Path

import pytest

from sestet.services.commands.command_line import read_command_line

pytestmark = pytest.mark.slow

_LINES = 250
_WORDS = [
    *("a", "b", "'q mark'", '"q"', "$x", "${x:-y}", "*", "\\mark", "-c", "{a,b}", "$'\\'mark'"),
    *("#", "#mark", "x#mark", "$((1+2))", "~"),
]
#: Words with a command in them.
_FORMS = [
    *("$({})", '"z $({}) mark"', "<({})", "${{x:-$({})}}", "$(( $({}) + 1 ))", "$(( '$({})' ))"),
    *("\"${{x:-'$({})'}}\"", "\"$'$({})'\"", '"${{x-"\'$({})\'"}}"', "'$({})'", "$'$({})'"),
]
_JOINERS = ["; ", " && ", " || ", "\n", " | ", " & ", "|", "|&", ";", "&", "&&"]
_NOISE = [
    "'",
    '"',
    "\\",
    "`",
    "$(",
    ")",
    "(",
    "{",
    "}",
    ";",
    "\n",
    "#",
    "&",
    "|",
    "<",
    "$",
    "\\\n",
    "do",
    ";;",
]


class _Lines:
    """Random command lines, most of them valid, in which ``mark`` stands where bash may or may not run it."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def damaged(self) -> str:
        line = self._command(self._random.randrange(4))
        for _ in range(self._random.choice([0, 0, 1, 2])):
            place = self._random.randrange(len(line) + 1)
            noise = self._random.choice(_NOISE) if self._random.random() < 0.6 else ""
            line = line[:place] + noise + line[place + (not noise) :]
        return line

    def _command(self, depth: int) -> str:
        if depth <= 0 or self._random.random() < 0.3:
            return self._simple(depth)
        first, second = self._command(depth - 1), self._command(depth - 1)
        return self._random.choice(
            [
                first + self._random.choice(_JOINERS) + second,
                f"{{ {first}; }}",
                f"({first})",
                f"if {first}; then {second}; fi",
                f"for i in {self._word(depth - 1)}; do {first}; done",
                f"case {self._word(depth - 1)} in (a|*) {first};; esac",
                f"f() {{ {first}; }}; f",
                f"[[ -n {self._word(depth - 1)} ]] && {first}",
                f"while false; do {first}; done; {second}",
                f"{first} # $(mark)\n{second}",
                f"a <<E\n$({self._simple(0)})\nE\n{second}",
                f"a <<'E'\n$(mark)\nE\n{second}",
            ]
        )

    def _simple(self, depth: int) -> str:
        begin = self._random.choice(
            ["a", "a", "mark", ":", "\\mark", "'mark'", "x=1 mark", "! a", "x=(a mark)"]
        )
        words = [self._word(depth) for _ in range(self._random.randrange(3))]
        return " ".join([begin, *words, self._random.choice(["", "", "2>&1", "</dev/null", ">out"])])

    def _word(self, depth: int) -> str:
        if depth <= 0 or self._random.random() < 0.4:
            return self._random.choice(_WORDS)
        inner = self._command(depth - 1)
        form = self._random.choice(_FORMS)
        return form.format(inner)


def test_no_command_that_bash_runs_is_overlooked(tmp_path: Path) -> None:
    programs, work, ran = tmp_path / "bin", tmp_path / "work", tmp_path / "ran"
    programs.mkdir()
    work.mkdir()
    for name, script in (("a", "#!/bin/sh\n"), ("mark", f"#!/bin/sh\n: > {ran}\n")):
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    lines, times_run, overlooked = _Lines(7), 0, list[str]()
    for _ in range(_LINES):
        line = lines.damaged()
        ran.unlink(missing_ok=True)
        subprocess.run(
            ["/bin/bash", "-c", line],
            cwd=work,
            env={"PATH": str(programs)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        read = read_command_line(line)
        found = read.unreadable or any(not part.name or part.name.endswith("mark") for part in read.parts)
        times_run += ran.exists()
        overlooked += [line] if ran.exists() and not found else []

    assert overlooked == []
    # The control: bash did run it, often enough for this test to mean something.
    assert times_run > _LINES / 10
