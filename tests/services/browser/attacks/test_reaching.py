"""No page reaches this machine or the owner's network, in whatever way it asks; each way reaches a public site."""

# A page of an attack stands in one line, where it fits.
# ruff: noqa: E501

import asyncio
from pathlib import Path

import pytest

from tests.services.browser.attacks.arena import Arena, Refused, open_arena
from tests.services.browser.attacks.internet import EVIL, EVIL_ADDRESS, SHOP, Answer
from tests.services.browser.attacks.reaching import MOVES, PAGES, REDIRECTS, SPELLINGS

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


def aimed(text: str, place: str) -> str:
    return text.replace("\\@", "\0").replace("@", place).replace("\0", "@")


async def reached(arena: Arena) -> bool:
    """Whether the public site got a request, which may still be under way."""
    for _ in range(60):
        if arena.evil.seen:
            return True
        await asyncio.sleep(0.05)
    return False


def links(name: str, place: str) -> str:
    return f"<http://{place}/hit>; rel=preload; as=style" if "link header" in name else ""


@pytest.mark.parametrize("name", PAGES)
async def test_a_page_reaches_nothing_on_this_machine(arena: Arena, name: str) -> None:
    inside = f"127.0.0.1:{arena.canary.port}"
    arena.show(aimed(PAGES[name], inside), "/attack", links=links(name, inside))
    arena.show(aimed(PAGES[name], EVIL), "/control", links=links(name, EVIL))

    tried = await arena.guest().open(f"http://{SHOP}/attack")
    worked = await arena.guest().open(f"http://{SHOP}/control")

    assert "tried" in tried, tried
    assert await reached(arena), worked
    assert arena.canary.touched == []


@pytest.mark.parametrize("name", MOVES)
async def test_a_page_that_moves_on_does_not_arrive_on_this_machine(arena: Arena, name: str) -> None:
    arena.show(aimed(MOVES[name], f"127.0.0.1:{arena.canary.port}"), "/attack")
    arena.show(aimed(MOVES[name], EVIL), "/control")

    await arena.guest().open(f"http://{SHOP}/attack")
    await arena.guest().open(f"http://{SHOP}/control")

    assert await reached(arena)
    assert arena.canary.touched == []


@pytest.mark.parametrize("status", REDIRECTS)
async def test_a_redirect_does_not_lead_to_this_machine(arena: Arena, status: int) -> None:
    inside = {"Location": f"http://127.0.0.1:{arena.canary.port}/hit"}
    arena.shop.pages["/attack"] = Answer("", status=status, headers=inside)
    arena.shop.pages["/control"] = Answer("", status=status, headers={"Location": f"http://{EVIL}/hit"})

    attack = await arena.guest().open(f"http://{SHOP}/attack")
    await arena.guest().open(f"http://{SHOP}/control")

    assert "127.0.0.1" in attack, attack
    assert await reached(arena)
    assert arena.canary.touched == []


@pytest.mark.parametrize("name", SPELLINGS)
async def test_no_spelling_of_an_address_leads_inside(arena: Arena, name: str) -> None:
    arena.roads.names |= {
        "trap.example": [["127.0.0.1"]],
        "trap6.example": [["::1"]],
        "both.example": [[EVIL_ADDRESS, "127.0.0.1"]],
    }
    spelling = SPELLINGS[name]
    inside = spelling.blocked.replace("#", str(arena.canary.port))
    attack = await arena.guest().open(f"http://{inside}/hit")
    arena.show(aimed(PAGES["fetch without cors"], inside), "/attack")
    tried = await arena.guest().open(f"http://{SHOP}/attack")

    assert isinstance(attack, Refused)
    assert "tried" in tried
    assert arena.canary.touched == []
    if spelling.open:
        await arena.guest().open(f"http://{spelling.open.replace('open', str(arena.evil.port))}/hit")
        assert await reached(arena)


async def test_a_name_that_moves_to_this_machine_is_not_followed(arena: Arena) -> None:
    arena.roads.names["moving.example"] = [[EVIL_ADDRESS], ["127.0.0.1"]]
    arena.show(
        "<p id=m></p><script>fetch('/again').catch(() => { document.getElementById('m').textContent = 'refused' })"
        "</script>",
        site=arena.evil,
    )
    guest = arena.guest()
    first = await guest.open("http://moving.example/")
    again = await guest.call("read", wait_for="refused")

    assert not isinstance(first, Refused)
    assert "refused" in again
    assert not arena.evil.got("/again")


async def test_a_web_rtc_page_sends_no_packet(tmp_path: Path) -> None:
    """Not even to a public address: the proxy carries no UDP, and Chromium is told to send none.

    The assistant is new, so that no page of another test is still loading from the same site.
    """
    async with open_arena(tmp_path) as arena:
        arena.show(
            f"<p id=m>waits</p><script>const c = new RTCPeerConnection({{iceServers: [{{urls: ["
            f"'stun:127.0.0.1:{arena.canary.port}', 'turn:127.0.0.1:{arena.canary.port}?transport=tcp',"
            f"'turn:{EVIL_ADDRESS}:80?transport=tcp'], username: 'u', credential: 'c'}}]}}); let n = 0;"
            "c.createDataChannel('x'); const say = (t) => { document.getElementById('m').textContent = t; };"
            "c.onicecandidate = (e) => { if (e.candidate?.candidate) say('found ' + e.candidate.candidate); };"
            "c.createOffer().then((o) => c.setLocalDescription(o)).then(() => say('asked'));</script>"
        )
        guest = arena.guest()
        await guest.open()
        await guest.call("read", wait_for="asked")
        await asyncio.sleep(2)
        said = await guest.call("read")

        assert "asked" in said
        assert "found" not in said
        assert arena.evil.connections == 0


async def test_a_service_worker_reaches_nothing_on_this_machine(arena: Arena) -> None:
    """It needs a page of a secure origin, such as one of this machine that the owner has allowed."""
    for name, place in (("a", f"127.0.0.1:{arena.canary.port}"), ("b", EVIL)):
        arena.shop.pages[f"/{name}.js"] = Answer(
            f"addEventListener('install', (e) => e.waitUntil(fetch('http://{place}/hit', {{mode: 'no-cors'}})"
            ".catch(() => 0)))",
            "text/javascript",
        )
        arena.show(
            f"<p id=m></p><script>navigator.serviceWorker.register('/{name}.js', {{scope: '/{name}'}}).then("
            "() => { document.getElementById('m').textContent = 'registered' })</script>",
            f"/{name}",
        )
        guest = arena.guest()
        await guest.open(f"{arena.local}/{name}")
        assert "registered" in await guest.call("read", wait_for="registered")

    assert await reached(arena)
    assert arena.canary.touched == []
