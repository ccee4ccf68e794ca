"""The operator's file tools, called as a model calls them."""

import os
from pathlib import Path

import pytest

from sestet.agents.operator.files import fs_list, fs_read, fs_search
from sestet.core.errors import ToolError
from sestet.core.schema import JsonValue
from sestet.models.offline.matching import match_tool
from sestet.services.file_search import FileLimits
from sestet.services.files import Files

from .calling import problems, run


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


async def test_a_listing_says_what_it_is_and_how_much_there_is(tmp_path: Path, files: Files) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "README.md").write_text("x" * 1_234)
    (tmp_path / ".env").write_text("x")
    (tmp_path / "link").symlink_to("README.md")
    os.mkfifo(tmp_path / "pipe")

    assert (await run(fs_list, files)).splitlines() == [
        "Files in .:",
        "src/",
        ".env  1 B",
        "link -> README.md",
        "pipe  (not a file that can be read)",
        "README.md  1.2 kB",
        "(1 directory, 4 files, 1 of them hidden)",
    ]
    assert await run(fs_list, files, path="src") == "Files in src: none, the directory is empty."


async def test_a_long_listing_says_how_much_it_leaves_out(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).touch()

    listed = await run(fs_list, Files(tmp_path, FileLimits(entries=2)))

    assert listed == "Files in .:\na  0 B\nb  0 B\n… and 1 more\n(0 directories, 3 files)"


async def test_a_name_cannot_pass_for_another_line_or_move_the_cursor(tmp_path: Path, files: Files) -> None:
    for name in (
        "a\nREADME.md",
        "\x1b[2J",
        " padded",
        os.fsdecode(b"caf\xe9"),
        "👩\u200d🍳.txt",
        "a\u202etxt",
    ):
        (tmp_path / name).write_text("tea")

    listed = (await run(fs_list, files)).splitlines()
    found = (await run(fs_search, files, text="tea")).splitlines()

    names = ["'\\x1b[2J'", "' padded'", "'a\\nREADME.md'", "'a\\u202etxt'", "'caf\\udce9'", "👩\u200d🍳.txt"]
    assert listed[1:-1] == [f"{name}  3 B" for name in names]
    assert found[1:] == [f"{name}:1: tea" for name in names]


async def test_a_file_is_read_under_its_name(tmp_path: Path, files: Files) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "empty.txt").touch()

    assert await run(fs_read, files, path="a.txt") == "a.txt:\none\ntwo"
    assert await run(fs_read, files, path="./a.txt", start=2) == "a.txt, lines 2 to 2:\ntwo"
    assert await run(fs_read, files, path="empty.txt") == "empty.txt is empty."


async def test_a_part_of_a_file_says_what_is_left_and_where_it_goes_on(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n" + "x" * 30)
    files = Files(tmp_path, FileLimits(read_bytes=20))

    assert await run(fs_read, files, path="a.txt", lines=2) == (
        "a.txt, lines 1 to 2:\none\ntwo\n… 36 B more; it goes on with start=3"
    )
    assert await run(fs_read, files, path="a.txt", start=4) == (
        f"a.txt, lines 4 to 4:\n{'x' * 20}\n… line 4 is longer; its rest is not shown"
    )


async def test_what_would_move_the_cursor_is_shown_as_a_picture(tmp_path: Path, files: Files) -> None:
    (tmp_path / "a.txt").write_bytes("\ttab\x1b[2J \x9bx \x7f é".encode())

    assert await run(fs_read, files, path="a.txt") == "a.txt:\n\ttab␛[2J \ufffdx ␡ é"
    assert await run(fs_search, files, text="tab") == "Found 'tab' in .:\na.txt:1: tab␛[2J \ufffdx ␡ é"


async def test_reading_a_directory_lists_it_and_says_so(tmp_path: Path, files: Files) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").touch()

    assert (await run(fs_read, files, path="docs")).splitlines()[:2] == [
        "docs is a directory. Files in docs:",
        "a.md  0 B",
    ]


async def test_matches_are_lines_with_their_place(tmp_path: Path, files: Files) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/tea.md").write_text("about\n  black tea\n")

    assert (
        await run(fs_search, files, text="tea") == "Found 'tea' in .:\ndocs/tea.md\ndocs/tea.md:2: black tea"
    )
    assert await run(fs_search, files, text="coffee", path="docs") == "Nothing in docs contains 'coffee'."


async def test_a_search_says_what_it_did_not_look_at(tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_text("x" * 2_000_001)
    (tmp_path / "z.txt").write_text("tea\ntea\n")

    assert (await run(fs_search, Files(tmp_path, FileLimits(matches=1)), text="tea")).splitlines() == [
        "Found 'tea' in .:",
        "z.txt:1: tea",
        "… stopped after 1 matches; a narrower search may find more",
        "(Left out as over 2 MB: 1 file)",
    ]


async def test_what_cannot_be_done_is_told_to_the_model(files: Files) -> None:
    with pytest.raises(ToolError, match=r"'\.\./x' is outside the working directory"):
        await run(fs_list, files, path="../x")
    with pytest.raises(ToolError, match="'nothing' does not exist"):
        await run(fs_read, files, path="nothing")
    with pytest.raises(ToolError, match="one line that is not empty"):
        await run(fs_search, files, text=" ")


def test_numbers_out_of_range_do_not_fit_the_schema() -> None:
    assert problems(fs_read, path="a", start=0) == ["start: must be at least 1, got 0"]
    assert problems(fs_read, path="a", lines=2_001) == ["lines: must be at most 2000, got 2001"]
    assert problems(fs_read) == ["path: is required"]


def test_looking_at_files_is_safe_to_repeat_and_its_results_are_untrusted_and_private() -> None:
    for tool in (fs_list, fs_read, fs_search):
        assert (tool.risk, tool.effect, tool.recovery, tool.reads) == (
            "safe",
            "none",
            "pure",
            ("untrusted", "private"),
        )


def test_without_a_working_directory_there_are_no_tools_for_files() -> None:
    assert [tool.bind({}) for tool in (fs_list, fs_read, fs_search)] == [None] * 3


@pytest.mark.parametrize(
    ("request_text", "tool", "arguments"),
    [
        ("list the files here", "fs_list", {}),
        ("Please list the files in src/sestet.", "fs_list", {"path": "src/sestet"}),
        ("read README.md", "fs_read", {"path": "README.md"}),
        ("What is in docs/models.md?", "fs_read", {"path": "docs/models.md"}),
        ("which files contain the word invoice", "fs_search", {"text": "invoice"}),
        ("find 'open_below' in src", "fs_search", {"text": "open_below", "path": "src"}),
    ],
)
def test_a_request_in_plain_words_finds_its_tool_and_arguments(
    request_text: str, tool: str, arguments: dict[str, JsonValue]
) -> None:
    match = match_tool(request_text, (fs_list, fs_read, fs_search))

    assert match is not None
    assert (match.tool.name, match.arguments) == (tool, arguments)
