"""Somebody who does tasks with the navigator's tools, called as the runtime calls them."""

from collections.abc import Mapping
from functools import partial

from sestet.agents.navigator import pages, saving, using
from sestet.core.label import CLEAN, Labelled
from sestet.core.schema import JsonValue
from sestet.core.tool import CallInfo, Tool
from sestet.runtime.gate import names_address
from sestet.services.browser.browser import Browser
from sestet.services.files import Files
from sestet.services.vault.vault import Vault
from tests.agents.calling import problems
from tests.services.file_changes.world import World


class Surfer:
    """One conversation. Its label grows with what it reads; the person names the pages that it goes to."""

    def __init__(self, browser: Browser, world: World, vault: Vault, session: str) -> None:
        self.work = world.work
        self.session = session
        self.label = CLEAN
        self.vault = vault
        self._services = {type(each): each for each in (browser, world.changes, Files(world.work), vault)}
        self._words = ""
        self._calls = 0

    async def do(self, tool: Tool, **arguments: JsonValue) -> str:
        """One call; returns what the model reads."""
        assert problems(tool, **arguments) == []
        bound = tool.bind(self._services)
        assert bound is not None
        assert bound.function is not None
        self._calls += 1
        answer = await bound.function(self._call(), **arguments)
        assert isinstance(answer, Labelled)
        assert isinstance(answer.value, str)
        self.label |= answer.label
        return answer.value

    def _call(self) -> CallInfo:
        named = partial(names_address, self._words)
        facts = (self.session, "turn", "navigator", f"call-{self._calls}", self.label)
        return CallInfo(*facts, self._words, names_address=named)

    async def go(self, url: str) -> str:
        """The person names the address, and it is opened."""
        self._words += f" open {url} "
        return await self.do(pages.browser_navigate, url=url)

    async def read(self, wait_for: str = "", from_line: int = 1) -> str:
        return await self.do(pages.browser_read, wait_for=wait_for, from_line=from_line)

    async def find(self, text: str) -> str:
        return await self.do(pages.browser_find, text=text)

    async def scroll(self, direction: str = "down") -> str:
        return await self.do(pages.browser_scroll, direction=direction)

    async def back(self) -> str:
        return await self.do(pages.browser_back)

    async def tab(self, name: str, *, close: bool = False) -> str:
        return await self.do(pages.browser_tab, tab=name, close=close)

    async def click(self, target: str) -> str:
        return await self.do(using.browser_click, target=target)

    async def press(self, *keys: str) -> str:
        told = ""
        for key in keys:
            told = await self.do(using.browser_press, key=key)
        return told

    async def fill(self, site: str, fields: Mapping[str, str]) -> str:
        return await self.do(using.browser_fill, site=site, fields=dict(fields))

    async def submit(self, site: str, target: str, answer: str = "") -> str:
        return await self.do(using.browser_submit, site=site, target=target, answer=answer)

    async def upload(self, site: str, target: str, path: str) -> str:
        return await self.do(using.browser_upload, site=site, target=target, path=path)

    async def download(self, target: str = "", *, read: bool = False) -> str:
        return await self.do(saving.browser_download, target=target, read=read)

    async def screenshot(self, *, full: bool = False) -> str:
        return await self.do(saving.browser_screenshot, full=full)

    async def pdf(self) -> str:
        return await self.do(saving.browser_pdf)

    def file(self, name: str) -> bytes:
        """A file that was saved."""
        return (self.work / "downloads" / name).read_bytes()
