"""The operator's work with commands and whole lines: tests, scripts, counting, files of several lines."""

import re
import shlex
from collections.abc import Container, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from sestet.core.message import Found, ToolCall
from sestet.models.offline.line_work import change_setting
from sestet.models.offline.parameters import FILE, NUMBER, NUMBER_WORDS, QUOTED, QUOTED_FILE
from sestet.models.offline.patterns import compiled, read_table
from sestet.models.offline.words import trim_request
from sestet.models.offline.work import Flow, Next, Work, call, paths_of

_NO_TESTS = (
    "I found no tests here: no Makefile with the target “test”, no test files for Python, no package.json "
    "with a “test” script, no Cargo.toml and no go.mod. Say which command runs them, as in “run make check”."
)
_WHICH_COMMAND = (
    "I cannot tell which command “{what}” is here. Say the command itself, as in “run make lint”."
)
_NO_TEXT_OF_ITS_OWN = (
    "I cannot think of a text, so nothing was written: that takes a real model (`sestet setup` finds one). "
    "I can write the words that you give me."
)
_PLACEHOLDERS = (
    "Your message does not say what the lines are, so these are placeholders. To replace them, say it as in "
    "“write a file {path} with two lines: milk; bread”."
)
_OTHER_COUNT = (
    "I count {found} in your message, and you ask for {wanted}. Nothing was written: put each line on a line "
    "of its own, or separate them with “;”."
)
_MOST_LINES = 50
_QUOTES = " \t\n\"'`“”"
_TEST_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$")
#: Programs that change files: the tool that does the same, and whether it takes a second name.
_TYPED = {
    "rm": ("fs_delete", False),
    "mv": ("fs_move", True),
    "cp": ("fs_copy", True),
    "mkdir": ("fs_mkdir", False),
}
#: A last line without its end counts too, which "wc -l" leaves out.
_COUNTED = {"lines": "grep -c ''", "rows": "grep -c ''", "words": "wc -w", "characters": "wc -m"}


def is_script(path: str) -> bool:
    return path.rpartition(".")[2].casefold() in read_table("commands")["programs"]


def is_command_work(text: str) -> bool:
    """Whether a message, which may have several clauses, is one piece of this work."""
    return any(_found(name, text) for name in _flows())


def _found(name: str, text: str) -> re.Match[str] | None:
    found = _patterns()[name].fullmatch(text.strip(" .!?"))
    found = found or _patterns()[name].fullmatch(trim_request(text))
    return None if found is None or (name == "new_script" and _known_script(found["deed"]) is None) else found


# Tests


def _run_tests(work: Work, _: re.Match[str]) -> Next:
    """Look how this project runs its tests, then run them; the command's own rules say whether to ask."""
    if work.made("exec_run"):
        ran = work.made("exec_run")[-1]
        return None if ran.result.failed else f"`{ran.call.arguments['command']}`:\n{ran.result.text}"
    if not work.steps:
        return call("fs_list", path=".")
    here = {one.name for one in work.steps[0].result.found}
    if len(work.steps) == 1:
        return _looks_for_tests(here)
    command = _test_command(here, [one for step in work.steps[1:] for one in step.result.found])
    return call("exec_run", command=command) if command else _NO_TESTS


def _looks_for_tests(here: set[str]) -> tuple[ToolCall, ...]:
    named = [entry["file"] for entry in read_table("commands")["test"] if entry["file"] in here]
    return (
        *(call("fs_search", text="test", path=file) for file in named),
        call("fs_search", text="test", glob="*.py"),
        call("fs_search", text="pytest", glob="*.*"),
    )


def _test_command(here: set[str], found: list[Found]) -> str:
    for entry in read_table("commands")["test"]:
        lines = [one.text for one in found if one.name == entry["file"]]
        if entry["file"] in here and (not entry["needs"] or any(re.search(entry["needs"], t) for t in lines)):
            return str(entry["command"])
    files = list(dict.fromkeys(one.name for one in found if _TEST_FILE.search(one.name)))
    if not files:
        return ""
    lines = [one.text for one in found if one.name in files]
    uses_pytest = any("pytest" in one.text for one in found) or "conftest.py" in here
    if any("unittest" in line for line in lines) and not uses_pytest:
        folder = files[0].rpartition("/")[0]
        return f"python3 -m unittest discover -s {shlex.quote(folder)}" if folder else "python3 -m unittest"
    return "python3 -m pytest -q"


# Scripts


