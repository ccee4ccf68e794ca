"""The operator's work with files: inexact names, descriptions, and questions that a line answers."""

import re
from collections.abc import Iterable, Sequence

from sestet.core.message import Found, ToolCall
from sestet.core.words import stem
from sestet.models.offline.answering import lines_that_answer, read_question, shortened_words
from sestet.models.offline.conversation import NOT_UNDERSTOOD, nothing_on_record
from sestet.models.offline.naming import files_named, numbered, siblings
from sestet.models.offline.parameters import FILE, QUOTED
from sestet.models.offline.words import asks, trim_request, without_article
from sestet.models.offline.work import Flow, Next, Work, call, form, paths_of

#: How the orchestrator words requests that take more than one call.
READ_ABOUT = "read the file about {name}"
READ_WHICH = "read the {which} file that mentions {text}"
READ_OTHER = "read the other file that mentions {text}, not the one about {name}"
READ_LIKE = "read the file like {path}, but {which}"
ANSWER = "look in the files for an answer: {question}"
ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "next": 1, "last": -1}
_MOST_FOLDERS = 24
_MOST_WORDS = 5
_MOST_LINES = 5
_MOST_TABLES = 2
_SHORTEST_STEM = 3
#: Folders of tools, whose files nobody means.
_NOT_ONES_OWN = re.compile(r"(?:^|/)(?:\.|node_modules|__pycache__|venv)")
_READS = re.compile(
    r"(?:please\s+)?(?:read|open|show|display|print|view|cat|see|what\s+is\s+in|what\s+does)(?:\s+me|\s+us)?(?:\s+out)?(?:\s+the|\s+my)?(?:\s+file|\s+document|\s+contents?\s+of(?:\s+the)?)?\s+(?P<name>\S.*)",
    re.IGNORECASE,
)
_SPACED_FILE = re.compile(r"(?P<name>[^\s,;\"'“”`][^,;\"“”`\n]*?\.[a-zA-Z][a-zA-Z0-9]{0,4})\b", re.IGNORECASE)
_NO_NAME = re.compile(
    r"\b(?:and|(?:lines?|part|end|top|beginning|contents?|rest) of|from line|in the)\b", re.IGNORECASE
)


def searched_text(request: str) -> str:
    """The text that a request to read one of several files has searched for; empty for another request."""
    found = form(READ_OTHER).fullmatch(request) or form(READ_WHICH).fullmatch(request)
    return found["text"] if found else ""


def subject_of_file(request: str) -> str:
    """What a request to read the file about something says; empty for another request."""
    found = form(READ_ABOUT).fullmatch(request)
    return found["name"] if found else ""


def is_reading(request: str) -> bool:
    """Whether a request in the orchestrator's words reads a file that must be found first."""
    return any(form(text).fullmatch(request) for text in (READ_ABOUT, READ_WHICH, READ_OTHER, READ_LIKE))


# Names


def begin_with_spaced_name(work: Work) -> Next:
    """Reading begins with the longest name that the request may mean: "read stock list.csv"."""
    reads = _READS.fullmatch(trim_request(work.request))
    if reads is None or "fs_read" not in work.tools or re.search(QUOTED, work.request):
        return None
    name = _SPACED_FILE.match(reads["name"])
    if name is None or " " not in name["name"] or _NO_NAME.search(name["name"]):
        return None
    return call("fs_read", path=name["name"])


def after_reading(work: Work) -> Next:
    """A file that is not there may be in another folder."""
    if not work.last.result.failed or "fs_search" not in work.tools or work.made("fs_search"):
        return None
    if re.search(QUOTED, work.request):
        return None
    path = str(work.steps[0].call.arguments.get("path", ""))
    name = path.rstrip("/").rpartition("/")[2]
    if len(work.steps) > 1 or "fs_list" not in work.tools or len(work.last.call.arguments) > 1:
        return None
    return call("fs_search", text=name) if re.search(FILE, name) else after_listing(work)


def after_listing(work: Work) -> Next:
    """A name without its ending may mean a file: "read ideas"."""
    failed = [step for step in work.made("fs_read") if step.result.failed]
    if not failed:
        return None
    if listing := _unlisted(work):
        return listing
    named = files_named(str(failed[0].call.arguments.get("path", "")), _names(work))
    if len(named) == 1 and len(failed) == 1:
        return call("fs_read", path=named[0])
    return _several(named) if len(named) > 1 else failed[0].result.for_person or failed[0].result.text


