"""The chronicler's tools: what the person told, and what was observed."""

import pytest

from sestet.agents.chronicler.memory import memory_recall, memory_remember
from sestet.agents.chronicler.observations import memory_list_observations, memory_list_reflections
from sestet.core.errors import ToolError
from sestet.core.label import CLEAN, Origin
from sestet.core.schema import JsonValue
from sestet.models.lexical import match_tool
from sestet.storage.database import Database
from sestet.storage.memories import MemoryStore
from sestet.storage.observations import ObservationStore

from .calling import CALL, DAY, LATER, problems, run


@pytest.fixture
def memories(database: Database) -> MemoryStore:
    return MemoryStore(database)


@pytest.fixture
def observations(database: Database) -> ObservationStore:
    return ObservationStore(database)


async def test_what_was_told_is_recalled_with_its_day(memories: MemoryStore) -> None:
    assert await run(memory_remember, memories, fact="I like\n tea ") == "Remembered: I like tea"
    await run(memory_remember, memories, fact="My sister likes milk")
    await run(memory_remember, memories, fact="My sister lives in Oslo")

    assert await run(memory_recall, memories, query="what do i like?") == (
        f"You told me:\n- I like tea ({DAY})\n- My sister likes milk ({DAY})"
    )
    assert await run(memory_recall, memories, query="my sister", limit=1) == (
        f"You told me:\n- My sister likes milk ({DAY})"
    )


async def test_a_fact_keeps_the_turn_it_was_told_in(memories: MemoryStore) -> None:
    await run(memory_remember, memories, fact="I like tea", call=LATER)

    (row,) = memories.latest(5)
    assert (row.session_id, row.turn_id) == ("session-2", "turn-2")


async def test_the_same_call_again_stores_nothing_and_says_the_same(memories: MemoryStore) -> None:
    for fact in ("I like tea", "What I am", "🫖", "Soße"):
        first = await run(memory_remember, memories, fact=fact)
        before = memories.latest(50)

        assert await run(memory_remember, memories, fact=fact) == first
        assert memories.latest(50) == before


async def test_a_fact_that_is_known_from_before_is_not_stored_twice(memories: MemoryStore) -> None:
    await run(memory_remember, memories, fact="I like tea", call=CALL)
    for number in range(30):
        await run(memory_remember, memories, fact=f"My number {number} is {number * 7}")

    again = await run(memory_remember, memories, fact="i like tea.", call=LATER)

    assert again == f"Already remembered: I like tea ({DAY})"
    assert len(memories.latest(50)) == 31


async def test_nothing_found_is_said_plainly(memories: MemoryStore) -> None:
    assert await run(memory_recall, memories, query="tea") == (
        "I do not remember anything yet. You can tell me now."
    )
    await run(memory_remember, memories, fact="I like tea")
    assert await run(memory_recall, memories, query="my boat") == (
        "I remember nothing about 'my boat'. You can tell me now."
    )


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        (" \n", "'fact' is empty"),
        ("x" * 2_001, "'fact' has 2,001 characters, and the most is 2,000"),
        ("\ud800", "'fact' holds characters that are not text"),
    ],
)
async def test_what_cannot_be_remembered_is_told_to_the_model(
    memories: MemoryStore, fact: str, answer: str
) -> None:
    with pytest.raises(ToolError) as refused:
        await run(memory_remember, memories, fact=fact)

    assert str(refused.value) == answer


async def test_observations_are_listed_newest_first_of_all_sessions_or_one(
    observations: ObservationStore,
) -> None:
    observations.add_observation("asked for tea", Origin("s1", "t1", CLEAN))
    observations.add_observation("asked for milk", Origin("s2", "t2", CLEAN))

    assert await run(memory_list_observations, observations) == (
        "Observations, newest first:\n"
        f"- 2: asked for milk ({DAY}, session s2)\n"
        f"- 1: asked for tea ({DAY}, session s1)"
    )
    assert await run(memory_list_observations, observations, session_id="s1") == (
        f"Observations in session 's1', newest first:\n- 1: asked for tea ({DAY}, session s1)"
    )
    assert len((await run(memory_list_observations, observations, limit=1)).splitlines()) == 2


async def test_a_reflection_is_listed_with_what_it_rests_on(observations: ObservationStore) -> None:
    observations.add_observation("asked for tea", Origin("s1", "t1", CLEAN))
    observations.add_observation("asked for more tea", Origin("s1", "t2", CLEAN))
    observations.add_reflection("drinks tea", Origin("s1", "t2", CLEAN), 1, [1])
    observations.add_reflection("drinks much tea", Origin("s1", "t2", CLEAN), 1, [2, 1])

    assert await run(memory_list_reflections, observations, limit=1) == (
        "Reflections, newest first:\n"
        f"- 2: drinks much tea ({DAY}, session s1, level 1, from observations 1, 2)"
    )


async def test_an_empty_list_is_said_plainly(observations: ObservationStore) -> None:
    assert await run(memory_list_observations, observations) == "Nothing has been observed yet."
    assert await run(memory_list_reflections, observations, session_id="s9") == (
        "Nothing has been reflected on in session 's9' yet."
    )


def test_lists_exist_exactly_when_observations_are_kept(observations: ObservationStore) -> None:
    for tool in (memory_list_observations, memory_list_reflections):
        assert tool.bind({MemoryStore: object()}) is None
        assert tool.bind({ObservationStore: observations}) is not None


def test_limits_out_of_range_do_not_fit_the_schema() -> None:
    assert problems(memory_recall, query="x", limit=0) == ["limit: must be at least 1, got 0"]
    assert problems(memory_recall, query="x", limit=51) == ["limit: must be at most 50, got 51"]
    assert problems(memory_list_observations, limit=201) == ["limit: must be at most 200, got 201"]


@pytest.mark.parametrize(
    ("request_text", "tool", "arguments"),
    [
        ("remember that I like tea", "memory_remember", {"fact": "I like tea"}),
        ("Please remember my sister is Ada.", "memory_remember", {"fact": "my sister is Ada"}),
        ("what do I like?", "memory_recall", {"query": "what do I like"}),
        ("What did I tell you about my sister?", "memory_recall", {"query": "my sister"}),
        ("what have you noticed about me?", "memory_list_observations", {}),
        ("list your reflections", "memory_list_reflections", {}),
    ],
)
def test_a_request_in_plain_words_finds_its_tool_and_arguments(
    request_text: str, tool: str, arguments: dict[str, JsonValue]
) -> None:
    tools = (memory_remember, memory_recall, memory_list_observations, memory_list_reflections)

    match = match_tool(request_text, tools)

    assert match is not None
    assert (match.tool.name, match.arguments) == (tool, arguments)
