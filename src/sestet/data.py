"""The stored data without an assistant: for commands and pages that only read or correct it."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sestet.config import Settings, data_directory
from sestet.services.costs import Costs
from sestet.services.file_changes.undo import Undo, undo_of
from sestet.services.forgetting import Forgetting
from sestet.services.library import Library
from sestet.services.memory.catalog import MemoryCatalog
from sestet.services.memory.import_export import Imported, import_lines
from sestet.services.session_deletion import SessionDeletion
from sestet.services.sessions import Exchange, search_sessions
from sestet.services.tokens import Tokens
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.extractions import ExtractionStore
from sestet.storage.graph import GraphStore, TripleRow
from sestet.storage.journal import Journal, SessionRow
from sestet.storage.observation_progress import ObservationProgress, WorkSum
from sestet.storage.session_log import SessionLog
from sestet.storage.session_search import SessionSearch
from sestet.storage.spending import SpendingStore

if TYPE_CHECKING:
    from sestet.services.payments.payments import Payments
    from sestet.services.vault.signing import Signer


class Data:
    """What Sestet has stored, one service for each part of it."""

    def __init__(self, settings: Settings, database: Database, settings_file: Path | None = None) -> None:
        self.settings = settings
        self._settings_file = settings_file
        self._database = database

    @cached_property
    def library(self) -> Library:
        return Library(self._database, self.settings.embedding, self._settings_file)

    @cached_property
    def memory(self) -> MemoryCatalog:
        return MemoryCatalog(self._database)

    @cached_property
    def forgetting(self) -> Forgetting:
        return Forgetting(self._database)

    @cached_property
    def journal(self) -> Journal:
        return Journal(self._database)

    @cached_property
    def session_log(self) -> SessionLog:
        return SessionLog(self._database)

    @cached_property
    def costs(self) -> Costs:
        return Costs(SpendingStore(self._database), self.journal)

    @cached_property
    def tokens(self) -> Tokens:
        return Tokens(self._database)

    @cached_property
    def undo(self) -> Undo:
        return undo_of(self._database, self._settings_file)

    def payments(self, signer: "Signer") -> "Payments":
        """Payments of these settings; raise if they are switched off."""
        from sestet.services.payments.opening import open_payments

        return open_payments(self.settings, self._database, signer)

    @cached_property
    def session_deletion(self) -> SessionDeletion:
        return SessionDeletion(self._database)

    @cached_property
    def graph(self) -> GraphStore:
        return GraphStore(self._database)

    @cached_property
    def extractions(self) -> ExtractionStore:
        return ExtractionStore(self._database, self.graph)

    def graph_facts(self, limit: int) -> list[TripleRow]:
        """The facts of the graph, the latest first, also while the graph is switched off."""
        return self.graph.latest(limit)

    def search_sessions(self, query: str, limit: int) -> list[Exchange]:
        """The past turns with these words, the best matches first."""
        return search_sessions(SessionSearch(self._database), query, limit)

    def import_memory(self, lines: Iterable[str], *, mine: bool) -> Imported:
        """Add the rows of an export: all of them, or none and an error that names the first bad line."""
        return import_lines(self._database, lines, mine=mine)

    def observing(self) -> WorkSum:
        """What observing and reflecting have done and used so far."""
        return ObservationProgress(self._database, self.journal).work_sum()


def recent_sessions(limit: int) -> list[SessionRow]:
    """The sessions that were used last; a database that does not exist is not created."""
    if not (data_directory() / FILE_NAME).exists():
        return []
    with open_data(Settings()) as data:
        return data.journal.sessions(limit)


@contextmanager
def open_data(settings: Settings, settings_file: Path | None = None) -> Generator[Data]:
    """The data of these settings; the database is created when there is none."""
    database = Database(data_directory() / FILE_NAME, power=settings.storage.durability == "power")
    try:
        yield Data(settings, database, settings_file)
    finally:
        database.close()
