"""The interface of an embedder, and the choice of one from the settings."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from sestet.config.settings import EmbeddingSettings
from sestet.core.errors import ConfigError, EmbeddingError
from sestet.services.embedding.local_embedder import LocalEmbedder
from sestet.services.embedding.noise import Noise
from sestet.services.embedding.sentence_embedder import SentenceEmbedder


class Embedder(Protocol):
    """Turns texts into vectors of one space. It may block, so it is called in a thread."""

    @property
    def space(self) -> str:
        """The name of the space; vectors of different spaces are never compared."""
        ...

    @property
    def noise(self) -> Noise | None:
        """The similarity of unrelated texts; None: unknown for this model."""
        ...

    @property
    def is_instant(self) -> bool:
        """Whether embedding a few texts is as fast as a database query."""
        ...

    @property
    def batch(self) -> int:
        """How many texts to embed at a time."""
        ...

    @property
    def at_once(self) -> int:
        """The most new texts that a question may embed first without a noticeable wait."""
        ...

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """A vector of unit length for each text, as little-endian float32; zeros for a text without tokens.

        Raises EmbeddingError.
        """
        ...

    def take_used_tokens(self) -> int:
        """The tokens that a server has counted since the last call of this."""
        ...


class Embedders(NamedTuple):
    """The embedder of the passages; ``first`` embeds them before, many times as fast and less well."""

    best: Embedder
    first: Embedder | None = None


def choose_embedders(settings: EmbeddingSettings) -> Embedders | None:
    """The embedders of the settings, or None. It loads no model before the first text."""
    if settings.provider == "none":
        return None
    if settings.provider == "local":
        table = LocalEmbedder()
        return Embedders(SentenceEmbedder(), table) if SentenceEmbedder.is_installed() else Embedders(table)
    # Imported here: it loads http.client and ssl, which takes 20 ms that the default provider saves.
    from sestet.services.embedding.endpoint_embedder import EndpointEmbedder

    try:
        return Embedders(EndpointEmbedder(settings.base_url, settings.model, settings.api_key))
    except EmbeddingError as error:
        raise ConfigError([str(error)]) from error
