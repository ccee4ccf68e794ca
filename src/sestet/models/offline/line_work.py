"""Changes of single lines: the value of a setting, and a line for a file that is only described."""

import re

from sestet.core.message import Found, ToolCall
from sestet.models.offline.listing import names_of, unlisted
from sestet.models.offline.naming import files_named
from sestet.models.offline.parameters import FILE
from sestet.models.offline.work import Flow, Next, Work, call, form, paths_of

#: How the orchestrator words a request to add to a file by its description.
ADD_ABOUT = "add the line {text} to the file about {name}"
#: How the orchestrator words a request to take a line out of the list that has it.
CROSS_OFF = "cross the line {text} off its list"
CROSS_OFF_NAMED = "cross the line {text} off the list named {name}"
#: How the orchestrator words a request for a new list, which becomes a file.
WRITE_LIST = "write the new list {name} with the items {items}"
_QUOTES = " \"'`“”"
_BETWEEN_ITEMS = re.compile(r"\s*[,;\n]\s*(?:and\s+)?|\s+and\s+", re.IGNORECASE)
#: Files that people keep lists in.
_NOTES = re.compile(r".*\.(?:txt|md|markdown|text)|[^.]+", re.IGNORECASE)
_SETTINGS = re.compile(r".*\.(?:toml|ini|cfg|conf|ya?ml|env|properties|json)", re.IGNORECASE)
_NO_SETTING = "I found no single line in {path} that sets “{key}”, so nothing was changed."
_NO_FILE = "There is no file here that fits “{name}”, so nothing was added. Say the name of the file."
_ELSEWHERE = (
    "Nothing was added: {path} is not here. Say the whole path ({there}), or ./{path} for a new file."
)
_LIST_IS_THERE = (
    "There is a {name} already ({files}), so nothing was written. "
    "To add to it, say “add {first} to my {name}”."
)
_NO_LINE = "No list here has a line “{text}”, so nothing was changed."
_NOT_ONE_LINE = "Several lines say “{text}”, so nothing was changed. Say it with the name of the file."
_WHICH = "Several files fit “{name}”, so nothing was added. Say which one: {files}."


def change_setting(work: Work, found: re.Match[str]) -> Next:
    """ "Change the port to 9090 in app.toml": the value of the one line that sets it, and nothing else.

    Where no line sets it, "change soup to stew" replaces the words themselves.
    """
    given = {name.rstrip("23"): value for name, value in found.groupdict().items() if value}
    path, key, value = (given[name].strip(_QUOTES) for name in ("path", "key", "value"))
    # "Change food to 350" means the number beside the word: words are not replaced by a number.
    is_number = re.match(r"[€$£]?\d", value) is not None and not any(map(str.isdigit, key))
    is_setting = "plainly" in given or is_number or _SETTINGS.fullmatch(path) is not None
    if not work.steps:
        return call("fs_search", text=key, path=path) if is_setting else None
    if work.last.call.name != "fs_search":
        return None
    if work.last.result.failed:
        return f"Nothing was changed: {work.last.result.text}"
    hits = work.last.result.found
    lines = [changed for one in hits if (changed := _with_value(one, key, value))]
    if not lines and is_number:
        lines = [changed for one in hits if (changed := _with_number(one, key, value))]
    if not lines and not is_number and "plainly" not in given:
        return call("fs_edit", path=path, old=key, new=value)
    if len(lines) != 1:
        return _NO_SETTING.format(path=path, key=key)
    old, new = lines[0]
    return call("fs_edit", path=path, old=old, new=new)


def _with_value(line: Found, key: str, value: str) -> tuple[str, str] | None:
    """A line that sets the key, as it is and with the new value; quotes around the old value stay."""
    sets = re.match(
        rf"(?P<head>\s*(?:[-*]\s+)?[\"']?{re.escape(key)}[\"']?\s*[:=]\s*)(?P<quote>[\"']?)(?P<old>[^\"'#]*?)(?P<end>(?P=quote),?\s*(?:#.*)?)$",
        line.text,
        re.IGNORECASE,
    )
    return (line.text, f"{sets['head']}{sets['quote']}{value}{sets['end']}") if sets else None


