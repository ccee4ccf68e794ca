"""Requests as vectors: what should be done, without greetings."""

import numpy
import pytest
from numpy.typing import NDArray

from sestet.models.router.encoder import WIDTH, RequestEncoder, open_request_encoder


@pytest.fixture(scope="module")
def encoder() -> RequestEncoder:
    return open_request_encoder()


def test_paraphrases_lie_nearer_than_other_requests(encoder: RequestEncoder) -> None:
    one, same, other = encoder.embed(
        ["delete the old log files", "remove log files that are old", "what did I say about my sister"]
    )
    assert cosine(one, same) > cosine(one, other)


def test_greetings_and_thanks_do_not_count(encoder: RequestEncoder) -> None:
    plain, polite = encoder.embed(["delete the old logs", "hey, please delete the old logs, thanks"])
    assert plain.shape == (WIDTH,)
    assert numpy.array_equal(plain, polite)


def cosine(one: NDArray[numpy.float32], other: NDArray[numpy.float32]) -> float:
    return float(one @ other / numpy.linalg.norm(one) / numpy.linalg.norm(other))
