"""The navigator's work: opening a page, telling what it says, taking a picture of it."""

import re

from sestet.models.offline.parameters import ADDRESS
from sestet.models.offline.words import stems_of
from sestet.models.offline.work import Flow, Next, Work, call

_MOST_LINES = 25
_ABOUT = re.compile(r"\b(?:about|of|on|for|regarding)\b(?P<what>.+)", re.IGNORECASE)
_SHOT = re.compile(
    rf"(?:take|make|get)(?: me)? a (?P<kind>screenshot|picture|pdf) (?:of|from) (?P<url>{ADDRESS})",
    re.IGNORECASE,
)
_TOOLS = {"screenshot": "browser_screenshot", "picture": "browser_screenshot", "pdf": "browser_pdf"}


def _picture(work: Work, said: re.Match[str]) -> Next:
    """A picture of a page that is not open yet takes two calls."""
    if not work.steps:
        return call("browser_navigate", url=said["url"])
    if len(work.steps) == 1 and not work.last.result.failed:
        return call(_TOOLS[said["kind"].lower()])
    return None


def after_opening(work: Work) -> Next:
    """Tell what the page says: the lines about what was asked, or the first ones."""
    result = work.last.result
    on_page = [one for one in result.found if not one.kind]
    if result.failed or not on_page:
        return None
    url = on_page[0].name
    lines = [one.text for one in on_page]
    rest = re.sub(ADDRESS, " ", work.request)
    asked = _ABOUT.search(rest)
    wanted = stems_of(asked["what"]) if asked else frozenset[str]()
    fitting = [line for line in lines if wanted & stems_of(line)]
    if asked and not fitting:
        told = f"The page says nothing about “{asked['what'].strip(' ?.!')}” in so many words."
        return f"{told} It begins:\n" + "\n".join(lines[:3]) + f"\n({url})"
    shown = fitting or lines
    more = "\n…" if len(shown) > _MOST_LINES else ""
    return "\n".join(shown[:_MOST_LINES]) + f"{more}\n({url})"


#: Requests that take several calls: their words, the tools that they need, and the work.
FLOWS: tuple[tuple[re.Pattern[str], frozenset[str], Flow], ...] = (
    (_SHOT, frozenset({"browser_navigate", "browser_screenshot", "browser_pdf"}), _picture),
)
