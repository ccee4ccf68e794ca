"""What was filled in on a page and is not sent yet: it may go to its own site alone, also between calls."""

import base64
from collections.abc import Generator
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

from sestet.services.browser.wire import READING, Request, site_of

#: What a page loads to be shown. It comes from other sites than the page's own as a rule.
_ASSETS = ("Image", "Stylesheet", "Script", "Font", "Media", "TextTrack", "Manifest")
#: A shorter value stands in addresses by chance.
_SHORTEST = 4


class Typed:
    """Judges every request of a tab, from the first typed value until the values are sent or left."""

    def __init__(self, *sites: str) -> None:
        self._sites = set(sites)
        self._values: set[str] = set()
        #: False: the page itself has moved on. It may have kept the values, but it has to load its parts.
        self.is_same_page = True
        #: A password of the vault is among the values: its own site alone gets it.
        self.has_secret = False

    @contextmanager
    def sending_to(self, site: str) -> Generator[None]:
        """While a form is sent, its receiver, which the person has approved, gets the values too."""
        before = frozenset(self._sites)
        self._sites.add(site)
        try:
            yield
        finally:
            self._sites &= before

    def add(self, value: str) -> None:
        """A value that is typed next; the value of a secret is not known here."""
        if len(value) >= _SHORTEST:
            self._values |= {value, base64.b64encode(value.encode()).decode().rstrip("=")}

    def judge(self, request: Request) -> str:
        site = site_of(request.url)
        reads = request.method in READING and not request.has_body
        if (
            not request.url.startswith(("http", "ws"))
            or site in self._sites
            or (reads and request.redirected)
        ):
            return ""
        if reads and (self._is_plain_asset(request) or not (self.is_same_page or request.is_main)):
            return ""
        return f"what was filled in could go to '{site}' with it"

    def _is_plain_asset(self, request: Request) -> bool:
        """A part of the page whose address has no room for a value."""
        address = unquote(request.url)
        has_value = any(value in address for value in self._values)
        return request.kind in _ASSETS and not urlsplit(request.url).query and not has_value
