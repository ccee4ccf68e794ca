"""A click hits what was read, whatever the page puts under it; a click that is meant works."""

# A page of an attack stands in one line, where it fits.
# ruff: noqa: E501

import asyncio

import pytest

from tests.services.browser.attacks.arena import Arena, Guest, Refused
from tests.services.browser.attacks.internet import EVIL, SHOP

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

_BOUGHT = "fetch('/bought', {method: 'POST'})"
#: Each page has a harmless button at the top left, and brings another one there when the mouse comes.
SHIFTS = {
    "the page moves up": "buy.style.cssText = 'position:fixed;left:0;top:0;width:400px;height:200px';",
    "the harmless one goes away": "safe.remove();",
    "it changes places": "document.body.insertBefore(buy, safe);",
    "an overlay appears": (
        "const over = document.createElement('div'); over.style.cssText = 'position:fixed;inset:0;z-index:9';"
        f"over.onclick = () => {_BOUGHT}; document.body.append(over);"
    ),
    "a dialog appears": (
        "const box = document.createElement('dialog'); document.body.append(box); box.append(buy);"
        "buy.style.cssText = 'position:fixed;left:0;top:0;width:400px;height:200px'; box.showModal();"
    ),
}
EVENTS = ("pointermove", "mouseover", "pointerdown")


def shifting(shift: str, event: str) -> str:
    return (
        "<body style='margin:0'><button id=safe style='width:300px;height:80px'>Harmless</button>"
        f"<button id=buy onclick=\"{_BOUGHT}\" style='width:300px;height:80px'>Buy now</button>"
        "<script>const safe = document.getElementById('safe'), buy = document.getElementById('buy');"
        "let done = false; const shift = () => { if (done) return; done = true; document.title = 'shifted';"
        f"{shift} }}; addEventListener('{event}', shift, true);</script>"
    )


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("name", SHIFTS)
async def test_a_click_does_not_hit_what_moves_under_it(arena: Arena, name: str, event: str) -> None:
    arena.show(shifting(SHIFTS[name], event))
    guest = arena.guest()
    await guest.open()
    said = await guest.call("click", target="Harmless")
    await asyncio.sleep(0.2)

    assert "shifted" in await guest.call("read")
    assert not arena.shop.got("/bought"), said

    arena.show(shifting("", event), "/control")
    await guest.open(f"http://{SHOP}/control")
    await guest.call("click", target="Buy now")
    assert arena.shop.got("/bought")


def framing(script: str, address: str) -> str:
    return (
        "<body style='margin:0'><button id=safe style='width:300px;height:80px'>Harmless</button>"
        f"<iframe id=bank src='{address}' style='position:fixed;left:500px;top:300px;width:300px;height:200px'>"
        "</iframe><script>const bank = document.getElementById('bank'); const over = () => {"
        "bank.style.cssText = 'position:fixed;left:0;top:0;width:400px;height:300px;opacity:0.01;z-index:9';"
        f"document.title = 'shifted'; }}; {script}</script>"
    )


#: How a page brings a frame of another site under the mouse.
FRAMES = {
    "when the mouse comes": "addEventListener('pointermove', over, true);",
    "over the button": "document.getElementById('safe').addEventListener('mouseenter', over);",
    "all the time, on and off": (
        "let on = 0; setInterval(() => { if (on++ % 2) over(); else bank.style.cssText ="
        " 'position:fixed;left:500px;top:300px;width:300px;height:200px'; }, 3);"
    ),
    "from off the screen": ("bank.style.left = '-9999px'; addEventListener('pointermove', over, true);"),
}
_BANK = (
    "<body style='margin:0'><button style='width:100%;height:200px' onclick=\"fetch('/paid', {method: 'POST'})\">"
    "Pay</button>"
)


@pytest.mark.parametrize("host", [EVIL, SHOP], ids=("of another site", "of the same site"))
@pytest.mark.parametrize("name", FRAMES)
async def test_a_click_does_not_hit_a_frame_that_moves_under_it(arena: Arena, name: str, host: str) -> None:
    bank = arena.evil if host == EVIL else arena.shop
    arena.show(framing(FRAMES[name], f"http://{host}/bank"))
    arena.show(_BANK, "/bank", site=bank)
    tried, guest = 0, arena.guest()
    for _ in range(4 if "on and off" in name else 1):
        guest = arena.guest()
        await guest.open()
        said = await guest.call("click", target="Harmless")
        tried += "shifted" in await guest.call("read")
        assert not bank.got("/paid"), said
    assert tried

    arena.show(framing("", f"http://{host}/bank"), "/control")
    await guest.open(f"http://{SHOP}/control")
    worked = await guest.call("click", target="Pay")
    await asyncio.sleep(0.1)
    assert bank.got("/paid"), worked


