"""Renames a file or a directory without ever replacing another one."""

import errno
import os
from collections.abc import Callable
from functools import cache

_NO_REPLACE = 1
#: The kernel or the file system cannot do it in one step.
_NOT_SUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)


def rename_new(source: str, source_directory: int, target: str, target_directory: int) -> None:
    """Rename; raises FileExistsError if the target exists, even if it has come into being just now."""
    names = (source_directory, os.fsencode(source), target_directory, os.fsencode(target))
    number = _renameat2()(*names, _NO_REPLACE)
    if not number:
        return
    if number not in _NOT_SUPPORTED:
        raise OSError(number, os.strerror(number))
    try:
        os.stat(target, dir_fd=target_directory, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(source, target, src_dir_fd=source_directory, dst_dir_fd=target_directory)
    else:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


@cache
def _renameat2() -> Callable[..., int]:
    """The function of the C library, which Python does not have; it returns the number of the error or 0."""
    # Loaded on use: most processes rename nothing.
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "renameat2"):
        return lambda *_: errno.ENOSYS
    return lambda *given: ctypes.get_errno() if library.renameat2(*given) else 0
