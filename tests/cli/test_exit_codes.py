"""The exit codes of the program, as docs/cli.md has them."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.core import TyperGroup

from scripts.generate_docs import iter_commands
from sestet.cli.options import EXIT_CODES, ExitCode
from tests.cli import obedient
from tests.cli.conftest import Call
from tests.cli.program import Home

CLI = Path(__file__).parents[2] / "src/sestet/cli"
#: Groups that do something by themselves: they list or show.
BY_THEMSELVES = {
    "sestet",
    "sestet agents",
    "sestet tools",
    "sestet sessions",
    "sestet approvals",
}
#: Shows something by itself, but only where payments are switched on: tests/cli/test_payments.py.
NEEDS_SETTINGS = {"sestet payments wallet"}
GROUPS = [command.words for command in iter_commands() if isinstance(command.node, TyperGroup)]


def test_every_exit_code_has_a_meaning() -> None:
    assert list(EXIT_CODES) == list(ExitCode)
    assert all(EXIT_CODES.values())


def test_no_command_exits_with_a_number_that_the_table_does_not_have() -> None:
    numbers: set[int] = set()
    for file in CLI.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("typer.Exit", "sys.exit"):
                numbers |= {value for value in _constants(node) if isinstance(value, int)}

    assert numbers <= {0, 1}, "write ExitCode.… for any other number"


def _constants(tree: ast.AST) -> Iterator[object]:
    return (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))


@pytest.mark.parametrize("words", sorted(set(GROUPS) - BY_THEMSELVES - NEEDS_SETTINGS))
def test_a_group_without_a_command_prints_its_help_on_stderr_and_exits_with_2(words: str, call: Call) -> None:
    done = call(*words.split()[1:])

    assert (done.code, done.out) == (ExitCode.MISTAKE, "")
    assert f"Usage: {words} [OPTIONS] COMMAND [ARGS]..." in done.err


@pytest.mark.parametrize("words", sorted(BY_THEMSELVES))
def test_a_group_that_does_something_by_itself_exits_with_0(words: str, call: Call) -> None:
    assert words in GROUPS
    assert call(*words.split()[1:]).code == ExitCode.OK


def test_an_answer_after_a_denied_call_has_an_exit_code_of_its_own(home: Home) -> None:
    home.with_program(obedient.__file__)
    order = 'do fs_put {"path": "a.txt"}'

    assert home.run("ask", order).returncode == ExitCode.DENIED
    told = home.run("ask", "--json", order)
    assert (told.returncode, json.loads(told.stdout)["state"]) == (ExitCode.DENIED, "finished")
    assert home.run("chat", "--mine", stdin=f"{order}\n").returncode == ExitCode.DENIED
    assert home.run("chat", "--mine", stdin=f"{order}\nhello\n").returncode == ExitCode.OK
    assert home.run("ask", "--wait-for-approval", order).returncode == ExitCode.WAITS
    assert not (home.work / "a.txt").exists()