def _with_number(line: Found, key: str, value: str) -> tuple[str, str] | None:
    """A line with the words and one number behind them, as it is and with the new number: "food,320"."""
    found = re.fullmatch(
        rf"(?P<head>(?:.*\W)?{re.escape(key)}(?!\w)\D*?)(?P<old>\d+(?:[.,]\d+)*)(?P<end>\D*)",
        line.text,
        re.IGNORECASE,
    )
    is_one = found is not None and not any(map(str.isdigit, found["head"]))
    return (line.text, f"{found['head']}{value}{found['end']}") if found is not None and is_one else None


def _add_about(work: Work, found: re.Match[str]) -> Next:
    """A line at the end of the one file that a description fits; else nothing is added."""
    if work.made("fs_append"):
        return None
    if listing := unlisted(work):
        return listing
    name = found["name"]
    named = files_named(name, names_of(work))
    if len(named) > 1:
        return _WHICH.format(name=name, files=", ".join(named))
    if not named:
        return _NO_FILE.format(name=name)
    return call("fs_append", path=named[0], text=found["text"].strip(_QUOTES))


def list_of(request: str) -> str:
    """The list, or the description of a file, that a request writes or adds to; empty: it does neither."""
    found = form(WRITE_LIST).fullmatch(request) or form(ADD_ABOUT).fullmatch(request)
    return found["name"] if found else ""


def crosses_off(request: str) -> bool:
    return any(form(text).fullmatch(request) for text in (CROSS_OFF_NAMED, CROSS_OFF))


def path_of_list(name: str) -> str:
    """The file of a list: "shopping list" is shopping-list.txt."""
    return f"{re.sub(r'[^a-z0-9]+', '-', name.casefold()).strip('-')}.txt"


def _write_list(work: Work, found: re.Match[str]) -> Next:
    """A new file with a line for each item; a list that is there already stays as it is."""
    if work.made("fs_write"):
        return None
    if listing := unlisted(work):
        return listing
    name = found["name"]
    items = [item.strip(_QUOTES) for item in _BETWEEN_ITEMS.split(found["items"].strip(" .!"))]
    if named := files_named(name, names_of(work)):
        return _LIST_IS_THERE.format(name=name, files=", ".join(named), first=items[0])
    return call("fs_write", path=path_of_list(name), text="\n".join(filter(None, items)) + "\n")


def _cross_off(work: Work, found: re.Match[str]) -> Next:
    """The one line of a file that says only this, but for its mark, is removed."""
    text = found["text"].strip(_QUOTES)
    if work.made("fs_edit"):
        return None
    if not work.steps:
        return call("fs_search", text=text)
    mark = re.compile(
        rf"\s*(?:[-*+•]\s*|\d+[.)]\s*)?(?:\[ ?\]\s*)?{re.escape(text)}\s*[.;,]?\s*", re.IGNORECASE
    )
    lines = [one for one in work.last.result.found if mark.fullmatch(one.text) and _NOTES.fullmatch(one.name)]
    if name := found.groupdict().get("name"):
        lists = files_named(name, [one.name for one in lines])
        lines = [one for one in lines if one.name in lists or name.casefold() == "list"]
    if len(lines) != 1:
        return (_NOT_ONE_LINE if lines else _NO_LINE).format(text=text)
    return call("fs_edit", path=lines[0].name, old=f"{lines[0].text}\n", new="")


def place_of_addition(calls: tuple[ToolCall, ...], work: Work) -> Next:
    """The calls of a request, unless they add to a file that is only in a folder: where it is."""
    path = str(calls[0].arguments.get("path", "")) if [made.name for made in calls] == ["fs_append"] else ""
    if not re.fullmatch(FILE, path) or "/" in path or "fs_search" not in work.tools:
        return () if work.steps else calls
    if not work.steps:
        return call("fs_search", text=path)
    there = paths_of(work.last.result.found)
    elsewhere = [one for one in there if one.rpartition("/")[2] == path]
    if path in there or not elsewhere:
        return calls
    return _ELSEWHERE.format(path=path, there=", ".join(elsewhere))


#: Requests that take several calls: their words, the tools that they need, and the work.
FLOWS: tuple[tuple[re.Pattern[str], frozenset[str], Flow], ...] = (
    (form(ADD_ABOUT), frozenset({"fs_list", "fs_append"}), _add_about),
    (form(CROSS_OFF_NAMED), frozenset({"fs_search", "fs_edit"}), _cross_off),
    (form(CROSS_OFF), frozenset({"fs_search", "fs_edit"}), _cross_off),
    (form(WRITE_LIST), frozenset({"fs_list", "fs_write"}), _write_list),
)
