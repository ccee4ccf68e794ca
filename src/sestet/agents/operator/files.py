"""Tools to list, read and search files of the working directory."""

import asyncio
from typing import Annotated

from sestet.core.label import CLEAN, Findings, Labelled
from sestet.core.message import Found
from sestet.core.tool import tool
from sestet.services.file_search import Match, Matches
from sestet.services.files import DirectoryEntry, Excerpt, Files, Listing, human_size

# Control characters become visible symbols (U+2400 and up), so that they cannot move a terminal's cursor.
_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
_VISIBLE = {**_PICTURES, 0x7F: 0x2421, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}
#: So many lines of a file that was read are found one by one, and so much of each.
_MOST_FOUND = 100
_LONGEST_FOUND = 200
# Joins emoji into one; it hides no text.
_JOINER = "\u200d"


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "list the files here",
        "list the files",
        "what files are here",
        "which files are there",
        "show me the files",
        "list the files in {path}",
        "what files are in {path}",
        "which files are in {path}",
        "show me the files in {path}",
        "show me the folder {path}",
        "list the folder {path}",
        "what is in the folder {path}",
        "what is in this folder",
        "what is in this directory",
        "list the contents of the directory {path}",
        "ls",
        "ls {path}",
    ),
)
async def fs_list(
    files: Files,
    /,
    path: Annotated[str, "The directory, relative to the working directory"] = ".",
) -> Findings:
    """List what a directory holds: directories first, their names ending in '/', then files with sizes."""
    listing = files.list_at_once(path) or await asyncio.to_thread(files.list, path)
    return Findings(_show_listing(listing), _entries(listing))


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "read {path}",
        "read the file {path}",
        "read me the file {path}",
        "show me {path}",
        "show me the file {path}",
        "show me the contents of {path}",
        "what is in {path}",
        "what is in the file {path}",
        "what does {path} say",
        "what does the file {path} say",
        "open the file {path}",
        "print the file {path}",
        "read {path} from line {start}",
        "print {lines} lines of {path}",
        "look into {path}",
        "let me see {path}",
        "cat {path}",
    ),
)
async def fs_read(
    files: Files,
    /,
    path: Annotated[str, "The file, relative to the working directory"],
    start: Annotated[int, "The first line to read, counted from 1", {"minimum": 1}] = 1,
    lines: Annotated[int, "How many lines at most", {"minimum": 1, "maximum": 2_000}] = 400,
) -> Findings:
    """Read a text file, whole or in parts. The answer says how much is left and at which line it goes on."""
    found = files.read_at_once(path, start, lines) or await asyncio.to_thread(files.read, path, start, lines)
    if isinstance(found, Listing):
        return Findings(f"{_show_name(found.path)} is a directory. {_show_listing(found)}", _entries(found))
    return Findings(_show_excerpt(found), _lines(found))


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "which files contain {text}",
        "which files contain the word {text}",
        "which files mention {text}",
        "search for {text} in the files",
        "search the files for {text}",
        "search in files for {text}",
        "search for {text} in the folder {path}",
        "find {text} in the files",
        "find {text} in {path}",
        "find the file {text}",
        "find files named {text}",
        "in which file is {text}",
        "look for {text} in the files",
        "where in the files is {text}",
        "is there a file about {text}",
        "is there anything about {text} in my files",
        "grep {text}",
        "grep {text} in {path}",
    ),
)
async def fs_search(
    files: Files,
    /,
    text: Annotated[str, "What to look for, as plain text on one line; upper and lower case are the same"],
    path: Annotated[str, "Where to look: a directory with all below it, or one file"] = ".",
    glob: Annotated[str, "Only files whose name or path fits, such as *.py or docs/*"] = "*",
) -> Findings | Labelled:
    """Find a text in the names and contents of files. Matches in contents read 'path:line: text'.

    Binary files, files over 2 MB, .git, node_modules, .venv and __pycache__ are left out.
    """
    matches = await asyncio.to_thread(files.search, text, path, glob)
    if not matches.found:
        # It shows nothing of any file.
        return Labelled(_show_matches(text, matches), CLEAN)
    found = tuple(Found(match.path, match.text) for match in matches.found)
    return Findings(_show_matches(text, matches), found)


