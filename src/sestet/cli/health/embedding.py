"""The check of what turns texts into vectors, and of how far it has come."""

from sestet.cli.health.check import Check
from sestet.config import Settings, data_directory
from sestet.core.errors import ConfigError, EmbeddingError, StorageError
from sestet.services.embedding.embedder import Embedder, choose_embedder
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.vectors import VectorStore

_NAME = "embedding"


def check_embedding(settings: Settings) -> Check:
    """Embeds one word, so that a key or a server that does not work is seen here first."""
    try:
        embedder = choose_embedder(settings.embedding)
    except ConfigError as error:
        return Check(_NAME, "problem", str(error), "correct the settings that this names")
    if embedder is None:
        return Check(_NAME, "ok", "switched off: full text only", "embedding.provider: local turns it on")
    try:
        (vector,) = embedder.embed(["word"])
    except EmbeddingError as error:
        return Check(_NAME, "problem", str(error), "until then, passages are found by their words alone")
    detail = f"{settings.embedding.provider}: {embedder.space}, {len(vector) // 4} dimensions"
    return Check(_NAME, "ok", f"{detail}; {_progress(embedder)}")


def _progress(embedder: Embedder) -> str:
    path = data_directory() / FILE_NAME
    if not path.exists():
        return "nothing to embed yet"
    try:
        database = Database(path)
    except StorageError:
        return "the database cannot be read"
    try:
        missing = VectorStore(database).count_missing(embedder.space)
    except StorageError:
        return "the database cannot be read"
    finally:
        database.close()
    if not missing:
        return "every passage has its vector"
    return f"{missing:,} passage{'' if missing == 1 else 's'} without a vector, embedded in the background"
