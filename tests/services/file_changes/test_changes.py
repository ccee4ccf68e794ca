"""Each kind of change: what it does, what it keeps, and what it refuses."""

import asyncio
import os
import resource
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from sestet.core.errors import ToolError
from sestet.core.record import replace
from sestet.services.file_changes.plan import Plan, Planner
from sestet.services.file_changes.service import Wish
from tests.services.file_changes.wishes import (
    append,
    copy,
    delete,
    edit,
    make_directory,
    move,
    name_of,
    write,
)
from tests.services.file_changes.world import World, tree


def test_a_new_file_gets_the_usual_mode_and_missing_directories(world: World) -> None:
    umask = os.umask(0o027)
    try:
        told = world.make(write("docs/a/todo.txt", "one\ntwo\n"))
    finally:
        os.umask(umask)

    made = world.work / "docs/a/todo.txt"
    assert made.read_bytes() == b"one\ntwo\n"
    assert stat.S_IMODE(made.stat().st_mode) == 0o640
    assert told == "Wrote docs/a/todo.txt, a new file: 2 lines."


def test_a_replaced_file_keeps_its_mode_and_its_owner(world: World) -> None:
    file = world.work / "run.sh"
    file.write_text("old")
    file.chmod(0o750)
    if os.geteuid() == 0:
        os.chown(file, 1234, 4321)
    owner = (file.stat().st_uid, file.stat().st_gid)

    world.make(write("run.sh", "new"))

    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o750
    assert (file.stat().st_uid, file.stat().st_gid) == owner


def test_a_link_inside_the_workspace_is_followed_and_stays_a_link(world: World) -> None:
    (world.work / "real.txt").write_text("old")
    (world.work / "link.txt").symlink_to("real.txt")

    world.make(write("link.txt", "new"))

    assert (world.work / "link.txt").is_symlink()
    assert (world.work / "real.txt").read_text() == "new"


def test_deleting_a_link_leaves_the_file_that_it_points_to(world: World) -> None:
    (world.work / "real.txt").write_text("old")
    (world.work / "link.txt").symlink_to("real.txt")

    world.make(delete("link.txt"))

    assert world.tree().keys() == {"real.txt"}


@pytest.mark.parametrize(
    ("content", "old", "new", "expected"),
    [
        (b"a caf\xe9 here\n", "caf\xe9", "th\xe9", b"a th\xe9 here\n"),
        (b"a \x81 \xe9 one", "one", "two \u20ac", b"a \x81 \xe9 two \x80"),
        (b"\xef\xbb\xbfone\r\ntwo\r\n", "one\ntwo", "one\n1.5\ntwo", b"\xef\xbb\xbfone\r\n1.5\r\ntwo\r\n"),
        ("one \u20ac".encode("utf-16"), "one", "zwei", "zwei \u20ac".encode("utf-16")),
        (b"one\ntwo", "two", "three", b"one\nthree"),
        (b"mixed\r\nends\nhere", "mixed\nends", "a\nb", b"a\r\nb\nhere"),
        ("t\xe4\n".encode(), "t\xe4", "\u2192", "\u2192\n".encode()),
    ],
    ids=["latin-1", "undefined byte", "mark and crlf", "utf-16", "no line end", "mixed ends", "utf-8"],
)
def test_an_edit_keeps_encoding_line_ends_and_every_other_byte(
    world: World, content: bytes, old: str, new: str, expected: bytes
) -> None:
    (world.work / "a.txt").write_bytes(content)

    world.make(edit("a.txt", old, new))

    assert (world.work / "a.txt").read_bytes() == expected


def test_a_character_that_the_encoding_lacks_changes_nothing(world: World) -> None:
    (world.work / "a.txt").write_bytes(b"caf\xe9")

    with pytest.raises(ToolError, match=r"Windows-1252 .*has no '\u2192'"):
        world.make(edit("a.txt", "caf", "\u2192"))

    assert (world.work / "a.txt").read_bytes() == b"caf\xe9"


