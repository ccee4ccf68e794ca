"""A new file for an export, which only its owner can read."""

import os
from io import TextIOWrapper
from pathlib import Path

from sestet.core.errors import PersonError


def new_private_file(file: Path) -> TextIOWrapper:
    """Open a file for writing that is not there yet: an export replaces no other file."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError as error:
        raise PersonError(f"'{file}' is there already; name another file, or remove it") from error
    except OSError as error:
        raise PersonError(f"'{file}' cannot be written: {error.strerror}") from error
    return open(descriptor, "w", encoding="utf-8")
