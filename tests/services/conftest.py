"""A new database for each test of a service."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sestet.storage.database import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "sestet.db")
    yield opened
    opened.close()
