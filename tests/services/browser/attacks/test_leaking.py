"""What was typed for one site goes to that site alone, whatever its page does with it."""

# A page of an attack stands in one line, where it fits.
# ruff: noqa: E501

import asyncio

import pytest

from tests.services.browser.attacks.arena import Arena
from tests.services.browser.attacks.internet import EVIL, SHOP, Answer, Site
from tests.services.browser.attacks.leaking import AT_FILL, AT_SUBMIT

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

TYPED = "zanzibar77@mail.example"


def codes(text: str) -> tuple[str, ...]:
    import base64

    return text, base64.b64encode(text.encode()).decode()


def learned(site: Site) -> bool:
    return any(site.learned(code) for code in codes(TYPED))


async def learns(site: Site) -> bool:
    for _ in range(80):
        if learned(site):
            return True
        await asyncio.sleep(0.05)
    return False


async def submitted(arena: Arena, page: str, place: str) -> str:
    arena.show(page.replace("@", place))
    arena.show("<p>Thank you</p>", "/send")
    guest = arena.guest()
    await guest.open()
    filled = await guest.call("fill", site=SHOP, fields={"E-mail": TYPED})
    return f"{filled}\n{await guest.call('submit', site=SHOP, target='Send')}"


@pytest.mark.parametrize("name", AT_SUBMIT)
async def test_a_form_is_sent_to_no_other_site_than_agreed(arena: Arena, name: str) -> None:
    attack = await submitted(arena, AT_SUBMIT[name], EVIL)
    if "later" in name:
        await asyncio.sleep(3.5)
    assert not learned(arena.evil), (attack, [each.text for each in arena.evil.seen])

    arena.shop.seen.clear()
    control = await submitted(arena, AT_SUBMIT[name], SHOP)
    arena.shop.pages["/hit"] = Answer("got it")
    assert await learns(arena.shop), control
    assert any(each.path.startswith("/hit") for each in arena.shop.seen), control


@pytest.mark.parametrize("name", AT_FILL)
async def test_typing_alone_sends_nothing_to_another_site(arena: Arena, name: str) -> None:
    results: list[str] = []
    for place in (EVIL, SHOP):
        arena.show(AT_FILL[name].replace("@", place))
        arena.shop.pages["/hit"] = Answer("got it")
        guest = arena.guest()
        await guest.open()
        results.append(await guest.call("fill", site=SHOP, fields={"E-mail": TYPED}))
        await asyncio.sleep(3.5 if "after" in name else 0.3)

    assert not learned(arena.evil), (results, [each.text for each in arena.evil.seen])
    assert await learns(arena.shop), results


@pytest.mark.parametrize("status", [307, 308])
async def test_a_redirect_does_not_carry_a_form_to_another_site(arena: Arena, status: int) -> None:
    for place in (EVIL, SHOP):
        arena.shop.pages["/first"] = Answer("", status=status, headers={"Location": f"http://{place}/hit"})
        arena.show(
            "<form method=post action=/first><label>E-mail <input name=mail></label><button>Send</button></form>"
        )
        arena.shop.pages["/hit"] = Answer("got it")
        guest = arena.guest()
        await guest.open()
        await guest.call("fill", site=SHOP, fields={"E-mail": TYPED})
        await guest.call("submit", site=SHOP, target="Send")

    assert not learned(arena.evil)
    assert any(each.path == "/hit" and TYPED in each.text for each in arena.shop.seen)
