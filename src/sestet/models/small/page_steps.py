"""The steps of a download and of a sign-in: code leads them, and the model only tells what was read."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias
from urllib.parse import urlsplit

from sestet.core.agent import TRANSFER
from sestet.core.message import Found, ToolMessage
from sestet.models.offline.work import Next, Work, call
from sestet.models.small.page_requests import Download, SignIn, read_page_request
from sestet.models.small.told import fenced, told

_HINT = (Path(__file__).parent / "prompts" / "answer.md").read_text(encoding="utf-8").strip()
#: The agent that owns this tool gets work on pages.
PAGE_TOOL = "browser_navigate"
_TOOLS: dict[type, frozenset[str]] = {
    Download: frozenset(("browser_navigate", "browser_download")),
    SignIn: frozenset(("browser_navigate", "browser_fill", "browser_submit", "browser_read")),
}
_UNNAMED = (
    "Nothing was filled in: a password comes from the vault alone. Store it with "
    "`sestet secrets set NAME --to {site}`, and say “sign in at {url} as USER with the password vault:NAME”."
)
_NO_FIELD = "{url} has no field for a password, so nothing was filled in."
_WHO = (
    "Nothing was filled in: the form also asks for “{field}”. Say it too, as in “sign in at {url} as USER "
    "with the password vault:{secret}”."
)
_NO_BUTTON = "The form on {url} has no button that I could press. It is filled in, and was not sent."
_NOT_ACCEPTED = (
    "The form was sent to {site}, and the page still asks for a password: the sign-in did not work."
)
_SENT = "The form was sent to {site}, and the page asks for no password any more. It is now {url}"
_NOT_READ = "The page behind it could not be read: {why}"
_TEXT_FIELDS = ("textbox", "combobox")
_SENDS = re.compile(
    r"(?!.*\bwith\b).*\b(?:(?:sign|log)[ -]?(?:in|on)|login|submit|continue|next|enter)\b", re.IGNORECASE
)
#: Buttons beside a password that send nothing, or something else.
_ASIDE = re.compile(r"\b(?:show|hide|forgot|reset|clear|cancel|with)\b", re.IGNORECASE)
_MOST_LINES = 25


class Tell(NamedTuple):
    """The model's turn: it can only answer. Its answer stands below what code says has happened."""

    done: str
    hint: str


PageStep: TypeAlias = Next | Tell


def next_delegation(work: Work, agent: str) -> Next:
    """The orchestrator's step: the person's own words go to the agent for pages. None: it is other work."""
    if read_page_request(work.request) is None:
        return None
    if work.steps:
        return told(work.last.result)
    return call(TRANSFER, agent_name=agent, request=work.request, reply=True)


def next_page_step(work: Work) -> PageStep:
    """What comes next on the page; None: it is other work."""
    wanted = read_page_request(work.request)
    if wanted is None or not _TOOLS[type(wanted)] <= work.tools.keys():
        return None
    if isinstance(wanted, SignIn) and not wanted.secret:
        return _UNNAMED.format(site=_site(wanted.url), url=wanted.url)
    if not work.steps:
        return call("browser_navigate", url=wanted.url)
    if work.last.result.failed:
        return _after_failure(work)
    return _download(work, wanted) if isinstance(wanted, Download) else _sign_in(work, wanted)


def _download(work: Work, wanted: Download) -> PageStep:
    saved = work.made("browser_download")
    if not saved:
        return call("browser_download", target=wanted.target, read=bool(wanted.then))
    result = saved[-1].result
    # Without a text to read, the model would make one up.
    return _tell(told(result), wanted.then) if wanted.then and result.found else told(result)


def _sign_in(work: Work, wanted: SignIn) -> PageStep:
    opened = work.steps[0].result
    url = opened.citations[0] if opened.citations else wanted.url
    site, form = _site(url), _form(opened)
    if not work.made("browser_fill"):
        if form.password is None:
            return _NO_FIELD.format(url=url)
        if form.user is not None and not wanted.user:
            return _WHO.format(field=form.user.text, url=wanted.url, secret=wanted.secret)
        user = {_mark(form.user): wanted.user} if form.user else {}
        fields = {**user, _mark(form.password): f"vault:{wanted.secret}"}
        return call("browser_fill", site=site, fields=fields)
    if not work.made("browser_submit"):
        if form.button is None:
            return _NO_BUTTON.format(url=url)
        return call("browser_submit", site=site, target=_mark(form.button))
    if not work.made("browser_read"):
        return call("browser_read")
    return _signed_in(work.last.result, site, wanted.then)


def _signed_in(page: ToolMessage, site: str, then: str) -> PageStep:
    lines = fenced("\n".join([one.text for one in page.found if not one.kind][:_MOST_LINES]))
    if _form(page).password is not None:
        return f"{_NOT_ACCEPTED.format(site=site)}\n\n{lines}"
    sent = _SENT.format(site=site, url=page.citations[0] if page.citations else site)
    return _tell(f"{sent}.", then) if then else f"{sent}:\n\n{lines}"


def _after_failure(work: Work) -> str:
    """What happened, in the words of the tool. A form that was sent stays sent if its page cannot be read."""
    sent = work.made("browser_submit")
    why = told(work.last.result)
    if sent and not sent[-1].result.failed:
        return f"{told(sent[-1].result)}\n\n{_NOT_READ.format(why=why)}"
    return why


class _Form(NamedTuple):
    """The controls of a page that a sign-in needs."""

    user: Found | None = None
    password: Found | None = None
    button: Found | None = None


def _form(page: ToolMessage) -> _Form:
    """The first password field, the text field before it, and the button that sends both."""
    controls = [one for one in page.found if one.kind]
    at = next((at for at, one in enumerate(controls) if one.kind == "password"), None)
    if at is None:
        return _Form()
    user = _last([one for one in controls[:at] if one.kind in _TEXT_FIELDS])
    buttons = [one for one in controls[at:] if one.kind == "button" and not _ASIDE.search(one.text)]
    named = [one for one in buttons if _SENDS.match(one.text)]
    return _Form(user, controls[at], next(iter((*named, *buttons)), None))


def _mark(control: Found) -> str:
    """A control by its ref, with its name for the person who is asked."""
    return f"{control.name} {control.text}".strip()


def _last(found: Sequence[Found]) -> Found | None:
    return found[-1] if found else None


def _tell(done: str, then: str) -> Tell:
    return Tell(done, _HINT.replace("{{then}}", then))


def _site(url: str) -> str:
    return urlsplit(url if "://" in url else f"https://{url}").netloc
