"""Asking, reading along, stopping, queueing."""

import asyncio

import pytest
from playwright.async_api import Route, expect

from tests.page.site import Devtools, Person, Site

#: The place of a paragraph on the screen.
TOP = "element => element.getBoundingClientRect().top"


def paragraphs(first: int, last: int) -> str:
    return "".join(f"Paragraph {number} of a long story.\n\n" for number in range(first, last + 1))


@pytest.mark.point(3)
async def test_what_is_read_stays_where_it_is_while_text_streams(site: Site, person: Person) -> None:
    flow = site.stage.flow()
    await person.enter()
    await person.say("tell me a story")
    flow.write(paragraphs(1, 80))
    await expect(person.log.get_by_text("Paragraph 79 of")).to_be_in_viewport()

    await person.log.hover()
    await person.page.mouse.wheel(0, -1200)
    await expect(person.button("Newest", exact=False)).to_be_visible()
    read = person.log.get_by_text("Paragraph 40 of")
    await read.scroll_into_view_if_needed()
    before = await read.evaluate(TOP)
    flow.write(paragraphs(81, 160))
    await expect(person.log).to_contain_text("Paragraph 159 of")
    flow.end()
    await expect(person.button("Copy answer")).to_be_attached()

    assert await read.evaluate(TOP) == before
    await person.button("Newest", exact=False).click()
    await expect(person.log.get_by_text("Paragraph 160 of")).to_be_in_viewport()


@pytest.mark.point(3)
async def test_selected_text_stays_where_it_is_while_text_streams(site: Site, person: Person) -> None:
    flow = site.stage.flow()
    await person.enter()
    await person.say("tell me a story")
    flow.write(paragraphs(1, 80))
    read = person.log.get_by_text("Paragraph 79 of")
    await expect(read).to_be_in_viewport()
    await read.dblclick()
    before = await read.evaluate(TOP)
    flow.end(paragraphs(81, 120))
    await expect(person.button("Copy answer")).to_be_attached()

    assert await read.evaluate(TOP) == before


@pytest.mark.point(4)
async def test_a_turn_goes_on_after_a_reload_with_nothing_twice_and_nothing_missing(
    site: Site, person: Person
) -> None:
    flow = site.stage.flow()
    await person.enter()
    await person.say("count")
    flow.write("one ")
    await expect(person.log).to_contain_text("one")
    await person.page.reload()
    await expect(person.log).to_contain_text("one")
    flow.write("two ")
    await expect(person.log).to_contain_text("one two")
    await person.page.reload()
    flow.end("three")
    await expect(person.button("Copy answer")).to_be_attached()

    await expect(person.page.locator(".turn-answer")).to_have_text("one two three")
    await expect(person.page.get_by_role("article")).to_have_count(1)
    await person.page.reload()
    await expect(person.page.locator(".turn-answer")).to_have_text("one two three")


@pytest.mark.point(5)
async def test_after_a_cut_of_the_network_all_is_there(site: Site, person: Person) -> None:
    flow = site.stage.flow()
    await person.enter()
    await person.say("count")
    flow.write("one ")
    await expect(person.log).to_contain_text("one")

    await person.page.context.set_offline(True)
    line = person.page.get_by_text("The connection to the server is broken")
    await expect(line).to_have_count(1)
    flow.end("two three")
    await expect(person.log).not_to_contain_text("three")
    await person.page.context.set_offline(False)

    await expect(person.page.locator(".turn-answer")).to_have_text("one two three")
    await expect(line).to_have_count(0)


@pytest.mark.point(6)
async def test_stop_says_stopping_until_the_turn_has_stopped(site: Site, person: Person) -> None:
    may_go = asyncio.Event()

    async def hold(route: Route) -> None:
        await may_go.wait()
        await route.continue_()

    flow = site.stage.flow()
    await person.enter()
    await person.page.route("**/cancel", hold)
    await person.say("tell me a story")
    flow.write("Once upon a time ")
    await expect(person.log).to_contain_text("Once upon a time")
    await person.button("Stop").click()
    await expect(person.button("Stopping")).to_be_visible()
    await expect(person.log).not_to_contain_text("Stopped by you")
    may_go.set()

    await expect(person.turn(1)).to_contain_text("Stopped by you")
    await expect(person.turn(1)).to_contain_text("The text is incomplete")
    await expect(person.button("Stopping")).to_have_count(0)
    flow.end("there was a king")
    site.stage.play("orchestrator", "Hello!")
    await person.say("hi")
    await expect(person.turn(2)).to_contain_text("Hello!")
    await expect(person.page.locator(".turn-answer").first).to_have_text("Once upon a time")


