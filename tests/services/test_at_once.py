"""Small listings and reads happen in the event loop; everything that may take long goes to a thread."""

import os
from pathlib import Path

import pytest

from sestet.agents.operator.files import fs_list, fs_read
from sestet.core.errors import ToolError
from sestet.services import local_disk
from sestet.services.files import Files

_LINE = "{} 1 0:1 / {} rw - {} none rw\n"


def mounts(monkeypatch: pytest.MonkeyPatch, file: Path, *lines: tuple[str, str]) -> None:
    """Pretend that these places are mounted, each with its kind of file system."""
    file.write_text("".join(_LINE.format(number, *line) for number, line in enumerate(lines)))
    monkeypatch.setattr(local_disk, "_MOUNTS", str(file))
    local_disk._is_on_local_disks.cache_clear()  # pyright: ignore[reportPrivateUsage] - the answer holds for seconds


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([("/", "ext4")], True),
        ([("/", "overlay"), ("/proc", "proc")], True),
        ([("/", "nfs4")], False),
        ([("/", "ext4"), ("{work}", "fuse.sshfs")], False),
        ([("/", "ext4"), ("{work}/far", "cifs")], False),
        ([("/", "nfs"), ("{work}", "tmpfs")], True),
        ([("/", "ext4"), ("{work}-beside", "nfs")], True),
        ([], False),
    ],
)
def test_only_disks_of_this_machine_are_near(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[tuple[str, str]], expected: bool
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    mounts(monkeypatch, tmp_path / "mounts", *((place.format(work=work), kind) for place, kind in lines))

    assert local_disk.is_on_local_disks(work) is expected
    assert (Files(work).list_at_once() is not None) is expected
    local_disk._is_on_local_disks.cache_clear()  # pyright: ignore[reportPrivateUsage] - the answer holds for seconds


def test_a_large_directory_and_a_large_file_are_left_to_a_thread(tmp_path: Path) -> None:
    files = Files(tmp_path)
    (tmp_path / "small.txt").write_text("small\n")
    (tmp_path / "large.txt").write_text("x" * 65_537)
    assert files.list_at_once() == files.list()
    assert files.read_at_once("small.txt") == files.read("small.txt")
    assert files.read_at_once("large.txt") is None
    for number in range(100):
        (tmp_path / str(number)).touch()

    assert files.list_at_once() is None
    assert files.read_at_once(".") is None


async def test_the_tools_read_both_ways(tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_text("many\n" * 20_000)
    for number in range(150):
        (tmp_path / f"{number}.txt").touch()
    listing, text = fs_list.bind({Files: Files(tmp_path)}), fs_read.bind({Files: Files(tmp_path)})
    assert listing is not None
    assert listing.function is not None
    assert text is not None
    assert text.function is not None

    assert "151 files" in str(await listing.function())
    assert "it goes on with start=" in str(await text.function(path="large.txt"))


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(ToolError, match="is a pipe"):
        Files(tmp_path).read_at_once("pipe")
