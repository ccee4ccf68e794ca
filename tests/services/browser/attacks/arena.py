"""An assistant with the real browser in a small Internet, whose pages attack it."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import cast

import pytest

import sestet
from sestet.core.errors import ToolError
from sestet.core.label import CLEAN, Label, Labelled
from sestet.core.tool import CallInfo, Tool
from sestet.models.scripted import ScriptedModel
from sestet.runtime.gate import names_address
from sestet.services.browser import egress, engine
from sestet.services.browser.address_rules import AddressRules
from sestet.services.browser.browser import Browser
from tests.services.browser.attacks.internet import (
    EVIL,
    EVIL_ADDRESS,
    EVIL_ADDRESS_6,
    SHOP,
    SHOP_ADDRESS,
    Answer,
    Canary,
    Roads,
    Site,
)

UNTRUSTED = Label(untrusted=True, sources=("the page evil.example",))
PRIVATE = Label(untrusted=True, private=True, sources=("the page evil.example", "memory"))
_numbers = itertools.count(1)


class Refused(str):
    """The text of a refusal."""

    __slots__ = ()


class Arena:
    """Two sites, a canary, and the navigator's own tools as the app has built them."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.shop, self.evil, self.canary, self.roads = Site(), Site(), Canary(), Roads()
        self.tools: Mapping[str, Tool] = {}
        self.app: sestet.App | None = None

    @property
    def browser(self) -> Browser:
        assert self.app is not None
        browser = self.app.processes.browser
        assert browser is not None
        return browser

    @property
    def local(self) -> str:
        """The shop under a name that counts as secure, so that a page has every ability of a browser."""
        return f"http://localhost:{self.shop.port}"

    def guest(self, label: Label = CLEAN, words: str = "") -> "Guest":
        """A new conversation."""
        return Guest(self, f"s{next(_numbers)}", label, words)

    def clear(self) -> None:
        self.shop.clear()
        self.evil.clear()
        self.canary.touched.clear()
        self.roads.names = {
            SHOP: [[SHOP_ADDRESS]],
            f"www.{SHOP}": [[SHOP_ADDRESS]],
            EVIL: [[EVIL_ADDRESS]],
        }

    def show(self, html: str, path: str = "/", site: Site | None = None, links: str = "") -> None:
        """Let a site have a page; the shop, if no other is named. ``links``: its header of that name."""
        (site or self.shop).pages[path] = Answer(html, headers={"Link": links} if links else {})


class Guest:
    """One conversation: calls tools, and keeps every text that came back."""

    def __init__(self, arena: Arena, session: str, label: Label, words: str) -> None:
        self.arena = arena
        self.session = session
        self.label = label
        self.words = words
        self.basis = ""
        self.results: list[Labelled] = []

    def info(self) -> CallInfo:
        return CallInfo(
            self.session,
            f"t{next(_numbers)}",
            "navigator",
            f"c{next(_numbers)}",
            self.label,
            self.words,
            self.basis,
            names_address=partial(names_address, self.words),
        )

    async def call(self, tool: str, **arguments: object) -> str:
        """The text of the result, or a ``Refused`` with the tool's own words."""
        function = cast("Callable[..., object]", self.arena.tools[f"browser_{tool}"].function)
        try:
            result = await cast("asyncio.Future[Labelled]", function(self.info(), **arguments))
        except ToolError as error:
            return Refused(str(error))
        self.results.append(result)
        return str(result.value)

    async def open(self, url: str = f"http://{SHOP}/") -> str:
        return await self.call("navigate", url=url)

    async def preview(self, **arguments: object) -> str:
        """What the person is shown before a submission; keeps its mark, as the gate does."""
        preview = self.arena.tools["browser_submit"].preview
        assert preview is not None
        try:
            found = await preview(self.info(), **arguments)
        except ToolError as error:
            return Refused(str(error))
        self.basis = found.changes.basis
        return "\n".join((found.caution, *(line.text for line in found.changes.lines)))


def joined(roads: Roads) -> type[egress.Egress]:
    """The real proxy, in the small Internet."""

    class RoadEgress(egress.Egress):
        def __init__(self, rules: AddressRules) -> None:
            super().__init__(rules, resolve=roads.resolve, connect=roads.connect)

    return RoadEgress


@asynccontextmanager
async def open_arena(folder: Path, **browser: object) -> AsyncGenerator[Arena]:
    """An assistant in a folder of its own."""
    arena = Arena(folder / "work")
    arena.work.mkdir(parents=True)
    async with AsyncExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(engine, "Egress", joined(arena.roads))
        for each in (arena.shop, arena.evil, arena.canary):
            await stack.enter_async_context(each.running())
        arena.roads.ports = {
            SHOP_ADDRESS: arena.shop.port,
            EVIL_ADDRESS: arena.evil.port,
            EVIL_ADDRESS_6: arena.evil.port,
        }
        arena.clear()
        allow = [f"localhost:{arena.shop.port}", f"x.localhost:{arena.evil.port}"]
        # Hundreds of conversations in one browser: those that are over give their memory back soon.
        wanted = {"allow": allow, "idleMinutes": 0.4, **browser}
        settings = {
            "browser": wanted,
            "embedding": {"provider": "none"},
            "workspace": {"roots": [str(arena.work)]},
        }
        app = sestet.open(settings, home=folder / "home", model=ScriptedModel([]))
        arena.app = await stack.enter_async_context(app)
        arena.tools = {tool.name: tool for agent in arena.app.root.sub_agents for tool in agent.tools or ()}
        yield arena
