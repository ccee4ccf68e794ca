"""A workspace in a temporary directory, the service that changes it, and what it looks like."""

import asyncio
import os
import stat
from pathlib import Path

from sestet.core.label import CLEAN, Labelled
from sestet.core.tool import CallInfo
from sestet.services.file_changes.service import FileChanges, Wish
from sestet.services.file_changes.undo import Undo
from sestet.services.own_files import own_files
from sestet.services.workspace import Workspace
from sestet.storage.database import Database
from sestet.storage.file_changes import FileChangeStore


class World:
    """``work`` is the workspace, ``data`` Sestet's own directory beside it."""

    def __init__(self, directory: Path, *more: Path, data: Path | None = None) -> None:
        """``data``: Sestet's own directory; then ``directory`` is the workspace itself."""
        self.work = directory if data else directory / "work"
        self.work.mkdir(exist_ok=True)
        self.database = Database((data or directory / "data") / "sestet.db")
        own = own_files(self.database.path)
        self.store = FileChangeStore(self.database)
        self.changes = FileChanges(Workspace((self.work, *more), own), own, self.store)
        self.undo = Undo(self.store, own)
        self.calls = 0

    def call(self, turn: str = "t1", basis: str = "") -> CallInfo:
        self.calls += 1
        return CallInfo("s1", turn, "operator", f"d1c{self.calls}", CLEAN, basis=basis)

    def make(self, wish: Wish, turn: str = "t1") -> str:
        told = asyncio.run(self.changes.make(self.call(turn), wish))
        return str(told.value) if isinstance(told, Labelled) else told

    def take_back(self, set_id: int | None = None) -> None:
        async def work() -> None:
            await self.undo.run(await self.undo.plan(set_id))

        asyncio.run(work())

    def tree(self) -> dict[str, tuple[str, int, bytes]]:
        return tree(self.work)

    def close(self) -> None:
        self.database.close()


def tree(top: Path) -> dict[str, tuple[str, int, bytes]]:
    """Everything below a directory: its kind, its mode, and its bytes or its target."""
    found: dict[str, tuple[str, int, bytes]] = {}
    for place, directories, files in os.walk(os.fsencode(top)):
        for name in (*directories, *files):
            path = os.path.join(place, name)
            state = os.lstat(path)
            shown = os.fsdecode(os.path.relpath(path, os.fsencode(top)))
            mode = stat.S_IMODE(state.st_mode)
            if stat.S_ISLNK(state.st_mode):
                found[shown] = ("link", mode, os.readlink(path))
            elif stat.S_ISDIR(state.st_mode):
                found[shown] = ("directory", mode, b"")
            elif stat.S_ISREG(state.st_mode):
                with open(path, "rb") as stream:
                    found[shown] = ("file", mode, stream.read())
            else:
                found[shown] = ("special", mode, b"")
    return found
