"""The element that a call is about: found by its ref or its text, and checked before it is used."""

import re
from difflib import get_close_matches
from typing import cast
from urllib.parse import unquote, urlsplit

from sestet.core.record import Record
from sestet.core.schema import JsonValue
from sestet.services.browser.connection import BrowserError
from sestet.services.browser.frames import Frame
from sestet.services.browser.page_script import call_script, hold_result
from sestet.services.browser.reading import Item, Reading, read_page

_REF = re.compile(r"e\d+")
_MOST_LISTED = 8
_WORD = re.compile(r"\w+")
_ARTICLES = frozenset(("the", "a", "an"))


class Element(Record):
    """An element that is on the page, is what the model takes it for, and is hit by a click at its point."""

    ref: str
    role: str
    name: str
    frame: Frame
    #: Where to click, in the coordinates of its frame.
    x: float
    y: float
    #: The address of a link; '' for anything else.
    href: str = ""
    opens_tab: bool = False
    downloads: bool = False
    #: It sends the form in which it stands.
    submits: bool = False
    #: The form in which it stands is sent by POST.
    posts: bool = False
    #: The address to which its form goes; '' without a form.
    action: str = ""
    #: The type of a field, such as "password" or "file"; for others the name of its tag.
    type: str = ""
    multiple: bool = False
    #: Its value is only for the person and the site.
    is_secret: bool = False
    options: tuple[str, ...] = ()

    @property
    def is_link(self) -> bool:
        return bool(self.href)

    @property
    def action_host(self) -> str:
        return host_of(self.action)

    async def hold(self) -> str:
        """Its object id in the world of its frame."""
        held = await hold_result(self.frame, "elementOf", self.ref)
        if not held:
            raise BrowserError(f"{self.ref} is no longer on the page; read the page again")
        return held


def host_of(url: str) -> str:
    """The host with its port, as a link shows it."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""


async def find_element(reading: Reading, target: str, *, by_words: bool = False) -> Element:
    """The element of a ref such as 'e8', or the one control or link with this text; raises if it is unfit.

    ``by_words``: the one link with all of these words, or with this file name, will do.
    """
    wanted = target.strip().strip("[]").strip()
    if _REF.fullmatch(wanted):
        return await _by_ref(reading, wanted)
    # What the model wrote may be a whole mark, such as "[e8 button Send]".
    if mark := re.match(r"(e\d+)\s", wanted):
        return await _by_ref(reading, mark[1])
    item, fresh = await _by_text(reading, target, by_words=by_words)
    return await _by_ref(fresh, item.ref)


async def _by_text(reading: Reading, text: str, *, by_words: bool) -> tuple[Item, Reading]:
    wanted = " ".join(text.split()).casefold()
    if not wanted:
        raise BrowserError("the target is empty; give a ref such as e8, or the text of a control")
    fresh = await read_page(reading.frames[0], reading.next_ref)
    found = [item for item in fresh.items if item.name.casefold() == wanted]
    if by_words and not found:
        found = _links_with(fresh, wanted)
    if len(found) == 1:
        return found[0], fresh
    if found:
        listed = ", ".join(f"{item}{_where(item)}" for item in found[:_MOST_LISTED])
        raise BrowserError(f"'{text}' stands on the page {len(found)} times: {listed}; give the ref of one")
    if by_words and (links := [item for item in fresh.items if item.href]):
        listed = ", ".join(map(str, links[:_MOST_LISTED])) + (", …" if len(links) > _MOST_LISTED else "")
        raise BrowserError(f"no link of the page fits '{text}'; its links are {listed}")
    raise BrowserError(f"there is no control or link '{text}' on the page{_near(fresh, wanted)}")


def _links_with(reading: Reading, wanted: str) -> list[Item]:
    """The links with this file name, else those with all of these words; one of each address."""
    links = [item for item in reading.items if item.href]
    named = [item for item in links if unquote(urlsplit(item.href).path).casefold().endswith(f"/{wanted}")]
    words = set(_WORD.findall(wanted)) - _ARTICLES
    having = [item for item in links if words and words <= set(_WORD.findall(item.name.casefold()))]
    return list({item.href: item for item in reversed(named or having)}.values())[::-1]


def _where(item: Item) -> str:
    return f" -> {item.host}" if item.host else ""


def _near(reading: Reading, wanted: str) -> str:
    names = {item.name.casefold(): item for item in reversed(reading.items) if item.name}
    near = [name for name in names if wanted in name][:3] or get_close_matches(wanted, names, 3, 0.7)
    return (
        f"; did you mean {', '.join(str(names[name])[:120] for name in near)}?"
        if near
        else "; read the page again"
    )


async def _by_ref(reading: Reading, ref: str) -> Element:
    for frame in reading.frames:
        found = await call_script(frame, "locate", ref)
        if found["fault"] == "unknown":
            continue
        if found["fault"]:
            raise BrowserError(_refusal(ref, found))
        return _element(ref, frame, found)
    raise BrowserError(f"{ref} is not on the page; read the page again, and use a ref of that reading")


def _element(ref: str, frame: Frame, found: dict[str, JsonValue]) -> Element:
    text = {name: cast("str", found[name]) for name in ("role", "name", "href", "action", "type")}
    return Element(
        ref=ref,
        frame=frame,
        x=cast("float", found["x"]),
        y=cast("float", found["y"]),
        opens_tab=found["opens"] is True,
        downloads=found["downloads"] is True,
        submits=found["submits"] is True,
        posts=found["posts"] is True,
        multiple=found["multiple"] is True,
        is_secret=found["secret"] is True,
        options=tuple(cast("list[str]", found["options"])),
        **text,
    )


def _refusal(ref: str, found: dict[str, JsonValue]) -> str:
    name = found.get("name") or found.get("role") or "it"
    match found["fault"]:
        case "gone":
            return f"{ref} '{name}' is no longer on the page; read the page again"
        case "hidden":
            return f"{ref} '{name}' cannot be seen any more; read the page again"
        case "changed":
            return f"{ref} is no longer {_told(found)} but {_told(found['now'])}; read the page again"
        case "disabled":
            return f"{ref} '{name}' is disabled"
        case _:
            cover = f" by {found['cover']}" if found.get("cover") else ""
            return f"{ref} '{name}' is covered{cover}, so a click would not reach it"


def _told(what: JsonValue) -> str:
    seen = cast("dict[str, str]", what)
    where = f" -> {seen['host']}" if seen.get("host") else ""
    return f"the {seen['role']} '{seen['name']}'{where}"
