"""First run, set-up, search, agents, traces, memory: what the other screens promise."""

import gzip
import json
from pathlib import Path

import pytest
from playwright.async_api import expect

import sestet
from sestet.core.message import ToolCall
from sestet.server.built_page import DIRECTORY
from tests.models.local_servers import Ollama, Served, running
from tests.page.conftest import OpenPerson, Watched
from tests.page.site import Person, Site
from tests.page.stage import ask

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
SCREENS = (
    "new",
    "s/story",
    "inbox",
    "agents",
    "agents/operator",
    "traces",
    "memory",
    "memory/entries",
    "memory/documents",
    "graph",
    "search?q=pump",
    "settings",
    "settings/model",
    "settings/values",
    "settings/changes",
    "settings/costs",
    "settings/page",
)
FIRST_LOAD = 150_000
WHOLE = 1_000_000


@sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
async def zip_it() -> str:
    """Belongs to nobody."""
    return ""


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person's own settings are neither read nor written."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("SESTET_HOME", str(tmp_path))


async def story(site: Site) -> str:
    """A turn with a delegation and a question that waits; returns its id."""
    site.stage.play("orchestrator", ask("operator", "mail Ines about the pump"))
    site.stage.play("operator", ToolCall("exec_mail", {"to": "ines@nord.example", "text": "The pump."}))
    return await site.ask("story", "ask about the pump")


@pytest.mark.point(1)
async def test_in_a_fresh_home_the_first_message_is_answered_without_set_up(
    site: Site, new_person: OpenPerson
) -> None:
    await site.stop()
    site.model = None
    await site.start()
    person = await new_person()
    await person.enter()
    await expect(person.page.get_by_text("A small built-in model answers.")).to_be_visible()
    await person.say("remember that I like tea")

    await expect(person.turn(1)).to_contain_text("Remembered: I like tea")


@pytest.mark.point(2)
async def test_ready_is_said_only_after_a_real_turn_and_a_failure_names_the_way_out(
    site: Site, person: Person
) -> None:
    await person.enter("settings/model")
    await person.page.get_by_label("A server's address").check()
    await person.page.get_by_role("textbox", name="A server's address").fill("http://127.0.0.1:9/v1")
    await person.button("Try it").click()

    failed = person.page.get_by_role("alert").filter(has_text="Not ready")
    await expect(failed).to_contain_text("Nothing was written", timeout=60_000)
    await expect(person.page.get_by_text("Ready", exact=True)).to_have_count(0)
    settings = await site.get("/api/settings")
    assert settings["file"] is None


@pytest.mark.point(2)
async def test_a_server_whose_model_calls_a_tool_is_ready_and_written(person: Person, tmp_path: Path) -> None:
    with running(Ollama([Served("tiny")])) as server:
        await person.enter("settings/model")
        await person.page.get_by_label("A server's address").check()
        await person.page.get_by_role("textbox", name="A server's address").fill(server.root)
        await person.button("Try it").click()

        await expect(person.page.locator(".settings-ready")).to_contain_text("Ready", timeout=60_000)
        used = server.paths.count("/v1/chat/completions")
    assert used > 1
    assert "tiny" in (tmp_path / "config" / "sestet" / "sestet.yaml").read_text(encoding="utf-8")


@pytest.mark.point(2)
async def test_what_was_written_counts_after_a_restart_from_the_page(site: Site, person: Person) -> None:
    site.allow_restart()
    await person.enter("settings/values")
    await person.button("Change limits.modelCalls").click()
    await person.page.get_by_label("Value as YAML").fill("39")
    await person.button("Save").click()
    await person.button("Restart the server now").click()

    await expect(person.page.get_by_text("What was written counts now.").first).to_be_visible()
    await expect(person.page.locator(".shell-status")).to_have_count(0)


