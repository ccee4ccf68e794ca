"""Heads of HTTP messages as the browser's proxy reads and rewrites them. Every doubtful head is refused."""

import re
from typing import Final, Literal, TypeAlias

from sestet.core.errors import SestetError
from sestet.core.record import Record

#: How a body ends: after this many bytes, or with a chunk of no bytes.
BodyLength: TypeAlias = int | Literal["chunked"]
_Fields: TypeAlias = list[tuple[str, str]]

HEAD_END: Final = b"\r\n\r\n"
_MOST_FIELDS: Final = 200
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_TARGET: Final = re.compile(r"[\x21-\x7e]+")
#: Text of a field: no control characters but the tab, so no line can hide in it.
_FIELD_TEXT: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_LENGTH: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
_PORT: Final = re.compile(r"[1-9][0-9]{0,4}", re.ASCII)
_CHUNK_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[\t\x20-\x7e]*)?\r\n")
_STATUS_LINE: Final = re.compile(r"HTTP/1\.[01] ([1-9][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?")
#: Fields about one connection, which end at a proxy; so does every field whose name begins with ``proxy-``.
_HOP_FIELDS: Final = frozenset(
    ("connection", "http2-settings", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade")
)
#: A request must not be able to have these removed on the way.
_KEPT_FIELDS: Final = frozenset(("content-length", "host", "transfer-encoding"))


class BadMessageError(SestetError):
    """A head that is not read: ``status`` and the text are the answer to the client."""

    def __init__(self, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.status = status


class ProxyRequest(Record):
    """``head`` and ``body``: what goes to the server; a tunnel has none."""

    host: str
    port: int
    tunnel: bool
    head: bytes = b""
    body: BodyLength = 0


class ServerAnswer(Record):
    """The head of an answer as it goes to the browser. An interim one is followed by another."""

    head: bytes
    interim: bool


def parse_request(head: bytes) -> ProxyRequest:
    """Read the head of a request to a proxy, with the empty line at its end."""
    first, fields = _split(head)
    parts = first.split(" ")
    if len(parts) != 3 or not _TOKEN.fullmatch(parts[0]) or not _TARGET.fullmatch(parts[1]):
        raise BadMessageError("the first line of the request cannot be read")
    method, target, version = parts
    if version not in ("HTTP/1.1", "HTTP/1.0"):
        raise BadMessageError("the proxy speaks HTTP/1.1", 505)
    body = _body_length(fields, version)
    if method == "CONNECT":
        if body != 0:
            raise BadMessageError("a tunnel has no body")
        host, port = _authority(target, None)
        return ProxyRequest(host, port, True)
    scheme, separator, rest = target.partition("://")
    if not separator or scheme.lower() != "http":
        raise BadMessageError("this is a proxy: it takes http:// addresses and tunnels")
    place = re.search(r"[/?#]", rest)
    authority, path = (rest[: place.start()], rest[place.start() :]) if place else (rest, "/")
    if "#" in path:
        raise BadMessageError("the address has a fragment")
    host, port = _authority(authority, 80)
    line = f"{method} {path if path.startswith('/') else f'/{path}'} HTTP/1.1"
    return ProxyRequest(host, port, False, _write(line, _forwarded(fields, authority, body)), body)


def parse_answer(head: bytes) -> ServerAnswer:
    """Read the head of a server's answer to a plain request."""
    # Servers write odd fields. The browser alone decides where an answer ends, so they can be left out.
    first, fields = _split(head, strict=False)
    found = _STATUS_LINE.fullmatch(first)
    status = int(found[1]) if found else 0
    # No request asks for another protocol (101), and no server may ask for a password of the proxy (407).
    if status in (0, 101, 407):
        raise BadMessageError("the server's answer cannot be used", 502)
    removed = _removed(fields) - {"transfer-encoding"}
    kept = [(name, value) for name, value in fields if not _ends_here(name, removed)]
    interim = status < 200
    return ServerAnswer(_write(first, kept if interim else [*kept, ("Connection", "close")]), interim)


def parse_chunk_size(line: bytes) -> int:
    """Read the line before a chunk; extensions of chunks are left out."""
    found = _CHUNK_SIZE.fullmatch(line)
    if not found:
        raise BadMessageError("a chunk of the body cannot be read")
    return int(found[1], 16)


def _split(head: bytes, *, strict: bool = True) -> tuple[str, _Fields]:
    """The first line and the fields.

    Only CR LF ends a line. A strict reading refuses other ends of lines, and lines that continue the one
    before: servers disagree about them. Otherwise unreadable fields are left out.
    """
    first, *lines = head.removesuffix(HEAD_END).decode("latin-1").split("\r\n")
    if len(lines) > _MOST_FIELDS:
        raise BadMessageError(f"the head has more than {_MOST_FIELDS} fields", 431)
    fields: _Fields = []
    for line in lines:
        name, colon, value = line.partition(":")
        if colon and _TOKEN.fullmatch(name) and _FIELD_TEXT.fullmatch(value):
            fields.append((name, value.strip(" \t")))
        elif strict:
            raise BadMessageError("a field of the head cannot be read")
    return first, fields


def _body_length(fields: _Fields, version: str) -> BodyLength:
    """How the body ends; two ways to say it, or an unclear one, hide a second request in the body."""
    lengths = [value for name, value in fields if name.lower() == "content-length"]
    codings = [value for name, value in fields if name.lower() == "transfer-encoding"]
    if len([name for name, _ in fields if name.lower() == "host"]) > 1:
        raise BadMessageError("the request names two hosts")
    if len(lengths) + len(codings) > 1:
        raise BadMessageError("the request gives its length twice")
    if codings:
        if codings[0].lower() != "chunked" or version == "HTTP/1.0":
            raise BadMessageError("the request's transfer coding is not chunked")
        return "chunked"
    if lengths and not _LENGTH.fullmatch(lengths[0]):
        raise BadMessageError("the request's length is not a number")
    return int(lengths[0]) if lengths else 0


def _authority(text: str, default_port: int | None) -> tuple[str, int]:
    """The host, unchecked, and the port."""
    host, colon, port = text, "", ""
    if not text.endswith("]"):
        head, separator, tail = text.rpartition(":")
        if separator:
            host, colon, port = head, separator, tail
    if "@" in text:
        raise BadMessageError("the address has a user name")
    if not host or (colon and not (_PORT.fullmatch(port) and int(port) <= 65_535)):
        raise BadMessageError("the address has no host, or no usable port")
    if not colon and default_port is None:
        raise BadMessageError("a tunnel needs a port")
    if ":" in host and not (host.startswith("[") and host.endswith("]")):
        raise BadMessageError("an IPv6 address stands in brackets")
    return host, int(port) if colon else default_port or 0


def _removed(fields: _Fields) -> frozenset[str]:
    """The names of fields that end at the proxy: the known ones, and those that ``Connection`` lists."""
    lists = [value for name, value in fields if name.lower() == "connection"]
    return _HOP_FIELDS | {word.strip(" \t").lower() for words in lists for word in words.split(",")}


def _ends_here(name: str, removed: frozenset[str]) -> bool:
    return name.lower() in removed or name.lower().startswith("proxy-")


def _forwarded(fields: _Fields, authority: str, body: BodyLength) -> _Fields:
    removed = _removed(fields)
    if (removed - _HOP_FIELDS) & _KEPT_FIELDS:
        raise BadMessageError("the request removes a field that a server needs")
    kept = [(name, value) for name, value in fields if not _ends_here(name, removed | {"host"})]
    coding = [("Transfer-Encoding", "chunked")] if body == "chunked" else []
    return [("Host", authority), *kept, *coding, ("Connection", "close")]


def _write(line: str, fields: _Fields) -> bytes:
    lines = [line, *(f"{name}: {value}" for name, value in fields)]
    return "\r\n".join(lines).encode("latin-1") + HEAD_END
