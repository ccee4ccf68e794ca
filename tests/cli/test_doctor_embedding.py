"""What the doctor says about vectors: which, how many are missing, and how to have them."""

import json

import pytest

from sestet.storage.database import FILE_NAME, Database
from tests.cli.conftest import Call
from tests.cli.program import Home
from tests.services.embedding.server import Answer, serving
from tests.services.passages import keep


def embedding(call: Call) -> dict[str, str]:
    checks = json.loads(call("doctor", "--json").out)["checks"]
    (found,) = (check for check in checks if check["name"] == "embedding")
    return found


def test_the_embedded_model_is_named_with_its_dimension(home: Home, call: Call) -> None:
    assert embedding(call) == {
        "name": "embedding",
        "status": "ok",
        "detail": "local: all-MiniLM-L6-v2 int8, 384 dimensions; nothing to embed yet",
        "way_out": "",
    }


def test_passages_without_a_vector_are_counted(home: Home, call: Call) -> None:
    database = Database(home.data / FILE_NAME)
    for number in range(1_200):
        keep(database, f"passage {number}")
    database.close()

    detail = embedding(call)["detail"]

    assert detail.endswith("; 1,200 passages without a vector, embedded in the background")


def test_a_provider_that_is_off_is_named_with_the_key_that_turns_it_on(
    home: Home, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESTET_EMBEDDING__PROVIDER", "none")

    found = embedding(call)

    assert found["status"] == "ok"
    assert found["detail"] == "switched off: full text only"
    assert found["way_out"] == "embedding.provider: local turns it on"


def test_a_server_that_refuses_the_key_is_a_problem(
    home: Home, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as server:
        server.answer = lambda texts: Answer(401)
        for name, value in (("PROVIDER", "openai"), ("MODEL", "m"), ("BASEURL", server.base_url)):
            monkeypatch.setenv(f"SESTET_EMBEDDING__{name}", value)
        found = embedding(call)

    assert found["status"] == "problem"
    assert "refuses the key; see embedding.apiKey" in found["detail"]


def test_a_model_that_is_not_named_is_a_problem(
    home: Home, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESTET_EMBEDDING__PROVIDER", "openai")

    found = embedding(call)

    assert found["status"] == "problem"
    assert "embedding.model: name the model" in found["detail"]
