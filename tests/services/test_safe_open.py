"""Paths from a model: none leads out of the working directory, and opening never blocks."""

import ctypes
import os
import socket
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.core.errors import ToolError
from sestet.services.file_search import FileLimits
from sestet.services.files import Excerpt, Files, Listing

T = TypeVar("T")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A working directory with a secret beside it."""
    (tmp_path / "secret.txt").write_text("the secret")
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "docs/../../secret.txt",
        "./.././secret.txt",
        "../work/../secret.txt",
        "../work/inside.txt",
        "..",
        "/etc/passwd",
        "/",
        "//etc//passwd",
    ],
)
def test_a_path_that_leads_out_is_refused_and_named(root: Path, path: str) -> None:
    (root / "docs").mkdir()
    (root / "inside.txt").write_text("inside")

    for look in _every_look(Files(root)):
        with pytest.raises(ToolError) as refused:
            look(path)
        assert str(refused.value) == f"'{path}' is outside the working directory"


def test_a_directory_whose_name_begins_like_the_root_is_outside(root: Path) -> None:
    other = root.with_name("work-other")
    other.mkdir()
    (other / "a.txt").write_text("other")

    with pytest.raises(ToolError, match="outside"):
        Files(root).read(f"{other}/a.txt")


@pytest.mark.parametrize(
    "target", ["../secret.txt", "{outside}/secret.txt", "docs/../../secret.txt", "..", "/"]
)
def test_a_link_that_leads_out_is_refused(root: Path, target: str) -> None:
    (root / "docs").mkdir()
    (root / "link").symlink_to(target.format(outside=root.parent))

    with pytest.raises(ToolError, match=r"^'link' is outside the working directory$"):
        Files(root).read("link")


def test_a_link_to_an_outside_directory_cannot_be_passed_through(root: Path) -> None:
    (root / "out").symlink_to(root.parent)
    (root / "chain").symlink_to("out")

    for path in ("out/secret.txt", "chain/secret.txt", "out/work/../secret.txt", "out/work"):
        with pytest.raises(ToolError, match="is outside the working directory"):
            Files(root).read(path)


def test_search_follows_no_link(root: Path) -> None:
    (root / "out").symlink_to(root.parent)
    (root / "file").symlink_to("../secret.txt")

    searched = Files(root).search("the secret")

    assert (searched.found, searched.unreadable) == ((), 0)


def test_links_that_stay_inside_are_followed(root: Path) -> None:
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/text.txt").write_text("inside")
    (root / "relative").symlink_to("a/b")
    (root / "a/up").symlink_to("../relative/text.txt")
    (root / "absolute").symlink_to(root / "a")
    (root / "around").symlink_to("a/../a/./b/../up")

    for path in ("relative/text.txt", "a/up", "absolute/up", "around", "absolute/../relative/text.txt"):
        assert Files(root).read(path) == Excerpt("a/b/text.txt", "inside", 1, 1, 0, cut=False), path


def test_dots_after_a_link_go_up_from_where_it_leads(root: Path) -> None:
    (root / "a/b").mkdir(parents=True)
    (root / "a/text.txt").write_text("in a")
    (root / "text.txt").write_text("in the root")
    (root / "link").symlink_to("a/b")

    assert _text(Files(root).read("link/../text.txt")) == "in a"


def test_an_absolute_path_inside_is_accepted_under_every_spelling_of_the_root(root: Path) -> None:
    (root / "a.txt").write_text("inside")
    spelling = root.with_name("spelling")
    spelling.symlink_to(root)

    assert _text(Files(root).read(f"{root}/a.txt")) == "inside"
    assert _text(Files(spelling).read(f"{spelling}/a.txt")) == "inside"
    assert _text(Files(spelling).read(f"{root}/a.txt")) == "inside"
    assert Files(root).list(str(root)).path == "."


def test_a_loop_and_a_chain_of_links_end(root: Path) -> None:
    (root / "loop").symlink_to("loop")
    (root / "ping").symlink_to("pong")
    (root / "pong").symlink_to("ping")
    (root / "link-0").write_text("the end")
    for number in range(1, 42):
        (root / f"link-{number}").symlink_to(f"link-{number - 1}")

    assert _text(Files(root).read("link-40")) == "the end"
    for path in ("loop", "ping", "loop/x", "link-41"):
        with pytest.raises(ToolError, match="leads through more than 40 links"):
            Files(root).read(path)


def test_a_directory_that_becomes_a_link_after_the_look_is_not_followed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "docs").mkdir()
    _swap(monkeypatch, "after", "stat", "docs", lambda: _exchange(root / "docs", root.parent))

    with pytest.raises(ToolError, match=r"'docs/secret\.txt' changed while it was being opened"):
        Files(root).read("docs/secret.txt")


def test_a_directory_that_is_exchanged_after_it_was_entered_does_not_move_the_walk(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "docs").mkdir()
    (root / "docs/secret.txt").write_text("inside")
    _swap(monkeypatch, "after", "open", "docs", lambda: _exchange(root / "docs", root.parent))

    assert _text(Files(root).read("docs/secret.txt")) == "inside"
    with pytest.raises(ToolError, match="outside"):
        Files(root).read("docs/secret.txt")


def test_a_file_that_becomes_a_pipe_after_the_look_is_refused_without_waiting(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.txt").write_text("inside")
    os.mkfifo(root / "pipe")
    _swap(monkeypatch, "after", "stat", "a.txt", lambda: (root / "pipe").rename(root / "a.txt"))

    with pytest.raises(ToolError, match=r"'a\.txt' is a pipe, not a file"):
        Files(root).read("a.txt")


def test_a_search_does_not_follow_what_becomes_a_link_or_a_pipe_after_it_was_seen(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "docs").mkdir()
    for name in ("a.txt", "b.txt"):
        (root / name).write_text("inside")
    os.mkfifo(root / "pipe")
    _swap(monkeypatch, "before", "open", "docs", lambda: _exchange(root / "docs", root.parent))
    _swap(
        monkeypatch, "before", "open", "a.txt", lambda: _exchange(root / "a.txt", root.parent / "secret.txt")
    )
    _swap(monkeypatch, "before", "open", "b.txt", lambda: (root / "pipe").rename(root / "b.txt"))

    searched = Files(root).search("secret")

    assert (searched.found, searched.unreadable) == ((), 2)


@pytest.fixture(scope="module")
def maze(tmp_path_factory: pytest.TempPathFactory) -> Path:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "file").write_text("secret")
    root = outside / "work"
    (root / "a/a").mkdir(parents=True)
    for place in (root, root / "a", root / "a/a"):
        (place / "file").write_text("inside")
    (root / "in").symlink_to("a/a")
    (root / "out").symlink_to("..")
    (root / "a/in").symlink_to("../a/a/..")
    (root / "a/out").symlink_to(outside)
    (root / "a/a/in").symlink_to(root)
    (root / "a/a/out").symlink_to("../../../file")
    return root


_steps = st.lists(st.sampled_from(["a", "in", "out", "..", ".", "", "file"]), max_size=8)


@given(steps=_steps, start=st.sampled_from(["", "/", "{root}/", "{root}/../"]))
def test_whatever_is_read_lies_inside_and_whatever_the_system_finds_inside_is_read(
    maze: Path, steps: list[str], start: str
) -> None:
    path = start.format(root=maze) + "/".join(steps)
    lies_at = Path(os.path.realpath(maze / path))

    found = _read_or_none(Files(maze), path)

    if found is None:
        # A path that leaves and returns is refused too, so only a path that stays inside must be found.
        never_tries = ".." not in path and "out" not in steps and "file" not in steps[:-1]
        assert not (never_tries and lies_at.is_relative_to(maze) and lies_at.exists())
    else:
        assert lies_at.is_relative_to(maze)
        assert found.path == os.path.relpath(lies_at, maze)
        assert isinstance(found, Listing) or found.text == "inside"


def test_a_pipe_a_socket_and_a_device_are_refused_without_waiting(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(root / "pipe")
    monkeypatch.chdir(root)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")

    for name in ("pipe", "socket"):
        with pytest.raises(ToolError, match=f"'{name}' is a {name}, not a file"):
            Files(root).read(name)
    with pytest.raises(ToolError, match="'null' is a device, not a file"):
        Files(Path("/dev")).read("null")
    assert Files(root).search("anything").found == ()
    assert [entry.kind for entry in Files(root).list().entries] == ["special", "special"]


@pytest.mark.parametrize("path", ["a\0b", "\0", "\ud800", "x" * 300, "a/" * 3_000])
def test_what_cannot_be_a_path_is_told_to_the_model(root: Path, path: str) -> None:
    for look in _every_look(Files(root)):
        with pytest.raises(ToolError) as refused:
            look(path)
        assert len(str(refused.value)) < 300


def test_a_file_is_no_directory(root: Path) -> None:
    (root / "a.txt").write_text("text")

    with pytest.raises(ToolError, match=r"^'a.txt' is a file, not a directory$"):
        Files(root).list("a.txt")
    with pytest.raises(ToolError, match=r"^'a.txt' is a file, not a directory$"):
        Files(root).read("a.txt/b")


def test_a_path_may_lie_a_hundred_directories_deep_and_no_deeper(root: Path) -> None:
    (root / "/".join("d" * 101)).mkdir(parents=True)
    (root / "/".join("d" * 100) / "a.txt").write_text("deep")

    assert _text(Files(root).read("d/" * 100 + "a.txt")) == "deep"
    with pytest.raises(ToolError, match="lies more than 100 directories deep"):
        Files(root).list("d/" * 101)


def test_a_working_directory_that_is_gone_is_named_as_such(root: Path) -> None:
    files = Files(root)
    root.rmdir()

    with pytest.raises(ToolError, match="the working directory does not exist any more"):
        files.list()


def test_a_missing_name_is_answered_with_the_nearest(root: Path) -> None:
    (root / "README.md").write_text("text")
    (root / "docs").mkdir()
    (root / "docs/models.md").write_text("text")

    for path, answer in {
        "READM.md": "'READM.md' does not exist; did you mean 'README.md'?",
        "readme.md": "'readme.md' does not exist; did you mean 'README.md'?",
        "docs/model.md": "'docs/model.md' does not exist; did you mean 'docs/models.md'?",
        "dcos/models.md": "'dcos/models.md' does not exist; did you mean 'docs/models.md'?",
        "dcos/none.md": "'dcos/none.md' does not exist; did you mean 'docs'?",
        "zzz": "'zzz' does not exist",
    }.items():
        with pytest.raises(ToolError) as missing:
            Files(root).read(path)
        assert str(missing.value) == answer


def test_what_may_not_be_read_is_said_to_be_forbidden() -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        (root / "private").mkdir()
        (root / "private/a.txt").write_text("needle")
        (root / "a.txt").write_text("needle")
        (root / "b.txt").write_text("needle")
        (root / "private").chmod(0)
        (root / "a.txt").chmod(0)
        files = Files(root)

        for look in (lambda: files.read("a.txt"), lambda: files.list("private")):
            with pytest.raises(ToolError, match="may not be read: permission denied"):
                _as_nobody(look)
        with pytest.raises(ToolError, match="may not be read: permission denied"):
            _as_nobody(lambda: files.read("private/a.txt"))
        searched = _as_nobody(lambda: files.search("needle"))
        assert [match.path for match in searched.found] == ["b.txt"]
        assert searched.unreadable == 2
        (root / "private").chmod(0o755)


def test_a_directory_that_may_be_passed_but_not_listed_gives_what_is_named_and_no_hints() -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        (root / "passage").mkdir()
        (root / "passage/a.txt").write_text("inside")
        (root / "passage").chmod(0o311)
        files = Files(root)

        assert _text(_as_nobody(lambda: files.read("passage/a.txt"))) == "inside"
        with pytest.raises(ToolError, match=r"^'passage/b\.txt' does not exist$"):
            _as_nobody(lambda: files.read("passage/b.txt"))
        (root / "passage").chmod(0o755)


def test_nothing_stays_open_whatever_happens(root: Path) -> None:
    (root / "docs").mkdir()
    (root / "docs/a.txt").write_text("needle\n" * 5)
    (root / "docs/b.bin").write_bytes(b"\0")
    (root / "loop").symlink_to("docs/../loop")
    (root / "out").symlink_to("docs/../..")
    files = Files(root, FileLimits(matches=2))
    before = os.listdir("/proc/self/fd")

    files.search("needle")
    files.list("docs")
    files.read("docs/a.txt")
    for path in ("docs/b.bin", "loop", "out", "docs/missing", "docs/a.txt/x", "docs/../.."):
        with pytest.raises(ToolError):
            files.read(path)

    assert os.listdir("/proc/self/fd") == before


def _every_look(files: Files) -> tuple[Callable[[str], object], ...]:
    return (files.read, files.list, partial(files.search, "secret"))


def _read_or_none(files: Files, path: str) -> Excerpt | Listing | None:
    try:
        return files.read(path)
    except ToolError:
        return None


def _text(found: Excerpt | Listing) -> str:
    assert isinstance(found, Excerpt)
    return found.text


def _exchange(path: Path, target: Path) -> None:
    path.rename(path.with_name(f"moved {path.name}"))
    path.symlink_to(target)


def _swap(
    monkeypatch: pytest.MonkeyPatch,
    moment: Literal["before", "after"],
    function: str,
    name: str,
    swap: Callable[[], object],
) -> None:
    """Run an action once, right before or after a function of ``os`` is called with that name."""
    real: Callable[..., object] = getattr(os, function)
    pending = [swap]

    def call(path: str, *arguments: object, **options: object) -> object:
        its_turn = path == name and pending
        if its_turn and moment == "before":
            pending.pop()()
        result = real(path, *arguments, **options)
        if its_turn and moment == "after":
            pending.pop()()
        return result

    monkeypatch.setattr(os, function, call)


def _as_nobody(look: Callable[[], T]) -> T:
    """Run without the rights of root. On Linux the identity belongs to the thread and ends with it."""

    def look_as_nobody() -> T:
        if os.geteuid() == 0:
            ctypes.CDLL(None).setfsuid(65_534)
        return look()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(look_as_nobody).result()
