"""What each kind of change would do, found by looking and without changing anything."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath
from typing import NamedTuple

from sestet.core.errors import ToolError
from sestet.core.message import whole
from sestet.core.preview import Changes, DiffLine
from sestet.core.record import Record
from sestet.core.tool import Risk
from sestet.services.file_changes.apply import Change, Contents, Entry
from sestet.services.file_changes.diff import as_changes, diff
from sestet.services.file_changes.state import AS_USUAL, LARGEST, NOTHING, FileState, Found, look, look_below
from sestet.services.file_changes.text import FileText, read_text
from sestet.services.files import human_size
from sestet.services.own_files import Unwritable
from sestet.services.safe_open import Links, Place, missing_text, open_below, open_place, quoted
from sestet.services.same_name import same_name
from sestet.services.workspace import Root, Workspace
from sestet.storage.kept_files import digest_of

#: A larger text is neither written nor edited.
_LARGEST_TEXT = 5_000_000
_LF = "\n"
#: How many files may have one name but for their numbers.
_MOST_SAME = 1_000


class Plan(Record):
    """One change that is ready to be made."""

    change: Change
    #: What was done, once it is done.
    result: str
    contents: Contents
    risk: Risk = "safe"
    #: Why a person should think before approving it.
    caution: str = ""
    changes: Changes = Changes()


class _Target(NamedTuple):
    """Where something is or will be, and the directories above it that do not exist yet."""

    root: Root
    path: str
    found: Found
    missing: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        return whole(self.root.shown(self.path))

    def entry(self, after: FileState) -> Entry:
        return Entry(str(self.root.directory), self.path, self.found.state, after)

    def new_directories(self) -> tuple[Entry, ...]:
        root = str(self.root.directory)
        return tuple(Entry(root, path, NOTHING, FileState("directory")) for path in self.missing)


class Planner:
    """Blocking: call it from a thread."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def write(self, path: str, text: str) -> Plan:
        """A new file, or a new text for a file."""
        _require_size(path, text)
        target = self._text_target(path)
        if target.found.state.kind == "none":
            content = FileText(path, "").encode(text)
            after = FileState("file", digest=digest_of(content), size=len(content))
            change = Change((*target.new_directories(), target.entry(after)))
            told = f"Wrote {target.shown}, a new file: {_measure(text)}."
            return Plan(
                change, told, {after.digest: content}.__getitem__, changes=diff("", text, _basis(change))
            )
        former = _readable(path, target.found.content)
        content = (former or FileText(path, "")).encode(text)
        return self._replacement(target, former, content, f"Replaced {target.shown}: {_measure(text)}.")

    def save(self, path: str, content: bytes) -> Plan:
        """A new file with any content. If there is one of that name, this one gets a number."""
        stem, suffix = os.path.splitext(path)
        names = (path, *(f"{stem}-{number}{suffix}" for number in range(2, _MOST_SAME)))
        for name in names:
            target = self._target(name, "all")
            if target.found.state.kind == "none":
                after = FileState("file", digest=digest_of(content), size=len(content))
                change = Change((*target.new_directories(), target.entry(after)))
                told = f"Saved {target.shown} ({human_size(len(content))})."
                return Plan(change, told, {after.digest: content}.__getitem__, changes=_plain(change))
        raise ToolError(f"there are too many files like {quoted(path)} already")

    def edit(self, path: str, old: str, new: str) -> Plan:
        """A file with one part of its text replaced."""
        target = self._text_target(path)
        if target.found.state.kind == "none":
            raise ToolError(self._missing(target.root, path, "; fs_write makes a new file"))
        former = read_text(path, target.found.content)
        content = former.encode(former.replace(old, new))
        return self._replacement(target, former, content, f"Changed {target.shown}.")

    def append(self, path: str, text: str) -> Plan:
        """A file with lines added at its end; a file that does not exist is made of them."""
        target = self._text_target(path)
        lines = f"{text.removesuffix(_LF)}{_LF}"
        if target.found.state.kind == "none":
            return self.write(path, lines)
        former = read_text(path, target.found.content)
        # A last line without an end must not become one line with the first new one.
        joint = "" if not former.text or former.text.endswith(_LF) else _LF
        longer = f"{former.text}{joint}{lines}"
        _require_size(path, longer)
        told = f"Added to {target.shown}: {_measure(lines)}."
        return self._replacement(target, former, former.encode(longer), told)

    def make_directory(self, path: str) -> Plan:
        target = self._target(path, "all")
        if target.found.state.kind == "directory":
            return _nothing(f"{target.shown} is a directory already.")
        if target.found.state.kind != "none":
            raise ToolError(f"{quoted(path)} is a file already")
        change = Change((*target.new_directories(), target.entry(FileState("directory"))))
        return Plan(change, f"Made the directory {target.shown}.", _no_content, changes=_plain(change))

    def move(self, path: str, destination: str) -> Plan:
        """A file, a directory or a link under another name. Nothing is replaced."""
        source = self._existing(path)
        target = self._free_target(destination, source)
        if target.missing:
            raise ToolError(f"{quoted(target.missing[0])} does not exist; make this directory first")
        _require_apart(source, target, "moved")
        present = source.found.state
        change = Change((source.entry(NOTHING), target.entry(present)), is_move=True)
        told = f"Moved {source.shown} to {target.shown}."
        caution = f"it moves {_what(source)} '{source.shown}' to '{target.shown}'"
        return Plan(change, told, _no_content, "guarded", caution, _plain(change))

    def copy(self, path: str, destination: str) -> Plan:
        """A copy of a file or of a directory with all that it holds. Nothing is replaced."""
        source = self._existing(path, "all")
        target = self._free_target(destination, source)
        _require_apart(source, target, "copied")
        contents: dict[str, str] = {}
        entries = list(target.new_directories())
        root = str(target.root.directory)
        with self._open(source.root, source.path, "all") as (place, guard):
            for below, state, inode in look_below(place):
                if inode in guard.inodes:
                    raise _holds_own(path)
                contents[state.digest] = _joined(source.path, below)
                copied = FileState(
                    state.kind, state.mode & 0o777, AS_USUAL, AS_USUAL, state.digest, state.size
                )
                entries.append(Entry(root, _joined(target.path, below), NOTHING, copied))
        change = Change(tuple(entries))
        told = f"Copied {source.shown} to {target.shown}{_count_of(len(entries), source)}."
        return Plan(change, told, self._reader(source.root, contents), changes=_plain(change, contents))

    def delete(self, path: str) -> Plan:
        """A file, a link or a directory with all that it holds. Undo brings it back."""
        source = self._existing(path)
        entries: list[Entry] = []
        root = str(source.root.directory)
        with self._open(source.root, source.path, "above") as (place, guard):
            for below, state, inode in look_below(place):
                if inode in guard.inodes or inode in guard.above:
                    raise _holds_own(path)
                entries.append(Entry(root, _joined(source.path, below), state, NOTHING))
        change = Change(tuple(entries))
        told = f"Deleted {source.shown}{_count_of(len(entries), source)}; 'sestet undo' brings it back."
        caution = f"it deletes {_what(source)} '{source.shown}'{_count_of(len(entries), source)}"
        return Plan(change, told, _no_content, "guarded", caution, self._deleted(source, change))

    def _replacement(self, target: _Target, former: FileText | None, content: bytes, told: str) -> Plan:
        before = target.found.state
        if digest_of(content) == before.digest:
            return _nothing(f"{target.shown} has this text already.")
        after = FileState("file", before.mode, before.uid, before.gid, digest_of(content), len(content))
        change = Change((target.entry(after),))
        if former is None:
            lines = (DiffLine("-", f"binary data, {human_size(before.size)}"),)
            changes = as_changes(lines, _basis(change))
        else:
            changes = diff(former.text, read_text(target.path, content).text, _basis(change))
        caution = f"it changes '{target.shown}'"
        return Plan(change, told, {after.digest: content}.__getitem__, "guarded", caution, changes)

    def _deleted(self, source: _Target, change: Change) -> Changes:
        basis, content = _basis(change), source.found.content
        if source.found.state.kind == "file":
            former = _readable(source.path, content)
            if former is not None:
                return diff(former.text, "", basis)
            return as_changes((DiffLine("-", f"binary data, {human_size(len(content))}"),), basis)
        return as_changes((_listed(entry.path, entry.before) for entry in change.entries), basis)

    def _text_target(self, path: str) -> _Target:
        target = self._target(path, "all")
        state = target.found.state
        if state.kind == "directory" or path.endswith("/"):
            raise ToolError(f"{quoted(path)} is a directory, not a file")
        if state.size > _LARGEST_TEXT:
            raise ToolError(f"{quoted(path)} is larger than {human_size(_LARGEST_TEXT)}: too large to change")
        if state.kind == "file":
            with self._open(target.root, target.path, "all") as (place, _):
                if not os.access(place.name, os.W_OK, dir_fd=place.directory, effective_ids=True):
                    raise ToolError(f"{quoted(path)} may not be changed: it is read-only")
        return target

    def _existing(self, path: str, links: Links = "above") -> _Target:
        """Something that is there; with ``above``, a link itself and not what it points to."""
        root = self._workspace.root_of(path)
        with self._open(root, path, links) as (place, guard):
            found = look(place)
            if place.state is None or found.state.kind == "none":
                raise ToolError(self._missing(root, path))
            if links == "above" and (place.state.st_dev, place.state.st_ino) in guard.above:
                raise _holds_own(path)
            return _Target(root, place.path, found)

    def _missing(self, root: Root, path: str, otherwise: str = "") -> str:
        meant = same_name(root.directory, path, self._workspace.hidden(root))
        return missing_text(path, meant) + ("" if meant else otherwise)

    def _free_target(self, destination: str, source: _Target) -> _Target:
        """Where something will be; in a directory that exists, under its own name."""
        root = self._workspace.root_of(destination)
        directory = self._directory(root, destination)
        if directory is None:
            target = self._target(destination, "all")
        else:
            name = PurePosixPath(source.path).name
            target = self._target(f"{root.directory}/{directory}/{name}", "above")
        if target.found.state.kind != "none":
            raise ToolError(f"{quoted(target.shown)} exists already, and nothing is replaced")
        return target

    def _directory(self, root: Root, path: str) -> str | None:
        """The path of a directory that exists, below its root."""
        with suppress(ToolError), open_below(root.directory, path, self._workspace.hidden(root)) as opened:
            return opened.path if opened.is_directory else None
        return None

    def _target(self, path: str, links: Links) -> _Target:
        root = self._workspace.root_of(path)
        names = path.split("/")
        for end in range(1, len(names)):
            if names[end - 1] in ("", ".", ".."):
                continue
            with self._open_or_root(root, "/".join(names[:end])) as place:
                if place is None or place.state is not None:
                    continue
                rest = [name for name in names[end:] if name not in ("", ".")]
                if not rest:
                    break
                if ".." in rest:
                    raise ToolError(f"{quoted(place.path)} does not exist")
                steps = [place.path]
                for name in rest:
                    steps.append(f"{steps[-1]}/{name}")
                return _Target(root, steps[-1], Found(NOTHING), tuple(steps[:-1]))
        with self._open(root, path, links) as (place, _):
            return _Target(root, place.path, look(place))

    @contextmanager
    def _open_or_root(self, root: Root, path: str) -> Generator[Place | None]:
        """The place of a directory above; None for the root itself, and for a path above the root."""
        spellings = (root.directory, root.directory.resolve())
        if path.startswith("/") and any(each.is_relative_to(path) for each in spellings):
            yield None
            return
        with self._open(root, path, "all") as (place, _):
            yield place

    @contextmanager
    def _open(self, root: Root, path: str, links: Links) -> Generator[tuple[Place, Unwritable]]:
        guard = self._workspace.unwritable(root)
        with open_place(root.directory, path, guard, links) as place:
            yield place, guard

    def _reader(self, root: Root, paths: Mapping[str, str]) -> Contents:
        def read(digest: str) -> bytes:
            with self._open(root, paths[digest], "none") as (place, _):
                found = look(place)
            if found.state.digest != digest:
                raise ToolError(f"{quoted(paths[digest])} changed while it was being copied")
            return found.content

        return read


