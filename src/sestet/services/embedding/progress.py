"""How many passages have their vectors."""

from typing import NamedTuple

from sestet.services.embedding.embedder import Embedders
from sestet.storage.vectors import VectorStore


class Progress(NamedTuple):
    """The numbers of all passages, of those with the best vector, and of those without any."""

    total: int
    done: int
    bare: int

    @property
    def waiting(self) -> int:
        """Passages that can be found by a less good vector, or by their words alone."""
        return self.total - self.done


def read_progress(store: VectorStore, embedders: Embedders) -> Progress:
    spaces = {embedder.space for embedder in embedders if embedder is not None}
    return Progress(store.count_missing(), store.count(embedders.best.space), store.count_missing(*spaces))
