from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.file_changes.world import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A workspace with Sestet's data and settings beside it, and a secret that no tool may reach."""
    monkeypatch.setenv("SESTET_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    world = World(tmp_path)
    monkeypatch.chdir(world.work)
    yield world
    world.close()
