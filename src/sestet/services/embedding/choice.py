"""From the settings to what turns texts into vectors."""

from sestet.config.settings import EmbeddingSettings
from sestet.core.errors import ConfigError, EmbeddingError
from sestet.services.embedding.embedder import Embedder
from sestet.services.embedding.work import Embedding
from sestet.storage.database import Database
from sestet.storage.vectors import VectorStore


def open_embedding(settings: EmbeddingSettings, database: Database) -> Embedding | None:
    """None when retrieval goes by words alone."""
    embedder = choose_embedder(settings)
    return Embedding(VectorStore(database), embedder) if embedder else None


def choose_embedder(settings: EmbeddingSettings) -> Embedder | None:
    """What the settings name, or None. Nothing is loaded or called before the first text."""
    if settings.provider == "none":
        return None
    if settings.provider == "local":
        from sestet.services.embedding.local import LocalEmbedder

        return LocalEmbedder()
    from sestet.services.embedding.endpoint import EndpointEmbedder

    try:
        return EndpointEmbedder(settings.base_url, settings.model, settings.api_key)
    except EmbeddingError as error:
        raise ConfigError([str(error)]) from error
