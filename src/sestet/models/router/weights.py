"""The file with the router's learned weights: a JSON header, then named tables. Needs no numpy."""

import json
import sys
import zlib
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, TypedDict, cast

FILE = Path(__file__).with_name("weights.bin")

Variant: TypeAlias = Literal["words", "words+encoder"]
#: Whole numbers of one byte or two, and floats.
Kind: TypeAlias = Literal["b", "h", "f"]


class Example(NamedTuple):
    """One request of the bank, with its owner and the heading that it stands under."""

    request: str
    agent: str
    heading: str = ""


class Measured(TypedDict):
    """Measured on the bank by cross-validation: the weights have not seen the requests."""

    right: float
    #: The share of requests above the threshold, and the share above it and wrong.
    coverage: float
    false_confidence: float


class Tuning(TypedDict):
    """How a variant joins its models, and above which probability it is sure."""

    words: float
    encoder: float
    threshold: float
    #: The factors of a ``Likeness``, for a specialist that the weights do not know.
    guest: list[float]
    unseen: Measured


class Header(TypedDict):
    """The learned values that are not tables."""

    #: The hash of the bank that the weights were learned from.
    bank: str
    agents: list[str]
    variants: dict[Variant, Tuning]


class Weights(NamedTuple):
    header: Header
    tables: Mapping[str, bytes]

    def numbers(self, name: str, kind: Kind) -> "array[int] | array[float]":
        return _little(array(kind, self.tables[name]))

    def lines(self, name: str) -> list[str]:
        return zlib.decompress(self.tables[name]).decode().split("\n")

    def bank(self) -> tuple[Example, ...]:
        parted = (line.partition("\t") for line in self.lines("bank"))
        return tuple(Example(request, agent) for agent, _, request in parted)


def pack_numbers(numbers: Sequence[float], kind: Kind) -> bytes:
    return _little(array(kind, numbers)).tobytes()


def pack_lines(lines: Sequence[str]) -> bytes:
    return zlib.compress("\n".join(lines).encode(), 9)


def pack_bank(bank: Sequence[Example]) -> bytes:
    return pack_lines([f"{example.agent}\t{example.request}" for example in bank])


def write_weights(weights: Weights, file: Path = FILE) -> None:
    """Write the file; the same weights give the same bytes."""
    lengths = {name: len(table) for name, table in weights.tables.items()}
    head = json.dumps({"header": weights.header, "lengths": lengths}).encode()
    file.write_bytes(b"".join([len(head).to_bytes(8, "little"), head, *weights.tables.values()]))


def read_weights(file: Path = FILE) -> Weights:
    content = file.read_bytes()
    position = 8 + int.from_bytes(content[:8], "little")
    head = json.loads(content[8:position])
    tables: dict[str, bytes] = {}
    for name, length in cast("dict[str, int]", head["lengths"]).items():
        tables[name] = content[position : position + length]
        position += length
    return Weights(cast("Header", head["header"]), tables)


def _little(numbers: "array[int] | array[float]") -> "array[int] | array[float]":
    """Little-endian, as in the file, on every machine."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
