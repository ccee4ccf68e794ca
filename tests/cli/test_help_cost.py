"""The help is cheap, and a command loads only its own module."""

import json
import subprocess
import sys

import pytest

from sestet.cli.program import COMMANDS, LazyCommand
from tests.cli.program import Home

# Each of these costs more than all the rest of the help.
DRAWING = {"httpx", "prompt_toolkit", "pydantic", "rich", "ruamel"}
EXPENSIVE = {*DRAWING, "asyncio", "logging", "sestet.app", "sestet.config", "sqlite3"}
MODULES = {f"sestet.cli.{entry.module}" for entry in COMMANDS.values()}
PROGRAM = """
import json, sys
from sestet.cli import main
sys.argv = ["sestet", *{arguments!r}]
try:
    main()
except SystemExit as left:
    assert left.code == 0, left.code
sys.stderr.write(json.dumps(sorted(sys.modules)))
"""


def loaded_by(home: Home, *arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(arguments=arguments)],
        cwd=home.work,
        env=home.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_help_loads_no_command_and_nothing_expensive(home: Home) -> None:
    loaded = loaded_by(home, "--help")

    assert "typer" in loaded
    assert loaded & (EXPENSIVE | MODULES) == set()


@pytest.mark.parametrize("arguments", [["chat", "--help"], ["ask", "hello"]], ids=["chat", "ask"])
def test_a_command_loads_no_other_command_and_nothing_that_only_a_terminal_needs(
    home: Home, arguments: list[str]
) -> None:
    loaded = loaded_by(home, *arguments)

    assert loaded & MODULES == {f"sestet.cli.{arguments[0]}"}
    assert loaded & DRAWING == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_says_of_a_command_what_its_own_help_says(name: str) -> None:
    own = LazyCommand(name, COMMANDS[name]).load().get_short_help_str(limit=1_000)

    assert COMMANDS[name].help == own


def test_the_garbage_collector_works_in_a_command_and_leaves_its_modules_alone(home: Home) -> None:
    program = PROGRAM.replace("import json, sys", "import gc, json, sys").replace(
        "json.dumps(sorted(sys.modules))", "json.dumps([gc.isenabled(), gc.get_freeze_count()])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program.format(arguments=["tokens", "list"])],
        cwd=home.work,
        env=home.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    is_on, left_alone = json.loads(done.stderr.splitlines()[-1])

    assert is_on
    assert left_alone > 0
