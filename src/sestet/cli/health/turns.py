"""Checks of the conversations: turns that wait for the person, or were cut off."""

from sestet.cli.health.check import Check
from sestet.config import data_directory
from sestet.core.errors import StorageError
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.journal import Journal, TurnRow
from sestet.storage.locks import SessionLocks

_NAME = "turns"


def check_turns() -> list[Check]:
    """Nothing where there is no database, or none that can be read: that is reported elsewhere."""
    path = data_directory() / FILE_NAME
    if not path.exists():
        return []
    try:
        database = Database(path)
    except StorageError:
        return []
    try:
        return _describe(*_unfinished(database))
    except StorageError:
        return []
    finally:
        database.close()


def _unfinished(database: Database) -> tuple[list[TurnRow], list[TurnRow]]:
    """Those that wait, and those that were cut off; what is running in another process is neither."""
    locks = SessionLocks(database.path.with_suffix(".lock"))
    try:
        turns = Journal(database).open_turns()
        cut_off = [turn for turn in turns if turn.state == "running" and locks.is_free(turn.session_id)]
        return [turn for turn in turns if turn.state == "paused"], cut_off
    finally:
        locks.close()


def _describe(waiting: list[TurnRow], cut_off: list[TurnRow]) -> list[Check]:
    found: list[Check] = []
    if waiting:
        detail = f"{len(waiting)} waiting for your decision, in {_sessions(waiting)}"
        found.append(Check(_NAME, "warning", detail, "'sestet approvals' lists what is asked"))
    if cut_off:
        detail = f"{len(cut_off)} cut off before the end, in {_sessions(cut_off)}"
        found.append(Check(_NAME, "warning", detail, "'sestet chat' offers to go on: /continue"))
    return found or [Check(_NAME, "ok", "none waits or was cut off")]


def _sessions(turns: list[TurnRow]) -> str:
    return ", ".join(dict.fromkeys(turn.session_id for turn in turns))
