"""Sizes of windows, long conversations, and the keyboard alone."""

import pytest
from playwright.async_api import expect

from sestet.core.message import ToolCall
from tests.page.conftest import OpenPerson
from tests.page.site import Person, Site
from tests.page.stage import ask

MESSAGES = 1_000
WIDTH = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


async def talk_long(site: Site) -> None:
    """A session of a thousand messages."""
    site.stage.play(
        "orchestrator", *(f"Answer {number}.\n\nIt has two paragraphs." for number in range(1, MESSAGES + 1))
    )
    for number in range(1, MESSAGES + 1):
        async for _ in site.app.run_turn("long", f"message {number}"):
            pass


@pytest.mark.point(23)
async def test_of_a_thousand_messages_the_newest_is_shown_and_few_are_drawn(
    site: Site, person: Person
) -> None:
    await talk_long(site)
    await person.enter("s/long")
    await expect(person.turn(MESSAGES)).to_be_in_viewport()
    assert await person.log.locator("article").count() <= 100

    # A keystroke draws nothing but the field.
    await person.page.evaluate(
        "() => { window.drawn = 0; new MutationObserver(list => window.drawn += list.length)"
        ".observe(document.querySelector('.log'), {childList: true, subtree: true, characterData: true}) }"
    )
    await person.composer.press_sequentially("typed quickly")
    assert await person.page.evaluate("window.drawn") == 0


@pytest.mark.point(24)
async def test_scrolling_up_to_the_first_of_a_thousand_messages_never_jumps(
    site: Site, person: Person
) -> None:
    await talk_long(site)
    await person.enter("s/long")
    await expect(person.turn(MESSAGES)).to_be_in_viewport()
    # All turns that are on the screen before and after a drawing have moved by the same distance.
    await person.page.evaluate(
        """() => {
          const log = document.querySelector('.log');
          window.jumps = []; window.stopWatching = false;
          const places = () => new Map([...log.querySelectorAll('[data-turn]')]
            .map(e => [e.dataset.turn, e.getBoundingClientRect().top])
            .filter(([, top]) => top > -500 && top < innerHeight));
          let before = places(); let scrolled = 0;
          log.addEventListener('wheel', e => scrolled += e.deltaY, {passive: true});
          const look = () => {
            const now = places(); const wanted = scrolled; scrolled = 0;
            const moves = [...now].filter(([id]) => before.has(id)).map(([id, top]) => before.get(id) - top);
            if (moves.length && Math.max(...moves) - Math.min(...moves) > 1) window.jumps.push(moves);
            if (before.size && now.size && !moves.length) window.jumps.push([wanted]);
            before = now;
            if (!window.stopWatching) requestAnimationFrame(look);
          };
          requestAnimationFrame(look);
        }"""
    )
    await person.log.hover()
    first = person.turn(1)
    for _ in range(1_500):
        await person.page.mouse.wheel(0, -400)
        await person.page.evaluate("new Promise(requestAnimationFrame)")
        if await first.count() and await first.evaluate("e => e.getBoundingClientRect().top > 0"):
            break
    await expect(first).to_be_in_viewport()
    await person.page.evaluate("window.stopWatching = true")

    assert await person.page.evaluate("window.jumps") == []


@pytest.mark.point(31)
@pytest.mark.parametrize("height", [844, 500])
async def test_on_a_phone_composer_and_stop_are_visible_and_nothing_scrolls_sideways(
    site: Site, new_person: OpenPerson, height: int
) -> None:
    person = await new_person(viewport={"width": 390, "height": height}, has_touch=True)
    wide = "| " + " | ".join(f"column {n}" for n in range(20)) + " |\n" + "|---" * 20 + "|\n"
    site.stage.play("orchestrator", f"{wide}\n```\n{'long ' * 100}\n```\n\n{'unbroken' * 60}")
    flow = site.stage.flow()
    await person.enter()
    await person.say("show me wide things")
    await expect(person.turn(1)).to_contain_text("unbroken")
    await person.say("and go on")
    flow.write("Writing")
    await expect(person.button("Stop")).to_be_in_viewport(ratio=1)
    await expect(person.composer).to_be_in_viewport(ratio=1)
    assert await person.page.evaluate(WIDTH) == 0
    assert await person.log.evaluate("e => e.scrollWidth - e.clientWidth") == 0
    flow.end()
    await expect(person.button("Stop")).to_have_count(0)

    for screen in ("inbox", "agents", "traces", "memory", "graph", "search", "settings", "settings/values"):
        await person.go(screen)
        await person.page.locator(".screen").wait_for()
        assert await person.page.evaluate(WIDTH) == 0, screen


