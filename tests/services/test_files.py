"""Files of the working directory: list, read, search."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.core.errors import ToolError
from sestet.services.file_search import FileLimits, Match
from sestet.services.files import DirectoryEntry, Excerpt, Files, Listing, human_size


def test_a_listing_has_directories_first_and_each_part_in_order(tmp_path: Path) -> None:
    for name in ("zoo", "Alpha", ".git"):
        (tmp_path / name).mkdir()
    for name in ("b.txt", "A.txt", ".env"):
        (tmp_path / name).write_text("12345")
    (tmp_path / "link").symlink_to("/nowhere")

    listing = Files(tmp_path).list()

    assert listing == Listing(
        ".",
        (
            *(DirectoryEntry(name, "directory") for name in (".git", "Alpha", "zoo")),
            *(DirectoryEntry(name, "file", 5) for name in (".env", "A.txt", "b.txt")),
            DirectoryEntry("link", "link", target="/nowhere"),
        ),
        directories=3,
        others=4,
        hidden=2,
        complete=True,
    )


def test_an_empty_directory_has_no_entries(tmp_path: Path) -> None:
    assert Files(tmp_path).list("") == Listing(".", (), 0, 0, 0, complete=True)


def test_a_huge_directory_is_counted_and_its_first_entries_are_shown(tmp_path: Path) -> None:
    for number in range(1_500):
        (tmp_path / f"{number:04}.txt").touch()
    (tmp_path / "zoo").mkdir()

    listing = Files(tmp_path).list()

    assert [entry.name for entry in listing.entries] == ["zoo", *(f"{n:04}.txt" for n in range(199))]
    assert listing.left_out == 1_301


@pytest.mark.parametrize(
    "name", ["two words", "line\nbreak", "Überblick.md", "🫖 tea.txt", "-rf", "*", "~", "a'b"]
)
def test_unusual_names_are_listed_and_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("text")

    assert Files(tmp_path).list().entries == (DirectoryEntry(name, "file", 4),)
    assert _text(Files(tmp_path).read(name)) == "text"
    assert [match.path for match in Files(tmp_path).search("text").found if match.line] == [name]


def test_a_name_that_is_not_unicode_is_listed_and_read(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    (tmp_path / name).write_text("text")

    assert Files(tmp_path).list().entries == (DirectoryEntry(name, "file", 4),)
    assert _text(Files(tmp_path).read(name)) == "text"


def test_a_file_is_read_in_parts_that_join_without_gaps(tmp_path: Path) -> None:
    lines = [f"line {number}\n" for number in range(1, 26)]
    (tmp_path / "a.txt").write_text("".join(lines))

    read: list[str] = []
    start = 1
    while True:
        part = _excerpt(Files(tmp_path).read("a.txt", start, 10))
        read.append(part.text)
        if not part.left:
            break
        assert part.left == len("".join(lines[part.last :]))
        start = part.last + 1

    assert "".join(read) == "".join(lines)
    assert len(read) == 3


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One directory for all the examples of a property."""
    return tmp_path_factory.mktemp("shared")


@given(
    lines=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0\ufeff"), max_size=12)),
    room=st.integers(1, 40),
    at_most=st.integers(1, 5),
)
def test_parts_of_any_size_hold_every_line_that_fits(
    shared: Path, lines: list[str], room: int, at_most: int
) -> None:
    (shared / "text.txt").write_bytes("\n".join(lines).encode())
    files = Files(shared, FileLimits(read_bytes=room))

    parts = [_excerpt(files.read("text.txt", 1, at_most))]
    while parts[-1].left:
        parts.append(_excerpt(files.read("text.txt", parts[-1].last + 1, at_most)))

    for part in parts:
        assert part.left == len("\n".join(lines[part.last :]).encode())
    read = "\n".join("" if part.cut else part.text.removesuffix("\n") for part in parts)
    fitting = "\n".join(line if len(line.encode()) <= room else "" for line in lines)
    assert read.rstrip("\n") == fitting.rstrip("\n")


