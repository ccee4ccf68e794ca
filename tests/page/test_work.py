"""Who works on what: delegations, their texts, ends and costs, and what a screen reader hears of them."""

import re
from decimal import Decimal

import pytest
from playwright.async_api import expect

from sestet.core.model import ModelReply, Usage
from tests.page.site import Person, Site
from tests.page.stage import ask, decline

#: Calls a function with the text of an element whenever it changes.
RECORD = """(element, name) => {
  window[name] = [];
  const note = () => window[name].push(element.textContent);
  new MutationObserver(note).observe(element, {childList: true, characterData: true, subtree: true});
}"""


@pytest.mark.point(11)
async def test_a_delegation_shows_its_agent_its_request_and_its_clock(site: Site, person: Person) -> None:
    site.stage.play("orchestrator", ask("operator", "look at the disk of the NAS"))
    flow = site.stage.flow("operator")
    await person.enter()
    await person.say("is the disk full?")
    await flow.begun()

    row = person.rail.get_by_role("listitem").filter(has_text="operator").last
    await expect(row).to_contain_text("operator")
    await expect(person.rail).to_contain_text("look at the disk of the NAS")
    clock = row.locator(".tree-time")
    await expect(clock).to_have_text(re.compile(r"\d (ms|s)"))
    before = await clock.inner_text()
    await expect(clock).not_to_have_text(before)
    flow.end("It is half full.")
    await expect(person.turn(1)).to_contain_text("It is half full.")
    await expect(row).to_contain_text("answered")


@pytest.mark.point(12)
async def test_parallel_delegations_never_mix_their_texts(site: Site, person: Person) -> None:
    asked = (ask("navigator", "the price", reply=False), ask("librarian", "the notes", reply=False))
    site.stage.play("orchestrator", asked, "The price is 10, and you noted 12.")
    flows = {name: site.stage.flow(name) for name in ("navigator", "librarian")}
    await person.enter()
    await person.say("compare the price with my notes")
    for flow in flows.values():
        await flow.begun()
    await person.page.locator(".work-line").click()
    for number in range(1, 6):
        for name, flow in flows.items():
            flow.write(f"Sentence {number} of the {name}. ")
    tree = person.page.locator(".work-tree .tree-inner > li")
    for name in flows:
        await expect(tree.filter(has_text=f"Sentence 5 of the {name}")).to_have_count(1)
    texts = [await row.inner_text() for row in await tree.all()]
    assert sorted("navigator." in text for text in texts) == [False, True]
    assert sorted("librarian." in text for text in texts) == [False, True]
    await expect(person.page.locator(".turn-answer")).to_have_count(0)

    for flow in flows.values():
        flow.end()
    answer = person.page.locator(".turn-answer")
    await expect(answer).to_have_text("The price is 10, and you noted 12.")
    await person.page.reload()
    await expect(answer).to_have_text("The price is 10, and you noted 12.")


@pytest.mark.point(13)
async def test_a_declined_delegation_is_struck_through_with_its_reason(site: Site, person: Person) -> None:
    site.stage.play("orchestrator", ask("planner", "send a mail"), "Nobody here sends mail.")
    site.stage.play("planner", decline("a planner makes plans and sends nothing"))
    await person.enter()
    await person.say("send a mail")
    await expect(person.turn(1)).to_contain_text("Nobody here sends mail.")

    row = person.rail.get_by_role("listitem").filter(has_text="planner").last
    await expect(row).to_contain_text("declined")
    await expect(row).to_contain_text("a planner makes plans and sends nothing")
    name = row.get_by_text("planner", exact=True)
    assert "line-through" in await name.evaluate("element => getComputedStyle(element).textDecorationLine")


@pytest.mark.point(13)
async def test_the_marker_of_a_rejection_never_shows(site: Site, person: Person) -> None:
    site.stage.play("orchestrator", ask("planner", "send a mail"), "Nobody here sends mail.")
    flow = site.stage.flow("planner")
    await person.enter()
    await person.page.locator("#page").evaluate(RECORD, "seen")
    await person.say("send a mail")
    await flow.begun()
    for piece in ("[REJ", "ECT] ", "This is not mine. ", "It belongs to the operator."):
        flow.write(piece)
    flow.end()
    await expect(person.turn(1)).to_contain_text("Nobody here sends mail.")

    assert await person.page.evaluate("seen.length") > 0
    assert await person.page.evaluate("seen.filter(text => /REJ/i.test(text))") == []
    await expect(person.rail).to_contain_text("This is not mine")


@pytest.mark.point(22)
async def test_the_costs_of_the_agents_add_up_to_the_turns_to_the_last_digit(
    site: Site, person: Person
) -> None:
    spent = Usage(1_000, 50, nano_dollars=123_440_000), Usage(700, 20, nano_dollars=1_040_000)
    site.stage.play("orchestrator", ModelReply(calls=(ask("operator", "look"),), usage=spent[0]))
    site.stage.play("operator", ModelReply("It is done.", usage=spent[1]))
    await person.enter()
    await person.say("look")
    await expect(person.turn(1)).to_contain_text("It is done.")

    table = person.rail.get_by_role("table")
    parts = await table.locator("tbody tr td:last-child").all_inner_texts()
    total = await table.locator("tfoot tr td:last-child").inner_text()
    assert len(parts) == 2
    assert sum(Decimal(part.lstrip("$")) for part in parts) == Decimal(total.lstrip("$"))
    shown = Decimal(total.lstrip("$"))
    digits = shown.as_tuple().exponent
    assert isinstance(digits, int)
    assert round(Decimal(124_480_000) / 10**9, -digits) == shown
    tokens = await table.locator("tfoot tr td").first.inner_text()
    assert tokens == "1,770"


@pytest.mark.point(34)
async def test_a_screen_reader_hears_who_works_and_then_the_answer_once(site: Site, person: Person) -> None:
    site.stage.play("orchestrator", ask("operator", "look at the disk"))
    flow = site.stage.flow("operator")
    await person.enter()
    region = person.page.locator("[aria-live=polite]")
    await region.evaluate(RECORD, "heard")
    await person.say("is the disk full?")
    await flow.begun()
    flow.write("I have looked. The disk ")
    await expect(person.turn(1)).to_contain_text("The disk")
    flow.end("is half full.")
    await expect(region).to_contain_text("is half full.")
    heard: list[str] = await person.page.evaluate("heard")

    assert re.fullmatch(r"\w+ works", heard[0].strip())
    assert [each for each in heard if "I have looked" in each] == [
        "operator answered: I have looked. The disk is half full."
    ]
    assert await person.log.get_attribute("aria-live") == "off"
