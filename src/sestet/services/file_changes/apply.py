"""Makes a change of files, whole or not at all, and takes it back."""

import errno
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, TypeAlias

from sestet.core.errors import InDoubtError, SestetError, ToolError
from sestet.core.record import Record
from sestet.services.file_changes.rename import rename_new
from sestet.services.file_changes.state import AS_USUAL, NOTHING, FileState, Found, look
from sestet.services.own_files import OwnFiles
from sestet.services.safe_open import LIST_FLAGS, READ_FLAGS, MissingError, Place, open_place, quoted
from sestet.storage.kept_files import KeptFiles, digest_of

#: Gives the content with a digest.
Contents: TypeAlias = Callable[[str], bytes]

_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Entry(Record):
    """One path that a change touches. The path is below its root and leads through no link."""

    root: str
    path: str
    before: FileState
    after: FileState

    @property
    def depth(self) -> int:
        return self.path.count("/")

    def inverse(self) -> "Entry":
        return Entry(self.root, self.path, self.after, self.before)


class Change(Record):
    """Everything that one call changes. A move has two entries: where something was, and where it is then."""

    entries: tuple[Entry, ...]
    is_move: bool = False

    def inverse(self) -> "Change":
        return Change(tuple(entry.inverse() for entry in reversed(self.entries)), self.is_move)


class Applier:
    """Blocking: call it from a thread. Paths are walked by descriptors, and no link is followed."""

    def __init__(self, own: OwnFiles, kept: KeptFiles) -> None:
        self._own = own
        self._kept = kept

    def keep(self, change: Change) -> None:
        """Keep every content that the change removes; raises if something else is there by now."""
        if change.is_move:
            return
        for entry in change.entries:
            if entry.before.is_kept and not entry.before.is_like(entry.after):
                self._kept.put(self._require(entry, entry.before).content)

    def apply(self, change: Change, contents: Contents | None = None) -> None:
        """Make the change. After an error, what was done of it is taken back.

        An entry that is done already is passed over, so a change that was cut off can be made again.
        """
        contents = contents or self._kept.get
        if change.is_move:
            self._move(*change.entries)
            return
        done: list[Entry] = []
        try:
            for entry in _in_order(change):
                self._make(entry, contents)
                done.append(entry)
            for entry in sorted(change.entries, key=lambda entry: -entry.depth):
                self._set_directory_mode(entry)
        except (SestetError, OSError) as error:
            self._take_back(done, error)
            raise

    def state_of(self, entry: Entry) -> FileState:
        """What is at the entry's path now; nothing, if the directory that holds it is not there."""
        try:
            with self._open(entry) as place:
                return look(place).state
        except MissingError:
            return NOTHING

    def settle(self, change: Change) -> Literal["done", "not_done"]:
        """After a crash: whether the change was made. One that was cut off half-way is taken back."""
        for entry in change.entries:
            self._remove_unfinished(entry)
        states = [(entry, self.state_of(entry)) for entry in change.entries]
        if all(state.is_like(entry.after) for entry, state in states):
            return "done"
        if not all(state.is_like(entry.before) for entry, state in states):
            self.apply(change.inverse())
        return "not_done"

    @contextmanager
    def _open(self, entry: Entry) -> Generator[Place]:
        root = Path(entry.root)
        with open_place(root, entry.path, self._own.unwritable(root), "none") as place:
            yield place

    def _require(self, entry: Entry, wanted: FileState) -> Found:
        with self._open(entry) as place:
            found = look(place)
        if not found.state.is_like(wanted):
            raise changed_since(entry.path)
        return found

    def _make(self, entry: Entry, contents: Contents) -> None:
        if entry.after.kind == "none" and self.state_of(entry).kind == "none":
            # Perhaps the directory that held it is gone too.
            return
        with self._open(entry) as place:
            present = look(place).state
            if present.is_like(entry.after):
                return
            if not present.is_like(entry.before):
                raise changed_since(entry.path)
            if entry.after.kind == "none":
                _remove(place, present)
            elif entry.after.kind == "directory":
                os.mkdir(place.name, 0o777, dir_fd=place.directory)
            elif entry.after.kind == "link":
                os.symlink(contents(entry.after.digest), os.fsencode(place.name), dir_fd=place.directory)
            else:
                _write(place, contents(entry.after.digest), entry)

    def _set_directory_mode(self, entry: Entry) -> None:
        """At the end: a directory that forbids writing is filled first."""
        wanted = entry.after
        if wanted.kind == "directory" and wanted.mode != AS_USUAL and entry.before.kind == "none":
            with self._open(entry) as place:
                descriptor = os.open(place.name, LIST_FLAGS | os.O_NOFOLLOW, dir_fd=place.directory)
                try:
                    with suppress(PermissionError):
                        os.fchown(descriptor, wanted.uid, wanted.gid)
                    os.fchmod(descriptor, wanted.mode)
                finally:
                    os.close(descriptor)

    def _move(self, gone: Entry, new: Entry) -> None:
        with self._open(gone) as source, self._open(new) as target:
            states = look(source).state, look(target).state
            if states[0].kind == "none" and states[1].is_like(new.after):
                return
            if not states[0].is_like(gone.before) or states[1].kind != "none":
                raise changed_since(gone.path if states[1].kind == "none" else new.path)
            try:
                rename_new(source.name, source.directory, target.name, target.directory)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                raise ToolError(
                    f"{quoted(gone.path)} and {quoted(new.path)} are on two file systems; copy it instead"
                ) from error
            _sync(source.directory)
            _sync(target.directory)

    def _take_back(self, done: list[Entry], cause: Exception) -> None:
        try:
            for entry in reversed(done):
                self._make(entry.inverse(), self._kept.get)
        except (SestetError, OSError) as error:
            raise InDoubtError(
                f"{cause}; a part of it was done and could not be taken back: {error}"
            ) from cause

    def _remove_unfinished(self, entry: Entry) -> None:
        """The file that a killed process was writing."""
        for each in (entry, entry.inverse()):
            if each.after.kind == "file":
                with suppress(ToolError, OSError), self._open(each) as place:
                    os.unlink(_unfinished_name(each), dir_fd=place.directory)


