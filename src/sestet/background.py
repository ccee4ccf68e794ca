"""Background work of an assistant: extract facts, observe, reflect, wipe. Created when it is first needed."""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path

from sestet.config import Settings
from sestet.config.vendors import OFFLINE, SCRIPTED
from sestet.core.model import Model, ModelReply, ModelRequest
from sestet.models.choice import Models, is_small
from sestet.models.metered import MeteredModel
from sestet.services.background_budget import BackgroundBudget
from sestet.services.embedding.index import EmbeddingIndex
from sestet.services.extraction import AGENT as READER
from sestet.services.extraction import Extraction
from sestet.services.memory.observer import Observer, Thresholds
from sestet.services.memory.writers import ModelWriter, RuleWriter
from sestet.services.worker import Worker, WorkLimits
from sestet.storage.database import Database
from sestet.storage.extractions import ExtractionStore
from sestet.storage.forgettings import Forgettings, Wipe
from sestet.storage.graph import GraphStore, Predicates
from sestet.storage.lock_wait import when_free
from sestet.storage.locks import SessionLocks
from sestet.storage.spending import SpendingStore, Work

_log = logging.getLogger(__name__)


class Background:
    """The background workers that the settings switch on. Their queues are stored, so no work is lost."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        locks: SessionLocks,
        models: Models,
        embedding: EmbeddingIndex | None = None,
    ) -> None:
        self.extraction = _extraction(settings, database, models)
        self._embedding = embedding
        self._budget = BackgroundBudget(SpendingStore(database), settings.background)
        limits = WorkLimits(self._budget.has_room, settings.background.cpu_share)
        self._observer = _observer(settings, database, locks, models, self._read_stored, limits)
        self._reader = (
            Worker("extraction", self._extract, cpu_share=settings.background.cpu_share)
            if self.extraction
            else None
        )
        self._wiper = Worker("wipe", lambda: _wipe(database.path))

    async def _extract(self) -> bool:
        """Read one text for facts, unless a model would have to be asked beyond the budget."""
        if self.extraction is None or (self.extraction.asks_model and not self._budget.has_room()):
            return False
        return await self.extraction.step()

    def wake(self) -> None:
        """Look for work."""
        if self._observer:
            self._observer.wake()
        self._read_stored()

    def after_turn(self, session_id: str, stored: bool) -> None:
        """Called after a turn's last event was delivered; ``stored``: the turn may have stored a text."""
        if self._observer:
            self._observer.after_turn(session_id)
        if stored:
            self._read_stored()

    def _read_stored(self) -> None:
        """Look for texts that were stored and are not embedded or read for facts."""
        if self._reader:
            self._reader.wake()
        if self._embedding:
            self._embedding.wake()

    def wipe(self) -> None:
        """Wipe the traces of what was forgotten, which an earlier process has left."""
        self._wiper.wake()

    async def close(self) -> None:
        """Wait for the current steps and take no further ones."""
        await self._wiper.close()
        if self._observer:
            await self._observer.close()
        if self._reader:
            await self._reader.close()


async def _wipe(path: Path) -> bool:
    """One attempt, in a thread: the file is rewritten, and a conversation must not wait for that."""
    if (outcome := await asyncio.to_thread(_wipe_now, path)) != "wiped":
        why = f"{path} still holds traces of what was forgotten ({outcome})"
        _log.warning("%s; its end or the next start tries again, and 'sestet doctor' at once", why)
    return False


def _wipe_now(path: Path) -> Wipe:
    # A connection of its own: SQLite's belong to one thread.
    database = Database(path)
    try:
        return Forgettings(database).wipe()
    finally:
        database.close()


def _extraction(settings: Settings, database: Database, models: Models) -> Extraction | None:
    if not settings.graph.enabled:
        return None
    model = _metered(_real_model(settings, models, READER), database, "extract")
    store = ExtractionStore(database, GraphStore(database))
    return Extraction(store, Predicates(settings.graph.predicates), settings.graph.extraction, model)


def _observer(
    settings: Settings,
    database: Database,
    locks: SessionLocks,
    models: Models,
    on_stored: Callable[[], None],
    limits: WorkLimits,
) -> Observer | None:
    memory = settings.observational_memory
    if not memory.enabled:
        return None
    thresholds = Thresholds(memory.observe_tokens, memory.reflect_tokens, memory.reflections_per_level)
    model = _metered(_real_model(settings, models, "chronicler"), database)
    writer = ModelWriter(model) if model else RuleWriter()
    if model is None:
        # Rules cost nothing, so no budget of tokens stops them.
        limits = WorkLimits(cpu_share=limits.cpu_share)
    return Observer(database, locks, writer, thresholds, on_stored, limits)


def _real_model(settings: Settings, models: Models, agent: str) -> Model | None:
    """The model of an agent for background work; None: use rules.

    The built-in model cannot do this work, and a small local model would delay replies.
    """
    own = settings.agents.get(agent)
    provider = (own and own.provider) or settings.agent.provider
    return models.of(agent) if provider not in (OFFLINE, SCRIPTED) and not is_small(settings, agent) else None


def _metered(model: Model | None, database: Database, work: Work | None = None) -> Model | None:
    """The model with its usage recorded; without ``work``, the request names it: observe or reflect."""
    if model is None:
        return None
    spending, name = SpendingStore(database), model.name

    async def note(request: ModelRequest, reply: ModelReply) -> None:
        done = work or ("reflect" if request.agent == "reflect" else "observe")
        used, free = reply.usage, reply.free
        await when_free(lambda: spending.add_work(done, reply.model or name, used, time.time(), free=free))

    return MeteredModel(model, note)
