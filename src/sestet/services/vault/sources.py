"""Where the broker takes a passphrase or a value from: never by way of the process that the model steers."""

import os
import stat
import termios
from pathlib import Path
from typing import Any, Literal

from sestet.core.errors import VaultError
from sestet.core.record import Record
from sestet.services.vault.entries import MOST_BYTES

_CANCEL, _END, _ERASE_LINE = 0x03, 0x04, 0x15
_ERASE = (0x7F, 0x08)
_ENTER = (0x0A, 0x0D)


class Source(Record):
    """One way to a passphrase or a value."""

    #: Typed unseen; everything that a descriptor gives; the first line of a file; given by a program.
    kind: Literal["terminal", "stream", "file", "text"]
    text: str = ""
    path: str = ""
    prompt: str = ""
    #: Typed a second time, since nobody sees what is typed.
    twice: bool = False


class Cost(Record):
    """What Argon2id takes to try one passphrase; the default is RFC 9106's for little memory."""

    memory_kib: int = 65_536
    passes: int = 3
    lanes: int = 4

    @property
    def is_sane(self) -> bool:
        """A file from elsewhere must not take the memory of the machine."""
        return (
            8 * self.lanes <= self.memory_kib <= 1_048_576
            and 1 <= self.passes <= 20
            and 1 <= self.lanes <= 16
        )


USUAL_COST = Cost()


class Terminals:
    """Reads typed text without showing it, and puts the terminal back whatever happens."""

    def __init__(self) -> None:
        self._saved: dict[int, list[Any]] = {}  # Any: as the termios module has it

    def read(self, descriptor: int, source: Source) -> bytes:
        typed = self._read_once(descriptor, source.prompt)
        if source.twice and self._read_once(descriptor, "The same again: ") != typed:
            raise VaultError("the two texts differ; nothing was changed")
        return typed

    def restore(self) -> None:
        """Before the process ends: show what is typed again."""
        for descriptor, attributes in self._saved.items():
            termios.tcsetattr(descriptor, termios.TCSADRAIN, attributes)

    def _read_once(self, descriptor: int, prompt: str) -> bytes:
        try:
            saved = termios.tcgetattr(descriptor)
        except termios.error as error:
            raise VaultError("there is no terminal to type at") from error
        self._saved[descriptor] = saved
        hidden = [*saved[:3], saved[3] & ~(termios.ECHO | termios.ICANON | termios.ISIG), *saved[4:]]
        termios.tcsetattr(descriptor, termios.TCSAFLUSH, hidden)
        try:
            os.write(descriptor, prompt.encode())
            return _typed_line(descriptor)
        finally:
            self._saved.pop(descriptor)
            termios.tcsetattr(descriptor, termios.TCSAFLUSH, saved)
            os.write(descriptor, b"\r\n")


def _typed_line(descriptor: int) -> bytes:
    typed = bytearray()
    while True:
        read = os.read(descriptor, 1)
        if not read or read[0] == _CANCEL or (read[0] == _END and not typed):
            raise VaultError("nothing was typed")
        if read[0] in _ENTER:
            return bytes(typed)
        if read[0] in _ERASE:
            # One character: its last byte, and the bytes of UTF-8 before it that lead to it.
            while typed and typed.pop() & 0xC0 == 0x80:
                pass
        elif read[0] == _ERASE_LINE:
            typed.clear()
        elif read[0] < 0x20:
            raise VaultError("the typed text holds a control character; give it through a pipe")
        elif len(typed) < MOST_BYTES:
            typed += read


def read_stream(descriptor: int) -> bytes:
    """Everything that a pipe or a file gives, without the line end at its end."""
    content = b""
    while len(content) <= MOST_BYTES and (piece := os.read(descriptor, 65_536)):
        content += piece
    return _without_line_end(content)


def read_private_file(path: Path) -> bytes:
    """The first line of a file that nobody else can read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise VaultError(f"the passphrase file '{path}' cannot be read: {error.strerror}") from error
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise VaultError(f"the passphrase file '{path}' is not a file")
        if state.st_uid not in (os.geteuid(), 0) or state.st_mode & 0o077:
            raise VaultError(
                f"others can read the passphrase file '{path}', so it is not used; run: chmod 600 {path}"
            )
        content = os.read(descriptor, MOST_BYTES)
    finally:
        os.close(descriptor)
    first, _, _ = content.partition(b"\n")
    if not first.strip():
        raise VaultError(f"the passphrase file '{path}' is empty")
    return first.rstrip(b"\r")


def _without_line_end(content: bytes) -> bytes:
    return content.removesuffix(b"\n").removesuffix(b"\r")
