"""A person's world for each test of skills."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.services.skills.world import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path)
    monkeypatch.setenv("HOME", str(made.home))
    return made


@pytest.fixture
async def running(world: World) -> AsyncIterator[World]:
    """A world in which scripts run; everything that they started ends with the test."""
    yield world
    await world.sandbox.close()
