"""The steps of filling in a form, and of telling what a page says about something."""

import re
from collections.abc import Mapping, Sequence

from sestet.core.message import Found, ToolMessage
from sestet.core.words import stem
from sestet.models.offline.work import Next, Work, call
from sestet.models.small.form_requests import About, Fill
from sestet.models.small.page_parts import address, mark, shown, site_in
from sestet.models.small.told import fenced

_UNKNOWN = (
    "Nothing was filled in: nothing is on record about your {things}. Say it in the request, as in “fill in "
    "Name with Ada”, or tell me to remember it first."
)
_SEVERAL = "Nothing was filled in: several things are on record as your {thing}: {values}. Say which one."
_NO_FIELD = "Nothing was filled in: the page {url} has no field “{label}”. {others}"
_FILLED = "Filled in on {url}, and not sent:\n\n{fields}"
_NO_BUTTON = "The form on {url} is filled in, and was not sent: {why}"
_PRESSED_IT = "Pressed {button} on {site}, with these fields:\n\n{fields}\n\n{now}:\n\n{page}"
_NOW = "The page is now {url}"
_STILL_THERE = "The page still has this form, so it may not have been taken"
_SAYS = "{url} says about {topic}:\n\n{lines}"
_SAYS_NOTHING = "{url} says nothing about {topic} in these words. It begins:\n\n{lines}"
#: Controls that are no fields.
_PRESSED = ("button", "link", "menuitem", "tab")
_SENDING = re.compile(
    r"\b(?:send|submit|save|continue|next|order|subscribe|register|apply|ok|go)\b", re.IGNORECASE
)
_MOST_LINES, _BEGINNING = 20, 8
#: A shorter word of a topic is "of" or "the".
_SHORTEST_WORD = 3


def why_not_on_record(values: Mapping[str, Sequence[str]]) -> str:
    """Why a form cannot be filled in with these; empty: each has one value."""
    if unknown := [thing for thing, found in values.items() if not found]:
        return _UNKNOWN.format(things=" and your ".join(unknown))
    for thing, found in values.items():
        if len(found) > 1:
            return _SEVERAL.format(thing=thing, values="; ".join(found))
    return ""


def fill_form(work: Work, wanted: Fill) -> Next:
    if wanted.own:
        # Only the orchestrator sees the memory, and here it has said nothing.
        return why_not_on_record(dict.fromkeys(wanted.own, ()))
    page, last = work.made("browser_navigate")[-1].result, work.last
    url = address(page, wanted.url)
    if last.call.name == "browser_submit":
        return call("browser_read")
    fields = "\n".join(f"- {label}: {value}" for label, value in wanted.fields)
    if last.call.name == "browser_read":
        target = str(work.made("browser_submit")[-1].call.arguments.get("target", "")).partition(" ")[2]
        is_there = all(_named(label, last.result.found) for label, _ in wanted.fields)
        now = _STILL_THERE if is_there else _NOW.format(url=address(last.result, url))
        page = shown(last.result)
        return _PRESSED_IT.format(button=f"“{target}”", site=site_in(url), fields=fields, now=now, page=page)
    if last.call.name != "browser_fill":
        return _fill(page, url, wanted)
    if not wanted.sends:
        return _FILLED.format(url=url, fields=fields)
    button = _button(page, wanted)
    if isinstance(button, str):
        return _NO_BUTTON.format(url=url, why=button)
    return call("browser_submit", site=site_in(url), target=mark(button))


def _fill(page: ToolMessage, url: str, wanted: Fill) -> Next:
    fields = [one for one in page.found if one.kind and one.kind not in _PRESSED]
    values: dict[str, str] = {}
    for label, value in wanted.fields:
        field = _named(label, fields)
        if field is None:
            names = ", ".join(f"“{one.text}”" for one in fields if one.text)
            others = f"Its fields are {names}." if names else "It has no fields."
            return _NO_FIELD.format(url=url, label=label, others=others)
        values[mark(field)] = value
    return call("browser_fill", site=site_in(url), fields=values)


def _button(page: ToolMessage, wanted: Fill) -> Found | str:
    """The button that was named, or the one below the last field; else why there is none."""
    controls = [one for one in page.found if one.kind]
    buttons = [one for one in controls if one.kind == "button"]
    if wanted.button:
        return _named(wanted.button, buttons) or f"the page has no button “{wanted.button}”."
    last = _named(wanted.fields[-1][0], [one for one in controls if one.kind not in _PRESSED])
    below = [one for one in controls[controls.index(last) if last else 0 :] if one.kind == "button"]
    sending = [one for one in below if _SENDING.search(one.text)] or below
    return sending[0] if len(sending) == 1 else "say which button sends it."


def _named(label: str, controls: Sequence[Found]) -> Found | None:
    """The control of this name, or the only one whose name has it."""
    wanted, named = _plain(label), [one for one in controls if one.kind]
    same = [one for one in named if _plain(one.text) == wanted]
    alike = same or [one for one in named if wanted in _plain(one.text)]
    return alike[0] if len(alike) == 1 else None


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def answer_about(work: Work, wanted: About) -> Next:
    """The passages themselves: a small model retells them wrongly, and code does not."""
    page = work.made("browser_navigate")[-1].result
    if work.last.call.name == "browser_navigate":
        return call("browser_find", text=wanted.topic)
    url, lines = address(page, wanted.url), [one.text for one in page.found if not one.kind]
    found = [one.text for one in work.last.result.found] or _related(wanted.topic, lines)
    if not found:
        return _SAYS_NOTHING.format(url=url, topic=wanted.topic, lines=fenced("\n".join(lines[:_BEGINNING])))
    return _SAYS.format(url=url, topic=wanted.topic, lines=fenced("\n".join(found[:_MOST_LINES])))


def _related(topic: str, lines: Sequence[str]) -> list[str]:
    """The lines with the words of the topic in any form, those with most of them."""
    words = {stem(word) for word in re.findall(r"\w+", topic) if len(word) >= _SHORTEST_WORD}
    shared = [len(words & {stem(word) for word in re.findall(r"\w+", line)}) for line in lines]
    most = max(shared, default=0)
    return [line for line, count in zip(lines, shared, strict=True) if most and count == most]
