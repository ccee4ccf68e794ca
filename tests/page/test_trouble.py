"""Bad moments: no network, an expired sign-in, and texts that are longer or run otherwise than most."""

import pytest
from playwright.async_api import expect

from sestet.services.tokens import OWNER_FILE
from tests.page.site import Person, Site


@pytest.mark.point(5)
async def test_a_message_said_offline_goes_by_itself_when_the_network_is_back(
    site: Site, person: Person
) -> None:
    site.stage.play("orchestrator", "First.", "Second.")
    await person.enter()
    await person.say("one")
    await expect(person.turn(1)).to_contain_text("First.")
    await person.page.context.set_offline(True)
    await person.say("two")
    await expect(person.page.get_by_role("list", name="Waiting to be sent")).to_contain_text("Not sent yet")
    await person.page.context.set_offline(False)

    await expect(person.turn(2)).to_contain_text("Second.")
    await expect(person.page.get_by_role("list", name="Waiting to be sent")).to_have_count(0)
    assert len(site.stage.requests) == 2


@pytest.mark.point(5)
async def test_a_screen_that_could_not_be_loaded_comes_when_the_network_is_back(
    site: Site, person: Person
) -> None:
    await person.enter("memory/entries")
    await expect(person.button("Add an entry")).to_be_visible()
    await person.page.context.set_offline(True)
    await person.go("memory/documents")
    await expect(person.page.get_by_role("alert").first).to_contain_text("The server cannot be reached.")
    await person.page.context.set_offline(False)

    await expect(person.page.get_by_text("No document was read in yet.")).to_be_visible()


async def sign_in(person: Person) -> None:
    await expect(person.page.get_by_role("heading", name="Sign in")).to_be_visible()
    await person.page.get_by_label("Token").fill((person.site.home / OWNER_FILE).read_text().strip())
    await person.button("Enter").click()


@pytest.mark.point(7)
async def test_when_a_sign_in_has_expired_the_page_asks_for_a_token_and_keeps_the_draft(
    site: Site, person: Person
) -> None:
    site.stage.play("orchestrator", "First.")
    await site.ask("kept", "one")
    await person.enter("s/kept")
    await person.composer.fill("half a thought")
    await person.page.context.clear_cookies()
    await person.go("memory")
    await sign_in(person)
    await expect(person.page.get_by_role("heading", name="Memory and knowledge")).to_be_visible()
    await person.go("s/kept")

    await expect(person.composer).to_have_value("half a thought")


@pytest.mark.point(7)
async def test_a_message_that_met_an_expired_sign_in_is_sent_after_the_next(
    site: Site, person: Person
) -> None:
    site.stage.play("orchestrator", "Answered.")
    await person.enter()
    # Its own request alone is refused: another one that came earlier would leave no field to write in.
    await person.page.route("**/messages", lambda route: route.fulfill(status=401, body="{}"))
    await person.say("one")
    await expect(person.page.get_by_role("heading", name="Sign in")).to_be_visible()
    await person.page.unroute_all()
    await sign_in(person)

    await expect(person.turn(1)).to_contain_text("Answered.")


@pytest.mark.point(7)
async def test_a_new_session_after_another_is_empty(site: Site, person: Person) -> None:
    site.stage.play("orchestrator", "First.", "Second.")
    await person.enter()
    await person.say("one")
    await expect(person.turn(1)).to_contain_text("First.")
    await person.page.get_by_role("link", name="New session").click()
    await expect(person.page.get_by_role("article")).to_have_count(0)
    await person.say("two")
    await expect(person.turn(1)).to_contain_text("Second.")

    assert len((await site.get("/api/sessions"))["sessions"]) == 2
    await person.page.go_back()
    await person.page.go_back()
    await expect(person.turn(1)).to_contain_text("First.")


@pytest.mark.point(26)
async def test_a_long_answer_is_shown_whole_in_its_place(site: Site, person: Person) -> None:
    site.stage.play("orchestrator", "\n\n".join(f"Paragraph {n}. {'word ' * 60}" for n in range(1, 201)))
    await site.ask("long", "write much")
    await person.enter("s/long")
    await person.button("Show the whole answer").click()

    await expect(person.turn(1)).to_contain_text("Paragraph 200.")
    await expect(person.turn(1).get_by_text("Paragraph 1.", exact=False)).to_have_count(1)
    await expect(person.button("Show the whole answer")).to_have_count(0)