def changed_since(path: str) -> ToolError:
    return ToolError(f"{quoted(path)} has changed since it was looked at; nothing was done")


def _in_order(change: Change) -> list[Entry]:
    """What goes, the deepest first; then what comes, directories before what they hold."""
    gone = [entry for entry in change.entries if entry.after.kind == "none"]
    new = [entry for entry in change.entries if entry.after.kind != "none"]
    return [
        *sorted(gone, key=lambda entry: -entry.depth),
        *sorted(new, key=lambda entry: entry.depth),
    ]


def _remove(place: Place, present: FileState) -> None:
    if present.kind != "directory":
        os.unlink(place.name, dir_fd=place.directory)
        return
    try:
        os.rmdir(place.name, dir_fd=place.directory)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        raise ToolError(f"{quoted(place.path)} holds files that were not there before") from error


def _unfinished_name(entry: Entry) -> str:
    """The same for the same change, so that another process finds what a killed one has left."""
    return f".sestet-{digest_of(os.fsencode(entry.path) + entry.after.digest.encode())[:20]}.tmp"


def _write(place: Place, content: bytes, entry: Entry) -> None:
    """Write beside the file, then rename: a reader sees the old content or the new one."""
    wanted, name = entry.after, _unfinished_name(entry)
    is_new = entry.before.kind == "none"
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=place.directory)
    # With 0o666, the system applies the person's umask.
    mode = 0o666 if wanted.mode == AS_USUAL else 0o600
    descriptor = os.open(name, _CREATE_FLAGS, mode, dir_fd=place.directory)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            if wanted.mode != AS_USUAL:
                _set_owner(descriptor, wanted, place, strict=not is_new)
                _copy_attributes(place, descriptor)
                os.fchmod(descriptor, wanted.mode)
            os.fsync(descriptor)
        if is_new:
            rename_new(name, place.directory, place.name, place.directory)
        else:
            os.rename(name, place.name, src_dir_fd=place.directory, dst_dir_fd=place.directory)
    except FileExistsError as error:
        os.unlink(name, dir_fd=place.directory)
        raise changed_since(place.path) from error
    except BaseException:
        with suppress(OSError):
            os.unlink(name, dir_fd=place.directory)
        raise
    _sync(place.directory)


def _set_owner(descriptor: int, wanted: FileState, place: Place, *, strict: bool) -> None:
    state = os.fstat(descriptor)
    if (state.st_uid, state.st_gid) == (wanted.uid, wanted.gid):
        return
    try:
        os.fchown(descriptor, wanted.uid, wanted.gid)
    except PermissionError as error:
        if strict:
            raise ToolError(
                f"{quoted(place.path)} belongs to another user, and would become yours"
            ) from error


def _copy_attributes(place: Place, descriptor: int) -> None:
    """Access lists and other attributes of the file that is replaced, where the file system has them."""
    with suppress(OSError):
        former = os.open(place.name, READ_FLAGS, dir_fd=place.directory)
        try:
            for attribute in os.listxattr(former):
                with suppress(OSError):
                    os.setxattr(descriptor, attribute, os.getxattr(former, attribute))
        finally:
            os.close(former)


def _sync(directory: int) -> None:
    """A rename survives a power cut once its directory is on the disk."""
    with suppress(OSError):
        descriptor = os.open(".", LIST_FLAGS, dir_fd=directory)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
