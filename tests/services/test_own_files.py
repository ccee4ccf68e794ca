"""Sestet's settings and data below the working directory: no tool shows them, under any name."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import sestet
from sestet.config import Settings, load_settings
from sestet.core.errors import ToolError
from sestet.data import open_data
from sestet.services.files import Excerpt, Files, Listing
from sestet.services.own_files import own_files
from sestet.storage.database import Database

KEY = "sk-very-private"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory that holds its own settings and the whole data directory."""
    work = tmp_path / "work"
    data = work / "data"
    data.mkdir(parents=True)
    monkeypatch.chdir(work)
    monkeypatch.setenv("SESTET_HOME", str(data))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(work / "config"))
    (work / "config" / "sestet").mkdir(parents=True)
    for file in (
        "sestet.yaml",
        "named.yaml",
        "config/sestet/sestet.yaml",
        "data/trust.json",
        "data/keys.txt",
    ):
        (work / file).write_text(f"# {KEY}\n")
    (work / "notes.txt").write_text("my notes\n")
    database = Database(data / "sestet.db")
    database.execute("INSERT INTO sessions VALUES ('s', 'title', 0, 0)")
    os.link(work / "sestet.yaml", work / "hard.txt")
    os.link(data / "keys.txt", work / "harder.txt")
    os.link(data / "sestet.db-wal", work / "hardest.txt")
    (work / "soft.txt").symlink_to("sestet.yaml")
    (work / "round").symlink_to("data")
    yield work
    database.close()


OWN = [
    "sestet.yaml",
    "./data/../sestet.yaml",
    "named.yaml",
    "config/sestet/sestet.yaml",
    "data",
    "data/sestet.db",
    "data/sestet.db-wal",
    "data/trust.json",
    "data/keys.txt",
    "hard.txt",
    "harder.txt",
    "hardest.txt",
    "soft.txt",
    "round",
    "round/keys.txt",
]


def files_of(work: Path) -> Files:
    return Files(work, own=own_files(work / "data" / "sestet.db", Path("named.yaml")))


@pytest.mark.parametrize("path", OWN)
def test_an_own_file_is_not_read_under_any_name(work: Path, path: str) -> None:
    with pytest.raises(ToolError, match="belongs to Sestet itself"):
        files_of(work).read(path)
    with pytest.raises(ToolError, match="belongs to Sestet itself"):
        files_of(work).search(KEY, path)


def test_own_files_are_neither_listed_nor_found(work: Path) -> None:
    files = files_of(work)

    listing = files.list()
    found = files.search("s")

    assert {entry.name for entry in listing.entries} == {"config", "notes.txt", "soft.txt", "round"}
    assert listing.directories + listing.others == 4
    assert {match.path for match in found.found if match.line} == {"notes.txt"}
    assert not files.search("sestet.yaml").found
    assert not files.search(KEY).found


def test_a_settings_file_that_was_replaced_is_hidden_too(work: Path) -> None:
    files = files_of(work)
    (work / "new").write_text(KEY)
    (work / "new").replace(work / "sestet.yaml")

    with pytest.raises(ToolError, match="belongs to Sestet itself"):
        files.read("sestet.yaml")


def test_somebody_who_works_in_the_data_directory_sees_their_own_files(work: Path) -> None:
    (work / "data" / "draft.md").write_text("mine\n")
    files = Files(work / "data", own=own_files(work / "data" / "sestet.db"))

    assert isinstance(files.read("draft.md"), Excerpt)
    listing = files.read(".")
    assert isinstance(listing, Listing)
    assert not {"sestet.db", "trust.json"}.intersection(entry.name for entry in listing.entries)


def test_own_files_are_no_documents(work: Path) -> None:
    with open_data(Settings(), work / "named.yaml") as data:
        summary = data.library.ingest([work, work / "hard.txt"])

        assert [document.path for document in data.library.documents(10)] == [str(work / "notes.txt")]
    reasons = {Path(path).name: reason for path, reason in summary.skipped}
    own = {name for name, reason in reasons.items() if reason == "Sestet's own settings or data"}
    assert own == {"data", "sestet.yaml", "named.yaml", "hard.txt", "harder.txt", "hardest.txt"}


@pytest.mark.parametrize("named", [True, False])
async def test_an_assistant_hides_the_settings_that_it_was_opened_with(work: Path, named: bool) -> None:
    (work / "named.yaml").write_text("limits: {seconds: 7}\n")
    hidden: list[bool] = []

    async with sestet.open(load_settings(work / "named.yaml" if named else None)) as app:
        read = next(tool.function for tool in app.tools if tool.name == "fs_read")
        assert read is not None
        for path in ("named.yaml", "sestet.yaml", "data/sestet.db"):
            try:
                await read(path=path)
            except ToolError as error:
                hidden.append("belongs to Sestet itself" in str(error))
            else:
                hidden.append(False)

    assert hidden == [named, True, True]