def test_a_new_text_for_a_file_keeps_its_encoding_and_line_ends(world: World) -> None:
    (world.work / "a.txt").write_bytes(b"caf\xe9\r\nbar\r\n")

    world.make(write("a.txt", "th\xe9\ntea\n"))

    assert (world.work / "a.txt").read_bytes() == b"th\xe9\r\ntea\r\n"


@pytest.mark.parametrize(
    ("content", "text", "expected"),
    [
        (b"one\n", "two", b"one\ntwo\n"),
        (b"one", "two\n", b"one\ntwo\n"),
        (b"", "one\ntwo", b"one\ntwo\n"),
        (b"one\r\ntwo\r\n", "three\nfour", b"one\r\ntwo\r\nthree\r\nfour\r\n"),
        (b"caf\xe9\n", "th\xe9", b"caf\xe9\nth\xe9\n"),
        (None, "one", b"one\n"),
    ],
    ids=["lines", "no line end", "empty", "crlf", "latin-1", "a new file"],
)
def test_lines_are_added_below_the_last_one(
    world: World, content: bytes | None, text: str, expected: bytes
) -> None:
    if content is not None:
        (world.work / "a.txt").write_bytes(content)

    world.make(append("a.txt", text))

    assert (world.work / "a.txt").read_bytes() == expected


def test_an_edit_says_how_often_and_where_its_text_stands(world: World) -> None:
    (world.work / "a.txt").write_text("x = 1\ny\nx = 1\n")

    with pytest.raises(ToolError, match="2 times, at lines 1, 3"):
        world.make(edit("a.txt", "x = 1", "x = 2"))
    with pytest.raises(ToolError, match="does not contain"):
        world.make(edit("a.txt", "z", "x"))
    with pytest.raises(ToolError, match="empty"):
        world.make(edit("a.txt", "", "x"))
    with pytest.raises(ToolError, match="nothing would change"):
        world.make(edit("a.txt", "y", "y"))


def test_a_file_is_moved_into_a_directory_that_exists(world: World) -> None:
    (world.work / "docs").mkdir()
    (world.work / "a.txt").write_text("a")

    assert world.make(move("a.txt", "docs")) == "Moved a.txt to docs/a.txt."
    assert world.make(copy("docs/a.txt", "./docs/../b.txt")) == "Copied docs/a.txt to b.txt."
    assert world.tree().keys() == {"docs", "docs/a.txt", "b.txt"}


def test_moves_and_copies_replace_nothing(world: World) -> None:
    (world.work / "a.txt").write_text("a")
    (world.work / "b.txt").write_text("b")

    for wish in (move("a.txt", "b.txt"), copy("a.txt", "b.txt")):
        with pytest.raises(ToolError, match=r"'b\.txt' exists already"):
            world.make(wish)

    assert (world.work / "b.txt").read_text() == "b"


def test_a_file_that_is_too_large_to_keep_can_be_moved_and_moved_back(world: World) -> None:
    big = world.work / "film.bin"
    with big.open("wb") as stream:
        stream.truncate(60_000_000)
    number = big.stat().st_ino

    for wish in (delete("film.bin"), edit("film.bin", "a", "b"), copy("film.bin", "c")):
        with pytest.raises(ToolError, match="larger than"):
            world.make(wish)
    world.make(move("film.bin", "movie.bin"))
    world.take_back()

    assert big.stat().st_ino == number


def _fifo(place: Path) -> None:
    os.mkfifo(place)


def _socket(place: Path) -> None:
    # The working directory is the workspace: the name of a socket is short.
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(place.name)


