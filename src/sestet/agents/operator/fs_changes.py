"""Tools to write, edit, move, copy and delete files of the workspace, and to undo that."""

from collections.abc import Callable
from functools import partial
from typing import Annotated

from sestet.core.errors import PersonError, ToolError
from sestet.core.label import Labelled
from sestet.core.message import whole
from sestet.core.preview import Changes, DiffLine
from sestet.core.schema import JsonValue
from sestet.core.tool import CallInfo, Preview, PreviewFunction, tool
from sestet.services.file_changes.plan import Plan, Planner
from sestet.services.file_changes.service import FileChanges
from sestet.services.file_changes.undo import Undo, UndoPlan, UndoStep

_Path = Annotated[str, "The path, relative to the working directory", {"format": "path"}]
_Destination = Annotated[
    str, "The new path; in a directory that exists, it keeps its name", {"format": "path"}
]
#: What undo does with a file, before and after.
_UNDO_WORDS = {
    "delete": ("delete", "deleted"),
    "bring_back": ("bring back", "brought back"),
    "put_back": ("put back as it was:", "put back as it was:"),
    "move_back": ("move back", "moved back"),
}
_MOST_STEPS = 200
#: So many are named in a reason, which is one line.
_MOST_NAMED = 3


def _preview_of(plan: Callable[..., Plan]) -> PreviewFunction:
    async def preview(call: CallInfo, changes: FileChanges, /, **arguments: JsonValue) -> Preview:
        return await changes.preview(lambda planner: plan(planner, **arguments))

    return preview


async def _result_of(call: CallInfo, changes: FileChanges, /, **arguments: JsonValue) -> str | None:
    return await changes.result_of(call)


@tool(
    risk="guarded",
    caution="it changes a file",
    standing="write ANY text to {path}",
    reads=(),
    effect="local",
    targets=("path",),
    recovery="probe",
    probe=_result_of,
    preview=_preview_of(Planner.write),
    examples=(
        "write a file {path} with {text}",
        "write {text} to {path}",
        "write {text} into {path}",
        "write a file {path} saying {text}",
        "write {path} with {text}",
        "create {path} with {text}",
        "create {path} containing {text}",
        "create a file called {path} containing {text}",
        "create a file {path} with {text}",
        "create a file called {path} with {text}",
        "make a file called {path} with {text}",
        "make a new file called {path} with {text}",
        "save {text} to {path}",
        "put {text} into {path}",
        "store {text} in the file {path}",
        "overwrite {path} with {text}",
    ),
)
async def fs_write(
    call: CallInfo,
    changes: FileChanges,
    /,
    path: _Path,
    text: Annotated[str, "The whole text of the file"],
) -> str | Labelled:
    """Write a text file: a new one, or a new text for an existing one. Missing directories are made."""
    return await changes.make(call, partial(Planner.write, path=path, text=text))


@tool(
    risk="guarded",
    caution="it changes a file",
    standing="change {path} in ANY way",
    reads=(),
    effect="local",
    targets=("path",),
    recovery="probe",
    probe=_result_of,
    preview=_preview_of(Planner.edit),
    examples=(
        "replace {old} with {new} in {path}",
        "replace {old} by {new} in {path}",
        "change {old} to {new} in {path}",
        "in {path} replace {old} with {new}",
        "in {path} change {old} to {new}",
        "edit {path} and replace {old} with {new}",
        "swap {old} for {new} in {path}",
    ),
)
async def fs_edit(
    call: CallInfo,
    changes: FileChanges,
    /,
    path: _Path,
    old: Annotated[str, "The text to replace, exactly as it stands in the file, and only once"],
    new: Annotated[str, "The text to put in its place; empty removes it"],
) -> str | Labelled:
    """Replace one part of a text file. Read the file first; the rest of it stays as it is."""
    return await changes.make(call, partial(Planner.edit, path=path, old=old, new=new))


@tool(
    risk="guarded",
    caution="it changes a file",
    standing="add ANY text to {path}",
    reads=(),
    effect="local",
    targets=("path",),
    recovery="probe",
    probe=_result_of,
    preview=_preview_of(Planner.append),
    examples=(
        "add {text} to {path}",
        "add {text} to the file {path}",
        "add {text} to the end of {path}",
        "put {text} at the end of {path}",
        "add the line {text} to {path}",
        "add a line {text} to {path}",
        "append {text} to {path}",
        "append {text} to the file {path}",
        "append the line {text} to {path}",
    ),
)
async def fs_append(
    call: CallInfo,
    changes: FileChanges,
    /,
    path: _Path,
    text: Annotated[str, "The lines to add"],
) -> str | Labelled:
    """Add lines at the end of a text file. What the file holds stays as it is."""
    return await changes.make(call, partial(Planner.append, path=path, text=text))


@tool(
    risk="safe",
    reads=(),
    effect="local",
    targets=("path",),
    recovery="probe",
    probe=_result_of,
    preview=_preview_of(Planner.make_directory),
    examples=(
        "make a directory {path}",
        "make the directory {path}",
        "make a folder {path}",
        "make a new folder {path}",
        "create a directory {path}",
        "create the directory {path}",
        "create a folder {path}",
        "create a new folder {path}",
        "create the folder {path}",
        "mkdir {path}",
    ),
)
async def fs_mkdir(call: CallInfo, changes: FileChanges, /, path: _Path) -> str | Labelled:
    """Make a directory, and the directories above it that are missing."""
    return await changes.make(call, partial(Planner.make_directory, path=path))


