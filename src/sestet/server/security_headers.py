"""The headers that keep a browser from misusing an answer; every answer has them."""

from typing import TypeAlias

RawHeaders: TypeAlias = list[tuple[bytes, bytes]]

_ALWAYS: RawHeaders = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
]
_API_POLICY = b"default-src 'none'; frame-ancestors 'none'"
_PAGE_POLICY = (
    b"default-src 'self'; connect-src 'self'; img-src 'self' blob:; object-src 'none'; "
    b"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
#: Of answers that are no pages.
API_HEADERS: RawHeaders = [*_ALWAYS, (b"content-security-policy", _API_POLICY)]
#: Of pages: they load what they need from this server alone.
_PAGE_HEADERS: RawHeaders = [
    *_ALWAYS,
    (b"content-security-policy", _PAGE_POLICY),
    (b"cross-origin-opener-policy", b"same-origin"),
]


def with_security_headers(headers: RawHeaders) -> RawHeaders:
    """Add the headers that an answer has not set itself."""
    own = dict(headers)
    defaults = _PAGE_HEADERS if own.get(b"content-type", b"").startswith(b"text/html") else API_HEADERS
    return [*headers, *(each for each in defaults if each[0] not in own)]
