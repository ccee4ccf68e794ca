"""A person's config directory, data directory and workspace, all in a temporary directory."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from sestet.config.trust import decide, open_workspace

TOOL = '''
import sestet


@sestet.tool(risk="safe", reads=(), effect="none", recovery="pure", examples=("{example}",))
async def {name}(hive: str) -> str:
    """Feed the bees of one hive."""
    return f"Fed: {{hive}}"
'''
PLAQUE = """---
name: {name}
description: Looks after the bees
capabilities:
  {prefix}: bee care
keywords:
  - feed the bees
examples:
  - feed the north hive
---
You are the {name}.
"""


@pytest.fixture(autouse=True)
def _forget_modules() -> Iterator[None]:
    """A test's odd plug-ins must not stay loaded for the tests that follow in this process."""
    yield
    for name in [name for name in sys.modules if name.startswith("_sestet_plugins.")]:
        del sys.modules[name]


class World(NamedTuple):
    config: Path
    data: Path
    work: Path

    def agent(self, name: str = "beekeeper", prefix: str = "hive_", *, where: Path | None = None) -> Path:
        """A complete agent with one tool; its folder."""
        folder = (where or self.config) / "agents" / name
        write(folder / "AGENT.md", PLAQUE.format(name=name, prefix=prefix))
        write(folder / "care.py", tool_file(f"{prefix}feed"))
        return folder

    def accept(self) -> None:
        workspace = open_workspace(self.work, self.data)
        assert workspace is not None
        decide(workspace, self.data, accepted=True)


def tool_file(name: str, example: str = "feed the {hive}") -> str:
    return TOOL.format(name=name, example=example)


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    found = World(tmp_path / "xdg" / "sestet", tmp_path / "data", tmp_path / "work")
    for folder in found:
        folder.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("SESTET_HOME", str(found.data))
    monkeypatch.chdir(found.work)
    return found
