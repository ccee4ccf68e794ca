"""The file with what the router has learned: a header in JSON, then tables, readable without numpy."""

import json
import sys
import zlib
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypedDict, cast

from sestet.models.router.bank import Example

FILE = Path(__file__).with_name("weights.bin")

Variant = Literal["words", "words+encoder"]


class Tuning(TypedDict):
    """How a variant joins its models, and from which probability on it is sure."""

    words: float
    encoder: float
    threshold: float


class Header(TypedDict):
    """What is learned apart from the tables."""

    #: Of the bank that the weights were learned from.
    bank: str
    agents: list[str]
    #: What one stands for in the words' weights, which are whole numbers.
    unit: float
    word_bias: list[float]
    encoder_bias: list[float]
    variants: dict[str, Tuning]


class Weights(NamedTuple):
    header: Header
    #: Each feature with its row in the tables.
    vocabulary: Mapping[str, int]
    #: How much a feature counts: rare ones more, parts of words less.
    rarity: Sequence[float]
    #: A row for each feature, a column for each agent.
    word_weights: Sequence[int]
    #: A row for each number of the encoder's vectors, a column for each agent.
    encoder_weights: Sequence[float]
    #: The bank, still packed: only explanations need it.
    packed_bank: bytes

    def bank(self) -> tuple[Example, ...]:
        lines = zlib.decompress(self.packed_bank).decode().split("\n")
        return tuple(
            Example(request, agent) for agent, _, request in (line.partition("\t") for line in lines)
        )


def pack_bank(bank: Sequence[Example]) -> bytes:
    return zlib.compress("\n".join(f"{one.agent}\t{one.request}" for one in bank).encode(), 9)


def write_weights(weights: Weights, file: Path = FILE) -> None:
    """The same weights give the same bytes."""
    parts = (
        json.dumps(weights.header, sort_keys=True).encode(),
        zlib.compress("\n".join(weights.vocabulary).encode(), 9),
        _little(array("f", weights.rarity)).tobytes(),
        _little(array("h", weights.word_weights)).tobytes(),
        _little(array("f", weights.encoder_weights)).tobytes(),
        weights.packed_bank,
    )
    file.write_bytes(b"".join(len(part).to_bytes(8, "little") + part for part in parts))


def read_weights(file: Path = FILE) -> Weights:
    content = file.read_bytes()
    parts: list[bytes] = []
    position = 0
    while position < len(content):
        end = position + 8 + int.from_bytes(content[position : position + 8], "little")
        parts.append(content[position + 8 : end])
        position = end
    header, vocabulary, rarity, word_weights, encoder_weights, bank = parts
    words = zlib.decompress(vocabulary).decode().split("\n")
    return Weights(
        cast("Header", json.loads(header)),
        {word: row for row, word in enumerate(words)},
        _little(array("f", rarity)),
        _little(array("h", word_weights)),
        _little(array("f", encoder_weights)),
        bank,
    )


def _little(numbers: "array[float]") -> "array[float]":
    """As they lie in the file, whichever way round the machine keeps its numbers."""
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers
