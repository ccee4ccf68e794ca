"""What goes on behind the conversation: reading, observing, reflecting. Made when it first has its turn."""

from sestet.config import Settings
from sestet.core.model import Model
from sestet.models.choice import Models, is_small
from sestet.models.provider import OFFLINE
from sestet.services.background import Worker
from sestet.services.extraction import AGENT as READER
from sestet.services.extraction import Extraction
from sestet.services.memory.observer import Observer, Thresholds
from sestet.services.memory.writing import ModelWriter, RuleWriter
from sestet.storage.database import Database
from sestet.storage.extractions import ExtractionStore
from sestet.storage.graph import GraphStore
from sestet.storage.locks import SessionLocks
from sestet.storage.predicates import Predicates


class Background:
    """The work that the settings switch on. What it has to do is stored, so that no work is lost."""

    def __init__(self, settings: Settings, database: Database, locks: SessionLocks, models: Models) -> None:
        self.extraction = _extraction(settings, database, models)
        self._observer = _observer(settings, database, locks, models)
        self._reader = Worker("extraction", self.extraction.step) if self.extraction else None

    def wake(self) -> None:
        """Go on, if there is anything to do."""
        if self._observer:
            self._observer.wake()
        if self._reader:
            self._reader.wake()

    def after_turn(self, session_id: str) -> None:
        """A turn has ended, and whoever reads it has everything."""
        if self._observer:
            self._observer.after_turn(session_id)
        self.wake()

    async def close(self) -> None:
        """Let the present step finish, and take no other."""
        if self._observer:
            await self._observer.close()
        if self._reader:
            await self._reader.close()


def _extraction(settings: Settings, database: Database, models: Models) -> Extraction | None:
    if not settings.graph.enabled:
        return None
    model = _real_model(settings, models, READER)
    store = ExtractionStore(database, GraphStore(database))
    return Extraction(store, Predicates(settings.graph.predicates), settings.graph.extraction, model)


def _observer(settings: Settings, database: Database, locks: SessionLocks, models: Models) -> Observer | None:
    memory = settings.observational_memory
    if not memory.enabled:
        return None
    thresholds = Thresholds(memory.observe_tokens, memory.reflect_tokens, memory.reflections_per_level)
    model = _real_model(settings, models, "chronicler")
    writer = ModelWriter(model) if model else RuleWriter()
    return Observer(database, locks, writer, thresholds)


def _real_model(settings: Settings, models: Models, agent: str) -> Model | None:
    """An agent's model for this work; None: rules do it.

    The built-in one has no words for it, and a small one on this machine would keep the person waiting.
    """
    own = settings.agents.get(agent)
    real = (own and own.provider) or settings.agent.provider
    return models.of(agent) if real != OFFLINE and not is_small(settings, agent) else None
