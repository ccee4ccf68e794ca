"""The seam between retrieval and whatever turns texts into vectors."""

from collections.abc import Sequence
from typing import Protocol


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
