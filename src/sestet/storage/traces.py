"""Takes the traces of what was deleted out of the database file."""

from sestet.core.errors import StorageError
from sestet.storage.database import Database

_INDEXES = ("passages_index", "exchanges_index", "remembered_index")


def wipe_traces(database: Database) -> bool:
    """Write the file anew, so that nothing is left in its free space; False while others are using it.

    A full-text index keeps the words of what was deleted until its parts are merged.
    """
    try:
        for index in _INDEXES:
            database.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")  # noqa: S608 - names above
        database.execute("VACUUM")
        (busy, *_) = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").only()
    except StorageError:
        return False  # what was deleted is deleted, and its traces go with the next one
    return not busy
