"""The changes that agents make to files: shown before, recorded, and made whole or not at all."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeAlias

from sestet.core.errors import InDoubtError, StorageError, ToolError
from sestet.core.label import CLEAN, Labelled
from sestet.core.tool import CallInfo, Preview
from sestet.services.file_changes.apply import Applier
from sestet.services.file_changes.plan import Plan, Planner
from sestet.services.file_changes.records import change_of, rows_of
from sestet.services.own_files import OwnFiles
from sestet.services.workspace import Workspace
from sestet.storage.file_changes import FileChangeStore
from sestet.storage.lock_wait import when_free

#: Asks a planner for one kind of change.
Wish: TypeAlias = Callable[[Planner], Plan]


class FileChanges:
    """The database is used in the event loop, and the file system in a thread."""

    def __init__(self, workspace: Workspace, own: OwnFiles, store: FileChangeStore) -> None:
        self._planner = Planner(workspace)
        self._store = store
        self._applier = Applier(own, store.kept)

    async def preview(self, wish: Wish) -> Preview:
        """What the change would do, and whether the person must be asked."""
        plan = await asyncio.to_thread(wish, self._planner)
        return Preview(plan.risk, plan.caution, plan.changes)

    async def make(self, call: CallInfo, wish: Wish) -> str | Labelled:
        """Make the change of one call; returns what was done, marked if that is nothing."""
        plan = await asyncio.to_thread(wish, self._planner)
        if call.basis and call.basis != plan.changes.basis:
            raise ToolError("a file has changed since this call was looked at; nothing was done, look again")
        if not plan.change.entries:
            return Labelled(plan.result, CLEAN, no_effect=True)
        await asyncio.to_thread(self._applier.keep, plan.change)
        if self._store.set_of_turn(call.turn_id) is None:
            self._store.make_room(await asyncio.to_thread(self._store.kept.all))
        of_call = (call.session_id, call.turn_id, call.call_id, plan.result)
        is_move = plan.change.is_move
        number = await when_free(partial(self._store.record, *of_call, rows_of(plan.change), is_move=is_move))
        try:
            await asyncio.to_thread(self._applier.apply, plan.change, plan.contents)
        except InDoubtError:
            raise
        except Exception:
            # A record that stays is looked at when the turn is resumed or undone.
            with suppress(StorageError):
                await when_free(partial(self._store.cancel, number))
            raise
        await when_free(partial(self._store.finish, number))
        return plan.result

    async def result_of(self, call: CallInfo) -> str | None:
        """After a crash: what the call did; None if it did nothing, or if half of it was taken back."""
        row = self._store.of_call(call.turn_id, call.call_id)
        if row is None:
            return None
        if not row.done and await asyncio.to_thread(self._applier.settle, change_of(row)) == "not_done":
            await when_free(partial(self._store.cancel, row.id))
            return None
        await when_free(partial(self._store.finish, row.id))
        return row.result
