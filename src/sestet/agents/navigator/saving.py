"""Tools that save files from web pages into the workspace."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

from sestet.core.label import Labelled
from sestet.core.message import Found
from sestet.core.tool import CallInfo, CallRules, tool
from sestet.services.browser.browser import Browser
from sestet.services.file_changes.plan import Planner
from sestet.services.file_changes.service import FileChanges

if TYPE_CHECKING:
    from sestet.services.browser.saving import Made

_SECONDS = 150.0
#: Characters of a file's text that are shown: as many as a local model is shown of any result.
_MOST_READ = 8_000


async def _save(call: CallInfo, changes: FileChanges, browser: Browser, made: "Made") -> Labelled:
    path = f"{browser.settings.downloads.strip('/') or '.'}/{made.name}"
    told = await changes.make(call, partial(Planner.save, path=path, content=made.content))
    return Labelled(f"{told} From {made.url[:500]}", made.label, citations=(made.url,))


def _rules(*_: object, **__: object) -> CallRules:
    """The owner's settings say where files go, and their names are made plain: no text chooses a place."""
    return CallRules("safe", "local", "probe", owner_allows=True)


async def _saved(call: CallInfo, browser: Browser, changes: FileChanges, /, **_: object) -> str | None:
    return await changes.result_of(call)


@tool(
    risk="safe",
    reads=("untrusted",),
    effect="local",
    recovery="probe",
    probe=_saved,
    rules=_rules,
    timeout=_SECONDS,
    calls_per_turn=10,
    examples=(
        "download {target}",
        "download {target} from the page",
        "download the file {target}",
        "download the file behind {target}",
        "download the link {target}",
        "save the file behind {target}",
    ),
)
async def browser_download(
    call: CallInfo,
    browser: Browser,
    changes: FileChanges,
    /,
    target: Annotated[str, "A ref, or words of the link; empty: the document that was opened"] = "",
    read: Annotated[bool, "Show its text too"] = False,
) -> Labelled:
    """Save a file that a link leads to, in the workspace."""
    async with browser.visit(call) as visitor:
        made = await visitor.saving.download(target)
    saved = await _save(call, changes, browser, made)
    if not read:
        return saved
    text = await made.text()
    if not text:
        return saved._replace(value=f"{saved.value}\n(It is no text that can be shown.)")
    done = str(saved.value)
    if len(text) > _MOST_READ:
        done = f"{done} Only the first {_MOST_READ:,} characters of its text were read."
    # What was done is for both, and the text of the file for the model alone.
    shown = f"{done}\nIts text:\n{text[:_MOST_READ]}"
    return saved._replace(value=shown, found=(Found(made.url, made.name),), for_person=done)


@tool(
    risk="safe",
    reads=("untrusted",),
    effect="local",
    recovery="probe",
    probe=_saved,
    rules=_rules,
    timeout=_SECONDS,
    calls_per_turn=10,
    examples=(
        "take a screenshot of the page",
        "take a screenshot",
        "make a screenshot",
        "make a screenshot of the page",
        "make a picture of the page",
        "take a picture of the page",
    ),
)
async def browser_screenshot(
    call: CallInfo,
    browser: Browser,
    changes: FileChanges,
    /,
    full: Annotated[bool, "All of the page"] = False,
) -> Labelled:
    """Save a picture of the page in the workspace."""
    async with browser.visit(call) as visitor:
        made = await visitor.saving.screenshot(full=full)
    return await _save(call, changes, browser, made)


@tool(
    risk="safe",
    reads=("untrusted",),
    effect="local",
    recovery="probe",
    probe=_saved,
    rules=_rules,
    timeout=_SECONDS,
    calls_per_turn=10,
    examples=(
        "save the page as a pdf",
        "save the page as pdf",
        "save this page as a pdf",
        "make a pdf of the page",
        "make a pdf of this page",
        "print the page as a pdf",
        "print the page to a pdf",
    ),
)
async def browser_pdf(call: CallInfo, browser: Browser, changes: FileChanges, /) -> Labelled:
    """Save the page as a PDF in the workspace."""
    async with browser.visit(call) as visitor:
        made = await visitor.saving.pdf()
    return await _save(call, changes, browser, made)
