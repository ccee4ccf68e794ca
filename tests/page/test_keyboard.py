"""The keyboard alone: everything is reached, the focus is seen, and it is never lost."""

import pytest
from playwright.async_api import Locator, Page, expect

from sestet.core.message import ToolCall
from tests.page.conftest import OpenPerson
from tests.page.site import Person, Site
from tests.page.stage import ask

pytestmark = pytest.mark.point(32)

SCREENS = ("new", "s/story", "inbox", "agents", "traces", "memory", "graph", "settings", "settings/model")
PHONE = {"width": 390, "height": 844}
MOST_STOPS = 80
#: The element with the focus: its number in the order of the walk, its words, and whether its focus is seen.
FOCUSED = """() => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const isFirst = !element.dataset.walked;
  element.dataset.walked = 'yes';
  const drawn = element.closest('.composer-box') && element.id === 'composer'
    ? element.closest('.composer-box') : element.querySelector(':scope > .graph-touch') ?? element;
  const style = getComputedStyle(drawn);
  const box = element.getBoundingClientRect();
  return {
    isFirst,
    words: `${element.className} ${element.ariaLabel ?? element.textContent}`.slice(0, 80),
    isSeen: style.outlineStyle !== 'none' || (drawn !== element && style.strokeWidth === '2px'),
    isInView: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
  };
}"""
#: What can be used, is drawn, and was not walked over; of radio buttons one stands for its group.
MISSED = """() => [...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
  .filter(e => e.checkVisibility() && !e.disabled && e.tabIndex >= 0 && !e.dataset.walked && e.offsetWidth > 1
    && !(e.type === 'radio' && [...document.getElementsByName(e.name)].some(other => other.dataset.walked)))
  .map(e => `${e.className} ${e.ariaLabel ?? e.textContent}`)"""


async def story(site: Site) -> None:
    """A turn whose call waits for the person."""
    site.stage.play("orchestrator", ask("operator", "mail Ines"))
    site.stage.play("operator", ToolCall("exec_mail", {"to": "ines@nord.example", "text": "Hi"}))
    await site.ask("story", "mail Ines")


async def add_fact(site: Site, subject: str, predicate: str, thing: str) -> None:
    async with site.client() as client:
        fact = {"subject": subject, "predicate": predicate, "object": thing}
        assert (await client.post("/api/graph/facts", json=fact)).status_code == 201


async def tab_to(page: Page, name: str, key: str = "Tab") -> None:
    """Press a key until a button with this name has the focus."""
    await tab_on(page, page.get_by_role("button", name=name).first, key)


async def tab_on(page: Page, element: Locator, key: str = "Tab") -> None:
    """Press a key until an element has the focus."""
    await element.wait_for()
    for _ in range(MOST_STOPS):
        await page.keyboard.press(key)
        if await element.evaluate("e => e === document.activeElement"):
            return
    pytest.fail(f"{element} was not reached")


async def test_tab_reaches_everything_on_every_screen_and_its_focus_is_seen(
    site: Site, person: Person
) -> None:
    await story(site)
    await add_fact(site, "the outage", "caused_by", "a full disk")
    await person.enter()
    problems: list[str] = []
    for screen in SCREENS:
        # An address that differs in its fragment alone would load nothing.
        await person.page.goto("about:blank")
        await person.go(screen)
        await person.page.locator("main").first.wait_for()
        await expect(person.page.locator("[aria-busy=true]")).to_have_count(0, timeout=60_000)
        for _ in range(MOST_STOPS):
            await person.page.keyboard.press("Tab")
            at = await person.page.evaluate(FOCUSED)
            if at is None or not at["isFirst"]:
                break
            if not (at["isSeen"] and at["isInView"]):
                problems.append(f"{screen}: the focus is not seen: {at['words']}")
        problems += [f"{screen}: not reached: {words}" for words in await person.page.evaluate(MISSED)]

    assert problems == []


async def test_a_found_message_and_a_new_session_get_the_focus(site: Site, person: Person) -> None:
    site.stage.play("orchestrator", "The noise report is still open.")
    await site.ask("old", "what about the heat pump?")
    await person.enter("agents")
    await person.page.keyboard.press("Control+k")
    await expect(person.page.get_by_role("searchbox")).to_be_focused()
    await person.page.keyboard.type("noise")
    await expect(person.page.locator(".search-row", has_text="still open")).to_be_visible()
    await person.page.keyboard.press("ArrowDown")
    await person.page.keyboard.press("Enter")
    await expect(person.log).to_be_focused()

    await person.page.keyboard.press("Control+Shift+O")
    await expect(person.composer).to_be_focused()


async def test_when_the_row_with_the_focus_is_removed_the_screen_gets_it(site: Site, person: Person) -> None:
    await add_fact(site, "the outage", "caused_by", "a full disk")
    await person.enter("graph")
    await tab_to(person.page, "Remove: the outage caused_by a full disk")
    await person.page.keyboard.press("Enter")
    await tab_to(person.page, "Remove for good")
    await person.page.keyboard.press("Enter")

    await expect(person.page.locator(".graph-notice")).to_contain_text("Removed: the outage")
    await expect(person.page.locator(".screen")).to_be_focused()


async def test_what_gets_the_focus_above_stays_in_view(site: Site, new_person: OpenPerson) -> None:
    drawn = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    site.stage.play("orchestrator", f"{drawn}\n\n" + "A paragraph.\n\n" * 20, "A paragraph.\n\n" * 20)
    await site.ask("long", "write a table")
    await site.ask("long", "and more")
    person = await new_person(viewport=PHONE)
    await person.enter("s/long")
    await expect(person.turn(2).get_by_role("button", name="Copy answer")).to_be_in_viewport()
    table = person.page.get_by_role("group", name="Table")
    await tab_on(person.page, table)
    # The turn with the focus is drawn anew, for its work is shown now: this must not lead back to the end.
    await person.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")

    await expect(table).to_be_in_viewport()


async def test_a_drawer_takes_the_focus_and_esc_gives_it_back(site: Site, new_person: OpenPerson) -> None:
    flow = site.stage.flow()
    person = await new_person(viewport=PHONE)
    await person.enter()
    await person.say("write")
    await flow.begun()
    for opener, drawer in (("Menu", ".side"), ("Show the work", ".rail")):
        await tab_to(person.page, opener, "Shift+Tab")
        await person.page.keyboard.press("Enter")
        await expect(person.page.locator(f"{drawer} :focus")).to_have_count(1)
        await person.page.keyboard.press("Escape")
        await expect(person.page.locator(drawer)).to_have_count(0)
        await expect(person.button(opener)).to_be_focused()
    # Two Esc in a row stop a turn, but not when they closed something.
    await expect(person.button("Stop")).to_be_enabled()
    flow.end("Written.")


async def test_enter_in_its_field_renames_a_session(site: Site, person: Person) -> None:
    site.stage.play("orchestrator", "Hello.")
    await site.ask("greeting", "hello")
    await person.enter("s/greeting")
    await tab_to(person.page, "More")
    await person.page.keyboard.press("Enter")
    await person.page.keyboard.press("Enter")
    await expect(person.page.get_by_label("Title")).to_be_focused()
    await person.page.keyboard.press("Control+a")
    await person.page.keyboard.type("A greeting")
    await person.page.keyboard.press("Enter")

    await expect(person.page.get_by_role("heading", name="A greeting", exact=True)).to_be_visible()
    await expect(person.button("More")).to_be_focused()
