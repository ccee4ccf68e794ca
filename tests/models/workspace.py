"""A workspace with small files, for conversations with the built-in model."""

from collections.abc import Mapping
from pathlib import Path

import pytest


def enter_workspace(tmp_path: Path, files: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the files, and work in their directory."""
    for name, content in files.items():
        file = tmp_path / "files" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "files")
