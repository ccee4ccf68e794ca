"""One finding of the doctor, and the way in which checks read the database."""

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from sestet.config import data_directory
from sestet.core.errors import StorageError
from sestet.storage.database import FILE_NAME, Database

Status: TypeAlias = Literal["ok", "warning", "problem"]
#: Seconds that the doctor waits for a lock of another process.
PATIENCE = 3.0
_Found = TypeVar("_Found")


class Check(NamedTuple):
    name: str
    status: Status
    detail: str
    #: What to do about it.
    way_out: str = ""


def read_database(read: Callable[[Database], _Found], *, absent: _Found, unreadable: _Found) -> _Found:
    """The result of ``read``; ``absent`` when there is no database yet, ``unreadable`` when it is broken.

    The check of the database reports why it is broken.
    """
    path = data_directory() / FILE_NAME
    if not path.exists():
        return absent
    try:
        database = Database(path, patience=PATIENCE)
    except StorageError:
        return unreadable
    try:
        return read(database)
    except StorageError:
        return unreadable
    finally:
        database.close()
