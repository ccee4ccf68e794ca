"""The requests of the full variant as vectors: the middle layers of the sentence encoder."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sestet.encoder.sentence_encoder import MIDDLE_WIDTH, SentenceEncoder, open_encoder
from sestet.models.router.features import strip_courtesy

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

#: The last layer tells the topic; middle layers tell the owner better.
WIDTH = MIDDLE_WIDTH
# Requests are short, and the beginning of a long text tells the owner.
_MOST_PIECES = 64


class RequestEncoder:
    """Turns each request into one vector."""

    def __init__(self, encoder: SentenceEncoder) -> None:
        self._encoder = encoder

    def embed(self, texts: Sequence[str]) -> "NDArray[numpy.float32]":
        return self._encoder.middles([strip_courtesy(text) for text in texts], _MOST_PIECES)


def open_request_encoder() -> RequestEncoder:
    """Raises EncoderMissingError."""
    return RequestEncoder(open_encoder())
