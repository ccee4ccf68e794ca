"""The instant embedder: a table of token vectors from a package, read as data without running its code."""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sestet.core.errors import EmbeddingError
from sestet.core.message import whole
from sestet.services.embedding.noise import Noise

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_PACKAGE = "wordllama"
_WEIGHTS = "wordllama/weights/l2_supercat_256.safetensors"
_WEIGHTS_HASH = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
_TOKENIZER = "wordllama/tokenizers/l2_supercat_tokenizer_config.json"
_TOKENIZER_HASH = "bf467c9e0f536bda271283c6ef85eb1a943e3196b621c8a912d64953b205df83"
_TENSOR = "embedding.weight"
# A mean over more tokens describes a passage less well.
_MOST_CHARACTERS = 8_000


class _Loaded(NamedTuple):
    tokenizer: "Tokenizer"
    table: "NDArray[numpy.float16]"


class LocalEmbedder:
    """The mean of the token vectors of a text: tens of microseconds a text, no model to run."""

    space = "wordllama l2_supercat 256"
    #: Of questions and passages of the quality set that do not belong together.
    noise = Noise(0.017, 0.075)
    is_instant = True
    batch = 64
    at_once = 64

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        import numpy

        tokenizer, table = self._loaded
        vectors: list[bytes] = []
        encodings = tokenizer.encode_batch([_encodable(text) for text in texts], add_special_tokens=False)
        for encoding in encodings:
            if encoding.ids:
                vector = table[encoding.ids].mean(axis=0, dtype=numpy.float32)
                length = float(numpy.sqrt(vector @ vector))
                vectors.append((vector / length if length else vector).astype("<f4").tobytes())
            else:
                vectors.append(bytes(4 * table.shape[1]))
        return vectors

    def take_used_tokens(self) -> int:
        return 0

    @cached_property
    def _loaded(self) -> _Loaded:
        """Load both files once, with numpy and tokenizers, when the first text is embedded."""
        import numpy
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(_read(_TOKENIZER, _TOKENIZER_HASH).decode())
        weights = _read(_WEIGHTS, _WEIGHTS_HASH)
        # The safetensors format: length of the header, header as JSON, numbers.
        start = 8 + int.from_bytes(weights[:8], "little")
        shape: list[int] = json.loads(weights[8:start])[_TENSOR]["shape"]
        return _Loaded(tokenizer, numpy.frombuffer(weights, "<f2", offset=start).reshape(shape))


def _encodable(text: str) -> str:
    """The tokenizer rejects lone surrogates, so they are replaced."""
    return whole(text[:_MOST_CHARACTERS])


def _read(name: str, expected: str) -> bytes:
    """The content of a file of the package, checked against its hash."""
    from hashlib import sha256
    from importlib import metadata

    try:
        # Located by the list of installed files, so the package is not imported and its code does not run.
        content = Path(str(metadata.distribution(_PACKAGE).locate_file(name))).read_bytes()
    except (metadata.PackageNotFoundError, OSError) as error:
        raise EmbeddingError(
            f"the local embedding model is not installed ({error}): pip install '{_PACKAGE}==0.2.2.post0', "
            "or set embedding.provider to another"
        ) from error
    if sha256(content).hexdigest() != expected:
        raise EmbeddingError(
            f"the file '{name}' of the local embedding model is not the version that Sestet was tested with: "
            f"pip install --force-reinstall '{_PACKAGE}==0.2.2.post0'"
        )
    return content
