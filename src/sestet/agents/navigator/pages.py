"""Tools to open and read web pages."""

from typing import Annotated, Literal

from sestet.core.label import Labelled
from sestet.core.tool import CallInfo, tool
from sestet.services.browser.browser import Browser

_SECONDS = 90.0


@tool(
    risk="safe",
    reads=("untrusted",),
    effect="none",
    recovery="pure",
    timeout=_SECONDS,
    calls_per_turn=15,
    examples=(
        "open {url}",
        "open the page {url}",
        "open the website {url}",
        "go to {url}",
        "what does {url} say",
        "what is on {url}",
        "read the page {url}",
        "browse to {url}",
        "visit {url}",
    ),
)
async def browser_navigate(
    call: CallInfo, browser: Browser, /, url: Annotated[str, "The whole address", {"format": "uri"}]
) -> Labelled:
    """Open a page by an address that the person or a page gave, and read it."""
    async with browser.visit(call) as visitor:
        return await visitor.navigate(url)


@tool(
    risk="safe",
    reads=("untrusted",),
    effect="external",
    targets=("site",),
    recovery="pure",
    timeout=_SECONDS,
    standing="open ANY page of {site}, with what it puts into the address",
    calls_per_turn=15,
    examples=(
        "open the page {path} of {site}",
        "open the page {path} on {site}",
        "open the path {path} of {site}",
        "open {path} on the site {site}",
        "visit {path} on {site}",
        "go to {path} on {site}",
    ),
)
async def browser_visit(
    call: CallInfo,
    browser: Browser,
    /,
    site: Annotated[str, "The host, such as example.com", {"format": "site"}],
    path: Annotated[str, "The path with its query, such as /search?q=tea"] = "/",
) -> Labelled:
    """Open an address that you composed, such as a search on a site."""
    async with browser.visit(call) as visitor:
        return await visitor.visit(site, path)


@tool(
    risk="safe",
    reads=("untrusted",),
    effect="none",
    recovery="pure",
    timeout=_SECONDS,
    examples=(
        "read the page again",
        "read the open page",
        "read the web page again",
        "what does the page say now",
        "what does the open page say",
        "what is on the page now",
        "show me the page again",
    ),
)
async def browser_read(
    call: CallInfo,
    browser: Browser,
    /,
    from_line: Annotated[int, "The first line", {"minimum": 1}] = 1,
    wait_for: Annotated[str, "Wait until this text is there"] = "",
) -> Labelled:
    """Read the open page. [e8 button Send] is a control and e8 its ref."""
    async with browser.visit(call) as visitor:
        return await visitor.read(from_line, wait_for)


@tool(
    risk="safe",
    reads=("untrusted",),
    effect="none",
    recovery="pure",
    timeout=_SECONDS,
    examples=(
        "find {text} on the page",
        "find {text} on the web page",
        "look for {text} on the page",
        "search the page for {text}",
        "where does the page say {text}",
        "does the page say {text}",
    ),
)
async def browser_find(call: CallInfo, browser: Browser, /, text: str) -> Labelled:
    """Find a text on the open page, with the lines around it."""
    async with browser.visit(call) as visitor:
        return await visitor.find(text)


@tool(
    risk="safe",
    reads=("untrusted",),
    effect="none",
    recovery="pure",
    timeout=_SECONDS,
    examples=(
        "scroll {direction}",
        "scroll {direction} on the page",
        "scroll {direction} in the browser",
        "scroll the page {direction}",
        "scroll to the {direction}",
        "scroll to the {direction} of the page",
    ),
)
async def browser_scroll(
    call: CallInfo, browser: Browser, /, direction: Literal["down", "up", "top", "bottom"] = "down"
) -> Labelled:
    """Scroll, for pages that load more then; a reading needs no scrolling."""
    async with browser.visit(call) as visitor:
        return await visitor.scroll(direction)


@tool(
    risk="safe",
    reads=("untrusted",),
    effect="none",
    recovery="pure",
    timeout=_SECONDS,
    examples=(
        "go back to the previous page",
        "go back to the page before",
        "go back in the browser",
        "go back one page",
        "back to the last web page",
        "return to the previous page",
    ),
)
async def browser_back(call: CallInfo, browser: Browser, /) -> Labelled:
    """Go back to the page before."""
    async with browser.visit(call) as visitor:
        return await visitor.back()


@tool(
    risk="safe",
    reads=("untrusted",),
    effect="none",
    recovery="pure",
    timeout=_SECONDS,
    examples=(
        "go to the browser tab {tab}",
        "go to the tab {tab}",
        "show me the browser tab {tab}",
        "show me the tab {tab}",
        "switch to the tab {tab}",
        "switch to the browser tab {tab}",
    ),
)
async def browser_tab(
    call: CallInfo, browser: Browser, /, tab: Annotated[str, "Such as t2"], close: bool = False
) -> Labelled:
    """Go to another tab, or close one."""
    async with browser.visit(call) as visitor:
        return await visitor.choose_tab(tab, close=close)
