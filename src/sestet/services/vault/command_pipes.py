"""Pipes through which the broker gives values to commands; Sestet only passes their ends on."""

import os
import threading
import time
from contextlib import suppress
from io import FileIO
from typing import NamedTuple

from sestet.core.errors import VaultError

#: A pipe that nobody has asked to fill is closed when there are more.
_MOST = 16
#: How often, and with how many seconds between, we look if Sestet has let go of a pipe.
_LOOKS, _PAUSE = 200, 0.01


class OfferedSecret(NamedTuple):
    """A secret that waits for its command."""

    #: Stands for the pipe in requests to the broker.
    pipe: str
    #: The end of the pipe that the command reads from. The broker fills the pipe once we have closed it.
    reader: FileIO
    #: The program and its arguments, as the broker has checked them.
    words: list[str]


class _Waiting(NamedTuple):
    name: str
    writer: int


class CommandPipes:
    """The pipes of commands that have not got their secret yet."""

    def __init__(self) -> None:
        self._waiting: dict[str, _Waiting] = {}

    def open(self, name: str) -> tuple[str, int]:
        """A new pipe for a secret: a word that stands for it, and the end to read from."""
        while len(self._waiting) >= _MOST:
            self.close(next(iter(self._waiting)))
        reader, writer = os.pipe()
        # The sandbox may run the command as another user, which opens /dev/fd/3 by its rights. To come as far
        # as this pipe, a process has to have it, or the right to trace one that has.
        os.fchmod(reader, 0o444)
        pipe = os.urandom(16).hex()
        self._waiting[pipe] = _Waiting(name, writer)
        return pipe, reader

    def name_of(self, pipe: str) -> str:
        """The secret that a pipe waits for."""
        if (waiting := self._waiting.get(pipe)) is None:
            raise VaultError("this pipe is closed; nothing was given to the command")
        return waiting.name

    def fill(self, pipe: str, value: bytes) -> None:
        """Write the value, as soon as our parent, which the model steers, no longer has the end to read."""
        waiting = self._waiting.pop(pipe, None)
        if waiting is None:
            raise VaultError("this pipe is closed; nothing was given to the command")
        try:
            _await_release(waiting.writer)
        except BaseException:
            os.close(waiting.writer)
            raise
        # A command that reads late, or never, must not hold up the broker.
        threading.Thread(target=_write, args=(waiting.writer, value), daemon=True).start()

    def close(self, pipe: str) -> None:
        """Give nothing through a pipe any more."""
        if waiting := self._waiting.pop(pipe, None):
            os.close(waiting.writer)


def _await_release(writer: int) -> None:
    link = os.readlink(f"/proc/self/fd/{writer}")
    for _ in range(_LOOKS):
        if not _holds(os.getppid(), link):
            return
        time.sleep(_PAUSE)
    raise VaultError("Sestet kept the command's pipe open, so the secret was not put into it")


def _holds(process: int, link: str) -> bool:
    """Whether a process has the pipe open; if we cannot see that, it counts as open."""
    directory = f"/proc/{process}/fd"
    try:
        names = os.listdir(directory)
    except OSError:
        return True
    for name in names:
        # A descriptor that was closed meanwhile.
        with suppress(FileNotFoundError):
            if os.readlink(f"{directory}/{name}") == link:
                return True
    return False


def _write(writer: int, value: bytes) -> None:
    with suppress(OSError), os.fdopen(writer, "wb") as stream:
        stream.write(value)