def test_a_line_that_is_too_long_is_cut_and_said_to_be_cut(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("x" * 50_000 + "\nnext\n")

    part = _excerpt(Files(tmp_path).read("long.txt"))

    assert (len(part.text), part.last, part.cut) == (15_000, 1, True)
    assert _text(Files(tmp_path).read("long.txt", 2)) == "next\n"


def test_a_start_after_the_end_names_the_last_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo")
    (tmp_path / "b.txt").write_text("one\ntwo\n")
    (tmp_path / "empty.txt").touch()

    for name, last in (("a.txt", 2), ("b.txt", 2), ("empty.txt", 0)):
        with pytest.raises(ToolError, match=f"'{name}' ends at line {last}"):
            Files(tmp_path).read(name, 3)
    assert _excerpt(Files(tmp_path).read("empty.txt")).text == ""


def test_a_line_far_into_a_huge_file_is_not_looked_for_without_end(tmp_path: Path) -> None:
    (tmp_path / "huge.txt").write_text("line\n" * 1_000)

    with pytest.raises(ToolError, match=r"line 900 of 'huge\.txt' lies beyond the first 2\.0 kB"):
        Files(tmp_path, FileLimits(skipped_bytes=2_000)).read("huge.txt", 900)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_file_is_read_and_searched_whatever_its_encoding(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "menu.txt").write_bytes("tea\r\ncafé\r\nmüsli".encode(encoding))
    files = Files(tmp_path)

    assert _text(files.read("menu.txt")) == "tea\ncafé\nmüsli"
    assert _text(files.read("menu.txt", 2, 1)) == "café\n"
    assert _text(files.read("menu.txt", 3)) == "müsli"
    assert files.search("CAFÉ").found == (Match("menu.txt", 2, "café"),)
    with pytest.raises(ToolError, match="ends at line 3"):
        files.read("menu.txt", 4)


def test_a_few_broken_bytes_are_replaced_in_a_file_of_utf8(tmp_path: Path) -> None:
    (tmp_path / "broken.txt").write_bytes("café, thé".encode() + b" \xff")

    assert _text(Files(tmp_path).read("broken.txt")) == "café, thé \ufffd"


def test_a_pdf_is_said_to_be_no_text(tmp_path: Path) -> None:
    (tmp_path / "bill.pdf").write_bytes(b"%PDF-1.4\nstream of letters")

    with pytest.raises(ToolError, match=r"'bill.pdf' is not a text file"):
        Files(tmp_path).read("bill.pdf")


def test_binary_data_is_refused_with_its_size(tmp_path: Path) -> None:
    (tmp_path / "image.png").write_bytes(b"\x89PNG\0" + bytes(2_000))

    with pytest.raises(ToolError, match=r"'image.png' is not a text file: it holds 2\.0 kB of binary data"):
        Files(tmp_path).read("image.png")


def test_a_directory_is_read_as_its_listing(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()

    assert Files(tmp_path).read("docs") == Files(tmp_path).list("docs")


def test_search_finds_names_and_contents_in_any_case(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/Invoice.md").write_text("nothing here\n")
    (tmp_path / "docs/b.md").write_text("one\n  an INVOICE of STRASSE\n")
    (tmp_path / "invoices").mkdir()

    assert Files(tmp_path).search("invoice").found == (
        Match("docs/Invoice.md", 0, ""),
        Match("docs/b.md", 2, "an INVOICE of STRASSE"),
        Match("invoices", 0, ""),
    )
    assert [match.line for match in Files(tmp_path).search("straße").found] == [2]


def test_search_looks_only_where_it_was_told(tmp_path: Path) -> None:
    for name in ("a.py", "docs/a.py", "docs/a.md", "docs/deep/b.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("needle")
    files = Files(tmp_path)

    assert _paths(files, "needle", "docs") == ["docs/a.md", "docs/a.py", "docs/deep/b.md"]
    assert _paths(files, "needle", "docs/a.md") == ["docs/a.md"]
    assert _paths(files, "needle", ".", "*.PY") == ["a.py", "docs/a.py"]
    assert _paths(files, "needle", ".", "docs/*.md") == ["docs/a.md", "docs/deep/b.md"]


def test_search_leaves_out_what_machines_wrote_unless_it_is_named(tmp_path: Path) -> None:
    for name in (".git", "node_modules", ".venv", "__pycache__", "src"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("needle")
    (tmp_path / "binary").write_bytes(b"needle\0")
    (tmp_path / "large.txt").write_text("needle" + " " * 2_000_000)

    found = Files(tmp_path).search("needle")

    assert [match.path for match in found.found] == ["src/a.txt"]
    assert found.too_large == 1
    assert _paths(Files(tmp_path), "needle", ".venv") == [".venv/a.txt"]


def test_a_long_line_is_shown_around_its_match(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x" * 500 + "needle" + "y" * 500)

    (match,) = Files(tmp_path).search("needle").found

    assert "needle" in match.text
    assert match.text.startswith("…x")
    assert match.text.endswith("y…")
    assert len(match.text) <= 122


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        (FileLimits(matches=4), "4 matches"),
        (FileLimits(files=4), "4 files"),
        (FileLimits(seconds=0), "0 seconds"),
        (FileLimits(matches=5, files=5), ""),
    ],
)
def test_a_search_that_meets_a_limit_says_which(tmp_path: Path, limits: FileLimits, limit: str) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text("needle")

    assert Files(tmp_path, limits).search("needle").limit == limit


@pytest.mark.parametrize("text", ["", " \t", "one\ntwo"])
def test_a_search_needs_one_line_of_text(tmp_path: Path, text: str) -> None:
    with pytest.raises(ToolError, match="one line that is not empty"):
        Files(tmp_path).search(text)


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (9_949, "9.9 kB"),
        (9_950, "10 kB"),
        (999_499, "999 kB"),
        (999_999, "1.0 MB"),
        (35_000_000, "35 MB"),
        (10**16, "10000 TB"),
    ],
)
def test_sizes_are_written_as_people_read_them(size: int, shown: str) -> None:
    assert human_size(size) == shown


def _excerpt(found: Excerpt | Listing) -> Excerpt:
    assert isinstance(found, Excerpt)
    return found


def _text(found: Excerpt | Listing) -> str:
    return _excerpt(found).text


def _paths(files: Files, text: str, path: str, glob: str = "*") -> list[str]:
    return [match.path for match in files.search(text, path, glob).found]
