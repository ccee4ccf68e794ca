"""Short questions to a model server over HTTP; whatever goes wrong is no answer."""

import json
import time
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TypeAlias, cast
from urllib.parse import urlsplit

Members: TypeAlias = Mapping[str, object]

#: A server that is there says so at once, even while a model of its is busy.
_SECONDS = 3.0
_CONNECT_SECONDS = 1.0
_MOST_BYTES = 4_000_000
_PIECE_BYTES = 65_536


class ServerHttp:
    """One server. Nothing goes through a proxy, and nothing but JSON objects comes back."""

    def __init__(self, root: str, key: str = "", seconds: float = _SECONDS) -> None:
        self._address = urlsplit(root)
        self._headers = {"Accept": "application/json", "User-Agent": "sestet", "Connection": "close"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._seconds = seconds

    def is_open(self) -> bool:
        """Whether anybody listens there."""
        connection = self._connect(_CONNECT_SECONDS)
        try:
            connection.connect()
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()
        return True

    def get(self, path: str) -> Members | None:
        return self._ask("GET", path, None)

    def post(self, path: str, body: Members) -> Members | None:
        return self._ask("POST", path, json.dumps(body).encode())

    def _ask(self, method: str, path: str, body: bytes | None) -> Members | None:
        headers = {**self._headers, "Content-Type": "application/json"} if body else self._headers
        connection = self._connect(self._seconds)
        deadline = time.monotonic() + self._seconds
        try:
            connection.request(method, f"{self._address.path}{path}", body, headers)
            response = connection.getresponse()
            content = b""
            # In pieces: a server that sends a byte now and then must not hold anybody up.
            while response.status == 200 and (piece := response.read1(_PIECE_BYTES)):
                content += piece
                if len(content) > _MOST_BYTES or time.monotonic() > deadline:
                    return None
            answer: object = json.loads(content)
        except (OSError, HTTPException, ValueError, RecursionError):
            return None
        finally:
            connection.close()
        return cast("Members", answer) if isinstance(answer, dict) else None

    def _connect(self, seconds: float) -> HTTPConnection:
        host, port = self._address.hostname or "", self._address.port
        secure = self._address.scheme == "https"
        return (HTTPSConnection if secure else HTTPConnection)(host, port, timeout=seconds)


def member(value: object, name: str) -> object:
    """A member of what may be an object."""
    return cast("Members", value).get(name) if isinstance(value, Mapping) else None


def items(value: object, name: str) -> list[Members]:
    """The objects in a list that may be there."""
    found = member(value, name)
    entries = cast("list[object]", found) if isinstance(found, list) else []
    return [cast("Members", entry) for entry in entries if isinstance(entry, dict)]


def number(value: object, name: str) -> int | None:
    """A count that may be there."""
    found = member(value, name)
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else None
