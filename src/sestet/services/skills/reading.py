"""Reads the folder of a skill through open directories, so that no link and no swap leads out of it."""

import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from sestet.config.trust import why_foreign
from sestet.services.safe_open import KINDS, LIST_FLAGS, READ_FLAGS, quoted
from sestet.services.skills.skill import (
    MANUAL,
    MOST_BYTES,
    MOST_DEPTH,
    MOST_FILES,
    MOST_MANUAL,
    SkillError,
    require_path,
)

#: Never part of a skill: they are neither hashed nor shown nor run.
LEFT_OUT = frozenset((".git", "__pycache__", ".DS_Store"))
#: Folders of one place that are looked at.
MOST_SKILLS = 200


def list_folders(place: Path, *, own: bool) -> list[str]:
    """The names in a place that may be skills. ``own``: the person chose it, so it may be a link."""
    opened: list[int] = []
    try:
        if not _open_place(place, opened, own=own):
            return []
        with os.scandir(opened[-1]) as entries:
            names = sorted(islice((entry.name for entry in entries if _may_be_skill(entry)), MOST_SKILLS + 1))
    except OSError as error:
        raise SkillError(f"cannot be read: {error.strerror}") from error
    finally:
        _close(opened)
    if len(names) > MOST_SKILLS:
        raise SkillError(f"it has more than {MOST_SKILLS} folders")
    return names


def read_folder(place: Path, name: str, *, own: bool, owner_matters: bool = True) -> dict[str, bytes] | None:
    """Every file of one skill; None: there is no such folder.

    ``owner_matters``: refuse a folder that another user can change while it is in use.
    """
    with _open_skill(place, name, own=own) as folder:
        if folder is None:
            return None
        reader = _Reader(owner_matters=owner_matters)
        reader.read(folder, "", 1)
        return reader.files


def read_manual_alone(place: Path, name: str, *, own: bool) -> bytes | None:
    """The bytes of SKILL.md, without a look at the other files; None: there is none."""
    with _open_skill(place, name, own=own) as folder:
        if folder is None or not _exists(folder, MANUAL):
            return None
        with _open_file(folder, MANUAL, MANUAL) as stream:
            return _read_open(stream, MANUAL, MOST_MANUAL)


def read_any_folder(folder: Path) -> dict[str, bytes]:
    """The files of a folder that the person names, to be copied: it may belong to another user."""
    found = read_folder(folder.parent, folder.name, own=True, owner_matters=False)
    if found is None:
        raise SkillError(f"'{folder}' does not exist")
    return found


def _may_be_skill(entry: "os.DirEntry[str]") -> bool:
    return not entry.name.startswith(".") and (entry.is_symlink() or entry.is_dir(follow_symlinks=False))


@contextmanager
def _open_skill(place: Path, name: str, *, own: bool) -> Generator[int | None]:
    """The folder of a skill, open; None: there is none. Errors, also those inside the block, say why."""
    opened: list[int] = []
    try:
        if _open_place(place, opened, own=own) and _exists(opened[-1], name):
            opened.append(_enter(opened[-1], name, name))
            yield opened[-1]
        else:
            yield None
    except OSError as error:
        raise SkillError(f"cannot be read: {error.strerror}") from error
    finally:
        _close(opened)


def _open_place(place: Path, opened: list[int], *, own: bool) -> bool:
    """Open a place, the last of ``opened`` then; False: there is none.

    In a workspace, ``.agents`` and ``.agents/skills`` must be real folders.
    """
    try:
        opened.append(os.open(place if own else place.parents[1], LIST_FLAGS))
        for name in () if own else place.parts[-2:]:
            opened.append(_enter(opened[-1], name, str(place)))
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _close(opened: list[int]) -> None:
    for descriptor in opened:
        os.close(descriptor)


def _exists(directory: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _enter(directory: int, name: str, shown: str) -> int:
    """Open a folder in an open folder; a link is refused."""
    try:
        state = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if stat.S_ISLNK(state.st_mode):
            raise SkillError(f"{quoted(shown)} is a link; put the folder itself there, or import it")
        if not stat.S_ISDIR(state.st_mode):
            raise SkillError(f"{quoted(shown)} is not a folder")
        opened = os.open(name, LIST_FLAGS | os.O_NOFOLLOW, dir_fd=directory)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise SkillError(f"{quoted(shown)} cannot be read: {error.strerror}") from error
    return opened


class _Reader:
    """Collects the files of one skill within its limits."""

    def __init__(self, *, owner_matters: bool) -> None:
        self.files: dict[str, bytes] = {}
        self._owner_matters = owner_matters
        self._left = MOST_BYTES

    def read(self, folder: int, prefix: str, depth: int) -> None:
        self._require_own(folder, prefix or "its folder")
        for name in self._names(folder):
            path = require_path(f"{prefix}{name}")
            state = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISDIR(state.st_mode):
                self._add(folder, name, path)
                continue
            if depth == MOST_DEPTH:
                raise SkillError(f"'{path}' lies more than {MOST_DEPTH} folders deep")
            inner = _enter(folder, name, path)
            try:
                self.read(inner, f"{path}/", depth + 1)
            finally:
                os.close(inner)

    def _names(self, folder: int) -> Iterator[str]:
        with os.scandir(folder) as entries:
            names: list[str] = []
            for entry in entries:
                names.append(entry.name)
                if len(names) > MOST_FILES:
                    raise SkillError(f"it has more than {MOST_FILES} files")
        return (name for name in sorted(names) if name not in LEFT_OUT)

    def _add(self, folder: int, name: str, path: str) -> None:
        if len(self.files) == MOST_FILES:
            raise SkillError(f"it has more than {MOST_FILES} files")
        with _open_file(folder, name, path) as stream:
            self._require_own(stream.fileno(), path)
            self.files[path] = content = _read_open(stream, path, self._left)
        self._left -= len(content)

    def _require_own(self, opened: int, shown: str) -> None:
        if self._owner_matters and (why := why_foreign(os.fstat(opened))):
            raise SkillError(f"'{shown}' {why}, so it is not used")


def _open_file(folder: int, name: str, path: str) -> BinaryIO:
    """Open a regular file. It is looked at before, since opening a device may have an effect, and after."""
    try:
        _require_regular(os.stat(name, dir_fd=folder, follow_symlinks=False), path)
        stream = os.fdopen(os.open(name, READ_FLAGS, dir_fd=folder), "rb")
    except OSError as error:
        raise SkillError(f"'{path}' cannot be read: {error.strerror}") from error
    try:
        _require_regular(os.fstat(stream.fileno()), path)
    except SkillError:
        stream.close()
        raise
    return stream


def _read_open(stream: BinaryIO, path: str, limit: int) -> bytes:
    size = os.fstat(stream.fileno()).st_size
    content = stream.read(limit + 1) if size <= limit else b""
    if size > limit or len(content) > limit:
        raise SkillError(f"'{path}' is too large: {_size_rule(limit)}")
    return content


def _size_rule(limit: int) -> str:
    if limit == MOST_MANUAL:
        return f"{MANUAL} has at most {MOST_MANUAL // 1_000} KB"
    return f"the files of a skill have at most {MOST_BYTES // 1_000_000} MB together"


def _require_regular(state: os.stat_result, path: str) -> None:
    if stat.S_ISLNK(state.st_mode):
        raise SkillError(f"'{path}' is a link; put the file itself there")
    if not stat.S_ISREG(state.st_mode):
        kind = KINDS.get(stat.S_IFMT(state.st_mode), "something else")
        raise SkillError(f"'{path}' is {kind}, not a file")
