"""Reads HTML and PDF in a child process with limits, since a crafted file can make a parser hang or grow.

The parent sends a file's kind, size and bytes. The child answers with one JSON array a line: a block, or the
final result. A child that is silent for too long is killed, and the next file gets a new child.
"""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, cast

from sestet.config.load import child_environment
from sestet.core.words import duration
from sestet.services.documents.blocks import Block, BrokenFileError, DocumentKind

_PIECE = 65_536
#: The most bytes of an answer's line: a block has 64,000 characters of at most 12 bytes as JSON.
_MOST_LINE = 1_000_000


class SandboxedReader:
    """One child process, started for the first file."""

    def __init__(self, *, silence: float = 20.0, seconds: float = 300.0, memory: int = 1_500_000_000) -> None:
        """``silence``: seconds that the next block may take; ``seconds``: that the whole file may take."""
        self._silence = silence
        self._seconds = seconds
        self._memory = memory
        self._child: subprocess.Popen[bytes] | None = None

    def read(self, kind: DocumentKind, stream: BinaryIO, size: int) -> Iterator[Block]:
        """The blocks of a file; every failure is a ``BrokenFileError``."""
        give_up = time.monotonic() + self._seconds
        finished = False
        try:
            child = self._started()
            self._send(child, kind, stream, size)
            for line in self._lines(child, give_up):
                answer = cast("list[object]", json.loads(line))
                if answer[0] == "block":
                    text, place, headings, block_kind = cast("tuple[str, int, list[str], str]", answer[1:])
                    yield Block(text, place, tuple(headings), block_kind)  # pyright: ignore[reportArgumentType] - as the child wrote it
                    continue
                finished = True
                if answer[0] == "broken":
                    raise BrokenFileError(str(answer[1]))
                return
        finally:
            # A child that stopped in the middle of a file cannot read another one.
            if not finished:
                self.close()

    def close(self) -> None:
        if self._child is None:
            return
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._child = None

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._child is None or self._child.poll() is not None:
            self.close()
            # -P: no file of the working directory is imported as a module.
            command = [
                sys.executable,
                "-P",
                "-m",
                "sestet.services.documents.sandbox_child",
                str(self._memory),
            ]
            self._child = subprocess.Popen(  # noqa: S603 - the same interpreter
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                env=child_environment(),
            )
        return self._child

    def _send(
        self, child: "subprocess.Popen[bytes]", kind: DocumentKind, stream: BinaryIO, size: int
    ) -> None:
        assert child.stdin is not None
        try:
            child.stdin.write(f"{kind} {size}\n".encode())
            left = size
            while left:
                piece = stream.read(min(left, _PIECE))
                if not piece:
                    raise BrokenFileError("it became shorter while it was being read")
                written = memoryview(piece)
                while written:
                    written = written[child.stdin.write(written) :]
                left -= len(piece)
        except BrokenPipeError as error:
            raise BrokenFileError("it takes too much memory to read") from error

    def _lines(self, child: "subprocess.Popen[bytes]", give_up: float) -> Iterator[bytes]:
        assert child.stdout is not None
        held = b""
        while True:
            *lines, held = held.split(b"\n")
            yield from lines
            wait = min(self._silence, give_up - time.monotonic())
            if wait <= 0 or not select.select([child.stdout], [], [], wait)[0]:
                seconds = self._seconds if wait < self._silence else self._silence
                raise BrokenFileError(f"it takes longer than {duration(seconds)} to read")
            piece = os.read(child.stdout.fileno(), _PIECE)
            if not piece or len(held) > _MOST_LINE:
                raise BrokenFileError("it cannot be read: the reader process stopped")
            held += piece