def after_searching(work: Work) -> Next:
    """What a search for a missing file found is read; else the first answer stands."""
    failed = [step for step in work.made("fs_read") if step.result.failed]
    if not failed:
        return None
    tried = {str(step.call.arguments.get("path", "")) for step in failed}
    wanted = str(work.last.call.arguments.get("text", "")).casefold()
    named = [
        path for path in paths_of(work.last.result.found) if path.rpartition("/")[2].casefold() == wanted
    ]
    if len(named) == 1 and named[0] not in tried:
        return call("fs_read", path=named[0])
    if len(named) > 1:
        return "\n".join(
            ("There are several files with this name; say which one:", *(f"- {path}" for path in named))
        )
    if " " in wanted and not any(" " not in path for path in tried):
        # The name may be only the last word: "read me grandma's notes.txt".
        return call("fs_read", path=wanted.split()[-1])
    return failed[0].result.for_person or failed[0].result.text


# Descriptions


def _unlisted(work: Work) -> tuple[ToolCall, ...]:
    """The calls that list the folders which are not listed yet; none when all names are known."""
    listed = {str(step.call.arguments.get("path")) for step in work.made("fs_list")}
    if not listed:
        return (call("fs_list", path="."),)
    found = (one.name for step in work.made("fs_list") for one in step.result.found)
    folders = [name.rstrip("/") for name in found if name.endswith("/") and not _NOT_ONES_OWN.search(name)]
    left = [name for name in folders if name not in listed]
    return tuple(call("fs_list", path=name) for name in left[: max(0, _MOST_FOLDERS - len(listed))])


def _names(work: Work) -> list[str]:
    return paths_of([one for step in work.made("fs_list") for one in step.result.found])


def _several(paths: Iterable[str]) -> str:
    return "\n".join(("Several files fit; say which one to read:", *(f"- {path}" for path in paths)))


def _read_about(work: Work, found: re.Match[str]) -> Next:
    if work.made("fs_read"):
        return None
    if listing := _unlisted(work):
        return listing
    if named := files_named(found["name"], _names(work)):
        return call("fs_read", path=named[0]) if len(named) == 1 else _several(named)
    name = _without_kind(found["name"])
    searches = work.made("fs_search")
    if not searches:
        return call("fs_search", text=name)
    if paths := paths_of(work.last.result.found):
        return call("fs_read", path=paths[0]) if len(paths) == 1 else _several(paths)
    words = sorted(name.split(), key=len)
    if len(words) > 1 and len(searches) == 1:
        return call("fs_search", text=words[-1])
    return f"There is no file here about “{name}”. Say “list the files” to see which files there are."


def _read_like(work: Work, found: re.Match[str]) -> Next:
    """Another file than the one that was read: the other one, the second one, the one for 5a."""
    if work.made("fs_read"):
        return None
    if listing := _unlisted(work):
        return listing
    path, which, names = found["path"], found["which"].casefold(), _names(work)
    others = [name for name in names if name != path]
    if which in ("other", "other one"):
        named = siblings(path, names)
    elif (place := ORDINALS.get(which)) is not None:
        other = numbered(path, place + 1, names)
        beside = sorted((path, *siblings(path, names)))
        named = [other] if other else beside[place : place + 1 or None]
    else:
        named = files_named(which, others, path) or files_named(which, names, path)
    if not named:
        return f"There is no other file here that fits “{found['which']}”. Say “list the files” to see all."
    return call("fs_read", path=named[0]) if len(named) == 1 else _several(named)


def _read_which(work: Work, found: re.Match[str]) -> Next:
    if not work.steps:
        return call("fs_search", text=found["text"])
    if work.last.call.name == "fs_read":
        return None
    paths = paths_of(work.last.result.found)
    groups = found.groupdict()
    if name := (groups.get("name") or "").casefold():
        lines = work.last.result.found
        about = {one.name for one in lines if name in one.name.casefold()} or {
            one.name for one in lines if name in one.text.casefold()
        }
        paths = [path for path in paths if path not in about]
    place = ORDINALS.get((groups.get("which") or "first").casefold(), 0)
    if not -len(paths) <= place < len(paths):
        return f"There is no such file: {len(paths)} mention “{found['text']}”."
    return call("fs_read", path=paths[place])


def _without_kind(name: str) -> str:
    """The name without words that only say what kind of thing it names: "the lentil soup recipe"."""
    name = without_article(name.strip(" .?!\"'“”"))
    return re.sub(
        r"(?<=\w)\s+(?:file|document|recipe|note|notes|text|table|spreadsheet)$",
        "",
        name,
        flags=re.IGNORECASE,
    )


# Questions


