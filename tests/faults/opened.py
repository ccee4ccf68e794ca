"""Opens an assistant in this process whose model follows the plan in the message."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import sestet
from sestet.core.agent import AgentSpec
from sestet.core.errors import StorageError
from sestet.core.event import Event
from sestet.core.tool import Tool
from tests.faults.effects import Effects, effect_tools
from tests.faults.plan import PlanModel
from tests.faults.victim import EFFECTS
from tests.faults.watched import Death, watched_connections

SECONDS = 20.0
#: Tests count the statements of a turn, so background work is switched off.
TURNS_ALONE: Mapping[str, object] = {
    "embedding": {"provider": "none"},
    "graph": {"extraction": "off"},
    "observationalMemory": {"enabled": False},
}


@dataclass(frozen=True, slots=True)
class Home:
    """A home directory in which assistants are opened one after another."""

    path: Path
    settings: Mapping[str, object] = field(default_factory=lambda: TURNS_ALONE)
    tools: Sequence[Tool] = ()
    model: PlanModel = field(default_factory=PlanModel)
    specs: Sequence[AgentSpec] = ()

    @property
    def effects(self) -> Effects:
        return Effects(self.path / EFFECTS)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[sestet.App]:
        tools = (*effect_tools(self.effects), *self.tools)
        async with sestet.open(
            self.settings, home=self.path, model=self.model, tools=tools, specs=self.specs
        ) as app:
            yield app

    async def die(self, death: Death, begin: Callable[[sestet.App], AsyncGenerator[Event]]) -> list[Event]:
        """The events of a turn until the process dies."""
        seen: list[Event] = []
        with watched_connections(death.watch):
            async with self.open() as app:
                with pytest.raises(StorageError, match="the process is dead"):
                    await read_into(seen, begin(app))
        assert death.is_dead
        return seen

    async def resume(self, seen: Sequence[Event]) -> list[Event]:
        """The rest of the turn, in another process."""
        async with self.open() as app:
            return await read_all(app.resume_turn(seen[0].stamp.turn_id))


async def read_into(seen: list[Event], events: AsyncGenerator[Event]) -> None:
    """Collect every event, also if the turn fails; a hanging turn is a failure."""
    async with asyncio.timeout(SECONDS):
        async for event in events:
            seen.append(event)


async def read_all(events: AsyncGenerator[Event]) -> list[Event]:
    seen: list[Event] = []
    await read_into(seen, events)
    return seen