def _run_script(work: Work, found: re.Match[str]) -> Next:
    """A script with the program for its ending; one that is not here may be in a folder."""
    path = found["path"].removeprefix("./")
    program = program_for(path)
    if program is None or work.made("exec_run"):
        return None
    name = path.rpartition("/")[2]
    if not work.steps:
        return call("fs_search", text=name)
    there = [one for one in paths_of(work.last.result.found) if f"/{one}".endswith(f"/{path}")]
    if len(there) > 1 and path not in there:
        return "\n".join(("There are several files with this name; say which one:", *there))
    if not there:
        return f"There is no file named “{path}” here, so I cannot run it."
    return call("exec_run", command=f"{program} {shlex.quote(path if path in there else there[0])}")


def _decline_text(_: Work, __: re.Match[str]) -> Next:
    return _NO_TEXT_OF_ITS_OWN


def _say_which(_: Work, found: re.Match[str]) -> Next:
    return _WHICH_COMMAND.format(what=found["what"])


class _Script(NamedTuple):
    name: str
    text: str


def _known_script(deed: str) -> _Script | None:
    """The script of the table that does this; None: it takes a model to write it."""
    for said, name, text in _scripts():
        if found := said.fullmatch(deed.strip(" .!?")):
            values = {key: repr(value.strip(_QUOTES)) for key, value in found.groupdict().items()}
            return _Script(name, text.format(**values).lstrip("\n"))
    return None


def _write_script(work: Work, found: re.Match[str]) -> Next:
    script = _known_script(found["deed"])
    if script is None:
        return None
    name = found["name"] or script.name
    if not work.steps:
        return call("fs_write", path=name, text=script.text)
    written = work.made("fs_write")[-1].result
    if written.failed or not found["run"]:
        return None
    if not work.made("exec_run"):
        return call("exec_run", command=f"python3 {shlex.quote(name)}")
    ran = work.last.result
    return f"{written.text}\n\n{ran.for_person or ran.text}"


def _run_command(work: Work, found: re.Match[str]) -> Next:
    return None if work.steps else call("exec_run", command=found["command"])


# Lines


def _count(work: Work, found: re.Match[str]) -> Next:
    what, path = found["what"] or found["what2"], found["path"] or found["path2"]
    command = f"{_COUNTED[what.casefold()]} {{path}}"
    return _run_on_file(work, path, command)


def _run_on_file(work: Work, path: str, command: str) -> Next:
    """Run a command on a file, also on the only one with this name in a folder."""
    if work.made("exec_run"):
        return None
    if not work.steps and "fs_search" in work.tools:
        return call("fs_search", text=path.rpartition("/")[2])
    found = work.last.result.found if work.steps else ()
    there = [one for one in paths_of(found) if f"/{one}".endswith(f"/{path}")]
    if not there or path in there:
        return call("exec_run", command=command.format(path=shlex.quote(path)))
    if len(there) > 1:
        return "\n".join(("There are several files with this name; say which one:", *there))
    return call("exec_run", command=command.format(path=shlex.quote(there[0])))


def _changed(work: Work, found: re.Match[str]) -> Next:
    path = found["path"] or found["path2"]
    if not work.steps:
        return call("exec_run", command=f"date -r {shlex.quote(path)} '+%F %H:%M'")
    changed = re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d", work.last.result.text)
    return f"{path} was last changed on {changed[0]}." if changed else None


def _replace(work: Work, found: re.Match[str]) -> Next:
    given = {name.rstrip("23"): value.strip(_QUOTES) for name, value in found.groupdict().items() if value}
    return None if work.steps else call("fs_edit", **given)


def _change_as_typed(work: Work, found: re.Match[str]) -> Next:
    tool, takes_two = _TYPED[found["program"].casefold()]
    if work.steps or takes_two != (found["to"] is not None):
        return None
    path, to = (text.strip(_QUOTES) if text else "" for text in (found["path"], found["to"]))
    return call(tool, path=path, destination=to) if takes_two else call(tool, path=path)


def _back_up(work: Work, found: re.Match[str]) -> Next:
    path = found["path"] or found["path2"]
    return None if work.steps else call("fs_copy", path=path, destination=f"{path}.bak")


