"""A further specialist in the package is a folder: every contract holds with it after `make docs`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SEVENTH = Path(__file__).parent / "seventh"
#: Everything that a room of the package has to do with; the router's figures are measured apart.
CONTRACTS = (
    "tests/agents/test_rooms.py",
    "tests/agents/test_tool_examples.py",
    "tests/architecture",
    "tests/cli/test_commands.py",
    "tests/docs",
    "tests/orchestration",
    "tests/spec",
    "tests/test_app.py",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the repository with one more room, of a kind that the package will not have."""
    for name in ("src", "tests", "docs", "scripts", "bench", "web"):
        ignored = shutil.ignore_patterns("__pycache__", "node_modules")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    room = shutil.copytree(SEVENTH, tmp_path / "src" / "sestet" / "agents" / "lampkeeper")
    (room / "__init__.py").write_text('"""The lampkeeper: lamps of lighthouses."""\n', encoding="utf-8")
    return tmp_path


def run(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # The copy wins against the installed package.
    paths = f"{tree / 'src'}:{tree}"
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=tree,
        env={"PATH": f"{Path(sys.executable).parent}:{os.defpath}", "PYTHONPATH": paths, "HOME": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_with_a_seventh_room_only_the_generated_documentation_is_out_of_date(tree: Path) -> None:
    asked = run(tree, "sestet", "ask", "light the lamp of the north tower")
    assert asked.stdout == "Lit: north tower\n", asked.stderr
    stale = run(tree, "scripts.generate_docs", "--check").stderr
    assert sorted(line.split(":")[0] for line in stale.splitlines()) == [
        "docs/agents.md",
        "docs/orchestrator-prompt.md",
        "docs/tools.md",
    ]

    assert run(tree, "scripts.generate_docs").returncode == 0

    done = run(tree, "pytest", "-q", "-x", "-m", "not slow", "-p", "no:cacheprovider", *CONTRACTS)
    assert done.returncode == 0, done.stdout[-4_000:]
