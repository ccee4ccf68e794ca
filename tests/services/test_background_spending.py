"""What the background work uses is recorded, also when its result is no use; the day's limit stops it."""

import json
import time
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest

import sestet
from sestet.config.settings import EmbeddingSettings
from sestet.core.errors import LimitError
from sestet.core.label import CLEAN, Origin
from sestet.core.model import ModelItem, ModelReply, ModelRequest, Usage
from sestet.models.scripted import ScriptedModel
from sestet.services.embedding.index import open_embedding
from sestet.services.extraction import Extraction
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.extractions import ExtractionStore
from sestet.storage.graph import GraphStore, Predicates
from sestet.storage.memories import MemoryStore
from sestet.storage.spending import SpendingStore, Spent
from tests.services.embedding.server import Answer, as_answer, letters, serving
from tests.services.passages import keep

USED = Usage(40, 4, 1_000)


class Billing:
    """Answers every request with the same bill; observing is answered with nothing, which is no use."""

    name = "acme/big"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        self.asked.append(request.agent)
        text = {"orchestrator": "Noted.", "librarian": "[]"}.get(request.agent, "")
        yield ModelReply(text, usage=USED)

    async def close(self) -> None: ...


def spent(home: Path) -> dict[str, Spent]:
    database = Database(home / FILE_NAME)
    found = {each.work: each.spent for each in SpendingStore(database).by("agent")}
    database.close()
    return found


def remember(home: Path) -> None:
    database = Database(home / FILE_NAME)
    MemoryStore(database).add("Ada works at Acme.", Origin("s", "t", CLEAN))
    database.close()


#: A model that a program gives is the background's too if the settings name a provider.
def settings(**limits: float) -> dict[str, object]:
    return {
        "agent": {"provider": "acme", "model": "big"},
        "providers": {"acme": {"apiKey": "k"}},
        "observationalMemory": {"observeTokens": 50},
        "limits": limits,
    }


async def test_observing_and_reading_for_facts_are_in_the_sums(tmp_path: Path) -> None:
    remember(tmp_path)
    model = Billing()
    async with sestet.open(settings(), model=model, home=tmp_path) as app:
        _ = [event async for event in app.run_turn("s1", "I like tea. " * 40)]
        assert app.background.extraction is not None
        await app.background.extraction.read_all()

    sums = spent(tmp_path)

    assert set(sums) == {"turn", "observe", "extract"}
    assert model.asked.count("observe") == sums["observe"].calls
    assert sums["observe"].nano_dollars == USED.nano_dollars * sums["observe"].calls
    assert sums["extract"] == Spent(1, 40, 4, nano_dollars=1_000)


async def test_at_the_limit_of_the_day_the_background_asks_no_model(tmp_path: Path) -> None:
    remember(tmp_path)
    database = Database(tmp_path / FILE_NAME)
    SpendingStore(database).add_work("reflect", "acme/big", Usage(1, 1, 2_000_000_000), time.time())
    database.close()
    model = Billing()

    async with sestet.open(settings(dollarsPerDay=1.0), model=model, home=tmp_path) as app:
        assert app.background.extraction is not None
        _ = [event async for event in app.run_turn("s1", "I like tea. " * 40)]

    assert model.asked == []


@pytest.mark.parametrize("limit", [{"tokensPerDay": 2}, {"dollarsPerDay": 1.5}])
async def test_at_its_own_limit_the_background_waits_and_turns_go_on(
    tmp_path: Path, limit: dict[str, float]
) -> None:
    remember(tmp_path)
    database = Database(tmp_path / FILE_NAME)
    SpendingStore(database).add_work("reflect", "acme/big", Usage(1, 1, 2_000_000_000), time.time())
    database.close()
    model = Billing()

    async with sestet.open({**settings(), "background": limit}, model=model, home=tmp_path) as app:
        _ = [event async for event in app.run_turn("s1", "I like tea. " * 40)]
        await app.rest()

    assert model.asked == ["orchestrator"]


async def test_a_limit_does_not_count_as_a_failed_attempt_at_a_text(database: Database) -> None:
    MemoryStore(database).add("Ada works at Acme.", Origin("s", "t", CLEAN))
    store = ExtractionStore(database, GraphStore(database))
    refusals = [LimitError("no more today") for _ in range(5)]
    model = ScriptedModel([*refusals, '[["Ada", "works_at", "Acme"]]'])
    extraction = Extraction(store, Predicates(["works_at"]), "review", model)

    for _ in refusals:
        with pytest.raises(LimitError):
            await extraction.step()
    await extraction.step()

    assert [row.proposed_by for row in store.open_proposals()] == ["model"]


@pytest.mark.parametrize(
    ("usage", "tokens"), [({"prompt_tokens": 12}, 24), ({"prompt_tokens": -1}, 0), ("many", 0), (None, 0)]
)
async def test_the_tokens_of_an_embedding_server_are_in_the_sums(
    database: Database, usage: object, tokens: int
) -> None:
    def answer(texts: Sequence[str]) -> Answer:
        body = json.loads(as_answer([letters(text) for text in texts]).body)
        return Answer(body=json.dumps({**body, "usage": usage}))

    with serving() as server:
        server.answer = answer
        wanted = EmbeddingSettings(provider="openai", model="letters", base_url=server.base_url)
        index = open_embedding(wanted, database)
        assert index is not None
        keep(database, "bad egg")
        await index.step()
        await index.nearest("egg", 1, lambda collection, session_id: True)

    assert SpendingStore(database).total().unpriced_tokens == tokens
