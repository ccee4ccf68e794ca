"""Landlock: the kernel lets a process reach only the files that a list of rules names."""

import os
import stat
import struct
from collections.abc import Iterable
from typing import TypeAlias

from sestet.services.sandbox.kernel import (
    LANDLOCK_ADD_RULE,
    LANDLOCK_CREATE_RULESET,
    LANDLOCK_RESTRICT_SELF,
    system_call,
)

_VERSION_FLAG, _PATH_BENEATH = 1, 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
#: Every right of the first version: bits 0 to 12.
_FIRST = (1 << 13) - 1
#: Making devices: bits 6 (character) and 11 (block).
_MAKE_DEVICES = 1 << 6 | 1 << 11
#: The rights that later versions know, by version.
_LATER = {2: _REFER, 3: _TRUNCATE, 5: _IOCTL_DEV}
#: The rights that a single file can have.
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
#: Version 6: signals and abstract sockets reach only processes with the same rules.
_SCOPED, _SCOPES = 6, 0b11

READ = _READ_FILE | _READ_DIR | _EXECUTE
WRITE = READ | (_FIRST & ~_MAKE_DEVICES) | _REFER | _TRUNCATE
#: For devices such as /dev/null, which are neither created nor removed.
USE = _READ_FILE | _WRITE_FILE

#: A path and the rights on it and on all below it.
Rule: TypeAlias = tuple[str, int]


def landlock_version() -> int:
    """The version that this kernel has; 0: none."""
    try:
        return system_call(LANDLOCK_CREATE_RULESET, None, 0, _VERSION_FLAG)
    except OSError:
        return 0


def restrict_files(rules: Iterable[Rule]) -> None:
    """Let this process and its children reach only what a rule names; a missing path is passed over."""
    version = landlock_version()
    handled = _FIRST
    for since, right in _LATER.items():
        handled |= right if version >= since else 0
    scopes = _SCOPES if version >= _SCOPED else 0
    attributes = struct.pack("QQQ", handled, 0, scopes)[: 24 if scopes else 8]
    ruleset = system_call(LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
    try:
        for path, rights in rules:
            _add(ruleset, path, rights & handled)
        system_call(LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _add(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _OF_A_FILE
        structure = struct.pack("=Qi", rights, descriptor)
        system_call(LANDLOCK_ADD_RULE, ruleset, _PATH_BENEATH, structure, 0)
    finally:
        os.close(descriptor)
