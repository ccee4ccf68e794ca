"""The navigator's browser, as its tools know it. Nothing is loaded or started before it is used."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from sestet.config.browser_settings import BrowserSettings
from sestet.core.agent import Agent
from sestet.core.tool import CallInfo
from sestet.services.browser.cookies import CookieStore

if TYPE_CHECKING:
    from sestet.services.browser.engine import Engine
    from sestet.services.browser.visitor import Visitor

_Chosen = TypeVar("_Chosen")
_PREFIX = "browser_"


class Browser:
    """One for each assistant."""

    def __init__(self, settings: BrowserSettings, cookies: CookieStore) -> None:
        self.settings = settings
        self._cookies = cookies
        self._warming: asyncio.Task[None] | None = None

    @cached_property
    def _engine(self) -> "Engine":
        # Every start loads this module, and few conversations open a page.
        from sestet.services.browser.engine import Engine

        return Engine(self.settings, self._cookies)

    @asynccontextmanager
    async def visit(self, call: CallInfo) -> "AsyncGenerator[Visitor]":
        """The pages of the call's conversation, for one call at a time."""
        async with self._engine.visit(call) as visitor:
            yield visitor

    def started_with(self, choose: Callable[[str], _Chosen], root: Agent) -> Callable[[str], _Chosen]:
        """Chooses an agent's model, and starts the browser while the navigator's model thinks."""
        tools = {agent.name: agent.tools or () for agent in root.sub_agents}
        using = {name for name, own in tools.items() if any(each.name.startswith(_PREFIX) for each in own)}

        def choose_and_start(agent: str) -> _Chosen:
            if agent in using and self._warming is None:
                self._warming = asyncio.create_task(self._engine.warm_up())
            return choose(agent)

        return choose_and_start

    async def close(self) -> None:
        """Keep the cookies that the settings name, and end Chromium."""
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.wait((self._warming,))
        if "_engine" in self.__dict__:
            await self._engine.close()