def _holds_own(path: str) -> ToolError:
    return ToolError(f"{quoted(path)} holds settings or data of Sestet itself")


def _nothing(told: str) -> Plan:
    return Plan(Change(()), told, _no_content)


def _no_content(digest: str) -> bytes:
    raise AssertionError(f"this change writes no content, and not {digest}")


def _basis(change: Change, sources: Mapping[str, str] | None = None) -> str:
    """A mark of what was found: it differs if one of the files has changed."""
    found = [(entry.root, entry.path, entry.before.kind, entry.before.digest) for entry in change.entries]
    return digest_of(repr((found, sorted(sources or ()))).encode("utf-8", "surrogatepass"))


def _plain(change: Change, sources: Mapping[str, str] | None = None) -> Changes:
    return Changes(basis=_basis(change, sources))


def _readable(path: str, content: bytes) -> FileText | None:
    try:
        return read_text(path, content)
    except ToolError:
        return None


def _joined(path: str, below: str) -> str:
    return f"{path}/{below}" if below else path


def _listed(path: str, state: FileState) -> DiffLine:
    sizes = {"directory": "/", "link": "  (a link)"}
    return DiffLine("-", path + sizes.get(state.kind, f"  {human_size(state.size)}"))


def _what(source: _Target) -> str:
    names = {"directory": "the directory", "link": "the link"}
    return names.get(source.found.state.kind, "the file")


def _count_of(entries: int, source: _Target) -> str:
    below = entries - 1
    if source.found.state.kind != "directory" or not below:
        return ""
    return f" with {below:,} entries in it" if below > 1 else " with 1 entry in it"


def _require_size(path: str, text: str) -> None:
    if len(text) > _LARGEST_TEXT:
        raise ToolError(f"the text for {quoted(path)} is longer than {human_size(_LARGEST_TEXT)}")


def _measure(text: str) -> str:
    lines = text.count("\n") + bool(text and not text.endswith("\n"))
    return f"{lines:,} line{'' if lines == 1 else 's'}"


def _require_apart(source: _Target, target: _Target, verb: str) -> None:
    inside = f"{target.root.directory}/{target.path}".startswith(f"{source.root.directory}/{source.path}/")
    if inside:
        raise ToolError(f"{quoted(source.shown)} cannot be {verb} into itself")
    if source.found.state.size > LARGEST and verb == "copied":
        raise ToolError(f"{quoted(source.shown)} is larger than {human_size(LARGEST)}")
