"""Changes of files by turn, with the states before and after; the contents are in ``KeptFiles``."""

import os
import time
from collections.abc import Callable, Container, Mapping, Sequence
from typing import NamedTuple

from sestet.core.errors import PersonError
from sestet.storage.database import Database
from sestet.storage.kept_files import DIRECTORY, KeptFile, KeptFiles

#: The oldest sets are dropped beyond these.
MOST_BYTES = 500_000_000
MOST_DAYS = 30
#: A content that no row refers to may belong to a change that is about to be recorded.
_SECONDS_UNRECORDED = 3_600


class ChangeSetRow(NamedTuple):
    """The changes of one turn, or of one undo."""

    id: int
    session_id: str
    turn_id: str
    at: float
    #: The set that it took back; 0: a turn made these changes.
    undoes: int
    undone: bool


class ChangedFileRow(NamedTuple):
    root: str
    path: str
    #: States as JSON.
    before: bytes
    after: bytes
    #: The digest of the content before, if that is kept; else empty.
    kept: str


class FileChangeRow(NamedTuple):
    """The change that one call made, or was about to make."""

    id: int
    call_id: str
    #: What it did, in a sentence.
    result: str
    is_move: bool
    done: bool
    files: tuple[ChangedFileRow, ...]


class FileChangeStore:
    """Rows are written before a change is made, so that a crash leaves a record of it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.database_path = database.path
        self.kept = KeptFiles(database.path.parent / DIRECTORY)

    def begin(self, session_id: str, turn_id: str, undoes: int = 0) -> int:
        """A new set."""
        (number,) = self._database.execute(
            """INSERT INTO change_sets (session_id, turn_id, at, undoes) VALUES (?, ?, ?, ?)
               RETURNING id""",
            (session_id, turn_id, time.time(), undoes),
        ).only()
        return number

    def set_of_turn(self, turn_id: str) -> int | None:
        """The set that gathers the changes of a turn, if it has made any."""
        found = self._database.execute(
            "SELECT id FROM change_sets WHERE turn_id = ? AND NOT undoes AND NOT undone", (turn_id,)
        ).fetchone()
        return found[0] if found else None

    def record(
        self,
        session_id: str,
        turn_id: str,
        call_id: str,
        result: str,
        files: Sequence[ChangedFileRow],
        *,
        is_move: bool,
    ) -> int:
        """Record a change that a turn is about to make; on the disk when this returns."""
        with self._database.transaction(sync=True):
            set_id = self.set_of_turn(turn_id) or self.begin(session_id, turn_id)
            return self.add(set_id, call_id, result, files, is_move=is_move)

    def add(
        self, set_id: int, call_id: str, result: str, files: Sequence[ChangedFileRow], *, is_move: bool
    ) -> int:
        """Add a change to a set."""
        (number,) = self._database.execute(
            "INSERT INTO file_changes (set_id, call_id, result, is_move) VALUES (?, ?, ?, ?) RETURNING id",
            (set_id, call_id, result, is_move),
        ).only()
        self._database.execute_many(
            "INSERT INTO changed_files VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    *(number, place, os.fsencode(file.root), os.fsencode(file.path)),
                    *(file.before, file.after, file.kept.encode()),
                )
                for place, file in enumerate(files)
            ),
        )
        return number

    def finish(self, change_id: int) -> None:
        """The change was made."""
        self._database.execute("UPDATE file_changes SET done = 1 WHERE id = ?", (change_id,))

    def cancel(self, change_id: int) -> None:
        """The change was not made."""
        with self._database.join_transaction():
            gone = self._database.execute(
                "DELETE FROM file_changes WHERE id = ? RETURNING set_id", (change_id,)
            )
            self._database.execute_many(
                """DELETE FROM change_sets WHERE id = ?
                   AND id NOT IN (SELECT set_id FROM file_changes)""",
                gone,
            )

    def of_call(self, turn_id: str, call_id: str) -> FileChangeRow | None:
        rows = self._database.execute(
            """SELECT file_changes.id, set_id FROM file_changes JOIN change_sets ON change_sets.id = set_id
               WHERE turn_id = ? AND call_id = ? ORDER BY file_changes.id DESC LIMIT 1""",
            (turn_id, call_id),
        )
        for number, set_id in rows:
            return next(change for change in self.changes(set_id) if change.id == number)
        return None

    def sets(self, session_id: str | None = None) -> list[ChangeSetRow]:
        """All sets, the newest first."""
        rows = self._database.execute(
            """SELECT id, session_id, turn_id, at, undoes, undone FROM change_sets
               WHERE ? IS NULL OR session_id = ? ORDER BY id DESC""",
            (session_id, session_id),
        )
        return [ChangeSetRow(*row[:-1], undone=bool(row[-1])) for row in rows]

    def require_set(self, set_id: int) -> ChangeSetRow:
        for row in self.sets():
            if row.id == set_id:
                return row
        raise PersonError(f"there are no changes {set_id}; 'sestet undo --list' shows what can be undone")

    def changes(self, set_id: int) -> list[FileChangeRow]:
        """The changes of a set, in the order in which they were made."""
        rows = self._database.execute(
            "SELECT id, call_id, result, is_move, done FROM file_changes WHERE set_id = ? ORDER BY id",
            (set_id,),
        )
        return [
            FileChangeRow(number, call_id, result, bool(is_move), bool(done), self._files(number))
            for number, call_id, result, is_move, done in rows
        ]

    def _files(self, change_id: int) -> tuple[ChangedFileRow, ...]:
        rows = self._database.execute(
            "SELECT root, path, before, after, kept FROM changed_files WHERE change_id = ? ORDER BY number",
            (change_id,),
        )
        return tuple(
            ChangedFileRow(os.fsdecode(root), os.fsdecode(path), before, after, kept.decode())
            for root, path, before, after, kept in rows
        )

    def mark_undone(self, row: ChangeSetRow) -> None:
        """The set was taken back. If it was an undo, the changes that it undid count again, and so on."""
        undoes = {each.id: each.undoes for each in self.sets()}
        number, undone = row.id, True
        with self._database.join_transaction():
            while number in undoes:
                self._database.execute("UPDATE change_sets SET undone = ? WHERE id = ?", (undone, number))
                number, undone = undoes[number], not undone

    def make_room(self, kept: Mapping[str, KeptFile]) -> None:
        """Drop the oldest sets beyond the limits, and contents of changes that were never recorded."""
        now, total = time.time(), sum(file.size for file in kept.values())
        for row in reversed(self.sets()):
            if total <= MOST_BYTES and row.at >= now - MOST_DAYS * 86_400:
                break
            with self._database.transaction():
                digests = self.delete_rows([row.id])
            self.kept.remove(digests)
            total -= sum(kept[digest].size for digest in digests if digest in kept)
        unused = kept.keys() - self._used()
        self.kept.remove(digest for digest in unused if kept[digest].written_at < now - _SECONDS_UNRECORDED)

    def ids_of_session(self, session_id: str) -> list[int]:
        return [row.id for row in self.sets(session_id)]

    def judge_kept(self, is_unwanted: Callable[[str], bool]) -> dict[str, bool]:
        """Each kept content, and whether its text is unwanted; a content never changes."""
        return {digest: is_unwanted(self.kept.text(digest)) for digest in self._used()}

    def ids_with(
        self, turn_ids: Container[str], is_unwanted: Callable[[str], bool], judged: Mapping[str, bool]
    ) -> list[int]:
        """The sets of some turns, and all sets that keep an unwanted text; ``judged`` are not read again."""
        unwanted = {
            digest
            for digest in self._used()
            if (judged[digest] if digest in judged else is_unwanted(self.kept.text(digest)))
        }
        rows = self._database.execute(
            """SELECT DISTINCT set_id, path, kept FROM changed_files
               JOIN file_changes ON file_changes.id = change_id"""
        )
        holding = {
            set_id
            for set_id, path, kept in rows
            if kept.decode() in unwanted or is_unwanted(path.decode("utf-8", "replace"))
        }
        return sorted(holding | {row.id for row in self.sets() if row.turn_id in turn_ids})

    def _used(self) -> set[str]:
        """The contents that a row refers to."""
        rows = self._database.execute("SELECT DISTINCT kept FROM changed_files WHERE length(kept)")
        return {kept.decode() for (kept,) in rows}

    def delete_rows(self, set_ids: Sequence[int]) -> list[str]:
        """Inside a transaction: the rows of sets. Returns the contents to remove once it is committed."""
        marks = ", ".join("?" for _ in set_ids)
        rows = self._database.execute(
            f"""SELECT DISTINCT kept FROM changed_files JOIN file_changes ON file_changes.id = change_id
                WHERE length(kept) AND set_id IN ({marks})""",  # noqa: S608 - only question marks
            set_ids,
        )
        self._database.execute(f"DELETE FROM change_sets WHERE id IN ({marks})", set_ids)  # noqa: S608 - only question marks
        return sorted({kept.decode() for (kept,) in rows} - self._used())
