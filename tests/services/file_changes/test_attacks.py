"""Paths and links that try to lead a change out of the workspace, or into Sestet's own files."""

import ctypes
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from sestet.core.errors import PersonError, ToolError
from sestet.services.file_changes.service import Wish
from sestet.services.own_files import OwnFiles
from sestet.services.safe_open import Links, open_place
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

EVIL = "written by an attacker"


@pytest.fixture
def outside(world: World, tmp_path: Path) -> Path:
    """A directory beside the workspace with a secret, and links to it in the workspace."""
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "secret.txt").write_text("the secret")
    work = world.work
    (work / "mine.txt").write_text("mine")
    (work / "docs").mkdir()
    (work / "out").symlink_to(outside)
    (work / "out.txt").symlink_to(outside / "secret.txt")
    (work / "up").symlink_to("..")
    (work / "docs" / "up").symlink_to("../..")
    (work / "two").symlink_to("out")
    (work / "new-out.txt").symlink_to("../outside/new.txt")
    (work / "loop").symlink_to("loop")
    (work / "etc").symlink_to("/etc")
    (work / "root").symlink_to("/proc/self/root")
    (work / "settings").symlink_to("../data")
    return outside


#: The workspace is "work", beside "outside" and Sestet's "data" and "config".
ATTACKS: list[Wish] = [
    write("../outside/secret.txt"),
    write("docs/../../outside/new.txt"),
    write("./docs/.././../outside/new.txt"),
    write("/etc/sestet-attack"),
    write("//etc/sestet-attack"),
    write("out/secret.txt"),
    write("out/new.txt"),
    write("out/deep/new.txt"),
    write("out.txt"),
    write("two/secret.txt"),
    write("up/outside/new.txt"),
    write("docs/up/outside/secret.txt"),
    write("new-out.txt"),
    write("new-out.txt/x"),
    write("loop"),
    write("loop/x"),
    write("root/tmp/sestet-attack"),
    write("etc/sestet-attack"),
    write("settings/sestet.yaml"),
    write("../data/trust.json"),
    write("../config/sestet/sestet.yaml"),
    append("out/secret.txt"),
    append("out.txt"),
    append("../outside/secret.txt"),
    edit("out/secret.txt"),
    edit("out.txt"),
    edit("../outside/secret.txt"),
    make_directory("../outside/new"),
    make_directory("out/new"),
    make_directory("up/new"),
    delete("out/secret.txt"),
    delete("../outside"),
    delete("up/outside"),
    delete(".."),
    move("out/secret.txt", "stolen.txt"),
    move("mine.txt", "out"),
    move("mine.txt", "out/mine.txt"),
    move("mine.txt", "../outside/mine.txt"),
    move("docs", "up/outside/docs"),
    move("../outside", "stolen"),
    copy("out/secret.txt", "stolen.txt"),
    copy("out.txt", "stolen.txt"),
    copy("mine.txt", "out/mine.txt"),
    copy("../outside", "stolen"),
    copy("/etc/passwd", "stolen.txt"),
]


@pytest.mark.parametrize("wish", ATTACKS, ids=name_of)
def test_no_path_leads_out_of_the_workspace(world: World, outside: Path, wish: Wish) -> None:
    before, inside = tree(outside.parent), world.tree()

    with pytest.raises(ToolError):
        world.make(wish)

    assert tree(outside.parent).keys() == before.keys()
    assert tree(outside) == {
        name.removeprefix("outside/"): before[name] for name in before if name.startswith("outside/")
    }
    assert world.tree() == inside


@pytest.mark.parametrize("links", ["all", "above"])
@pytest.mark.parametrize(
    "path",
    [
        *("../outside/secret.txt", "docs/../../outside/new.txt", "/etc/passwd", "out/secret.txt"),
        *("two/secret.txt", "up/outside/new.txt", "docs/up/outside/x", "new-out.txt/x", "root/tmp/x"),
    ],
)
def test_the_walk_to_a_place_does_not_leave_the_workspace(
    world: World, outside: Path, path: str, links: Links
) -> None:
    """A recorded path is walked again when the change is made, so this is the first of two guards."""
    with (
        pytest.raises(ToolError),
        open_place(world.work, path, OwnFiles().unwritable(world.work), links),
    ):
        pass


def test_the_same_requests_succeed_inside_the_workspace(world: World, outside: Path) -> None:
    """The control: an attack fails because of its path, and not because nothing works."""
    for wish in (write("docs/secret.txt"), write("docs/../new.txt"), write(f"{world.work}/docs/whole.txt")):
        world.make(wish)
    world.make(make_directory("docs/new"))
    world.make(copy("mine.txt", "docs/mine.txt"))
    world.make(move("docs/mine.txt", "docs/new"))
    world.make(delete("docs/secret.txt"))
    world.make(delete("out"))

    assert (world.work / "docs/new/mine.txt").read_text() == "mine"
    assert (world.work / "docs/whole.txt").read_text() == EVIL
    assert not (world.work / "out").is_symlink()
    assert (outside / "secret.txt").read_text() == "the secret"