@pytest.mark.point(7)
async def test_a_draft_survives_reload_change_of_session_and_restart(site: Site, person: Person) -> None:
    site.stage.play("orchestrator", "First.", "Second.")
    await site.ask("one", "hello one")
    await site.ask("two", "hello two")
    await person.enter("s/one")
    await person.composer.fill("half a thought")
    await person.page.reload()
    await expect(person.composer).to_have_value("half a thought")

    await person.page.get_by_role("link", name="hello two").click()
    await expect(person.turn(1)).to_contain_text("Second.")
    await expect(person.composer).to_have_value("")
    await person.page.get_by_role("link", name="hello one").click()
    await expect(person.composer).to_have_value("half a thought")

    await site.stop()
    await expect(person.page.get_by_text("The connection to the server is broken")).to_be_visible()
    await expect(person.composer).to_have_value("half a thought")
    await site.start()
    await person.page.reload()
    await expect(person.composer).to_have_value("half a thought")


async def enter_of_an_input_method(keyboard: Devtools) -> None:
    """The key that chooses a word, as browsers tell it while the word is being composed."""
    enter = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 229}
    await keyboard.send("Input.dispatchKeyEvent", type="rawKeyDown", **enter)
    await keyboard.send("Input.dispatchKeyEvent", type="keyUp", **enter)


@pytest.mark.point(8)
async def test_enter_sends_nothing_while_a_word_is_composed(site: Site, person: Person) -> None:
    site.stage.play("orchestrator", "はい。")
    await person.enter()
    await person.composer.focus()
    keyboard = await Devtools.of(person.page)
    await keyboard.send("Input.imeSetComposition", text="にほんご", selectionStart=4, selectionEnd=4)
    await expect(person.composer).to_have_value("にほんご")
    await enter_of_an_input_method(keyboard)
    await keyboard.send("Input.insertText", text="日本語")
    await expect(person.composer).to_have_value("日本語")
    assert await site.get("/api/sessions") == {"sessions": []}

    await person.composer.press("Enter")
    await expect(person.turn(1)).to_contain_text("はい。")
    await expect(person.turn(1)).to_contain_text("日本語")


@pytest.mark.point(9)
async def test_messages_written_during_a_turn_wait_can_be_changed_and_go_in_order(
    site: Site, person: Person
) -> None:
    flow = site.stage.flow()
    site.stage.play("orchestrator", "The second answer.", "The third answer.")
    await person.enter()
    await person.say("one")
    await flow.begun()
    await person.say("tow")
    await person.say("three")
    queue = person.page.get_by_role("list", name="Waiting to be sent")
    await expect(queue.get_by_role("listitem")).to_have_count(2)
    await queue.get_by_role("button", name="Edit").first.click()
    await queue.get_by_role("textbox").fill("two")
    await queue.get_by_role("textbox").press("Enter")
    await expect(queue.get_by_role("listitem").first).to_contain_text("two")
    await person.page.reload()
    await expect(queue.get_by_role("listitem")).to_have_count(2)
    flow.end("The first answer.")

    for number, said, answer in ((1, "one", "first"), (2, "two", "second"), (3, "three", "third")):
        await expect(person.turn(number).locator(".turn-said")).to_have_text(said)
        await expect(person.turn(number)).to_contain_text(f"The {answer} answer.")
    await expect(queue).to_have_count(0)


@pytest.mark.point(9)
async def test_messages_behind_a_stopped_turn_are_held_until_the_person_sends_them(
    site: Site, person: Person
) -> None:
    flow = site.stage.flow()
    site.stage.play("orchestrator", "The second answer.")
    await person.enter()
    await person.say("one")
    await flow.begun()
    await person.say("two")
    await person.button("Stop").click()
    await expect(person.turn(1)).to_contain_text("Stopped by you")
    await expect(
        person.page.get_by_text("Not sent, because the turn before it did not finish")
    ).to_be_visible()
    await person.button("Send now").click()

    await expect(person.turn(2)).to_contain_text("The second answer.")


@pytest.mark.point(10)
async def test_finished_blocks_keep_their_elements_while_text_streams(site: Site, person: Person) -> None:
    flow = site.stage.flow()
    await person.enter()
    await person.say("write")
    flow.write("The first paragraph.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 1\n```\n\nThe next")
    blocks = person.page.locator(".turn-answer .md > *")
    await expect(person.log).to_contain_text("The next")
    kept = await blocks.count() - 1
    assert kept == 3
    await blocks.evaluate_all("all => all.slice(0, -1).forEach((each, at) => { each.known = at })")
    flow.write(" paragraph grows.\n\nAnd another.")
    await expect(person.log).to_contain_text("And another.")
    known = "all => all.map(each => each.known).filter(each => each !== undefined)"
    assert await blocks.evaluate_all(known) == [0, 1, 2]

    flow.end()
    await expect(person.button("Copy answer")).to_be_attached()
    assert await blocks.evaluate_all(known) == [0, 1, 2]
