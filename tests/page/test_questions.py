"""Questions: what they show, what a decision covers, and where it can be made."""

import pytest
from playwright.async_api import expect

from sestet.core.message import ToolCall
from tests.page.conftest import OpenPerson
from tests.page.site import Person, Site
from tests.page.stage import ask

MAIL = {"to": "ines@nord.example", "text": "The price is 4,200\u202e euros."}


def let_mail(site: Site, *mails: dict[str, str], end: str = "Sent.") -> None:
    """Let the operator send mails after it has read a page, so that each receiver is asked for."""
    site.stage.play("orchestrator", ask("operator", "mail Ines"))
    site.stage.play("operator", *(ToolCall("exec_mail", dict(mail)) for mail in mails), end)


@pytest.mark.point(14)
async def test_a_question_shows_agent_tool_arguments_reason_sources_and_end(
    site: Site, person: Person
) -> None:
    site.stage.play("orchestrator", ask("navigator", "read it", reply=False), ask("operator", "mail Ines"))
    site.stage.play("navigator", ToolCall("browser_look", {"address": "shop.example"}), "4,200 euros.")
    site.stage.play("operator", ToolCall("exec_mail", dict(MAIL)))
    await person.enter()
    await person.say("read the offer and mail Ines")

    card = person.question
    await expect(card).to_contain_text("operator wants to call exec_mail")
    await expect(card).to_contain_text("ines@nord.example")
    # A character that turns the direction of the text is written out.
    await expect(card).to_contain_text("<U+202E>")
    await expect(card).to_contain_text("https://shop.example/offer")
    await expect(card).to_contain_text("untrusted text was read")
    await expect(card).to_contain_text("open until")
    assert await person.button("Approve once").evaluate("e => e === document.activeElement") is False


@pytest.mark.point(15)
async def test_a_question_that_arrives_while_typing_takes_no_key_and_no_focus(
    site: Site, person: Person
) -> None:
    flow = site.stage.flow("operator")
    site.stage.play("orchestrator", ask("operator", "mail Ines"))
    await person.enter()
    await person.say("mail Ines")
    await flow.begun()
    await person.composer.press_sequentially("I am wri")
    site.stage.play("operator", ToolCall("exec_mail", dict(MAIL)))
    flow.end("")
    await expect(person.question).to_be_visible()
    await person.composer.press_sequentially("ting ")
    await person.page.keyboard.press("y")

    await expect(person.composer).to_have_value("I am writing y")
    await expect(person.composer).to_be_focused()
    await expect(person.question).to_be_visible()


@pytest.mark.point(16)
async def test_once_approves_one_call_and_a_longer_yes_covers_what_it_names(
    site: Site, person: Person
) -> None:
    let_mail(site, MAIL, MAIL | {"text": "Second."}, MAIL | {"text": "Third."})
    await person.enter()
    await person.say("mail Ines")
    await expect(person.question).to_be_visible()
    await person.button("Approve once").click(delay=600)
    # The second call asks again.
    await expect(person.turn(1).locator(".question-decided")).to_have_count(1)
    await expect(person.question).to_have_count(1)
    await person.button("Approve for longer").click()
    item = person.page.get_by_role("menuitem", name="For this session")
    await expect(item).to_contain_text('to="ines@nord.example"')
    await item.click(delay=600)

    # The third one is covered.
    await expect(person.turn(1)).to_contain_text("Sent.")
    grants = (await site.get("/api/grants"))["grants"]
    assert [(grant["tool"], bool(grant["session_id"])) for grant in grants] == [("exec_mail", True)]


@pytest.mark.point(16)
async def test_a_denied_call_is_not_made(site: Site, person: Person) -> None:
    let_mail(site, MAIL, end="I did not send it.")
    await person.enter()
    await person.say("mail Ines")
    await expect(person.question).to_be_visible()
    await person.button("Deny").click(delay=600)

    await expect(person.turn(1)).to_contain_text("I did not send it.")
    await expect(person.turn(1)).not_to_contain_text("Sent")


@pytest.mark.point(17)
async def test_a_question_survives_a_restart_and_is_decided_in_the_inbox(site: Site, person: Person) -> None:
    let_mail(site, MAIL)
    await site.ask("waits", "mail Ines")
    await site.stop()
    await site.start()
    await person.enter("inbox")
    await expect(person.page.get_by_role("heading", name="Waiting 1")).to_be_visible()
    await expect(person.question).to_contain_text("ines@nord.example")
    await person.button("Approve once").click(delay=600)

    await expect(person.page.get_by_role("heading", name="Waiting 0")).to_be_visible()
    await person.go("s/waits")
    await expect(person.turn(1)).to_contain_text("Sent.")


@pytest.mark.point(18)
async def test_a_decision_shows_in_a_second_tab_and_a_second_one_is_refused(
    site: Site, new_person: OpenPerson
) -> None:
    let_mail(site, MAIL)
    await site.ask("waits", "mail Ines")
    one, other = await new_person(), await new_person()
    await one.enter("s/waits")
    await other.enter("s/waits")
    await expect(other.question).to_be_visible()
    await other.page.context.set_offline(True)
    await expect(one.question).to_be_visible()
    await one.button("Approve once").click(delay=600)
    await expect(one.turn(1)).to_contain_text("Sent.")
    # The other one has not heard of it yet, and decides too.
    await other.page.route("**/api/sessions/**", lambda route: route.abort())
    await other.page.route("**/api/stream", lambda route: route.abort())
    await other.page.context.set_offline(False)
    await other.button("Deny").click(delay=600)
    await expect(other.page.get_by_text("This was already decided.")).to_be_visible()
    await other.page.unroute_all()

    await expect(other.turn(1)).to_contain_text("Sent.", timeout=30_000)
    await expect(other.question).to_have_count(0)


@pytest.mark.point(18)
async def test_tabs_of_one_browser_share_one_stream(site: Site, person: Person) -> None:
    let_mail(site, MAIL)
    await site.ask("waits", "mail Ines")
    await person.enter("s/waits")
    await expect(person.question).to_be_visible()
    second = Person(await person.page.context.new_page(), site)
    streams: list[str] = []
    second.page.on(
        "request", lambda request: streams.append(request.url) if "/api/stream" in request.url else None
    )
    await second.go("s/waits")
    await expect(second.question).to_be_visible()
    await second.button("Approve once").click(delay=600)

    await expect(person.turn(1)).to_contain_text("Sent.")
    await expect(second.turn(1)).to_contain_text("Sent.")
    assert streams == []


@pytest.mark.point(19)
async def test_standing_answers_are_listed_and_revoked(site: Site, person: Person) -> None:
    let_mail(site, MAIL)
    await person.enter()
    await person.say("mail Ines")
    await person.button("Approve for longer").click()
    await person.page.get_by_role("menuitem", name="Always").click(delay=600)
    await expect(person.turn(1)).to_contain_text("Sent.")
    await person.go("inbox")
    await expect(person.page.get_by_role("heading", name="Standing answers 1")).to_be_visible()
    await person.button("Revoke").click()

    await expect(person.page.get_by_role("heading", name="Standing answers 0")).to_be_visible()
    assert (await site.get("/api/grants"))["grants"] == []