def _device(place: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root makes a device")
    os.mknod(place, stat.S_IFCHR | 0o600, os.makedev(1, 3))


@pytest.mark.parametrize("make", [_fifo, _socket, _device])
def test_pipes_sockets_and_devices_are_refused_at_once(world: World, make: Callable[[Path], None]) -> None:
    make(world.work / "odd")

    for wish in (write("odd", "x"), edit("odd", "a", "b"), delete("odd"), move("odd", "b"), copy("odd", "b")):
        with pytest.raises(ToolError, match=r"'odd' is a (pipe|socket|device), not a file"):
            world.make(wish)

    assert world.tree().keys() == {"odd"}


BAD: list[tuple[Wish, str]] = [
    (write("docs", "x"), "is a directory, not a file"),
    (write("new/", "x"), "is a directory, not a file"),
    (write("a.txt/b", "x"), "is a file, not a directory"),
    (write("x" * 300, "x"), "File name too long"),
    (write("\0", "x"), "is not a path"),
    (write("new.txt", "a\0b"), "NUL character"),
    (write(".", "x"), "is the workspace itself"),
    (write("new.txt", "x" * 5_000_001), "is longer than 5.0 MB"),
    (append("docs", "a"), "is a directory, not a file"),
    (append("binary", "a"), "is not a text file"),
    (append("large.txt", "a"), "too large to change"),
    (append("a.txt", "x" * 5_000_000), "is longer than 5.0 MB"),
    (append("a.txt", "a\0b"), "NUL character"),
    (edit("docs", "a", "b"), "is a directory, not a file"),
    (edit("none.txt", "a", "b"), "does not exist; fs_write makes a new file"),
    (edit("b.txt", "a", "b"), "'b.txt' does not exist; did you mean 'docs/b.txt'[?]$"),
    (delete("b.txt"), "'b.txt' does not exist; did you mean 'docs/b.txt'[?]$"),
    (edit("binary", "a", "b"), "is not a text file"),
    (edit("large.txt", "a", "b"), "too large to change"),
    (make_directory("a.txt"), "is a file already"),
    (move("none.txt", "b"), "does not exist"),
    (move("a.txt", "none/b"), "'none' does not exist; make this directory first"),
    (move("docs", "docs/inner"), "cannot be moved into itself"),
    (copy("docs", "docs/inner"), "cannot be copied into itself"),
    (delete("none.txt"), "does not exist"),
    (delete("."), "is the workspace itself"),
    (delete("docs/.."), "is the workspace itself"),
]


@pytest.mark.parametrize(("wish", "expected"), BAD, ids=name_of)
def test_a_bad_request_is_a_clear_error_and_changes_nothing(world: World, wish: Wish, expected: str) -> None:
    (world.work / "docs").mkdir()
    (world.work / "docs/b.txt").write_text("b")
    (world.work / "a.txt").write_text("a")
    (world.work / "binary").write_bytes(b"a\0b")
    (world.work / "large.txt").write_bytes(b"a" * 5_000_001)
    before = world.tree()

    with pytest.raises(ToolError, match=expected):
        world.make(wish)

    assert world.tree() == before
    assert not world.store.sets()


def test_a_directory_with_too_many_entries_is_not_deleted(world: World) -> None:
    many = world.work / "many"
    many.mkdir()
    for number in range(1_001):
        (many / str(number)).touch()

    with pytest.raises(ToolError, match="more than 1,000"):
        world.make(delete("many"))

    assert len(list(many.iterdir())) == 1_001


def test_a_name_that_is_no_utf_8_is_written_deleted_and_brought_back(world: World) -> None:
    (world.work / "docs").mkdir()
    (world.work / "docs" / "caf\udce9").write_text("x")
    before = world.tree()

    world.make(delete("docs"))
    assert world.tree() == {}
    world.take_back()

    assert world.tree() == before


def test_a_limit_that_ends_a_write_in_the_middle_leaves_the_old_file_whole(world: World) -> None:
    (world.work / "a.txt").write_text("old\n" * 100)
    before = world.tree()
    plan = partial(Planner.write, path="a.txt", text="new\n" * 1_200_000)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limited(planner: Planner) -> Plan:
        found = plan(planner)

        def content(digest: str) -> bytes:
            # From here on, no file may grow beyond the limit.
            resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, hard))
            return found.contents(digest)

        return replace(found, contents=content)

    try:
        with pytest.raises(ToolError, match="cannot be changed: File too large"):
            world.make(limited)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert world.tree() == before
    assert not world.store.sets()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small disk")
def test_a_full_disk_is_an_error_and_nothing_is_half_written(world: World) -> None:
    small = world.work / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(small)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        (small / "keep.txt").write_text("mine")
        (world.work / "tree").mkdir()
        for number in range(4):
            (world.work / "tree" / f"{number}").write_bytes(bytes([number]) * 30_000)
        before = tree(small)

        for wish in (write("small/new.txt", "x" * 200_000), copy("tree", "small/tree")):
            with pytest.raises(ToolError, match="No space left"):
                world.make(wish)

        assert tree(small) == before
        assert not world.store.sets()
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


