"""Help is cheap: it loads nothing that only a command needs."""

import json
import subprocess
import sys

import pytest

from tests.cli.program import Home

# What each of these costs is more than all the rest of the help.
EXPENSIVE = {
    "asyncio",
    "httpx",
    "logging",
    "prompt_toolkit",
    "pydantic",
    "rich",
    "ruamel",
    "sestet.app",
    "sestet.config",
    "sqlite3",
}
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


@pytest.mark.parametrize("arguments", [["--help"], ["chat", "--help"]], ids=["sestet", "chat"])
def test_help_loads_nothing_expensive(home: Home, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(arguments=arguments)],
        cwd=home.work,
        env=home.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("Usage: sestet")
    loaded = set(json.loads(done.stderr))
    assert "typer" in loaded
    assert loaded & EXPENSIVE == set()