@pytest.mark.point(33)
@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_axe_finds_nothing_serious_on_any_screen(
    site: Site, new_person: OpenPerson, theme: str
) -> None:
    turn = await story(site)
    person = await new_person(color_scheme=theme, bypass_csp=True)
    await person.enter()
    found: dict[str, list[str]] = {}
    for screen in (*SCREENS, f"t/{turn}", f"t/{turn}/saw/2"):
        await person.go(screen)
        await person.page.locator("main").first.wait_for()
        await expect(person.page.locator("[aria-busy=true]")).to_have_count(0, timeout=60_000)
        await person.page.evaluate(AXE.read_text())
        result = await person.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        bad = [each for each in result["violations"] if each["impact"] in ("serious", "critical")]
        if bad:
            found[screen] = [f"{each['id']}: {each['nodes'][0]['html'][:160]}" for each in bad]

    assert found == {}, json.dumps(found, indent=1)


@pytest.mark.point(35)
async def test_the_theme_follows_the_system_and_can_be_set(site: Site, new_person: OpenPerson) -> None:
    person = await new_person(color_scheme="dark")
    # The theme is set before anything is drawn: the script that does it blocks.
    await person.page.add_init_script(
        "document.addEventListener('DOMContentLoaded', () => {"
        " window.first = document.documentElement.dataset.theme })"
    )
    await person.enter("settings/page")
    html = person.page.locator("html")
    await expect(html).to_have_attribute("data-theme", "dark")
    assert await person.page.evaluate("window.first") == "dark"

    await person.page.get_by_label("Light").check()
    await expect(html).to_have_attribute("data-theme", "light")
    await person.page.reload()
    assert await person.page.evaluate("window.first") == "light"
    await person.page.get_by_label("As the system").check()
    await expect(html).to_have_attribute("data-theme", "dark")
    await person.page.emulate_media(color_scheme="light")
    await expect(html).to_have_attribute("data-theme", "light")


@pytest.mark.point(36)
async def test_a_sentence_of_an_old_session_is_found_and_its_turn_opened(site: Site, person: Person) -> None:
    site.stage.play("orchestrator", "The noise report is still open.", "Something else.", "And this.")
    await site.ask("old", "what about the heat pump?")
    await site.ask("old", "and now?")
    await site.ask("new", "hello")
    await person.enter("s/new")
    await expect(person.turn(1)).to_contain_text("And this.")
    await person.page.keyboard.press("Control+k")
    await expect(person.page.get_by_role("searchbox")).to_be_focused()
    await person.page.keyboard.type("noise report")
    await person.page.get_by_role("link", name="noise report is still open", exact=False).click()

    await expect(person.turn(1)).to_contain_text("The noise report is still open.")
    await expect(person.turn(1)).to_be_in_viewport()
    assert "#/s/old/" in person.page.url


@pytest.mark.point(36)
async def test_a_turn_far_back_is_found_and_what_is_said_then_is_at_the_end(
    site: Site, person: Person
) -> None:
    turns = 120
    site.stage.play(
        "orchestrator", *(f"Answer {number}.\n\nIt has two lines." for number in range(1, turns + 2))
    )
    for number in range(1, turns + 1):
        async for _ in site.app.run_turn("long", f"message {number}" if number != 3 else "the noise report"):
            pass
    await person.enter("search?q=noise")
    await person.page.get_by_role("link", name="the noise report", exact=False).click()
    await expect(person.turn(3)).to_be_in_viewport()
    await expect(person.rail).to_have_accessible_name("Turn 3")

    await person.say("and now?")
    await expect(person.turn(turns + 1)).to_be_in_viewport()
    await expect(person.turn(turns + 1)).to_contain_text(f"Answer {turns + 1}.")
    await expect(person.turn(turns + 1)).to_be_in_viewport()


