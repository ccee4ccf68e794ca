"""The seam between retrieval and whatever turns texts into vectors."""

from collections.abc import Sequence
from typing import Protocol

from sestet.config.settings import EmbeddingSettings
from sestet.core.errors import ConfigError, EmbeddingError
from sestet.services.embedding.local_embedder import LocalEmbedder


class Embedder(Protocol):
    """Turns texts into vectors of one space; it may block, so it is called in a thread."""

    @property
    def space(self) -> str:
        """Names the space: vectors of two names are never compared."""
        ...

    @property
    def floor(self) -> float:
        """The similarity below which two texts have nothing to do with each other."""
        ...

    @property
    def is_instant(self) -> bool:
        """Whether a handful of texts costs no more than a look into the database."""
        ...

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """A vector of unit length for each text, as little-endian float32; zeros for a text without meaning.

        Raises EmbeddingError.
        """
        ...


def choose_embedder(settings: EmbeddingSettings) -> Embedder | None:
    """What the settings name, or None. Nothing is loaded or called before the first text."""
    if settings.provider == "none":
        return None
    if settings.provider == "local":
        return LocalEmbedder()
    # Imported here: it loads http.client and ssl, which takes 20 ms that the default provider saves.
    from sestet.services.embedding.endpoint_embedder import EndpointEmbedder

    try:
        return EndpointEmbedder(settings.base_url, settings.model, settings.api_key)
    except EmbeddingError as error:
        raise ConfigError([str(error)]) from error
