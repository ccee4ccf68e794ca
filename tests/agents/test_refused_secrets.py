"""The chronicler and the librarian keep no secrets, and say where a secret belongs."""

import pytest

from sestet.agents.chronicler.memory import memory_remember, memory_update
from sestet.agents.chronicler.observations import observe_event, reflect_summary
from sestet.agents.librarian.graph import graph_add
from sestet.agents.librarian.knowledge import save_knowledge
from sestet.agents.librarian.learnings import save_learning
from sestet.core.errors import ToolError
from sestet.core.label import CLEAN, Origin
from sestet.core.schema import JsonValue
from sestet.core.tool import Tool
from sestet.storage.database import Database
from sestet.storage.graph import GraphStore, Predicates
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.learnings import LearningStore
from sestet.storage.memories import MemoryStore
from sestet.storage.observations import ObservationStore
from tests.agents.calling import CALL, run

_CARD = "my card is 4111 1111 1111 1111"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (memory_remember, {"fact": "my wifi password is hunter2"}),
        (memory_update, {"memory": "m1", "fact": "my PIN is 4711"}),
        (observe_event, {"event": f"The person said that {_CARD}"}),
        (reflect_summary, {"summary": _CARD, "observations": "o1"}),
        (save_knowledge, {"content": "hunter2", "key": "wifi password"}),
        (save_knowledge, {"content": "-----BEGIN RSA PRIVATE KEY-----\nMIIE"}),
        (save_learning, {"trigger": "the login fails", "fix": "the password is hunter2"}),
        (graph_add, {"subject": "wifi password", "predicate": "related_to", "object": "hunter2"}),
    ],
)
async def test_a_secret_is_refused_and_nothing_is_stored(
    database: Database, tool: Tool, arguments: dict[str, JsonValue]
) -> None:
    memories, observations, graph = MemoryStore(database), ObservationStore(database), GraphStore(database)
    knowledge, learnings = KnowledgeStore(database), LearningStore(database)
    memories.add("I like tea", Origin("s", "t", CLEAN))
    observations.add_observation("tea", Origin("s", "t", CLEAN), "rules")
    services = (memories, observations, graph, Predicates(), knowledge, learnings)

    with pytest.raises(ToolError, match=r"not kept: this looks like .+, which belongs in the vault"):
        await run(tool, *services, call=CALL, **arguments)

    assert [row.text for row in memories.latest(5, superseded=True)] == ["I like tea"]
    assert [row.text for row in observations.observations(5)] == ["tea"]
    assert (observations.reflections(5), knowledge.latest(5), learnings.latest(5)) == ([], [], [])
    assert graph.size() == (0, 0)


async def test_a_sentence_about_secrets_is_kept(database: Database) -> None:
    for fact in ("my password manager is KeePass", "the wifi is called Fjord", "my wifi code is 1234"):
        assert await run(memory_remember, MemoryStore(database), fact=fact) == f"Remembered: {fact}"
