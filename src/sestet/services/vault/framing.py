"""Messages between Sestet and its broker: a length, then JSON; a descriptor may come with a message."""

import json
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

_LENGTH = struct.Struct("!I")
MOST_BYTES = 16_000_000
_MOST_DESCRIPTORS = 4


class Message(NamedTuple):
    content: dict[str, Any]  # Any: JSON between two halves of one program
    descriptors: list[int]

    def close(self) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)


def send(channel: socket.socket, content: object, descriptors: Sequence[int] = ()) -> None:
    body = json.dumps(content).encode()
    if len(body) > MOST_BYTES:
        raise ValueError(f"a message of {len(body):,} bytes is too large")
    header = _LENGTH.pack(len(body))
    if descriptors:
        # A header of 4 bytes is sent whole.
        socket.send_fds(channel, [header], list(descriptors))
        channel.sendall(body)
    else:
        channel.sendall(header + body)


def receive(channel: socket.socket) -> Message | None:
    """The next message; None: the other side has hung up."""
    header, descriptors, _, _ = socket.recv_fds(channel, _LENGTH.size, _MOST_DESCRIPTORS)
    for descriptor in descriptors:
        # No program that this process starts gets it.
        os.set_inheritable(descriptor, False)
    header += _exactly(channel, _LENGTH.size - len(header)) if header else b""
    if len(header) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(header)
    body = _exactly(channel, length) if length <= MOST_BYTES else b""
    if len(body) < length or length > MOST_BYTES:
        return None
    return Message(cast("dict[str, Any]", json.loads(body)), descriptors)


def _exactly(channel: socket.socket, size: int) -> bytes:
    pieces: list[bytes] = []
    while size and (piece := channel.recv(min(size, 262_144))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