#: Root may do everything, unless it gives these rights up.
_WITHOUT = "-dac_override,-dac_read_search,-fowner"
_GIVEN_UP = ["setpriv", f"--bounding-set={_WITHOUT}", f"--inh-caps={_WITHOUT}"]


def try_without_permission(directory: Path) -> None:
    """In a process of its own: every wish for files that may not be read or changed."""
    world = World(directory)
    for wish in (
        *(write("locked.txt"), edit("locked.txt"), write("hidden.txt"), delete("hidden.txt")),
        *(copy("hidden.txt", "y"), write("shut/new"), delete("shut/x"), delete("shut")),
        *(move("shut/x", "z"), make_directory("shut/new")),
    ):
        with pytest.raises(ToolError, match="may not be changed"):
            world.make(wish)
    assert not world.store.sets()
    world.close()


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root may change everything")
def test_what_may_not_be_changed_is_a_clear_error(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "shut").mkdir(parents=True)
    for name in ("locked.txt", "hidden.txt", "shut/x"):
        (work / name).write_text("a secret")
    before = tree(work)
    modes = {"locked.txt": 0o444, "hidden.txt": 0, "shut": 0o555}
    for name, mode in modes.items():
        (work / name).chmod(mode)
    code = (
        "from pathlib import Path\n"
        "from tests.services.file_changes.test_changes import try_without_permission\n"
        f"try_without_permission(Path({str(tmp_path)!r}))"
    )
    done = subprocess.run(
        [*(_GIVEN_UP if os.geteuid() == 0 else ()), sys.executable, "-c", code],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    for name in modes:
        (work / name).chmod(before[name][1])
    assert tree(work) == before


def test_a_file_that_changed_after_the_preview_is_left_alone(world: World) -> None:
    file = world.work / "a.txt"
    file.write_text("old")
    preview = asyncio.run(world.changes.preview(write("a.txt", "new")))
    file.write_text("edited meanwhile")

    with pytest.raises(ToolError, match="has changed since"):
        asyncio.run(world.changes.make(world.call(basis=preview.changes.basis), write("a.txt", "new")))

    assert file.read_text() == "edited meanwhile"


def test_only_what_replaces_moves_or_deletes_is_guarded(world: World) -> None:
    (world.work / "a.txt").write_text("old\n")

    def preview(wish: Wish) -> tuple[str, str, list[tuple[str, str]]]:
        found = asyncio.run(world.changes.preview(wish))
        return found.risk, found.caution, [(line.mark, line.text) for line in found.changes.lines]

    assert preview(write("new.txt", "one\n")) == ("safe", "", [("+", "one")])
    assert preview(make_directory("docs")) == ("safe", "", [])
    assert preview(copy("a.txt", "b.txt")) == ("safe", "", [])
    assert preview(write("a.txt", "old\n")) == ("safe", "", [])
    changed = [("@", "from line 1"), ("-", "old"), ("+", "new")]
    assert preview(write("a.txt", "new\n")) == ("guarded", "it changes 'a.txt'", changed)
    assert preview(edit("a.txt", "old", "new")) == ("guarded", "it changes 'a.txt'", changed)
    assert preview(move("a.txt", "b.txt")) == ("guarded", "it moves the file 'a.txt' to 'b.txt'", [])
    assert preview(delete("a.txt")) == ("guarded", "it deletes the file 'a.txt'", [("-", "old")])
    assert world.tree().keys() == {"a.txt"}


def test_a_large_diff_is_shown_in_part(world: World) -> None:
    (world.work / "a.txt").write_text("".join(f"{number}\n" for number in range(100_000)))

    found = asyncio.run(world.changes.preview(write("a.txt", "x" * 10_000)))

    assert len(found.changes.lines) == 200
    assert found.changes.left_out == 100_003 - 200
    assert max(len(line.text) for line in found.changes.lines) < 500