@pytest.mark.point(31)
async def test_on_a_phone_the_graph_shows_every_name_whole(site: Site, new_person: OpenPerson) -> None:
    names = [f"a thing with a name of many words {number}" for number in range(12)]
    async with site.client() as client:
        for name in names:
            fact = {"subject": "the middle", "predicate": "related_to", "object": name}
            assert (await client.post("/api/graph/facts", json=fact)).status_code == 201
    person = await new_person(viewport={"width": 390, "height": 844}, has_touch=True)
    await person.enter("graph/the middle")
    for name in names:
        shown = person.page.get_by_role("link", name=f"→ related_to {name}", exact=True)
        await shown.scroll_into_view_if_needed()
        await expect(shown).to_be_in_viewport(ratio=1)
        assert await shown.evaluate("e => e.scrollWidth - e.clientWidth") == 0, name
    assert await person.page.evaluate(WIDTH) == 0


@pytest.mark.point(31)
async def test_on_a_phone_menus_and_rows_open_within_what_is_seen(site: Site, new_person: OpenPerson) -> None:
    site.stage.play("orchestrator", ask("operator", "mail Ines"))
    site.stage.play("operator", ToolCall("exec_mail", {"to": "ines@nord.example", "text": "Hi"}))
    turn = await site.ask("story", "mail Ines")
    person = await new_person(viewport={"width": 390, "height": 600}, has_touch=True)
    await person.enter("s/story")
    await person.button("Approve for longer").click()
    await expect(person.page.get_by_role("menuitem", name="Always")).to_be_in_viewport(ratio=1)

    await person.go(f"t/{turn}")
    row = person.page.locator(".trace-open", has_text="operator").first
    width = await row.evaluate("e => e.offsetWidth")
    await row.click()
    await person.page.locator(".trace-detail").wait_for()
    assert await row.evaluate("e => e.offsetWidth") == width


@pytest.mark.point(31)
async def test_at_a_zoom_of_400_percent_a_question_can_be_decided(site: Site, new_person: OpenPerson) -> None:
    site.stage.play("orchestrator", ask("operator", "mail Ines"))
    site.stage.play("operator", ToolCall("exec_mail", {"to": "ines@nord.example", "text": "Hi"}))
    await site.ask("story", "mail Ines")
    # A window of 1440 by 900.
    person = await new_person(viewport={"width": 360, "height": 225})
    await person.enter("s/story")

    await expect(person.button("Approve once")).to_be_in_viewport(ratio=1)
    await expect(person.button("Stop")).to_be_in_viewport(ratio=1)


@pytest.mark.point(32)
async def test_a_question_is_found_and_decided_by_keyboard_with_visible_focus(
    site: Site, person: Person
) -> None:
    site.stage.play("orchestrator", ask("operator", "mail Ines"))
    site.stage.play("operator", ToolCall("exec_mail", {"to": "ines@nord.example", "text": "Hi"}), "Sent.")
    await person.enter()
    await expect(person.page.locator(".shell")).to_be_visible()
    # From the first element of the page to the field, with Tab alone.
    await person.page.keyboard.press("Tab")
    await person.page.keyboard.press("Enter")
    await expect(person.composer).to_be_focused()
    await person.page.keyboard.type("mail Ines")
    await person.page.keyboard.press("Enter")
    await expect(person.question).to_be_visible()
    approve = person.button("Approve once")
    for _ in range(40):
        await person.page.keyboard.press("Shift+Tab")
        if await approve.evaluate("e => e === document.activeElement"):
            break
    await expect(approve).to_be_focused()
    assert await approve.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    # A fresh question is deaf for half a second.
    await person.page.wait_for_timeout(600)
    await person.page.keyboard.press("Enter")

    await expect(person.turn(1)).to_contain_text("Sent.")
    await expect(person.turn(1).locator(".question-decided")).to_have_count(0)


@pytest.mark.point(32)
async def test_every_screen_is_reached_by_its_keys(site: Site, person: Person) -> None:
    await person.enter()
    await person.page.keyboard.press("Control+Shift+O")
    await person.page.locator("body").click(position={"x": 700, "y": 200})
    for key, place in {
        "i": "inbox",
        "a": "agents",
        "t": "traces",
        "m": "memory",
        "s": "settings",
        "c": "new",
    }.items():
        await person.page.keyboard.press("g")
        await person.page.keyboard.press(key)
        await person.page.wait_for_url(f"**/#/{place}")
    await person.page.keyboard.press("?")
    await expect(person.page.get_by_role("dialog")).to_contain_text("Esc Esc")
    await person.page.keyboard.press("Escape")
    await expect(person.page.get_by_role("dialog")).to_have_count(0)
