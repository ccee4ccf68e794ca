"""Changes of files as rows of the database, and back."""

from collections.abc import Iterator

from sestet.core.record import ValidationError, convert, to_json
from sestet.services.file_changes.apply import Change, Entry
from sestet.services.file_changes.state import FileState
from sestet.storage.database import damaged, from_json
from sestet.storage.file_changes import ChangedFileRow, FileChangeRow


def rows_of(change: Change) -> tuple[ChangedFileRow, ...]:
    return tuple(_rows(change))


def _rows(change: Change) -> Iterator[ChangedFileRow]:
    for entry in change.entries:
        goes = entry.before.is_kept and not change.is_move
        yield ChangedFileRow(
            entry.root,
            entry.path,
            to_json(entry.before),
            to_json(entry.after),
            entry.before.digest if goes else "",
        )


def change_of(row: FileChangeRow) -> Change:
    entries = (Entry(file.root, file.path, _state(file.before), _state(file.after)) for file in row.files)
    return Change(tuple(entries), row.is_move)


def _state(stored: bytes) -> FileState:
    try:
        return convert(from_json(stored, "the state of a file"), FileState)
    except ValidationError as error:
        raise damaged("the state of a file cannot be read") from error