@pytest.mark.point(37)
async def test_unmatched_tools_are_counted_and_the_tester_explains_and_does_nothing(
    site: Site, new_person: OpenPerson
) -> None:
    await site.stop()
    site.tools = (*site.tools, zip_it)
    await site.start()
    person = await new_person()
    await person.enter("agents")
    unmatched = person.page.get_by_role("alert").filter(has_text="1 unmatched")
    await expect(unmatched).to_contain_text("zip_it")

    await person.page.get_by_role("textbox", name="Why this route?").fill("remember that I like tea")
    await expect(person.page.locator(".agents-explained")).to_contain_text("chronicler")
    await expect(person.page.get_by_role("table", name="All agents")).to_contain_text("librarian")
    assert (await site.get("/api/sessions"))["sessions"] == []
    assert site.stage.requests == []


@pytest.mark.point(38)
async def test_a_trace_jumps_and_what_an_agent_saw_is_verbatim(site: Site, person: Person) -> None:
    site.stage.play("orchestrator", ask("operator", "fail for me"))
    site.stage.play("operator", ToolCall("exec_fail", {}), "It failed.")
    turn = await site.ask("story", "please fail")
    await person.enter(f"t/{turn}")
    await person.button("Failed").click()
    await expect(person.page.locator(".trace-detail")).to_contain_text("the disk is full")
    await person.button("Slowest").click()
    await expect(person.page.locator(".trace-open[aria-expanded=true]").first).to_be_visible()

    calls = (await site.get(f"/api/turns/{turn}/calls"))["calls"]
    operator = next(call for call in calls if call["agent"] == "operator")
    await person.go(f"t/{turn}/saw/{operator['seq']}")
    await expect(person.page.get_by_text("Not shown to this agent")).to_contain_text("message")
    await expect(person.page.locator(".screen")).to_contain_text("fail for me")
    seen = site.stage.requests[1]
    assert seen.agent == "operator"
    section = person.page.locator("section", has=person.page.get_by_role("heading", name="instruction"))
    await section.get_by_role("button", name="Show all", exact=False).click()
    await expect(section).to_contain_text(seen.instruction.splitlines()[0])


@pytest.mark.point(39)
async def test_a_memory_leads_to_its_turn_and_forgetting_lists_its_consequences(
    site: Site, person: Person
) -> None:
    site.stage.play("orchestrator", ask("chronicler", "remember it"))
    site.stage.play(
        "chronicler", ToolCall("memory_remember", {"fact": "Ines is my architect"}), "Remembered."
    )
    await site.ask("told", "remember that Ines is my architect")
    await person.enter("memory")
    await expect(person.page.get_by_role("main").get_by_text("Ines is my architect")).to_be_visible()
    await person.go("memory/m1")
    await person.button("Forget").click()
    dialog = person.page.get_by_role("dialog")
    await expect(dialog).to_contain_text("Ines is my architect")
    await expect(dialog).to_contain_text("stays", ignore_case=True)
    await person.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)

    await person.page.get_by_role("link", name="turn 1", exact=False).first.click()
    await expect(person.turn(1)).to_contain_text("remember that Ines is my architect")


@pytest.mark.point(40)
async def test_no_request_leaves_this_machine_on_any_screen(
    site: Site, person: Person, watched: Watched
) -> None:
    turn = await story(site)
    await person.enter()
    for screen in (*SCREENS, f"t/{turn}"):
        await person.go(screen)
        await person.page.locator("main").first.wait_for()

    assert watched.requests
    assert watched.foreign() == []


@pytest.mark.point(40)
async def test_the_page_is_small(site: Site, new_person: OpenPerson, watched: Watched) -> None:
    person = await new_person()
    await person.enter()
    await expect(person.composer).to_be_visible()
    loaded = {url.split("/", 3)[3] for url in watched.requests if "/api/" not in url and "/enter" not in url}
    files = [DIRECTORY / (name or "index.html") for name in loaded]
    first = sum(len(gzip.compress(file.read_bytes(), 9)) for file in files if file.is_file())
    whole = sum(file.stat().st_size for file in DIRECTORY.rglob("*") if file.is_file())

    assert 0 < first <= FIRST_LOAD
    assert whole <= WHOLE
