"""Vectors from a server: requests, accepted answers, and errors."""

import json
import math
import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from sestet.core.errors import EmbeddingError
from sestet.services.embedding.endpoint_embedder import EndpointEmbedder
from tests.services.embedding.server import Answer, EmbeddingServer, as_answer, letters, serving

KEY = "sk-very-secret"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving() as running:
        yield running


def embedder(server: EmbeddingServer, seconds: float = 30.0) -> EndpointEmbedder:
    return EndpointEmbedder(server.base_url, "letters", KEY, seconds)


def unpacked(vector: bytes) -> list[float]:
    return list(struct.unpack(f"<{len(vector) // 4}f", vector))


def test_texts_come_back_as_unit_vectors_in_their_order(server: EmbeddingServer) -> None:
    texts = ["abba", "had a cab", "bed"]

    vectors = [unpacked(vector) for vector in embedder(server).embed(texts)]

    for text, vector in zip(texts, vectors, strict=True):
        expected = letters(text)
        assert vector == pytest.approx([number / math.hypot(*expected) for number in expected])
    ((body, headers),) = server.requests
    assert body == {"model": "letters", "input": texts}
    assert headers["path"] == "/v1/embeddings"
    assert headers["Authorization"] == f"Bearer {KEY}"


def test_without_a_key_none_is_sent(server: EmbeddingServer) -> None:
    EndpointEmbedder(server.base_url, "letters", "").embed(["a"])

    assert "Authorization" not in server.requests[0][1]


def test_a_text_that_no_server_would_take_is_made_fit(server: EmbeddingServer) -> None:
    embedder(server).embed(["  ", "a\udc00b", "a" * 9_000])

    assert server.requests[0][0]["input"] == ["-", "a?b", "a" * 8_000]


def test_a_text_without_meaning_has_a_vector_of_zeros(server: EmbeddingServer) -> None:
    (vector,) = embedder(server).embed(["xyz"])

    assert not any(vector)


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (400, "text", "rejects the request"),
        (401, "lasting", "refuses the key; see embedding.apiKey"),
        (403, "lasting", "refuses the key; see embedding.apiKey"),
        (404, "lasting", "knows no such address or model; see embedding.baseUrl and embedding.model"),
        (413, "text", "rejects the request as too large"),
        (429, "passing", "asks for fewer requests"),
        (500, "passing", "answers with status 500"),
        (503, "passing", "answers with status 503"),
        (302, "lasting", "answers with status 302"),
    ],
)
def test_a_status_says_what_to_do_and_whether_to_try_again(
    server: EmbeddingServer, status: int, kind: str, words: str
) -> None:
    server.answer = lambda texts: Answer(status, f'{{"error": "no,\n\n{KEY} is wrong"}}')

    with pytest.raises(EmbeddingError) as failed:
        embedder(server).embed(["a"])

    assert failed.value.kind == kind
    assert words in str(failed.value)
    assert 'it says: {"error": "no, *** is wrong"}' in str(failed.value)
    assert KEY not in str(failed.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<html>", "not JSON"),
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a list of vectors"),
        ("null", "not a list of vectors"),
        ('{"data": null}', "not a list of vectors"),
        ('{"data": [{"index": 0}]}', "not a list of vectors"),
        ('{"data": [{"index": 0, "embedding": []}]}', "not a list of vectors"),
        ('{"data": [{"index": 0, "embedding": ["x"]}]}', "not a list of vectors"),
        ('{"data": [{"index": 0, "embedding": [NaN]}]}', "not a list of vectors"),
        ('{"data": [{"index": 0, "embedding": [1e999]}]}', "not a list of vectors"),
        ('{"data": [{"index": "0", "embedding": [1]}]}', "was asked for 2 vectors and gave 1"),
        ('{"data": [{"index": [], "embedding": [1]}]}', "not a list of vectors"),
        ('{"data": []}', "was asked for 2 vectors and gave 0"),
        (as_answer([[1.0, 0.0]]).body, "was asked for 2 vectors and gave 1"),
        (as_answer([[1.0, 0.0], [1.0]]).body, "mixes vectors of 1 and 2 numbers"),
    ],
)
def test_an_answer_that_is_no_answer_is_named(server: EmbeddingServer, body: str, words: str) -> None:
    server.answer = lambda texts: Answer(body=body)

    with pytest.raises(EmbeddingError, match=words) as failed:
        embedder(server).embed(["a", "b"])

    assert failed.value.kind == "lasting"


def test_vectors_of_another_dimension_than_before_are_refused(server: EmbeddingServer) -> None:
    asked = embedder(server)
    asked.embed(["a"])
    server.answer = lambda texts: as_answer([[1.0, 2.0]])

    with pytest.raises(EmbeddingError, match="mixes vectors of 2 and 8 numbers"):
        asked.embed(["a"])


def test_huge_numbers_are_scaled_and_not_lost(server: EmbeddingServer) -> None:
    server.answer = lambda texts: as_answer([[3e200, 4e200]])

    (vector,) = embedder(server).embed(["a"])

    assert unpacked(vector) == pytest.approx([0.6, 0.8])


def test_a_server_that_hangs_is_given_up(server: EmbeddingServer) -> None:
    server.going.clear()

    with pytest.raises(EmbeddingError, match=r"did not answer within 0\.05 seconds") as failed:
        embedder(server, seconds=0.05).embed(["a"])

    assert failed.value.kind == "passing"


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]

    with pytest.raises(EmbeddingError, match=f"127.0.0.1:{port} cannot be reached") as failed:
        EndpointEmbedder(f"http://127.0.0.1:{port}/v1", "letters", "").embed(["a"])

    assert failed.value.kind == "passing"


def test_something_that_does_not_speak_http_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as strange:
        strange.settimeout(5)

        def hang_up() -> None:
            connection, _ = strange.accept()
            with connection:
                connection.recv(1_000)
                connection.sendall(b"220 mail.example ESMTP\r\n")

        thread = threading.Thread(target=hang_up)
        thread.start()
        with pytest.raises(EmbeddingError, match="cannot be reached"):
            EndpointEmbedder(f"http://127.0.0.1:{strange.getsockname()[1]}", "letters", "").embed(["a"])
        thread.join()


@pytest.mark.parametrize(
    ("base_url", "model", "words"),
    [
        ("127.0.0.1:11434/v1", "m", "embedding.baseUrl: '127.0.0.1:11434/v1' is not an address"),
        ("file:///etc/passwd", "m", "embedding.baseUrl"),
        ("http://127.0.0.1/v1", "", "embedding.model: name the model"),
    ],
)
def test_settings_that_cannot_work_are_named_at_once(base_url: str, model: str, words: str) -> None:
    with pytest.raises(EmbeddingError, match=words):
        EndpointEmbedder(base_url, model, "")


def test_spaces_differ_by_model_and_by_server_and_hold_no_password() -> None:
    spaces = [
        EndpointEmbedder(url, model, KEY).space
        for url, model in (
            ("http://user:secret@a.example/v1", "m"),
            ("http://b.example/v1", "m"),
            ("http://b.example/v1/", "n"),
        )
    ]

    assert spaces == [
        "openai m at http://a.example/v1",
        "openai m at http://b.example/v1",
        "openai n at http://b.example/v1",
    ]
    assert json.dumps(spaces).count("secret") == 0
