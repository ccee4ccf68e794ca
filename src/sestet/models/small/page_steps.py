"""The steps of work on pages that code leads: the model only tells what was read, and not always that."""

import re
from pathlib import Path
from typing import NamedTuple, TypeAlias

from sestet.core.agent import TRANSFER
from sestet.core.message import Found, ToolMessage
from sestet.models.offline.work import Next, Work, call
from sestet.models.small.form_requests import About, Fill, values_on_record
from sestet.models.small.form_steps import answer_about, fill_form, why_not_on_record
from sestet.models.small.page_parts import SHOWS_PAGE, address, after_failure, mark, shown, site_in
from sestet.models.small.page_requests import Download, SignIn, read_page_request
from sestet.models.small.told import told

_HINT = (Path(__file__).parent / "prompts" / "answer.md").read_text(encoding="utf-8").strip()
#: The agent that owns this tool gets work on pages.
PAGE_TOOL = "browser_navigate"
_TOOLS: dict[type, frozenset[str]] = {
    Download: frozenset(("browser_navigate", "browser_download")),
    SignIn: frozenset(("browser_navigate", "browser_fill", "browser_submit", "browser_read")),
    Fill: frozenset(("browser_navigate", "browser_fill", "browser_submit", "browser_read")),
    About: frozenset(("browser_navigate", "browser_find")),
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
_NAME_ALONE = (
    "The user name was sent to {site}, and the next page has no field for a password: "
    "the password was not filled in."
)
_TEXT_FIELDS = ("textbox", "combobox")
_SENDS = re.compile(
    r"(?!.*\bwith\b).*\b(?:(?:sign|log)[ -]?(?:in|on)|login|submit|continue|next|enter)\b", re.IGNORECASE
)
#: The field and the button of a page that asks for the name first. A field for a newsletter is none.
_NAMES_USER = re.compile(
    r"\b(?:user|e-?mail|login|account|member|customer|phone|mobile|id)\b|\buser ?name\b", re.IGNORECASE
)
_GOES_ON = re.compile(
    r"(?!.*\bwith\b).*\b(?:(?:sign|log)[ -]?(?:in|on)|login|continue|next)\b", re.IGNORECASE
)
#: Buttons beside a password that send nothing, or something else.
_ASIDE = re.compile(r"\b(?:show|hide|forgot|reset|clear|cancel|with)\b", re.IGNORECASE)


class Tell(NamedTuple):
    """The model's turn: it can only answer. Its answer stands below what code says has happened."""

    done: str
    hint: str


PageStep: TypeAlias = Next | Tell


def next_delegation(work: Work, agent: str, memory: str = "") -> Next:
    """The orchestrator's step: the person's own words go to the agent for pages. None: it is other work.

    What the person only names, such as "my city", is said instead: only the orchestrator sees the memory.
    """
    wanted = read_page_request(work.request)
    if wanted is None:
        return None
    if work.steps:
        return told(work.last.result)
    request = work.request
    if isinstance(wanted, Fill) and wanted.own:
        values = values_on_record(wanted.own, memory)
        if why := why_not_on_record(values):
            return why
        request = wanted.with_values({thing: value for thing, (value,) in values.items()})
    return call(TRANSFER, agent_name=agent, request=request, reply=True)


def next_page_step(work: Work) -> PageStep:
    """What comes next on the page; None: it is other work."""
    wanted = read_page_request(work.request)
    if wanted is None or not _TOOLS[type(wanted)] <= work.tools.keys():
        return None
    if isinstance(wanted, SignIn) and not wanted.secret:
        return _UNNAMED.format(site=site_in(wanted.url), url=wanted.url)
    if not work.steps:
        return call("browser_navigate", url=wanted.url)
    if work.last.result.failed:
        return after_failure(work)
    match wanted:
        case Download():
            return _download(work, wanted)
        case SignIn():
            return _sign_in(work, wanted)
        case Fill():
            return fill_form(work, wanted)
        case About():
            return answer_about(work, wanted)


def _download(work: Work, wanted: Download) -> PageStep:
    saved = work.made("browser_download")
    if not saved:
        return call("browser_download", target=wanted.target, read=bool(wanted.then))
    result = saved[-1].result
    # Without a text to read, the model would make one up.
    return _tell(told(result), wanted.then) if wanted.then and result.found else told(result)


def _sign_in(work: Work, wanted: SignIn) -> PageStep:
    """One form, or two: many sites ask for the name on one page and for the password on the next."""
    if work.last.call.name == "browser_submit":
        return call("browser_read")
    *before, page = [step.result for step in work.steps if step.call.name in SHOWS_PAGE]
    url = address(page, wanted.url)
    sent_to = site_in(address(before[-1], wanted.url)) if before else ""
    if any(_password_form(each) for each in before):
        return _signed_in(page, sent_to, wanted.then)
    form = _password_form(page) or (None if before else _name_form(page))
    if form is not None:
        return _use_form(form, url, wanted, is_filled=work.last.call.name == "browser_fill")
    return f"{_NAME_ALONE.format(site=sent_to)}\n\n{shown(page)}" if before else _NO_FIELD.format(url=url)


def _use_form(form: "_Form", url: str, wanted: SignIn, *, is_filled: bool) -> PageStep:
    """Fill in the form, or send it."""
    if is_filled:
        if form.button is None:
            return _NO_BUTTON.format(url=url)
        return call("browser_submit", site=site_in(url), target=mark(form.button))
    if form.user is not None and not wanted.user:
        return _WHO.format(field=form.user.text, url=wanted.url, secret=wanted.secret)
    user = {mark(form.user): wanted.user} if form.user else {}
    password = {mark(form.password): f"vault:{wanted.secret}"} if form.password else {}
    return call("browser_fill", site=site_in(url), fields={**user, **password})


def _signed_in(page: ToolMessage, site: str, then: str) -> PageStep:
    if _password_form(page) is not None:
        return f"{_NOT_ACCEPTED.format(site=site)}\n\n{shown(page)}"
    sent = _SENT.format(site=site, url=page.citations[0] if page.citations else site)
    return _tell(f"{sent}.", then) if then else f"{sent}:\n\n{shown(page)}"


class _Form(NamedTuple):
    """The controls of a page that a sign-in needs."""

    user: Found | None
    password: Found | None
    button: Found | None


def _password_form(page: ToolMessage) -> _Form | None:
    """The first password field, the text field before it, and the button that sends both."""
    controls = [one for one in page.found if one.kind]
    at = next((at for at, one in enumerate(controls) if one.kind == "password"), None)
    if at is None:
        return None
    user = next((one for one in reversed(controls[:at]) if one.kind in _TEXT_FIELDS), None)
    buttons = [one for one in controls[at:] if one.kind == "button" and not _ASIDE.search(one.text)]
    named = [one for one in buttons if _SENDS.match(one.text)]
    return _Form(user, controls[at], next(iter((*named, *buttons)), None))


def _name_form(page: ToolMessage) -> _Form | None:
    """The field for the name on a page that asks for the password later. None: it is not certain."""
    controls = [one for one in page.found if one.kind]
    fields = [at for at, one in enumerate(controls) if one.kind in _TEXT_FIELDS]
    # The button that goes on stands between this field and the next one.
    for at, end in zip(fields, (*fields[1:], len(controls)), strict=True):
        buttons = [one for one in controls[at:end] if one.kind == "button" and _GOES_ON.match(one.text)]
        if buttons and _NAMES_USER.search(controls[at].text):
            return _Form(controls[at], None, buttons[0])
    return None


def _tell(done: str, then: str) -> Tell:
    return Tell(done, _HINT.replace("{{then}}", then))
