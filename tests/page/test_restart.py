"""The process of a turn dies in the middle of it."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

import sestet
from tests.detached.test_turns import HangingModel
from tests.faults.test_killed_server import _free_port  # pyright: ignore[reportPrivateUsage] - the same need
from tests.page.conftest import OpenPerson
from tests.page.site import Person, Site
from tests.page.stage import TOOLS
from tests.server.served import SETTINGS


class Killable:
    """A server at one port, in a process of its own."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._port = _free_port()
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, **replies: object) -> str:
        """Return the address that lets a browser in."""
        arguments = (str(self._home), str(self._port), json.dumps(replies))
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.page.process", *arguments, stdout=asyncio.subprocess.PIPE
        )
        return await self.line()

    async def line(self) -> str:
        """The next line that it prints."""
        assert self._process is not None
        assert self._process.stdout is not None
        async with asyncio.timeout(60):
            return (await self._process.stdout.readline()).decode().strip()

    async def kill(self) -> None:
        if self._process and self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)
            await self._process.wait()


@pytest_asyncio.fixture(loop_scope="session")
async def server(tmp_path: Path) -> AsyncGenerator[Killable]:
    killable = Killable(tmp_path / "killed")
    yield killable
    await killable.kill()


@pytest.mark.point(20)
async def test_a_killed_server_goes_on_with_its_turn_when_it_is_back(
    server: Killable, person: Person
) -> None:
    await person.page.goto(await server.start(orchestrator=[{"hang": "The first half "}]))
    await person.say("write a long text")
    await expect(person.turn(1)).to_contain_text("The first half")
    await server.kill()
    await expect(person.turn(1)).to_contain_text("Cut off: the server is away")
    await server.start(orchestrator=["The whole text."])

    await expect(person.page.locator(".turn-answer")).to_have_text("The whole text.")
    await expect(person.log).not_to_contain_text("Cut off")


@pytest.mark.point(20)
async def test_a_turn_of_a_process_that_died_is_cut_off_and_goes_on(site: Site, person: Person) -> None:
    model = HangingModel()
    async with sestet.open(SETTINGS, model=model, home=site.home, tools=TOOLS) as other:

        async def read() -> None:
            async for _ in other.run_turn("one", "write a long text"):
                pass

        reader = asyncio.create_task(read())
        await model.asked.wait()
    await asyncio.wait((reader,))
    assert reader.exception() is not None
    site.stage.play("orchestrator", "The whole text.")
    await person.enter("s/one")
    await expect(person.turn(1)).to_contain_text("Cut off")
    await expect(person.button("Give up")).to_be_visible()
    await person.button("Go on").click()

    await expect(person.page.locator(".turn-answer")).to_have_text("The whole text.")
    await expect(person.log).not_to_contain_text("Cut off")


@pytest.mark.point(21)
async def test_a_call_in_doubt_is_told_in_red_above_and_below_the_answer(
    server: Killable, new_person: OpenPerson
) -> None:
    person = await new_person()
    asked = {"agent_name": "operator", "request": "post it", "reply": True}
    entrance = await server.start(
        orchestrator=[{"call": "transfer_to_agent", "with": asked}],
        operator=[{"call": "exec_post", "with": {"to": "Ines"}}],
    )
    await person.page.goto(entrance)
    await person.say("post the parcel to Ines")
    assert await server.line() == "posting"
    await server.kill()
    await server.start(operator=["I cannot say whether it was posted."], orchestrator=["It is unclear."])

    answer = person.page.locator(".turn-answer")
    await expect(answer).to_be_visible()
    notes = person.turn(1).get_by_role("note")
    await expect(notes).to_have_count(2)
    places = [(await each.bounding_box() or {})["y"] for each in (notes.first, answer, notes.last)]
    assert places == sorted(places)
    red = await person.page.evaluate(
        "getComputedStyle(document.documentElement).getPropertyValue('--bad').trim()"
    )
    for note in await notes.all():
        await expect(note).to_contain_text("It may have taken effect, and was not repeated")
        shown = await note.evaluate("note => getComputedStyle(note).color")
        assert shown == f"rgb({int(red[1:3], 16)}, {int(red[3:5], 16)}, {int(red[5:7], 16)})"
