"""The encoder: word pieces as BERT makes them, tensors as ONNX keeps them, vectors that mean something."""

import numpy
import pytest
from numpy.typing import NDArray

from sestet.models.router.encoder import WIDTH, Encoder, open_encoder, read_tensors
from sestet.models.router.word_pieces import encode, vocabulary


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return open_encoder()


def pieces(text: str) -> list[str]:
    names = {number: piece for piece, number in vocabulary().items()}
    return [names[number] for number in encode(text, 64)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World!", ["hello", ",", "world", "!"]),
        ("Café naïve", ["cafe", "naive"]),
        ("unhappiness", ["un", "##ha", "##pp", "##iness"]),
        ("snake_case", ["snake", "_", "case"]),
        ("中国", ["中", "国"]),
        ("x" * 101, ["[UNK]"]),
        ("", []),
        ("\x00\ud800", []),
    ],
)
def test_a_text_is_split_as_the_encoder_learned_it(text: str, expected: list[str]) -> None:
    assert pieces(text) == ["[CLS]", *expected, "[SEP]"]


def test_a_long_text_is_cut() -> None:
    assert len(encode("word " * 500, 64)) == 64


def test_tensors_are_read_from_the_wire_form() -> None:
    def field(number: int, content: bytes) -> bytes:
        return bytes([number << 3 | 2, len(content)]) + content

    floats = b"\x08\x02\x10\x01" + field(8, b"a") + field(9, numpy.array([1.5, -2], "<f4").tobytes())
    # The shape packed into one field, and a tensor type that is skipped.
    whole = field(1, b"\x02\x01") + b"\x10\x03" + field(8, b"b") + field(9, b"\x01\xff")
    longs = b"\x08\x01\x10\x07" + field(8, b"c") + field(9, bytes(8))
    graph = field(2, b"name") + b"".join(field(5, tensor) for tensor in (floats, whole, longs))
    found = read_tensors(b"\x08\x0a" + field(7, graph))
    assert {name: tensor.tolist() for name, tensor in found.items()} == {"a": [1.5, -2.0], "b": [[1], [-1]]}


def test_the_vectors_are_those_of_the_reference(encoder: Encoder) -> None:
    vector = encoder.embed(["list the files in the downloads folder"])[0]
    assert vector.shape == (WIDTH,)
    # The first numbers of layers 1, 3 and 5, from the original weights in 64 bits with the exact formulas.
    expected = [-0.0154, -0.0141, -0.0392, 0.0078, 0.033, -0.0474, 0.0189, 0.0106, -0.0581]
    assert vector[[0, 1, 2, 384, 385, 386, 768, 769, 770]] == pytest.approx(expected, abs=2e-3)


def test_paraphrases_lie_nearer_than_other_requests(encoder: Encoder) -> None:
    one, same, other = encoder.embed(
        ["delete the old log files", "remove log files that are old", "what did I say about my sister"]
    )
    assert cosine(one, same) > cosine(one, other)


def test_a_text_has_the_same_vector_alone_and_among_others(encoder: Encoder) -> None:
    texts = ["read a.txt", "pay bob", "what is new in our documents"]
    together = encoder.embed(texts)
    for text, vector in zip(texts, together, strict=True):
        assert encoder.embed([text])[0] == pytest.approx(vector, abs=1e-4)


def test_no_texts_have_no_vectors(encoder: Encoder) -> None:
    assert encoder.embed([]).shape == (0, WIDTH)


def cosine(one: NDArray[numpy.float32], other: NDArray[numpy.float32]) -> float:
    return float(one @ other / numpy.linalg.norm(one) / numpy.linalg.norm(other))
