"""Takes back the changes of a turn: all of them, or none."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from sestet.core.errors import PersonError, SestetError, ToolError
from sestet.core.message import whole
from sestet.core.record import Record, replace
from sestet.services.file_changes.apply import Applier, Change, Entry
from sestet.services.file_changes.records import change_of, rows_of
from sestet.services.own_files import OwnFiles, own_files
from sestet.services.safe_open import LinkError
from sestet.storage.database import Database
from sestet.storage.file_changes import ChangeSetRow, FileChangeStore
from sestet.storage.lock_wait import when_free
from sestet.storage.locks import SessionLocks

#: How many files an error names.
_MOST_NAMED = 5


class UndoStep(NamedTuple):
    """What undo does with one file, directory or link."""

    action: Literal["delete", "bring_back", "put_back", "move_back"]
    #: The directory of the workspace, and the path below it.
    root: str
    path: str
    #: Where it is moved back to, as a whole path.
    to: str = ""

    @property
    def whole_path(self) -> str:
        return f"{self.root}/{self.path}"


class ChangeSet(Record):
    """Changes that can be taken back."""

    row: ChangeSetRow
    #: What was done, a sentence for each call.
    done: tuple[str, ...]


class UndoPlan(Record):
    changed: ChangeSet
    steps: tuple[UndoStep, ...]
    #: Paths that have changed since: while there is one, nothing is taken back.
    changed_since: tuple[str, ...]
    #: The changes to make, in this order.
    changes: tuple[Change, ...] = ()


class Undo:
    """The database is used in the event loop, and the file system in a thread."""

    def __init__(self, store: FileChangeStore, own: OwnFiles) -> None:
        self._store = store
        self._applier = Applier(own, store.kept)

    def sets(self, session_id: str | None = None) -> list[ChangeSet]:
        """What can be taken back, the newest first. An undo can be taken back too."""
        rows = (row for row in self._store.sets(session_id) if not row.undone)
        sets = (self._described(row) for row in rows)
        return [each for each in sets if each.done]

    async def plan(
        self, set_id: int | None = None, session_id: str | None = None, *, in_turn: str = ""
    ) -> UndoPlan:
        """What undo would do: of one set, or of the last turn that changed files.

        ``in_turn``: the turn that asks; only the turns before it count.
        """
        row = self._pick(set_id, session_id, in_turn)
        async with self._alone(row, in_turn):
            try:
                await self._settle(row)
            except ToolError as error:
                raise PersonError(f"a change was cut off half-way and cannot be finished: {error}") from error
        changes = [change_of(stored) for stored in self._store.changes(row.id)]
        since = await asyncio.to_thread(self._changed_since, changes)
        inverse = tuple(change.inverse() for change in reversed(changes))
        steps = tuple(step for change in inverse for step in _steps(change))
        return UndoPlan(self._described(row), steps, since, inverse)

    @asynccontextmanager
    async def _alone(self, row: ChangeSetRow, in_turn: str) -> AsyncGenerator[None]:
        """While no turn runs in the session of the changes. A turn that asks holds its session itself."""
        if in_turn:
            yield
            return
        locks = SessionLocks.beside(self._store.database_path)
        try:
            if not locks.is_free(row.session_id):
                raise PersonError(
                    f"a turn is running in the session '{row.session_id}'; wait for its end or stop it"
                )
            async with locks.hold(row.session_id):
                yield
        finally:
            locks.close()

    async def run(self, plan: UndoPlan, *, in_turn: str = "") -> None:
        """Take the changes back. After an error everything is as it was before."""
        self.require_unchanged(plan)
        async with self._alone(plan.changed.row, in_turn):
            await self._run(plan)

    async def _run(self, plan: UndoPlan) -> None:
        row = plan.changed.row
        set_id = await when_free(partial(self._store.begin, row.session_id, row.turn_id, row.id))
        made: list[tuple[int, Change]] = []
        try:
            for change in plan.changes:
                made.append((await self._record(set_id, change), change))
                await asyncio.to_thread(self._applier.apply, change)
                await when_free(partial(self._store.finish, made[-1][0]))
        except (SestetError, OSError) as error:
            await self._give_up(set_id, made, error)
            raise PersonError(f"{error}; nothing was undone") from error
        await when_free(partial(self._store.mark_undone, row))

    def require_unchanged(self, plan: UndoPlan) -> None:
        """Refuse while a file has changed since: undo would lose that change."""
        if plan.changed_since:
            raise PersonError(_changed_text(plan.changed_since))

    def _pick(self, set_id: int | None, session_id: str | None, in_turn: str) -> ChangeSetRow:
        if set_id is not None:
            row = self._store.require_set(set_id)
            if row.undone:
                raise PersonError(f"the changes {set_id} are undone already")
            return row
        for row in self._store.sets(session_id):
            if not row.undoes and not row.undone and row.turn_id != in_turn:
                return row
        where = " in this session" if session_id else ""
        raise PersonError(f"there is nothing to undo{where}")

    async def _record(self, set_id: int, change: Change) -> int:
        await asyncio.to_thread(self._applier.keep, change)
        result = whole(
            "; ".join(f"{step.action.replace('_', ' ')} {step.path}" for step in _steps(change)[:3])
        )
        return await when_free(
            partial(self._store.add, set_id, "", result, rows_of(change), is_move=change.is_move)
        )

    async def _give_up(self, set_id: int, made: Sequence[tuple[int, Change]], cause: Exception) -> None:
        try:
            await self._take_back(made)
        except (SestetError, OSError) as error:
            raise PersonError(
                f"{cause}; a part was undone, and could not be changed back: {error}; "
                "'sestet undo' tries again"
            ) from cause
        self._store.kept.remove(await when_free(partial(self._store.delete_rows, [set_id])))

    async def _take_back(self, made: Sequence[tuple[int, Change]]) -> None:
        for number, change in reversed(made):
            await asyncio.to_thread(self._applier.apply, change.inverse())
            await when_free(partial(self._store.cancel, number))

    async def _settle(self, row: ChangeSetRow) -> None:
        """Finish what a killed process left: a change that was cut off, and an undo that was."""
        for undo in self._store.sets():
            if undo.undoes == row.id and not undo.undone:
                await self._settle_changes(undo)
                await self._take_back([(each.id, change_of(each)) for each in self._store.changes(undo.id)])
        await self._settle_changes(row)

    async def _settle_changes(self, row: ChangeSetRow) -> None:
        for stored in self._store.changes(row.id):
            if stored.done:
                continue
            settled = await asyncio.to_thread(self._applier.settle, change_of(stored))
            end = self._store.finish if settled == "done" else self._store.cancel
            await when_free(partial(end, stored.id))

    def _described(self, row: ChangeSetRow) -> ChangeSet:
        return ChangeSet(row, tuple(stored.result for stored in self._store.changes(row.id)))

    def _changed_since(self, changes: Sequence[Change]) -> tuple[str, ...]:
        """The paths at which something else is than these changes left there."""
        found: list[str] = []
        seen: set[tuple[str, str]] = set()
        for number in reversed(range(len(changes))):
            moves = [change for change in changes[number + 1 :] if change.is_move]
            for entry in changes[number].entries:
                entry = _moved(entry, moves)
                if (entry.root, entry.path) not in seen:
                    seen.add((entry.root, entry.path))
                    if not self._is_as_left(entry):
                        found.append(f"{entry.root}/{entry.path}")
        return tuple(found)

    def _is_as_left(self, entry: Entry) -> bool:
        try:
            return self._applier.state_of(entry).is_like(entry.after)
        except LinkError:
            # What is behind the link is not what was there.
            return entry.after.kind == "none"
        except ToolError:
            # Something that is no file is there, or it may not be read.
            return False


def undo_of(database: Database, settings_file: Path | None) -> Undo:
    """Undo for the data in this database."""
    return Undo(FileChangeStore(database), own_files(database.path, settings_file))


def _moved(entry: Entry, moves: Sequence[Change]) -> Entry:
    """The entry at the path where later moves have taken it."""
    for gone, new in (move.entries for move in moves):
        if entry.root == gone.root and f"{entry.path}/".startswith(f"{gone.path}/"):
            entry = replace(entry, root=new.root, path=new.path + entry.path[len(gone.path) :])
    return entry


def _steps(change: Change) -> list[UndoStep]:
    if change.is_move:
        gone, new = change.entries
        return [UndoStep("move_back", gone.root, gone.path, f"{new.root}/{new.path}")]
    return [UndoStep(_action(entry), entry.root, entry.path) for entry in change.entries]


def _action(entry: Entry) -> Literal["delete", "bring_back", "put_back"]:
    if entry.after.kind == "none":
        return "delete"
    return "bring_back" if entry.before.kind == "none" else "put_back"


def _changed_text(paths: Sequence[str]) -> str:
    """Why nothing is taken back."""
    named = ", ".join(repr(path) for path in paths[:_MOST_NAMED])
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    verb = "has" if len(paths) == 1 else "have"
    return f"{named}{more} {verb} changed since; nothing was undone, so that no other work is lost"


def describe_set(each: ChangeSet) -> dict[str, object]:
    row = each.row
    return {
        "id": row.id,
        "session": row.session_id,
        "turn": row.turn_id,
        "at": row.at,
        "undoes": row.undoes or None,
        "done": each.done,
    }


def describe_plan(plan: UndoPlan, *, undone: bool) -> dict[str, object]:
    return {
        **describe_set(plan.changed),
        "steps": [
            {"action": step.action, "path": step.whole_path, "to": step.to or None} for step in plan.steps
        ],
        "changed_since": plan.changed_since,
        "undone": undone,
    }