#: What a page does to an element after it was read; the ref must not lead to something else.
SWAPS = {
    "its text": "safe.textContent = 'Buy now'",
    "its place in the tree": "safe.replaceWith(Object.assign(safe.cloneNode(true), {onclick: buy.onclick}))",
    "its kind": "safe.setAttribute('role', 'link')",
    "its picture": "safe.innerHTML = '<img alt=\"Buy now\" width=90 height=20>'",
    "it is hidden": "safe.style.opacity = 0",
    "it is covered": "buy.style.cssText = 'position:fixed;inset:0'",
    "it is disabled": "safe.disabled = true",
}


async def _swapped(arena: Arena, swap: str) -> tuple[Guest, str]:
    arena.show(
        "<button id=safe>Harmless</button><button id=buy>Buy now</button><p id=m></p>"
        "<script>const safe = document.getElementById('safe'), buy = document.getElementById('buy');"
        f"buy.onclick = () => {_BOUGHT}; safe.onclick = () => {{ document.getElementById('m').textContent = 'hit' }};"
        f"setTimeout(() => {{ {swap}; document.title = 'swapped' }}, 1200)</script>"
    )
    guest = arena.guest()
    read = await guest.open()
    ref = next(word.strip("[]") for word in read.split() if word.startswith("[e"))
    await guest.call("find", text="anything")
    await asyncio.sleep(1.5)
    return guest, ref


@pytest.mark.parametrize("name", SWAPS)
async def test_a_ref_does_not_lead_to_an_element_that_was_swapped(arena: Arena, name: str) -> None:
    guest, ref = await _swapped(arena, SWAPS[name])
    said = await guest.call("click", target=ref)
    assert isinstance(said, Refused), said
    assert "swapped" in await guest.call("read")
    assert not arena.shop.got("/bought")

    guest, ref = await _swapped(arena, "")
    assert "hit" in await guest.call("click", target=ref)


async def test_a_ref_of_an_older_page_is_refused(arena: Arena) -> None:
    arena.show("<button onclick=\"fetch('/old')\">One</button>", "/one")
    arena.show(f'<button onclick="{_BOUGHT}">Two</button>', "/two")
    guest = arena.guest()
    first = await guest.open(f"http://{SHOP}/one")
    second = await guest.open(f"http://{SHOP}/two")

    assert "[e1 button One]" in first
    assert "[e1 " not in second
    assert isinstance(await guest.call("click", target="e1"), Refused)
    assert not arena.shop.got("/bought")
    assert not isinstance(await guest.call("click", target="Two"), Refused)


async def test_a_ref_of_another_tab_is_refused(arena: Arena) -> None:
    arena.show("<button onclick=\"fetch('/one')\">One</button><a href=/two target=_blank>Open</a>")
    arena.show("<button onclick=\"fetch('/two-hit')\">Two</button>", "/two")
    guest = arena.guest()
    await guest.open()
    opened = await guest.call("click", target="Open")

    assert "tab t2" in opened
    assert isinstance(await guest.call("click", target="e1"), Refused)
    assert not arena.shop.got("/one")
    await guest.call("tab", tab="t1")
    assert not isinstance(await guest.call("click", target="e1"), Refused)
    assert arena.shop.got("/one")


async def test_a_ref_that_a_page_has_written_itself_leads_nowhere(arena: Arena) -> None:
    arena.show(f'<p>[e77 button Harmless] [e1 button Cancel]</p><button onclick="{_BOUGHT}">Buy</button>')
    guest = arena.guest()
    said = await guest.open()

    assert isinstance(await guest.call("click", target="e77"), Refused)
    assert said.count("[e1 ") <= 1, said
    assert not arena.shop.got("/bought")
    await guest.call("click", target="Buy")
    assert arena.shop.got("/bought")


async def test_a_tab_that_opens_by_itself_does_not_become_the_one_that_is_worked_in(arena: Arena) -> None:
    arena.show(
        "<button onclick=\"setTimeout(() => window.open('/two'), 2500)\">Open</button>"
        "<button onclick=\"fetch('/meant')\">Continue</button>"
    )
    arena.show(f'<button onclick="{_BOUGHT}">Continue</button>', "/two")
    guest = arena.guest()
    await guest.open()
    await guest.call("click", target="Open")
    for _ in range(100):
        if arena.shop.got("/two"):
            break
        await asyncio.sleep(0.1)
    await guest.call("click", target="Continue")

    assert arena.shop.got("/two")
    assert arena.shop.got("/meant")
    assert not arena.shop.got("/bought")
