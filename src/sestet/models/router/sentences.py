"""The model of the full variant: what a sentence's vector says for each agent."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sestet.models.router.encoder import Encoder
from sestet.models.router.weights import Weights

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Vectors = NDArray[numpy.float32]


class SentenceModel:
    """A small network over the encoder's vectors."""

    def __init__(self, encoder: Encoder, weights: Weights) -> None:
        import numpy

        def read(name: str) -> "Vectors":
            return numpy.array(weights.numbers(name, "f"), numpy.float32)

        self._encoder = encoder
        self._centre, self._spread = read("centre"), read("spread")
        self._inner_bias, self._outer_bias = read("inner_bias"), read("outer_bias")
        inner = numpy.array(weights.numbers("inner_weights", "b"), numpy.float32)
        self._inner = inner.reshape(-1, len(self._inner_bias)) * read("inner_units")
        self._outer = read("outer_weights").reshape(-1, len(self._outer_bias))

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """The vectors as the network takes them: by how far they are from the bank's mean."""
        return (self._encoder.embed(texts) - self._centre) / self._spread

    def scores(self, vector: "Vectors") -> list[float]:
        """One number for each agent; their differences count."""
        import numpy

        hidden = numpy.maximum(vector @ self._inner + self._inner_bias, 0)
        scores: list[float] = (hidden @ self._outer + self._outer_bias).tolist()
        return scores
