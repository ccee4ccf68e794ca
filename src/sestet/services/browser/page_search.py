"""Searches the web with a search page that the owner named, read by the browser."""

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote_plus, urlsplit

from sestet.core.errors import ConfigError
from sestet.core.record import replace
from sestet.core.tool import CallInfo
from sestet.services.browser.browser import Browser
from sestet.services.web_search import WebResult

if TYPE_CHECKING:
    from sestet.services.browser.reading import Item, Reading

_SLOT = "{query}"
_TITLE_LENGTH, _EXCERPT_LENGTH = 200, 500


class PageSearch:
    """Opens the search page in a window of its own, and leaves the conversation's pages alone."""

    def __init__(self, browser: Browser, page: str) -> None:
        if _SLOT not in page or not page.startswith(("https://", "http://")):
            raise ConfigError([f"search.page: must be a web address with {_SLOT} in it"])
        self._browser = browser
        self._page = page

    async def find(self, query: str, limit: int, call: CallInfo) -> list[WebResult]:
        own = replace(call, session_id=f"{call.session_id} search")
        async with self._browser.visit(own) as visitor:
            reading = await visitor.look_up(self._page.replace(_SLOT, quote_plus(query)))
        return results_of(reading, limit)


def results_of(reading: "Reading", limit: int) -> list[WebResult]:
    """The links of a search page that lead elsewhere, each with the text below it."""
    found: dict[str, WebResult] = {}
    for item in reading.items:
        url = _target(item, reading.url)
        if url and url not in found and len(item.name) > 3:
            found[url] = WebResult(item.name[:_TITLE_LENGTH], url, _excerpt(reading, item))
    return list(found.values())[:limit]


def _target(item: "Item", page: str) -> str:
    """Where a link leads in the end: search pages often lead by way of an address of their own."""
    if not item.href.startswith(("http://", "https://")):
        return ""
    parts = urlsplit(item.href)
    if parts.hostname != urlsplit(page).hostname:
        return item.href
    inner = (value for _, value in parse_qsl(parts.query) if value.startswith(("http://", "https://")))
    return next(inner, "")


def _excerpt(reading: "Reading", item: "Item") -> str:
    mark = f"[{item.ref} "
    at = next((number for number, line in enumerate(reading.lines) if mark in line), None)
    if at is None:
        return ""
    below = (line for line in reading.lines[at + 1 : at + 4] if not line.startswith(("[", "#")))
    return next(below, "")[:_EXCERPT_LENGTH]
