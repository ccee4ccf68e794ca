"""Masks the secrets that addresses carry, for every text that a person or a log gets to see."""

import re
from collections.abc import Iterator
from urllib.parse import unquote_plus

_MASK = "***"
#: Addresses in a text. Quotes and angle brackets end one, as in the errors of HTTP libraries.
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{0,30}://[^\s'\"<>`]+", re.IGNORECASE)
#: Names and passwords before the host. They end at the last '@' of the authority, and nowhere else: a mask
#: that reaches into the path could hide the true host behind another.
_AUTHORITY = re.compile(r"(?P<scheme>[^/?#]*://)?(?P<user>[^/?#\\]*@)?(?P<rest>.*)", re.DOTALL)
_TELLING_NAME = re.compile(r"key|token|secret|passw|pwd|pass|sig|auth|cred|session|code|hash", re.IGNORECASE)
#: Names that only look like the ones above.
_HARMLESS_NAMES = frozenset({"encoding", "codec", "design", "author"})
_RUN = re.compile(r"[A-Za-z0-9]+")
_HEX = re.compile(r"[0-9a-fA-F-]{32,}")


def mask_addresses(text: str) -> str:
    """The text with the secrets in each of its addresses masked."""
    return _ADDRESS.sub(lambda found: mask_address(found[0]), text) if "://" in text else text


def mask_address(address: str) -> str:
    """One address with its user name, its password and every value that may be a key masked."""
    parts = _AUTHORITY.fullmatch(address)
    assert parts is not None  # the expression matches every text
    scheme, user, rest = parts["scheme"] or "", parts["user"], parts["rest"]
    if user is None and _is_no_authority(rest):
        user, rest = _MASK, rest[rest.rindex("@") + 1 :]
    path, mark, query = (*re.split(r"([?#])", rest, maxsplit=1), "", "")[:3]
    shown = "/".join(_MASK if _looks_random(part) else part for part in path.split("/"))
    return f"{scheme}{f'{_MASK}@' if user else ''}{shown}{mark}{_masked_query(query)}"


def secrets_in(address: str) -> Iterator[str]:
    """The texts of an address that ``mask_address`` masks, as written and decoded."""
    parts = _AUTHORITY.fullmatch(address)
    assert parts is not None  # the expression matches every text
    found = [parts["user"][:-1].partition(":")[2]] if parts["user"] else []
    _, _, query = parts["rest"].partition("?")
    found += [value for name, value in _parameters(query) if _is_secret(name, value)]
    yield from (form for text in found for form in {text, unquote_plus(text)} if form)


def _is_no_authority(rest: str) -> bool:
    """Whether no program accepts this: a password with a '/', '?' or '#' in it stands where a port should."""
    host, colon, port = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition(":")
    return "@" in rest and bool(colon and port) and not port.isdigit() and not host.startswith("[")


def _masked_query(query: str) -> str:
    # Split with the separators kept, so that everything else is shown as it was written.
    pieces = re.split(r"([&;#?])", query)
    return "".join(piece if len(piece) <= 1 else _masked_parameter(piece) for piece in pieces)


def _masked_parameter(parameter: str) -> str:
    name, sign, value = parameter.partition("=")
    if not sign:
        return _MASK if _looks_random(name) else name
    return f"{name}={_MASK if _is_secret(name, value) else value}"


def _parameters(query: str) -> Iterator[tuple[str, str]]:
    for parameter in re.split(r"[&;#?]", query):
        name, sign, value = parameter.partition("=")
        yield (name, value) if sign else ("", name)


def _is_secret(name: str, value: str) -> bool:
    plain = unquote_plus(name).casefold()
    telling = _TELLING_NAME.search(plain) is not None and plain not in _HARMLESS_NAMES
    return bool(value) and (telling or _looks_random(value))


def _looks_random(value: str) -> bool:
    """Whether a value is long and mixed enough to be a key. Dates, versions and model names are not."""
    text = unquote_plus(value)
    longest = max((run[0] for run in _RUN.finditer(text)), key=len, default="")
    mixed = any(c.isdigit() for c in longest) and any(c.isalpha() for c in longest)
    return (len(longest) >= 16 and mixed) or len(longest) >= 40 or _HEX.fullmatch(text) is not None
