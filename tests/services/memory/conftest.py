"""A real database, and locks on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sestet.storage.database import Database
from sestet.storage.locks import SessionLocks


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "sestet.db")
    yield opened
    opened.close()


@pytest.fixture
def locks(tmp_path: Path) -> Iterator[SessionLocks]:
    opened = SessionLocks(tmp_path / "sestet.lock")
    yield opened
    opened.close()
