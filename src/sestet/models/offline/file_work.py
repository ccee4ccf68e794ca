"""The operator's work with files: inexact names, descriptions, and questions that a line answers."""

import re
from collections.abc import Sequence

from sestet.core.message import ToolCall
from sestet.models.offline.listing import names_of, several, unlisted
from sestet.models.offline.naming import files_named, most_alike, numbered, siblings
from sestet.models.offline.parameters import FILE, QUOTED
from sestet.models.offline.words import trim_request, without_article
from sestet.models.offline.work import Flow, Next, Work, call, form, paths_of

#: How the orchestrator words requests that take more than one call.
READ_ABOUT = "read the file about {name}"
READ_WHICH = "read the {which} file that mentions {text}"
READ_OTHER = "read the other file that mentions {text}, not the one about {name}"
READ_LIKE = "read the file like {path}, but {which}"
SEARCH_FOLDER = "search {path} for {text}, or here for all of it"
ONLY_A_PART = (
    "I understood only a part of that, so nothing was changed. Say it with one request for each file, as in "
    "“copy a.txt to b.txt”."
)
#: Tools that change a file in its place.
CHANGES = ("fs_edit", "fs_move", "fs_copy", "fs_delete")
ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "next": 1, "last": -1}
_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
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


def leaves_out_file(calls: Sequence[ToolCall], work: Work) -> bool:
    """Whether calls that change files leave out a file of the request: half of it must not be done."""
    changes = [call for call in calls if call.name in (*CHANGES, "fs_write", "fs_append", "fs_mkdir")]
    if not changes:
        return False
    places = [str(call.arguments.get(name, "")) for call in changes for name in ("path", "destination")]
    # A text in quotes with more behind it: 'write "tea" to a.txt and to b.txt'.
    texts = [str(call.arguments.get("text", "")) for call in changes]
    if any(len(re.findall(FILE, place)) > 1 for place in places) or any(
        (quoted := re.match(QUOTED, text)) and re.search(FILE, text[quoted.end() :]) for text in texts
    ):
        return True
    given = " ".join(str(value) for call in calls for value in call.arguments.values()).casefold()
    named = re.findall(FILE, re.sub(QUOTED, " ", work.request))
    return any(file.casefold().removeprefix("./") not in given for file in named)


def with_folder(made: ToolCall, request: str) -> ToolCall:
    """ "Move a.md into docs" means the folder, also if it is not there yet."""
    place = str(made.arguments.get("destination", ""))
    path = str(made.arguments.get("path", ""))
    says_into = re.search(rf"\binto\s+(?:the\s+)?{re.escape(place)}(?:\s+(?:folder|directory))?\s*$", request)
    if not place or not says_into or re.search(FILE, place) or not re.search(FILE, path):
        return made
    inside = f"{place.rstrip('/')}/{path.rpartition('/')[2]}"
    return ToolCall(made.name, {**made.arguments, "destination": inside})


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


def after_changing(work: Work) -> Next:
    """A file to change that is not there may be in another folder: say where, and change nothing unasked."""
    if work.together > 1:
        # Each of several files has its own result.
        return None
    path = str(work.steps[0].call.arguments.get("path", ""))
    changed = work.steps[0].result
    # A call that the person denied has words for the person.
    if (
        not changed.failed
        or changed.for_person
        or "fs_search" not in work.tools
        or not re.fullmatch(FILE, path)
    ):
        return None
    if len(work.steps) == 1:
        return call("fs_search", text=path.rpartition("/")[2])
    name = path.rpartition("/")[2].casefold()
    there = [one for one in paths_of(work.last.result.found) if one.rpartition("/")[2].casefold() == name]
    if not there or path in there:
        return changed.text
    return f"I cannot find {path} here, so nothing was changed. Say the whole path: {', '.join(there)}."


def after_undoing(work: Work) -> Next:
    result = work.last.result
    return f"Nothing was undone: {result.text}." if result.failed and not result.for_person else None


def after_listing(work: Work) -> Next:
    """A name without its ending may mean a file: "read ideas"."""
    failed = [step for step in work.made("fs_read") if step.result.failed]
    if not failed:
        return None
    if listing := unlisted(work):
        return listing
    named = files_named(str(failed[0].call.arguments.get("path", "")), names_of(work))
    if len(named) == 1 and len(failed) == 1:
        return call("fs_read", path=named[0])
    return several(named) if len(named) > 1 else failed[0].result.for_person or failed[0].result.text


def after_searching(work: Work) -> Next:
    """What a search for a missing file found is read; else the first answer stands."""
    if work.steps[0].call.name in CHANGES:
        return after_changing(work)
    failed = [step for step in work.made("fs_read") if step.result.failed]
    if not failed:
        return _search_again(work)
    tried = {str(step.call.arguments.get("path", "")) for step in failed}
    wanted = str(work.last.call.arguments.get("text", "")).casefold()
    named = [
        path for path in paths_of(work.last.result.found) if path.rpartition("/")[2].casefold() == wanted
    ]
    exact = [path for path in named if any(path.casefold().endswith(one.casefold()) for one in tried)]
    named = exact if len(exact) == 1 else named
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


