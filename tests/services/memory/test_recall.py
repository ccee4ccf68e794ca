"""Recall brings what has to do with a message, and nothing else; measured on two sets."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sestet.config.settings import EmbeddingSettings
from sestet.core.label import CLEAN, Origin
from sestet.services.embedding.index import open_embedding
from sestet.services.memory.recall import Recall
from sestet.storage.database import Database
from sestet.storage.memories import MemoryStore
from sestet.storage.observations import ObservationStore

from .recall_set import HELD_OUT, IN_VIEW, RecallSet

ORIGIN = Origin("s", "t", CLEAN)
_TOKENS = 2_000
_BOTH_SETS = pytest.mark.parametrize("given", [IN_VIEW, HELD_OUT], ids=["in view", "held out"])


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "sestet.db")
    yield database
    database.close()


def fill(database: Database, given: RecallSet) -> dict[str, str]:
    """Store the rows of a set; return their names by id."""
    memories, observations = MemoryStore(database), ObservationStore(database)
    facts = {f"m{memories.add(text, ORIGIN).id}": name for name, text in given.facts.items()}
    noted = {
        f"o{observations.add_observation(text, ORIGIN, 'rules').id}": name
        for name, text in given.observations.items()
    }
    return facts | noted


def shown(recall: Recall, message: str) -> tuple[str, ...]:
    section = recall.section(message)
    return section.ids if section else ()


@_BOTH_SETS
def test_the_section_holds_what_has_to_do_with_a_message_and_little_else(
    database: Database, given: RecallSet
) -> None:
    names = fill(database, given)
    recall = Recall(database, _TOKENS)

    found = {m: [names[id] for id in shown(recall, m)] for m, _ in given.answered}
    noise = [id for message in given.unrelated for id in shown(recall, message)]

    assert_figures(found, given)
    assert len(noise) <= 0.1 * len(given.unrelated)


@_BOTH_SETS
async def test_the_tool_recalls_the_facts_that_answer_and_little_else(
    database: Database, given: RecallSet
) -> None:
    names = fill(database, given)
    recall = Recall(database, embedding=open_embedding(EmbeddingSettings(), database))
    asked = [message for message, wanted in given.answered if wanted[0] in given.facts]

    found = {m: [names[f"m{row.id}"] for row in await recall.facts(m, 5)] for m in asked}
    noise = [row for message in given.unrelated for row in await recall.facts(message, 5)]

    assert_figures(found, given)
    assert len(noise) <= 0.1 * len(given.unrelated)


def assert_figures(found: dict[str, list[str]], given: RecallSet) -> None:
    """At least 95 % of the answers are recalled, and 95 % of the recalled rows belong to the message."""
    wanted = dict(given.answered)
    answered = [message for message, rows in found.items() if wanted[message][0] in rows]
    rows = [(message, row) for message, rows in found.items() for row in rows]
    right = [row for message, row in rows if row in wanted[message]]
    assert len(answered) >= 0.95 * len(found)
    assert len(right) >= 0.95 * len(rows)


@pytest.mark.parametrize(
    "message",
    [
        "run cat /etc/hostname",
        "please run `echo tom cat`",
        "execute the command grep -c cat pets.txt",
        "run cat memory",
    ],
)
def test_a_command_recalls_nothing_by_its_words(database: Database, message: str) -> None:
    MemoryStore(database).add("my cat is called Tom", ORIGIN)
    recall = Recall(database, _TOKENS)

    assert recall.section(message) is None
    assert recall.section("run to the vet with my cat") is not None


@pytest.mark.parametrize(
    ("message", "memory"),
    [
        ("what's the weather tomorrow?", "The person said: my exam is tomorrow."),
        ("what's the weather tomorrow?", "The person asked: what's my dog's name?"),
        ("what am I allergic to?", "my dog is called Rex"),
        ("who am I?", "the wifi code is Fjord-77"),
        ("what did I ask you before?", "The person asked: which files are here?"),
        ("what is my brother's birthday?", "my sister's birthday is on 3 May"),
        ("what's my mother's name?", "my name is Anna"),
        ("what is my favourite film?", "my favourite colour is green"),
        ("was ist das für eine Datei?", "Das ist mein Hund"),
    ],
)
async def test_what_has_nothing_to_do_with_the_message_is_not_recalled(
    database: Database, message: str, memory: str
) -> None:
    recall = Recall(database, _TOKENS, open_embedding(EmbeddingSettings(), database))
    MemoryStore(database).add(memory, ORIGIN)

    assert recall.section(message) is None
    assert await recall.facts(message, 5) == []


@pytest.mark.parametrize(
    ("message", "memory"),
    [
        ("read it again", "I am reading a book about whales"),
        ("move the file to the archive", "I live in Oslo"),
        ("call me back", "my name is Anna"),
    ],
)
def test_a_request_to_do_something_recalls_nothing_by_its_verb(
    database: Database, message: str, memory: str
) -> None:
    MemoryStore(database).add(memory, ORIGIN)

    assert Recall(database, _TOKENS).section(message) is None


@pytest.mark.parametrize(
    ("message", "memory"),
    [
        ("where do I live?", "I moved to Bergen"),
        ("what's my address?", "I live at 5 Elm Street"),
        ("where do I work now?", "I joined Globex in May"),
        ("who am I?", "I'm a nurse from Oslo"),
        ("what do I like?", "I prefer green tea"),
        ("how old am I?", "I am 34"),
        ("what am I reading?", "I am reading a book about whales"),
        ("when is my sister's birthday?", "my sister Ida has her birthday on 3 May"),
        ("book a table for my wife's birthday", "The person said: my wife turns 40 on 2 June."),
    ],
)
def test_the_same_thing_in_other_words_is_recalled(database: Database, message: str, memory: str) -> None:
    MemoryStore(database).add(memory, ORIGIN)

    assert shown(Recall(database, _TOKENS), message) == ("m1",)


async def test_a_question_for_everything_gets_the_latest_facts(database: Database) -> None:
    for fact in ("I like tea", "my dog is called Rex"):
        MemoryStore(database).add(fact, ORIGIN)
    recall = Recall(database)

    for query in ("", "what do you remember?", "me", "what do you know about me", "everything about me"):
        assert [row.id for row in await recall.facts(query, 5)] == [2, 1], query
    assert await recall.facts("tell me something interesting", 5) == []


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("which physician do I see?", "doctor"),
        ("am I a vegetarian?", "vegetarian"),
    ],
)
async def test_a_fact_without_a_common_word_is_recalled_if_its_meaning_is_near(
    database: Database, question: str, name: str
) -> None:
    names = fill(database, IN_VIEW)
    recall = Recall(database, embedding=open_embedding(EmbeddingSettings(), database))

    found = [names[f"m{row.id}"] for row in await recall.facts(question, 5)]

    assert name in found
    assert shown(Recall(database, _TOKENS), question) == ()


_OWN_FACTS = ("My name is Ada Lindner and I live in Graz", "My e-mail address is ada@example.org")


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("open shop.example and fill in Name with my name, City with my city, and send it", _OWN_FACTS[:1]),
        ("enter my e-mail address in the form on shop.example", _OWN_FACTS[1:]),
        ("fill in Name with Eva on shop.example", ()),
        ("where do I live?", _OWN_FACTS[:1]),
    ],
)
def test_what_is_lent_to_a_form_is_recalled(database: Database, message: str, found: tuple[str, ...]) -> None:
    memories = MemoryStore(database)
    for text in (*_OWN_FACTS, "My sister's garden is in Linz"):
        memories.add(text, ORIGIN)

    section = Recall(database, _TOKENS).section(message)

    lines = section.text.splitlines() if section else []
    assert tuple(line.partition("): ")[2] for line in lines if line.startswith("- m")) == found
