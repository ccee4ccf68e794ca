"""Checks of the knowledge graph: what it holds, and what waits for the person."""

from sestet.cli.health.check import Check
from sestet.config import Settings, data_directory
from sestet.core.errors import StorageError
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.extractions import ExtractionStore
from sestet.storage.graph import GraphStore

_NAME = "graph"


def check_graph(settings: Settings) -> list[Check]:
    """Nothing where the database cannot be read: that is reported elsewhere."""
    if not settings.graph.enabled:
        return [Check(_NAME, "ok", "switched off", "graph.enabled: true turns it on")]
    path = data_directory() / FILE_NAME
    if not path.exists():
        return [Check(_NAME, "ok", "empty", _reading(settings))]
    try:
        database = Database(path)
    except StorageError:
        return []
    try:
        return [_describe(settings, database)]
    except StorageError:
        return []
    finally:
        database.close()


def _describe(settings: Settings, database: Database) -> Check:
    graph = GraphStore(database)
    size, waiting = graph.size(), ExtractionStore(database, graph).waiting()
    detail = f"{size.facts:,} fact{'' if size.facts == 1 else 's'} about {size.nodes:,} things"
    if waiting.texts and settings.graph.extraction != "off":
        detail += f"; {waiting.texts:,} saved texts are still to be read"
    if waiting.proposals:
        detail += f"; {waiting.proposals:,} wait for your decision"
        return Check(_NAME, "ok", detail, "'sestet graph review' lists them")
    return Check(_NAME, "ok", detail, _reading(settings))


def _reading(settings: Settings) -> str:
    if settings.graph.extraction != "off":
        return ""
    return "graph.extraction: review lets saved texts be read for facts"