def _answer(work: Work, found: re.Match[str]) -> Next:
    """The lines with the telling words of a question; for mere words, a file with this name."""
    question = found["question"]
    is_asked = "?" in question or asks(question)
    nothing = nothing_on_record(question) if is_asked else NOT_UNDERSTOOD
    if work.made("fs_read"):
        return None
    if not is_asked:
        if listing := _unlisted(work):
            return listing
        if named := files_named(question, _names(work)):
            return call("fs_read", path=named[0]) if len(named) == 1 else _several(named)
    searches = work.made("fs_search")
    if not searches:
        words = [*map(_searched, read_question(question).telling)][:_MOST_WORDS]
        return tuple(call("fs_search", text=word) for word in dict.fromkeys(words)) or nothing
    lines = list(dict.fromkeys(one for step in searches for one in step.result.found if one.text))
    if answers := lines_that_answer(question, lines):
        return _shown(answers)
    tables = _tables(work)
    if tables and not any(step.call.arguments.get("text") == "," for step in searches):
        return tuple(call("fs_search", text=",", path=path) for path in tables)
    rows = [step.result.found for step in searches if step.call.arguments.get("text") == ","]
    answers = [
        one for table in rows if table for one in lines_that_answer(question, table[1:], table[0].text)
    ]
    heads = [table[0] for table in rows if table and any(one.name == table[0].name for one in answers)]
    return _shown((*heads, *answers)) if answers else nothing


def _tables(work: Work) -> list[str]:
    """The tables with the most hits: the head of a table says what its columns are."""
    found = [one.name for step in work.made("fs_search") for one in step.result.found]
    tables = [path for path in dict.fromkeys(found) if path.casefold().endswith((".csv", ".tsv"))]
    return sorted(tables, key=lambda path: -found.count(path))[:_MOST_TABLES]


def _searched(word: str) -> str:
    """The beginning of a word that every form of it has: days and months are often shortened."""
    if word in shortened_words():
        return word[:3]
    short = stem(word)
    return short if len(short) >= _SHORTEST_STEM else word


def _shown(lines: Sequence[Found]) -> str:
    shown = [f"- {one.name}: {one.text.strip()}" for one in lines[:_MOST_LINES]]
    more = [f"… and {len(lines) - _MOST_LINES} more"] if len(lines) > _MOST_LINES else []
    return "\n".join(("In your files:", *shown, *more))


# Facts about files


def _size_of(work: Work, found: re.Match[str]) -> Next:
    path = found["path"].strip("\"'`“”")
    name = path.rpartition("/")[2].casefold()
    if not work.steps:
        return call("fs_list", path=path.rpartition("/")[0] or ".")
    sizes = {
        one.name: one.text for one in work.last.result.found if one.name.rpartition("/")[2].casefold() == name
    }
    if work.last.call.name == "fs_list" and sizes:
        return "\n".join(f"{where}: {size}" for where, size in sizes.items())
    if work.last.call.name == "fs_list" and len(work.steps) == 1:
        return call("fs_search", text=name)
    if sizes:
        return call("fs_list", path=next(iter(sizes)).rpartition("/")[0] or ".")
    return f"There is no file named “{path}” here."


def _is_there(work: Work, found: re.Match[str]) -> Next:
    name = found["path"].strip("\"'`“”")
    is_exact = re.search(FILE, name) is not None
    if is_exact and not work.steps:
        return call("fs_search", text=name.rpartition("/")[2])
    if not is_exact and (listing := _unlisted(work)):
        return listing
    wanted, paths = name.rpartition("/")[2].casefold(), paths_of(work.last.result.found)
    there = [path for path in paths if path.rpartition("/")[2].casefold() == wanted]
    there = there if is_exact else files_named(name, _names(work))
    return f"Yes: {', '.join(there)}" if there else f"No, there is no file named “{name}” here."


#: Requests that take several calls: their words, the tools that they need, and the work.
FLOWS: tuple[tuple[re.Pattern[str], frozenset[str], Flow], ...] = (
    (form(READ_OTHER), frozenset({"fs_search", "fs_read"}), _read_which),
    (form(READ_WHICH), frozenset({"fs_search", "fs_read"}), _read_which),
    (form(READ_LIKE), frozenset({"fs_list", "fs_read"}), _read_like),
    (form(READ_ABOUT), frozenset({"fs_list", "fs_search", "fs_read"}), _read_about),
    (form(ANSWER), frozenset({"fs_list", "fs_search", "fs_read"}), _answer),
    (form("how big is the file {path}"), frozenset({"fs_list", "fs_search"}), _size_of),
    (form("is there a file named {path}"), frozenset({"fs_list", "fs_search"}), _is_there),
)