def _show_listing(listing: Listing) -> str:
    where = _show_name(listing.path)
    if not listing.entries:
        return f"Files in {where}: none, the directory is empty."
    lines = [f"Files in {where}:", *map(_show_entry, listing.entries)]
    if listing.left_out:
        lines.append(f"… and {listing.left_out:,} more")
    counts = [
        _count(listing.directories, "directory", "directories"),
        _count(listing.others, "file", "files"),
    ]
    if listing.hidden:
        counts.append(f"{listing.hidden:,} of them hidden")
    at_least = "" if listing.complete else "at least "
    return "\n".join((*lines, f"({at_least}{', '.join(counts)})"))


def _entries(listing: Listing) -> tuple[Found, ...]:
    """The files with their sizes; the name of a directory ends with a slash."""
    prefix = "" if listing.path == "." else f"{listing.path}/"
    return tuple(
        Found(f"{prefix}{entry.name}/")
        if entry.kind == "directory"
        else Found(f"{prefix}{entry.name}", "" if entry.size is None else human_size(entry.size))
        for entry in listing.entries
    )


def _lines(excerpt: Excerpt) -> tuple[Found, ...]:
    """The first lines with the name of the file; at least one, which may be empty."""
    lines = excerpt.text.split("\n", _MOST_FOUND)[:_MOST_FOUND]
    return tuple(Found(excerpt.path, line[:_LONGEST_FOUND]) for line in lines if line) or (
        Found(excerpt.path),
    )


def _show_entry(entry: DirectoryEntry) -> str:
    name = _show_name(entry.name)
    if entry.kind == "directory":
        return f"{name}/"
    if entry.kind == "link":
        return f"{name} -> {_show_name(entry.target)}"
    if entry.kind == "special":
        return f"{name}  (not a file that can be read)"
    return f"{name}  {'size unknown' if entry.size is None else human_size(entry.size)}"


def _show_excerpt(excerpt: Excerpt) -> str:
    name = _show_name(excerpt.path)
    if not excerpt.text:
        return f"{name} is empty."
    whole = excerpt.first == 1 and not excerpt.left
    head = f"{name}:" if whole else f"{name}, lines {excerpt.first} to {excerpt.last}:"
    parts = [head, excerpt.text.translate(_VISIBLE).removesuffix("\n")]
    if excerpt.cut:
        parts.append(f"… line {excerpt.first} is longer; its rest is not shown")
    if excerpt.left:
        parts.append(f"… {human_size(excerpt.left)} more; it goes on with start={excerpt.last + 1}")
    return "\n".join(parts)


def _show_matches(text: str, matches: Matches) -> str:
    where = _show_name(matches.path)
    if matches.found:
        lines = [f"Found {text!r} in {where}:", *map(_show_match, matches.found)]
    else:
        lines = [f"Nothing in {where} contains {text!r}."]
    if matches.limit:
        lines.append(f"… stopped after {matches.limit}; a narrower search may find more")
    if matches.too_large:
        lines.append(f"(Left out as over 2 MB: {_count(matches.too_large, 'file', 'files')})")
    if matches.unreadable:
        lines.append(f"(Could not be read: {matches.unreadable:,})")
    return "\n".join(lines)


def _show_match(match: Match) -> str:
    name = _show_name(match.path)
    return f"{name}:{match.line}: {match.text.translate(_VISIBLE)}" if match.line else name


def _show_name(name: str) -> str:
    """A name on one line, quoted and escaped if it could be mistaken for other text."""
    plain = name == name.strip() and name.replace(_JOINER, "").isprintable()
    return name if plain else repr(name)


def _count(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"
