"""The output of a command: all of it while it is short, the beginning and the end of it when it is long."""

import asyncio
import codecs
from collections.abc import Callable
from typing import TypeAlias, cast

#: How many bytes of the beginning are kept, and how many of the end.
_KEPT = 500_000
#: A command that prints more is stopped.
MOST_BYTES = 200_000_000

#: Called with each new piece of output.
Report: TypeAlias = Callable[[str], None]


class Output(asyncio.Protocol):
    """Collects what a command writes into one pipe."""

    def __init__(self, report: Report, on_too_much: Callable[[], None]) -> None:
        self._report = report
        self._on_too_much = on_too_much
        self._head = bytearray()
        self._tail = bytearray()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.total = 0
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.ReadTransport", transport)

    def data_received(self, data: bytes) -> None:
        if self.total <= MOST_BYTES < self.total + len(data):
            self._on_too_much()
        self.total += len(data)
        room = _KEPT - len(self._head)
        self._head += data[:room]
        self._tail += data[max(room, 0) :]
        if len(self._tail) > 2 * _KEPT:
            del self._tail[:-_KEPT]
        if self.total <= _KEPT and (text := self._decoder.decode(data)):
            self._report(text)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.closed.done():
            self.closed.set_result(None)

    def close(self) -> None:
        self._transport.close()

    @property
    def is_binary(self) -> bool:
        return b"\0" in self._head

    def text(self) -> str:
        """The output as text, with a note on what is left out in the middle."""
        if self.is_binary:
            return f"[{self.total:,} bytes that are not text]"
        tail = self._tail[-_KEPT:]
        left_out = self.total - len(self._head) - len(tail)
        note = f"\n[… {left_out:,} bytes left out …]\n".encode() if left_out else b""
        return (bytes(self._head) + note + bytes(tail)).decode("utf-8", "replace")
