"""A path that does not exist is answered with the paths that end with the same name."""

import os
from pathlib import Path

import pytest

from sestet.core.errors import ToolError
from sestet.services.files import Files
from sestet.services.own_files import OwnFiles
from sestet.services.same_name import same_name


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path in ("config/app.toml", "a/b/c/deep.txt", ".git/app.toml", "docs/app/README.md"):
        file = tmp_path / "work" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("text")
    return tmp_path / "work"


def find(root: Path, path: str) -> tuple[str, ...]:
    return same_name(root, path, frozenset())


def test_a_file_in_another_directory_is_suggested_to_a_reader(root: Path) -> None:
    with pytest.raises(ToolError) as missing:
        Files(root).read("app.toml")

    assert str(missing.value) == "'app.toml' does not exist; did you mean 'config/app.toml'?"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("App.TOML", ("config/app.toml",)),
        ("conf/app.toml", ("config/app.toml",)),
        ("deep.txt", ("a/b/c/deep.txt",)),
        ("app", ("docs/app",)),
        ("app/", ("docs/app",)),
        ("app.tom", ()),
        ("..", ()),
        ("", ()),
    ],
)
def test_the_name_alone_counts(root: Path, path: str, found: tuple[str, ...]) -> None:
    assert find(root, path) == found


def test_the_highest_of_several_come_first_and_three_are_enough(root: Path) -> None:
    for path in ("x/y/app.toml", "x/y/z/app.toml", "x/y/z/zz/app.toml", "app.toml"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("text")

    assert find(root, "conf/app.toml") == ("app.toml", "config/app.toml", "x/y/app.toml")


def test_an_absolute_path_is_answered_with_an_absolute_one(root: Path) -> None:
    assert find(root, f"{root}/app.toml") == (f"{root}/config/app.toml",)


def test_a_link_is_neither_suggested_nor_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.txt").write_text("text")
    (root / "way").symlink_to(tmp_path / "outside")
    (root / "dangling").symlink_to("nowhere")

    assert find(root, "secret.txt") == ()
    with pytest.raises(ToolError) as missing:
        Files(root).read("dangling")
    assert "did you mean 'dangling'" not in str(missing.value)


def test_files_of_sestet_itself_are_not_suggested(root: Path, tmp_path: Path) -> None:
    own = OwnFiles((root / "config",))

    with pytest.raises(ToolError) as missing:
        Files(root, own=own).read("app.toml")

    assert str(missing.value) == "'app.toml' does not exist"


def test_a_large_tree_is_not_searched_to_its_end(root: Path) -> None:
    for number in range(2_100):
        (root / f"{number}.txt").write_text("")
    (root / "config/app.toml").rename(root / "a/b/app.toml")

    assert find(root, "app.toml") == ()


def test_every_directory_is_closed_again(root: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for path in ("app.toml", "deep.txt", "none"):
        find(root, path)

    assert len(os.listdir("/proc/self/fd")) == before
