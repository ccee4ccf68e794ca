"""Reads the named tensors of an ONNX file, and nothing else of it: no graph is run."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import generic
    from numpy.typing import NDArray

# The numbers of the fields of the protocol buffers that hold the tensors.
_GRAPH, _TENSOR, _SHAPE, _TYPE, _NAME, _CONTENT = 7, 5, 1, 2, 8, 9
_FLOAT, _INT8 = 1, 3
_TYPES = {_FLOAT: "<f4", _INT8: "i1"}


def read_tensors(content: bytes) -> "dict[str, NDArray[generic]]":
    """The float and int8 tensors by name, in the order of the file; views of the content, not copies."""
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
                # The other two kinds are numbers of fixed length, which no tensor that is read here has.
                position += 8 if kind == 1 else 4


def _number(view: memoryview, position: int) -> tuple[int, int]:
    """A number of seven bits a byte, the lowest first, and where it ends."""
    number = shift = 0
    while True:
        byte = view[position]
        position += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, position
        shift += 7
