"""Parts that the steps of all work on pages share."""

from urllib.parse import urlsplit

from sestet.core.message import Found, ToolMessage
from sestet.models.offline.work import Work
from sestet.models.small.told import fenced, told

_NOT_READ = "The page behind it could not be read: {why}"
_MOST_LINES = 25

#: Tools whose result is a page with its controls.
SHOWS_PAGE = ("browser_navigate", "browser_read")


def address(page: ToolMessage, asked: str) -> str:
    """The address of a page that came, which may be another than the one that was asked for."""
    return page.citations[0] if page.citations else asked


def shown(page: ToolMessage) -> str:
    return fenced("\n".join([one.text for one in page.found if not one.kind][:_MOST_LINES]))


def after_failure(work: Work) -> str:
    """What happened, in the words of the tool. A form that was sent stays sent, whatever failed after it."""
    sent = [step.result for step in work.made("browser_submit") if not step.result.failed]
    why = told(work.last.result)
    if not sent:
        return why
    after = _NOT_READ.format(why=why) if work.last.call.name == "browser_read" else why
    return f"{told(sent[-1])}\n\n{after}"


def mark(control: Found) -> str:
    """A control by its ref, with its name for the person who is asked."""
    return f"{control.name} {control.text}".strip()


def site_in(url: str) -> str:
    return urlsplit(url if "://" in url else f"https://{url}").netloc