def _write_lines(work: Work, found: re.Match[str]) -> Next:
    """The lines that the message gives; without any, as many placeholders as it asks for."""
    path, said = found["path"].strip(_QUOTES), found["count"]
    wanted = 0 if said is None else NUMBER_WORDS.get(said.casefold()) or min(int(said), _MOST_LINES)
    given = _split(found["text"]) if found["text"] else []
    if given and wanted and len(given) != wanted:
        listed = _split_at_commas(found["text"])
        given = listed if len(listed) == wanted else given
    if given and wanted and len(given) != wanted:
        return _OTHER_COUNT.format(found=_lines(len(given)), wanted=_lines(wanted))
    if work.steps:
        is_told = given or work.last.result.failed
        return None if is_told else f"{work.last.result.text}\n{_PLACEHOLDERS.format(path=path)}"
    lines = given or [f"line {number}" for number in range(1, (wanted or 1) + 1)]
    return call("fs_write", path=path, text="".join(f"{line}\n" for line in lines))


def _write_each(work: Work, found: re.Match[str]) -> Next:
    lines = "".join(f"{line}\n" for line in _split_at_commas(found["text"]))
    return None if work.steps else call("fs_write", path=found["path"].strip(_QUOTES), text=lines)


def _write_text(work: Work, found: re.Match[str]) -> Next:
    text = (found["text"] or found["text2"].strip(_QUOTES)).strip("\n")
    return None if work.steps else call("fs_write", path=found["path"].strip(_QUOTES), text=f"{text}\n")


def _split(text: str) -> list[str]:
    """The lines of a text, or its parts between semicolons; else the parts between commas."""
    parts = text.splitlines() if "\n" in text.strip() else text.split(";")
    lines = [part.strip().strip("\"'`“”") for part in parts if part.strip()]
    return lines if len(lines) > 1 else _split_at_commas(text)


def _split_at_commas(text: str) -> list[str]:
    parts = re.split(r",\s*(?:and\s+)?|\s+and\s+", text)
    return [part.strip().strip("\"'`“”") for part in parts if part.strip()]


def _lines(count: int) -> str:
    return f"{count} line{'' if count == 1 else 's'}"


@cache
def _scripts() -> tuple[tuple[re.Pattern[str], str, str], ...]:
    parts = {"file": FILE, "quoted": QUOTED}
    return tuple(
        (compiled(entry["said"], parts), entry["name"], entry["text"])
        for entry in read_table("commands")["script"]
    )


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    parts = {"file": FILE, "number": NUMBER, "quoted_file": QUOTED_FILE}
    found = read_table("commands")["patterns"]
    return {name: compiled(text, {**parts, "own": found["own"]}) for name, text in found.items()}


def _flows() -> Mapping[str, tuple[frozenset[str], Flow]]:
    """By the name of its pattern: the tools that it needs, and the work."""
    return {
        "own_text": (frozenset({"fs_write"}), _decline_text),
        "tests": (frozenset({"fs_list", "fs_search", "exec_run"}), _run_tests),
        "script": (frozenset({"exec_run", "fs_search"}), _run_script),
        "new_script": (frozenset({"fs_write", "exec_run"}), _write_script),
        "shell": (frozenset({"exec_run"}), _run_command),
        "unclear": (frozenset({"exec_run"}), _say_which),
        "setting": (frozenset({"fs_search", "fs_edit"}), change_setting),
        "count": (frozenset({"exec_run"}), _count),
        "from_to": (frozenset({"fs_edit"}), _replace),
        "typed_change": (frozenset(tool for tool, _ in _TYPED.values()), _change_as_typed),
        "changed": (frozenset({"exec_run"}), _changed),
        "backup": (frozenset({"fs_copy"}), _back_up),
        "lines": (frozenset({"fs_write"}), _write_lines),
        "each_own": (frozenset({"fs_write"}), _write_each),
        "text": (frozenset({"fs_write"}), _write_text),
    }


def next_command_step(work: Work, only: Container[str] | None = None) -> Next:
    """The next calls of this work, or its answer; None: the request is another one.

    ``only`` names the patterns that count.
    """
    for name, (needed, flow) in _flows().items():
        if only is not None and name not in only:
            continue
        if needed <= work.tools.keys() and (found := _found(name, work.request)):
            return flow(work, found)
    return None


def is_command_work_of(names: Sequence[str], work: Work) -> bool:
    """Whether the request fits one of these patterns, and the tools for it are there."""
    return any(_flows()[name][0] <= work.tools.keys() and _found(name, work.request) for name in names)


def new_script(text: str) -> re.Match[str] | None:
    """A request for a script of any kind: its ``name``, the ``deed``, and whether to ``run`` it."""
    pattern = _patterns()["new_script"]
    return pattern.fullmatch(text.strip(" .!?")) or pattern.fullmatch(trim_request(text))


def program_for(path: str) -> str | None:
    """The program that runs a script, by the ending of its name."""
    return read_table("commands")["programs"].get(path.rpartition(".")[2].casefold())
