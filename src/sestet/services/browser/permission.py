"""Which addresses may be opened and which requests may leave, by what the agent has read."""

from urllib.parse import urlsplit

from sestet.core.label import Label
from sestet.core.tool import CallInfo
from sestet.services.browser.connection import BrowserError
from sestet.services.browser.window import Window
from sestet.services.browser.wire import READING, Guard, Request, host_of, site_of

_LONGEST = 2_000


def whole_address(text: str) -> str:
    """An address that a browser may open, with its scheme; raises for any other."""
    url = text.strip().strip("<>\"'")
    if "://" not in url and not url.lower().startswith(
        ("javascript:", "data:", "about:", "file:", "view-source:")
    ):
        url = f"https://{url}"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise BrowserError(f"'{text[:200]}' is not a web address") from None
    if parts.scheme.lower() not in ("http", "https"):
        scheme = parts.scheme or url.partition(":")[0]
        raise BrowserError(
            f"addresses of the kind '{scheme[:20]}:' are not opened; give one with http or https"
        )
    # Chromium takes a backslash for a slash, and other readers of addresses do not.
    if not host or len(url) > _LONGEST or any(sign <= " " or sign == "\\" for sign in url):
        raise BrowserError(f"'{text[:200]}' is not a web address")
    if parts.username or parts.password:
        raise BrowserError("an address with a name or a password in it is not opened; leave them out")
    return url if parts.path else f"{url}/" if not parts.query and not parts.fragment else url


def address_on(site: str, path: str) -> str:
    """The address of a path on a site."""
    scheme, mark, rest = site.strip().partition("://")
    host = (rest if mark else scheme).strip("/")
    if not host or any(sign in host for sign in "/?#@ "):
        raise BrowserError(f"'{site[:100]}' is not a site; give its host alone, such as example.com")
    return whole_address(f"{scheme if mark else 'https'}://{host}/{path.strip().lstrip('/')}")


def require_address(call: CallInfo, window: Window, url: str) -> None:
    """Refuse an address that text from elsewhere, or private content, may have shaped."""
    if _is_named(call, url):
        return
    path = url.partition("://")[2].partition("/")[2]
    way_out = f"use browser_visit(site='{site_of(url)}', path='/{path[:200]}')"
    who = "your message does not name" if call.words else "nobody at a terminal named"
    if call.label.private:
        raise BrowserError(
            f"private content was read, and the person's message does not name {url[:200]}: {way_out}",
            f"not opened: private content was read before, and {who} {url[:200]}",
        )
    if call.label.untrusted and not window.has_seen_link(url) and not _is_first_page(url):
        raise BrowserError(
            f"the person's message does not name {url[:200]}, and no page links to it: {way_out}",
            f"not opened: {who} {url[:200]}, and no page links to it",
        )


def require_place(call: CallInfo, url: str) -> None:
    """Refuse to act on a page that the person did not name, once private content was read."""
    if call.label.private and not _is_named(call, f"https://{site_of(url)}/") and not _names_site(call, url):
        raise BrowserError(
            f"private content was read, and the person's message does not name {site_of(url)}: any step "
            "there could tell the site about it; use browser_submit, which asks the person",
            f"not done: private content was read before, and any step on {site_of(url)} could tell it",
        )


def require_site(given: str, url: str, what: str) -> str:
    """Refuse a call whose ``site`` is not where its values would go; returns the host."""
    actual = site_of(url)
    if site_of(given) != actual:
        raise BrowserError(
            f"{what} belongs to '{actual}', not to '{given}'; say site='{actual}' if that is meant"
        )
    return actual


def sending_guard(site: str) -> Guard:
    """Lets values go to the site alone: documents and everything with a body."""

    def judge(request: Request) -> str:
        carries = request.is_document or request.has_body or request.method not in READING
        follows = request.redirected and request.method in READING and not request.has_body
        if not carries or follows or site_of(request.url) == site:
            return ""
        return f"it would go to '{site_of(request.url)}', not to '{site}'"

    return judge


def reading_guard(call: CallInfo) -> Guard:
    """For a click that only reads: no form is sent, and in private nothing is opened that was not named."""

    def judge(request: Request) -> str:
        if not request.is_document or request.redirected:
            return ""
        if request.has_body or request.method not in READING:
            return f"it sends something to '{site_of(request.url)}'"
        if request.is_main and call.label.private:
            return "" if _is_named(call, request.url) else f"it opens {request.url[:200]}"
        return ""

    return judge


def page_label(window: Window, url: str) -> Label:
    """Everything on a page is untrusted; what a site shows to a person who is signed in is private too."""
    host = host_of(url)
    return Label(
        untrusted=True, private=window.is_signed_in(host), sources=(f"the page {host or 'about:blank'}",)
    )


def _is_named(call: CallInfo, url: str) -> bool:
    bare = url.partition("://")[2].removesuffix("/")
    return call.names_address(url) or call.names_address(bare)


def _names_site(call: CallInfo, url: str) -> bool:
    return any(call.names_address(each) for each in (url, host_of(url), f"www.{site_of(url)}"))


def _is_first_page(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query and not parts.fragment
