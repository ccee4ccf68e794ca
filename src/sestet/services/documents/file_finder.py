"""Finds the files below a path to ingest, and gives a reason for each skipped one."""

import os
import re
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sestet.services.documents.blocks import DocumentKind
from sestet.services.file_search import SKIPPED
from sestet.services.files import human_size
from sestet.services.own_files import Inode
from sestet.services.safe_open import MAX_DEPTH, READ_FLAGS
from sestet.services.text_encoding import is_binary

#: Directories with generated files; hidden directories are skipped anyway.
_GENERATED_DIRECTORIES = SKIPPED | {"venv", "site-packages", "bower_components"}
#: Keys and certificates must not turn up in a search.
_SECRETS = (".pem", ".key", ".p12", ".pfx", ".kdbx", ".keystore", ".jks")
#: Generated text files.
_GENERATED_FILES = (".svg", ".map", ".lock", ".min.js", ".min.css", ".ipynb")
_OWN = "Sestet's own settings or data"
_HEAD_BYTES = 8_192
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_MEGABYTE = 1_000_000
_LARGEST: dict[DocumentKind, int] = {
    "markdown": 50 * _MEGABYTE,
    "text": 50 * _MEGABYTE,
    "code": 5 * _MEGABYTE,
    "html": 20 * _MEGABYTE,
    "pdf": 100 * _MEGABYTE,
}
_MARKDOWN = "md markdown mdx mkd qmd"
_HTML = "html htm xhtml"
_CODE = """
    ada asm awk bash c cc clj cljs cmake cpp cs css cxx dart el elm erl ex exs f90 fish fs go gradle groovy
    h hh hpp hrl hs hx java jl js jsx kt kts less lisp lua m mjs ml mli mm nim nix pas php pl pm proto ps1 py
    pyi r rb rkt rs sass scala scm scss sh sql svelte swift tcl tf toml ts tsx v vala vb vhd vim vue yaml yml
    zig zsh
"""
_KINDS: dict[str, DocumentKind] = {
    ".pdf": "pdf",
    **{f".{ending}": "markdown" for ending in _MARKDOWN.split()},
    **{f".{ending}": "html" for ending in _HTML.split()},
    **{f".{ending}": "code" for ending in _CODE.split()},
}


class FoundFile(NamedTuple):
    """A file to read, or a path with the reason why it is skipped."""

    path: str
    skipped: str = ""
    #: The open directory and the name in it, so that a changed path cannot lead elsewhere.
    directory: int | None = None
    name: str = ""
    #: The path could not be examined.
    broken: bool = False


class OpenedDocument(NamedTuple):
    stream: BinaryIO
    kind: DocumentKind
    size: int


class SkippedFileError(Exception):
    """The file is not a document; the text says why."""


def printable(path: str) -> str:
    """A path as one line of text. Bytes that are not UTF-8 are escaped, since they cannot be stored.

    Line breaks are escaped too: a person or a model could take the second line for other text.
    """
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def find_files(path: Path, refused: frozenset[Inode] = frozenset()) -> Iterator[FoundFile]:
    """The file itself, or everything below a directory, ordered by name. Links are not followed.

    Directories in ``refused`` are not entered.
    """
    if not path.is_dir():
        if path.exists():
            yield FoundFile(str(path), name=str(path))
        return
    unreadable: list[OSError] = []
    for directory, directories, files, descriptor in os.fwalk(
        path, onerror=unreadable.append, follow_symlinks=False
    ):
        yield from (FoundFile(str(e.filename), e.strerror or str(e), broken=True) for e in unreadable)
        unreadable.clear()
        too_deep = len(Path(directory).parts) - len(path.parts) >= MAX_DEPTH
        entered: list[str] = []
        for name in sorted(directories):
            reason = _reason_against_directory(name, descriptor, refused)
            if too_deep and not reason:
                reason = f"more than {MAX_DEPTH} directories deep"
            if reason:
                yield FoundFile(os.path.join(directory, name), reason)
            else:
                entered.append(name)
        directories[:] = entered
        for name in sorted(files):
            reason = _reason_against_file(name, descriptor)
            yield FoundFile(os.path.join(directory, name), reason, descriptor, name)
    yield from (FoundFile(str(e.filename), e.strerror or str(e), broken=True) for e in unreadable)


@contextmanager
def open_file(found: FoundFile, refused: frozenset[Inode] = frozenset()) -> Generator[OpenedDocument]:
    """Open a file and tell its kind; raise ``SkippedFileError`` if it is not a document."""
    descriptor = os.open(found.name, READ_FLAGS, dir_fd=found.directory)
    with open(descriptor, "rb") as stream:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise SkippedFileError("not a file")
        if (state.st_dev, state.st_ino) in refused:
            raise SkippedFileError(_OWN)
        head = stream.read(_HEAD_BYTES)
        stream.seek(0)
        kind = _kind(found.name, head)
        if not head.strip():
            raise SkippedFileError("empty")
        if kind != "pdf" and is_binary(head):
            raise SkippedFileError("binary")
        if state.st_size > _LARGEST[kind]:
            raise SkippedFileError(
                f"too large: {human_size(state.st_size)}, and the most is {human_size(_LARGEST[kind])}"
            )
        yield OpenedDocument(stream, kind, state.st_size)


def _kind(name: str, head: bytes) -> DocumentKind:
    if head.startswith(b"%PDF-"):
        return "pdf"
    return _KINDS.get(os.path.splitext(name)[1].lower(), "text")


def _reason_against_directory(name: str, parent: int, refused: frozenset[Inode]) -> str:
    if name.startswith("."):
        return "hidden"
    if name in _GENERATED_DIRECTORIES:
        return "generated"
    try:
        state = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except OSError:
        return ""  # entering the directory will raise the error
    if stat.S_ISLNK(state.st_mode):
        return "a link"
    return _OWN if (state.st_dev, state.st_ino) in refused else ""


def _reason_against_file(name: str, parent: int) -> str:
    if name.startswith("."):
        return "hidden"
    if name.lower().endswith(_SECRETS):
        return "a key or certificate"
    if name.lower().endswith(_GENERATED_FILES):
        return "generated"
    return "a link" if _is_link(name, parent) else ""


def _is_link(name: str, parent: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except OSError:
        return False  # opening the file will raise the error