def _search_again(work: Work) -> Next:
    """ "A plumber" is nowhere in the files, but "plumber" may be; so with "plumbers"."""
    text = str(work.last.call.arguments.get("text", ""))
    bare = without_article(text)
    if bare == text and re.fullmatch(r"[\w-]{3,}s", text) and not text.endswith("ss"):
        # "Find all TODOs"
        bare = text[:-1]
    if work.last.result.found or len(work.steps) > 1 or bare == text or re.search(QUOTED, work.request):
        return None
    return call("fs_search", **{**work.last.call.arguments, "text": bare})


# Descriptions


def _read_about(work: Work, found: re.Match[str]) -> Next:
    if work.made("fs_read"):
        return None
    if listing := unlisted(work):
        return listing
    if named := files_named(found["name"], names_of(work)):
        return call("fs_read", path=named[0]) if len(named) == 1 else several(named)
    name = _without_kind(found["name"])
    searches = work.made("fs_search")
    if not searches:
        return call("fs_search", text=name)
    if paths := paths_of(work.last.result.found):
        return call("fs_read", path=paths[0]) if len(paths) == 1 else several(paths)
    words = sorted(name.split(), key=len)
    if len(words) > 1 and len(searches) == 1:
        return call("fs_search", text=words[-1])
    return f"There is no file here about “{name}”. Say “list the files” to see which files there are."


def _read_like(work: Work, found: re.Match[str]) -> Next:
    """Another file than the one that was read: the other one, the second one, the one for 5a."""
    if work.made("fs_read"):
        return None
    if listing := unlisted(work):
        return listing
    path, which, names = found["path"], found["which"].casefold(), names_of(work)
    others = [name for name in names if name != path]
    if which in ("other", "other one"):
        named = most_alike(path, siblings(path, names))
    elif (place := ORDINALS.get(which)) is not None:
        other = numbered(path, place + 1, names)
        beside = sorted((path, *siblings(path, names)))
        named = [other] if other else beside[place : place + 1 or None]
    else:
        named = files_named(which, others, path) or files_named(which, names, path)
    if not named:
        return f"There is no other file here that fits “{found['which']}”. Say “list the files” to see all."
    return call("fs_read", path=named[0]) if len(named) == 1 else several(named)


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


def _extreme_of(work: Work, found: re.Match[str]) -> Next:
    """The file with the most or the fewest bytes, here and in the folders."""
    if listing := unlisted(work):
        return listing
    files = [
        one for step in work.made("fs_list") for one in step.result.found if _bytes_of(one.text) is not None
    ]
    if not files:
        return "There are no files here."
    is_least = found["which"].casefold() in ("smallest", "shortest")
    chosen = (min if is_least else max)(files, key=lambda one: _bytes_of(one.text) or 0)
    return f"The {found['which'].casefold()} file is {chosen.name}: {chosen.text}."


def _bytes_of(size: str) -> float | None:
    """The bytes of a size as a listing shows it: "74 B", "1.2 kB"."""
    found = re.fullmatch(r"([\d.,]+) ?(B|kB|KB|MB|GB|TB)", size)
    return float(found[1].replace(",", "")) * _UNITS[found[2].upper()] if found else None


def _is_there(work: Work, found: re.Match[str]) -> Next:
    name = found["path"].strip("\"'`“”")
    is_exact = re.search(FILE, name) is not None
    if is_exact and not work.steps:
        return call("fs_search", text=name.rpartition("/")[2])
    if not is_exact and (listing := unlisted(work)):
        return listing
    wanted, paths = name.rpartition("/")[2].casefold(), paths_of(work.last.result.found)
    there = [path for path in paths if path.rpartition("/")[2].casefold() == wanted]
    there = there if is_exact else files_named(name, names_of(work))
    return f"Yes: {', '.join(there)}" if there else f"No, there is no file named “{name}” here."


def _search_folder(work: Work, found: re.Match[str]) -> Next:
    """ "Search for ERROR in logs": in this folder if it is there, else for all of the words."""
    if not work.steps:
        return call("fs_search", text=found["text"].strip("\"'`“”"), path=found["path"])
    if work.last.result.failed and len(work.steps) == 1:
        return call("fs_search", text=f"{found['text']} in {found['path']}")
    return None


#: Requests that take several calls: their words, the tools that they need, and the work.
FLOWS: tuple[tuple[re.Pattern[str], frozenset[str], Flow], ...] = (
    (form(READ_OTHER), frozenset({"fs_search", "fs_read"}), _read_which),
    (form(READ_WHICH), frozenset({"fs_search", "fs_read"}), _read_which),
    (form(READ_LIKE), frozenset({"fs_list", "fs_read"}), _read_like),
    (form(READ_ABOUT), frozenset({"fs_list", "fs_search", "fs_read"}), _read_about),
    (form(SEARCH_FOLDER), frozenset({"fs_search"}), _search_folder),
    (form("how big is the file {path}"), frozenset({"fs_list", "fs_search"}), _size_of),
    (form("which file is the {which}"), frozenset({"fs_list"}), _extreme_of),
    (form("is there a file named {path}"), frozenset({"fs_list", "fs_search"}), _is_there),
)