@tool(
    risk="guarded",
    caution="it moves a file",
    standing="move {path} to {destination}",
    reads=(),
    effect="local",
    targets=("path", "destination"),
    recovery="probe",
    probe=_result_of,
    preview=_preview_of(Planner.move),
    examples=(
        "rename {path} to {destination}",
        "rename the file {path} to {destination}",
        "rename the folder {path} to {destination}",
        "move {path} to {destination}",
        "move the file {path} to {destination}",
        "move the folder {path} to {destination}",
        "move {path} into {destination}",
        "move {path} into the folder {destination}",
        "move {path} into the {destination} folder",
        "put {path} into the folder {destination}",
        "put {path} into the {destination} folder",
        "mv {path} {destination}",
    ),
)
async def fs_move(
    call: CallInfo, changes: FileChanges, /, path: _Path, destination: _Destination
) -> str | Labelled:
    """Move or rename a file or a directory. Nothing that exists is replaced."""
    return await changes.make(call, partial(Planner.move, path=path, destination=destination))


@tool(
    risk="safe",
    reads=(),
    effect="local",
    targets=("path", "destination"),
    sources=("path",),
    recovery="probe",
    probe=_result_of,
    preview=_preview_of(Planner.copy),
    examples=(
        "copy {path} to {destination}",
        "copy the file {path} to {destination}",
        "copy the folder {path} to {destination}",
        "copy {path} into {destination}",
        "copy {path} into the folder {destination}",
        "make a copy of {path} named {destination}",
        "make a copy of {path} at {destination}",
        "make a copy of {path} called {destination}",
        "duplicate {path} as {destination}",
        "cp {path} {destination}",
    ),
)
async def fs_copy(
    call: CallInfo, changes: FileChanges, /, path: _Path, destination: _Destination
) -> str | Labelled:
    """Copy a file, or a directory with all that it holds. Nothing that exists is replaced."""
    return await changes.make(call, partial(Planner.copy, path=path, destination=destination))


@tool(
    risk="guarded",
    caution="it deletes a file",
    standing="delete {path}",
    reads=(),
    effect="local",
    targets=("path",),
    recovery="probe",
    probe=_result_of,
    preview=_preview_of(Planner.delete),
    examples=(
        "delete {path}",
        "delete the file {path}",
        "delete the folder {path}",
        "delete the directory {path}",
        "remove {path}",
        "remove the file {path}",
        "remove the folder {path}",
        "erase the file {path}",
        "throw {path} away",
        "get rid of {path}",
        "get rid of the file {path}",
        "rm {path}",
    ),
)
async def fs_delete(call: CallInfo, changes: FileChanges, /, path: _Path) -> str | Labelled:
    """Delete a file, or a directory with all that it holds. The person can undo it."""
    return await changes.make(call, partial(Planner.delete, path=path))


async def _preview_undo(call: CallInfo, undo: Undo, /) -> Preview:
    plan = await _last_changes(undo, call)
    lines = tuple(DiffLine("@", _step_text(step, 0)) for step in plan.steps[:_MOST_STEPS])
    changes = Changes(lines, len(plan.steps) - len(lines), _basis(plan))
    return Preview("guarded", _caution_of_undo(plan), changes)


def _caution_of_undo(plan: UndoPlan) -> str:
    """What would be undone: the call has no arguments that could say it."""
    named = [_step_text(step, 0) for step in plan.steps[:_MOST_NAMED]]
    more = len(plan.steps) - len(named)
    return f"it takes back changes of files ({'; '.join(named)}{f'; and {more} more' if more else ''})"


@tool(
    risk="guarded",
    caution="it takes back changes of files",
    standing="take back the last changes of files",
    reads=(),
    effect="local",
    recovery="unsafe",
    preview=_preview_undo,
    examples=(
        "undo",
        "undo that",
        "undo it",
        "undo this",
        "undo the last change",
        "undo the last changes",
        "undo your last change",
        "undo what you did",
        "undo what you just did",
        "take that back",
        "put the file back as it was",
        "restore the files",
        "bring the file back",
    ),
)
async def fs_undo(call: CallInfo, undo: Undo, /) -> str:
    """Take back the file changes of the last turn before this one that made some."""
    plan = await _last_changes(undo, call)
    if call.basis not in ("", _basis(plan)):
        raise ToolError("other files were changed since this call was looked at; nothing was undone")
    await undo.run(plan, in_turn=call.turn_id)
    done = [_step_text(step, 1) for step in plan.steps[:_MOST_STEPS]]
    more = len(plan.steps) - len(done)
    return f"Undone: {'; '.join(done)}{f'; and {more} more' if more else ''}."


async def _last_changes(undo: Undo, call: CallInfo) -> UndoPlan:
    try:
        plan = await undo.plan(session_id=call.session_id, in_turn=call.turn_id)
        undo.require_unchanged(plan)
    except PersonError as error:
        raise ToolError(str(error)) from error
    return plan


def _basis(plan: UndoPlan) -> str:
    return f"changes {plan.changed.row.id}"


def _step_text(step: UndoStep, tense: int) -> str:
    to = f" to {step.to.removeprefix(f'{step.root}/')}" if step.to else ""
    return whole(f"{_UNDO_WORDS[step.action][tense]} {step.path}{to}")
