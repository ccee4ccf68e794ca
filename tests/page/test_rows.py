"""Rows that lead to where something came from: the dearest call of a trace, the facts of the graph."""

import pytest
from playwright.async_api import expect

from sestet.core.message import ToolCall
from sestet.core.model import ModelReply, Usage
from tests.page.site import Person, Site
from tests.page.stage import ask


@pytest.mark.point(38)
async def test_a_trace_jumps_to_the_dearest_call(site: Site, person: Person) -> None:
    cheap, dear = Usage(10, 5, nano_dollars=1_000_000), Usage(10, 5, nano_dollars=9_000_000)
    site.stage.play("orchestrator", ModelReply(calls=(ask("operator", "look"),), usage=cheap))
    site.stage.play("operator", ModelReply("It is done.", usage=dear))
    turn = await site.ask("one", "look")
    await person.enter(f"t/{turn}")
    await person.button("Dearest").click()

    row = person.page.get_by_role("row").filter(has=person.page.locator("[aria-expanded=true]"))
    await expect(row).to_have_count(1)
    await expect(row).to_contain_text("$0.0090")
    await expect(row.get_by_role("button")).to_be_focused()


@pytest.mark.point(39)
async def test_a_fact_of_the_graph_leads_to_its_turn(site: Site, person: Person) -> None:
    fact = {"subject": "the outage", "predicate": "caused_by", "object": "a full disk"}
    site.stage.play("orchestrator", ask("librarian", "note what caused the outage"))
    site.stage.play("librarian", ToolCall("graph_add", fact), "It is in the graph.")
    await site.ask("one", "note that the outage was caused by a full disk")
    await person.enter("graph")
    row = person.page.get_by_role("row").filter(has_text="a full disk")
    await expect(row).to_contain_text("the outage")
    await row.get_by_role("link", name="turn 1", exact=False).click()

    await expect(person.turn(1)).to_contain_text("note that the outage was caused by a full disk")
