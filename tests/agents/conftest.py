"""A real database for tools that store data."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sestet.storage.database import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "sestet.db")
    yield database
    database.close()
