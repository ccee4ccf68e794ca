"""The steps of work whose order code knows, so that a small model decides nothing but what only it can.

For a script, the model writes the text; code chooses the tools, runs the file and tells the result. For a
download or a sign-in, the model tells what was read. Forms, and what a page says about something, need no
model. Tests, commands and counting are the rules of the built-in model.
"""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias, cast

from sestet.core.agent import TRANSFER
from sestet.core.message import MemoryMessage, ToolCall, ToolMessage, UserMessage
from sestet.core.model import ModelRequest
from sestet.core.record import replace
from sestet.core.schema import JsonObject
from sestet.core.tool import Tool
from sestet.models.offline.command_work import is_command_work_of, new_script, next_command_step, program_for
from sestet.models.offline.parameters import FILE
from sestet.models.offline.work import Next, Work, call, work_of
from sestet.models.small.page_steps import Tell, next_delegation, next_page_step
from sestet.models.small.script_text import reads_arguments, why_broken, why_unusable, with_imports
from sestet.models.small.told import fenced, told

#: The rules of the built-in model that leave nothing to think about.
_BY_RULE = ("tests", "script", "shell", "count")
#: A new file beside the others: the grammar lets the model overwrite no text of the person.
_SCRIPT_NAME = r"^[a-z][a-z0-9_]{2,30}\."
_BASH = re.compile(r"\b(?:bash|shell) (?:script|program)\b", re.IGNORECASE)
_PROMPTS = Path(__file__).parent / "prompts"
_HINT, _AGAIN = (
    (_PROMPTS / name).read_text(encoding="utf-8").strip() for name in ("script.md", "script_again.md")
)


class Ask(NamedTuple):
    """The model's turn: only with this tool, and with a hint below its request."""

    tool: Tool
    hint: str
    #: Whether the script is started with the names of files.
    has_files: bool = False

    def objection(self, calls: Sequence[ToolCall]) -> str:
        """What to tell the model about a script that cannot work; empty: it may work."""
        scripts = [_text(each) for each in calls if _is_python(each)]
        found = (why_unusable(script, has_arguments=self.has_files) for script in scripts)
        return next((_AGAIN.replace("{{why}}", why) for why in found if why), "")


#: A call, several, or an answer that code makes; a question for the model; None: the model is free.
Step: TypeAlias = Next | Ask | Tell


def next_step(request: ModelRequest, page_agent: str = "") -> Step:
    """What comes next in the request of an agent. ``page_agent`` has the tools for web pages, if any has."""
    start = max((at for at, each in enumerate(request.messages) if isinstance(each, UserMessage)), default=-1)
    if start < 0:
        return None
    work = work_of(request.messages[start].text, request.messages[start:], request.tools)
    if TRANSFER in work.tools:
        before = request.messages[start - 1] if start else None
        memory = before.text if isinstance(before, MemoryMessage) else ""
        return next_delegation(work, page_agent, memory) if page_agent else None
    if step := next_page_step(work):
        return step
    if {"fs_write", "exec_run"} <= work.tools.keys() and (found := new_script(work.request)):
        return _script_step(work, found)
    if not is_command_work_of(_BY_RULE, work):
        return None
    if work.made("exec_run"):
        return _told(work.last.result)
    step = next_command_step(work, _BY_RULE)
    return _told(work.last.result) if step is None and work.steps else step


def _script_step(work: Work, found: re.Match[str]) -> Step:
    written, ran = work.made("fs_write"), work.made("exec_run")
    if not written:
        return _ask_for_script(work, found)
    if written[-1].result.failed or not found["run"]:
        return _told(written[-1].result)
    if not ran:
        path = str(written[-1].call.arguments.get("path", ""))
        files = _files(found) if reads_arguments(_text(written[-1].call)) else []
        program = program_for(path)
        return call("exec_run", command=f"{program} {shlex.join([path, *files])}") if program else None
    return f"{_told(written[-1].result)}\n\n{_told(ran[-1].result)}"


def _told(result: ToolMessage) -> str:
    """A result as an answer. Nothing in the output of a command counts as markdown."""
    return fenced(told(result)) if result.name == "exec_run" and not result.failed else told(result)


def _files(found: re.Match[str]) -> list[str]:
    """The files that the request names: a script that reads its arguments gets them."""
    return re.findall(FILE, found["deed"])


def _ask_for_script(work: Work, found: re.Match[str]) -> Ask:
    """Let the model write the named script, or a new one."""
    name: str | None = found["name"]
    is_bash = name.endswith(".sh") if name else _BASH.search(work.request)
    pattern = _SCRIPT_NAME + ("sh$" if is_bash else "py$")
    write = work.tools["fs_write"]
    properties = cast("dict[str, JsonObject]", write.parameters["properties"])
    path: JsonObject = {"const": name} if name else {"type": "string", "pattern": pattern}
    narrow = replace(write, parameters={**write.parameters, "properties": {**properties, "path": path}})
    hint = _HINT.replace("{{language}}", "Bash" if is_bash else "Python")
    return Ask(narrow, hint, has_files=bool(_files(found)))


def complete(calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """The calls of the model with the imports that its Python script lacks."""
    return tuple(_with_imports(each) if _is_python(each) else each for each in calls)


def _with_imports(written: ToolCall) -> ToolCall:
    if why_broken(_text(written)):
        return written
    return replace(written, arguments={**written.arguments, "text": with_imports(_text(written))})


def _text(written: ToolCall) -> str:
    return str(written.arguments.get("text", ""))


def _is_python(made: ToolCall) -> bool:
    return made.name == "fs_write" and str(made.arguments.get("path", "")).endswith(".py")


def code_made(step: Step) -> tuple[str, tuple[ToolCall, ...]] | None:
    """The text and the calls of a step that needs no model; None: it needs one."""
    match step:
        case str():
            return step, ()
        case ToolCall():
            return "", (step,)
        case None | Ask() | Tell():
            return None
        case _:
            return "", step
