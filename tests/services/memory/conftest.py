"""Locks beside the database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sestet.storage.locks import SessionLocks


@pytest.fixture
def locks(tmp_path: Path) -> Iterator[SessionLocks]:
    opened = SessionLocks(tmp_path / "sestet.lock")
    yield opened
    opened.close()