def _swap(link: Path, target: Path, stop: threading.Event) -> None:
    """Exchange a directory of the workspace with a link to another one and back, as fast as possible."""
    away = link.with_name("away")
    away.symlink_to(target)
    exchange = ctypes.CDLL(None, use_errno=True).renameat2
    names, here, both = (os.fsencode(link), os.fsencode(away)), -100, 2
    while not stop.is_set():
        assert exchange(here, names[0], here, names[1], both) == 0
    if link.is_symlink():
        exchange(here, names[0], here, names[1], both)


def _swap_file(file: Path, target: Path, stop: threading.Event) -> None:
    """Make a file of the workspace a link to another one and back."""
    link, plain = file.with_name("link"), file.with_name("plain")
    while not stop.is_set():
        os.symlink(target, link)
        os.rename(link, file)
        plain.write_text("a secret of mine")
        os.rename(plain, file)


RACES: list[tuple[Wish, Callable[[Path, Path, threading.Event], None], str, str]] = [
    (write("docs/new.txt"), _swap, "docs", "outside"),
    (write("docs/secret.txt"), _swap, "docs", "outside"),
    (append("docs/secret.txt"), _swap, "docs", "outside"),
    (edit("docs/secret.txt"), _swap, "docs", "outside"),
    (delete("docs/secret.txt"), _swap, "docs", "outside"),
    (move("mine.txt", "docs/mine.txt"), _swap, "docs", "outside"),
    (copy("docs/secret.txt", "copied.txt"), _swap, "docs", "outside"),
    (make_directory("docs/new"), _swap, "docs", "outside"),
    (write("docs/secret.txt"), _swap_file, "docs/secret.txt", "outside/secret.txt"),
    (edit("docs/secret.txt"), _swap_file, "docs/secret.txt", "outside/secret.txt"),
    (copy("docs/secret.txt", "copied.txt"), _swap_file, "docs/secret.txt", "outside/secret.txt"),
]


@pytest.mark.parametrize(("wish", "swap", "link", "target"), RACES, ids=name_of)
def test_a_link_that_is_swapped_during_the_call_leads_nowhere(
    world: World,
    outside: Path,
    wish: Wish,
    swap: Callable[[Path, Path, threading.Event], None],
    link: str,
    target: str,
) -> None:
    (world.work / "docs" / "secret.txt").write_text("a secret of mine")
    before, stop, tries = tree(outside), threading.Event(), 0
    racer = threading.Thread(target=swap, args=(world.work / link, outside.parent / target, stop))
    racer.start()
    made = 0
    try:
        # At least one call must get through, or nothing was tried.
        while tries < 25 or (not made and tries < 5_000):
            tries += 1
            with suppress(ToolError):
                world.make(wish, f"t{tries}")
                made += 1
            # So that the next try has the same to do.
            with suppress(PersonError):
                world.take_back()
    finally:
        stop.set()
        racer.join()

    assert made
    assert tree(outside) == before
    for name, (_, _, content) in world.tree().items():
        assert b"the secret" not in content, name


def test_a_naive_writer_falls_for_the_same_race(world: World, outside: Path) -> None:
    """The control: the racer does lead a writer out that opens the path by its name."""
    stop = threading.Event()
    racer = threading.Thread(target=_swap, args=(world.work / "docs", outside, stop))
    racer.start()
    try:
        for _ in range(100_000):
            try:
                (world.work / "docs" / "naive.txt").write_text(EVIL)
            except OSError:
                continue
            if (outside / "naive.txt").exists():
                break
    finally:
        stop.set()
        racer.join()

    assert (outside / "naive.txt").exists()


OWN = [
    write("sestet.yaml"),
    write("data/keys.txt"),
    write("data/new.txt"),
    write("data/undo/x"),
    write("config/sestet/sestet.yaml"),
    write("config/sestet/tools/evil.py"),
    write("hard.txt"),
    append("hard.txt"),
    edit("hard.txt"),
    delete("hard.txt"),
    delete("data"),
    delete("config"),
    delete("data/sestet.db"),
    move("data", "elsewhere"),
    move("config", "elsewhere"),
    move("mine.txt", "config/sestet/tools.py"),
    copy("data", "stolen"),
    copy("mine.txt", "data"),
    make_directory("config/sestet/tools"),
]


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("wish", OWN, ids=name_of)
def test_sestets_own_files_are_changed_under_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wish: Wish, exists: bool
) -> None:
    """The workspace contains Sestet's data and settings, as a home directory does."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("SESTET_HOME", str(work / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(work / "config"))
    world = World(work, data=work / "data")
    (work / "mine.txt").write_text("mine")
    (work / "data" / "keys.txt").write_text("secret key")
    os.link(work / "data" / "keys.txt", work / "hard.txt")
    if exists:
        (work / "sestet.yaml").write_text("a secret")
        (work / "config" / "sestet" / "tools").mkdir(parents=True)
        (work / "config" / "sestet" / "sestet.yaml").write_text("a secret")
    before = {name: state for name, state in world.tree().items() if not name.startswith("data/sestet.")}

    with pytest.raises(ToolError):
        world.make(wish)

    after = {name: state for name, state in world.tree().items() if not name.startswith("data/sestet.")}
    assert after == before
    world.close()
