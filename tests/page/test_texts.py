"""Long texts, and texts that somebody else wrote."""

import pytest
from playwright.async_api import expect

from sestet.core.message import ToolCall
from sestet.core.schema import JsonObject
from tests.page.site import Person, Site
from tests.page.stage import ask

LINES = 10_000


async def printed(site: Site, person: Person, tool: str, arguments: JsonObject) -> None:
    """Let a tool print something, and open its row."""
    site.stage.play("orchestrator", ask("operator", "print it"))
    site.stage.play("operator", ToolCall(tool, arguments), "Printed.")
    await person.enter()
    await person.say("print it")
    await expect(person.turn(1)).to_contain_text("Printed.")
    await person.page.get_by_role("link", name="Trace: Turn 1").click()
    await person.page.get_by_role("button", name=tool, exact=False).click()
    await person.page.locator("details.tool summary").click()


@pytest.mark.point(25)
async def test_ten_thousand_lines_open_in_a_window_and_are_copied_whole(site: Site, person: Person) -> None:
    await person.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await printed(site, person, "exec_print", {"lines": LINES})
    output = person.page.locator("details.tool .output")
    await expect(output).to_contain_text("line 12 of")
    await expect(output).not_to_contain_text("line 13 of")

    await output.get_by_role("button", name="Show all", exact=False).click()
    await expect(output).to_contain_text("line 24 of")

    # Only what can be seen is in the document.
    drawn = await output.locator(".output-line, [class*=line]").count()
    assert drawn < LINES / 20
    await output.get_by_role("button", name="Copy", exact=True).click()
    await expect(output.get_by_title("Copied")).to_be_attached()
    copied = await person.page.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines()[-1] == f"line {LINES} of {LINES}"


@pytest.mark.point(26)
async def test_an_answer_its_code_and_its_table_can_be_copied(site: Site, person: Person) -> None:
    await person.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    text = "Here:\n\n```python\nprint(1)\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    site.stage.play("orchestrator", text)
    await person.enter()
    await person.say("show me")

    read = "navigator.clipboard.readText()"
    await person.button("Copy code").click()
    await expect(person.page.get_by_title("Copied")).to_be_attached()
    assert await person.page.evaluate(read) == "print(1)"
    await person.button("Copy table").click()
    await person.page.wait_for_function(f"async () => (await {read}).includes('2')")
    await person.button("Copy answer").click()
    await person.page.wait_for_function(f"async () => (await {read}).includes('```python')")
    assert await person.page.evaluate(read) == text


@pytest.mark.point(26)
async def test_copying_works_where_the_clipboard_is_closed_to_pages(site: Site, person: Person) -> None:
    await person.page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    site.stage.play("orchestrator", "Copy me.")
    await person.enter()
    await person.say("show me")
    await person.page.evaluate(
        "document.addEventListener('copy', event => window.copied = getSelection().toString()"
        " || document.activeElement.value)"
    )
    await person.button("Copy answer").click()
    await person.page.wait_for_function("window.copied === 'Copy me.'")


@pytest.mark.point(27)
async def test_pictures_from_elsewhere_are_placeholders_that_fetch_nothing(
    site: Site, person: Person
) -> None:
    site.stage.play(
        "orchestrator", "![a chart](http://127.0.0.1:9/picture.png) ![](https://elsewhere.example/x.png)"
    )
    await person.enter()
    await person.say("show me")

    await expect(person.turn(1)).to_contain_text("Image, not loaded: a chart")
    assert await person.log.locator("img").count() == 0


@pytest.mark.point(28)
async def test_html_and_addresses_that_run_something_stay_text(site: Site, person: Person) -> None:
    answer = "<b>bold</b> <script>window.ran=1</script> [one](javascript:alert(1)) [two](data:text/html,x)"
    site.stage.play("orchestrator", answer)
    await person.enter()
    await person.say("show me")

    await expect(person.turn(1)).to_contain_text("<b>bold</b>")
    await expect(person.turn(1)).to_contain_text("<script>window.ran=1</script>")
    assert await person.turn(1).locator(".turn-answer a").count() == 0
    assert await person.page.evaluate("window.ran") is None


@pytest.mark.point(29)
async def test_colours_of_a_terminal_show_and_every_other_sequence_vanishes(
    site: Site, person: Person
) -> None:
    await printed(site, person, "exec_colours", {})
    output = person.page.locator("details.tool .output")

    await expect(output.locator("[class*=ansi]").get_by_text("red")).to_be_visible()
    await expect(output).to_contain_text("kept text")
    await expect(output).to_contain_text("a link")
    shown = await output.inner_text()
    assert "\x1b" not in shown
    assert "a title" not in shown
    assert "elsewhere.example" not in shown


@pytest.mark.point(30)
async def test_a_link_of_an_untrusted_answer_shows_its_whole_address_first(
    site: Site, person: Person
) -> None:
    address = "https://shop.example/pay?to=somebody&amount=4200"
    site.stage.play("orchestrator", ask("navigator", "read it"))
    site.stage.play(
        "navigator", ToolCall("browser_look", {"address": "shop.example"}), f"[The offer]({address})"
    )
    await person.enter()
    await person.say("what does shop.example say?")
    await person.turn(1).locator(".md-link").click()

    dialog = person.page.get_by_role("dialog")
    await expect(dialog).to_contain_text(address)
    await person.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    assert len(person.page.context.pages) == 1
