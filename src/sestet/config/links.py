"""Follows links to the file or directory that they lead to."""

import errno
import os
from pathlib import Path


def resolved(path: Path) -> Path:
    """The path without links. A link that leads to itself is an OSError, whatever the version of Python."""
    try:
        found = path.resolve()
    except RuntimeError as error:
        raise _loop(path) from error
    # From 3.13 on, Python returns such a link as it is.
    if any(part.is_symlink() for part in (found, *found.parents)):
        raise _loop(path)
    return found


def _loop(path: Path) -> OSError:
    return OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
