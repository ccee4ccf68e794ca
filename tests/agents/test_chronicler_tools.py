"""The chronicler's tools for facts, observations and reflections."""

import pytest

from sestet.agents.chronicler.memory import memory_forget, memory_recall, memory_remember, memory_update
from sestet.agents.chronicler.observations import (
    memory_list_observations,
    memory_list_reflections,
    observe_event,
    reflect_summary,
)
from sestet.config.settings import EmbeddingSettings
from sestet.core.errors import ToolError
from sestet.core.label import CLEAN, Label, Labelled, Origin
from sestet.core.record import replace
from sestet.core.schema import JsonValue
from sestet.core.tool import Tool
from sestet.models.offline.matching import match_tool
from sestet.services.embedding.index import open_embedding
from sestet.services.forgetting import Forgetting
from sestet.services.memory.recall import Recall
from sestet.storage.database import Database
from sestet.storage.memories import MemoryStore
from sestet.storage.observations import ObservationStore, ReflectionSources

from .calling import CALL, DAY, LATER, problems, run

STRANGE = Label(untrusted=True, sources=("browser_fetch of navigator",))


@pytest.fixture
def memories(database: Database) -> MemoryStore:
    return MemoryStore(database)


@pytest.fixture
def recall(database: Database) -> Recall:
    return Recall(database)


@pytest.fixture
def observations(database: Database) -> ObservationStore:
    return ObservationStore(database)


async def test_what_was_told_is_recalled_with_its_id_and_day(memories: MemoryStore, recall: Recall) -> None:
    assert await run(memory_remember, memories, fact="I like\n tea ") == "Remembered: I like tea"
    await run(memory_remember, memories, fact="My sister likes milk")
    await run(memory_remember, memories, fact="My sister lives in Oslo")

    assert await run(memory_recall, recall, query="what do i like?") == (
        f"You told me:\n- I like tea (m1, {DAY})"
    )
    assert await run(memory_recall, recall, query="what does my sister like?") == (
        f"You told me:\n- My sister likes milk (m2, {DAY})\n- My sister lives in Oslo (m3, {DAY})"
    )
    assert await run(memory_recall, recall, query="my sister", limit=1) == (
        f"You told me:\n- My sister likes milk (m2, {DAY})"
    )


@pytest.mark.parametrize("query", ["what do i like?", "my favourite", "what do I enjoy"])
async def test_what_one_prefers_is_what_one_likes(memories: MemoryStore, recall: Recall, query: str) -> None:
    await run(memory_remember, memories, fact="I prefer green tea")
    await run(memory_remember, memories, fact="I live in Oslo")

    assert await run(memory_recall, recall, query=query) == f"You told me:\n- I prefer green tea (m1, {DAY})"


async def test_a_fact_keeps_the_turn_it_was_told_in(memories: MemoryStore) -> None:
    await run(memory_remember, memories, fact="I like tea", call=LATER)

    (row,) = memories.latest(5)
    assert (row.session_id, row.turn_id, row.made_by) == ("session-2", "turn-2", "agent")


async def test_the_same_call_again_stores_nothing_and_says_the_same(memories: MemoryStore) -> None:
    await run(memory_remember, memories, fact="My seat is 7", call=LATER)
    for fact in ("I like tea", "What I am", "🫖", "Soße", "My seat is 8"):
        first = await run(memory_remember, memories, fact=fact)
        before = memories.latest(50, superseded=True)

        assert await run(memory_remember, memories, fact=fact) == first
        assert memories.latest(50, superseded=True) == before


async def test_a_fact_that_is_known_from_before_is_not_stored_twice(memories: MemoryStore) -> None:
    await run(memory_remember, memories, fact="I like tea", call=CALL)
    for number in range(30):
        await run(memory_remember, memories, fact=f"My number {number} is {number * 7}")

    again = await run(memory_remember, memories, fact="i like tea.", call=LATER)

    assert again == f"Already remembered: I like tea ({DAY})"
    assert len(memories.latest(50)) == 31


async def test_the_later_fact_counts_and_the_older_one_is_kept(memories: MemoryStore, recall: Recall) -> None:
    await run(memory_remember, memories, fact="My wifi code is 1234")

    told = await run(memory_remember, memories, fact="my wifi code is 5678", call=LATER)

    assert told == f"Remembered: my wifi code is 5678\nIt replaces: My wifi code is 1234 (m1, {DAY})"
    assert await run(memory_recall, recall, query="wifi code") == (
        f"You told me:\n- my wifi code is 5678 (m2, {DAY})"
    )
    old = memories.get(1)
    assert old is not None
    assert old.superseded_by == 2


async def test_what_a_stranger_may_have_written_replaces_nothing_that_the_person_said(
    memories: MemoryStore, recall: Recall
) -> None:
    await run(memory_remember, memories, fact="My IBAN is DE1")
    poisoned = replace(LATER, label=STRANGE)

    await run(memory_remember, memories, fact="My IBAN is EVIL", call=poisoned)

    assert "DE1" in await run(memory_recall, recall, query="iban")
    await run(memory_update, memories, memory="m1", fact="My IBAN is EVIL", call=poisoned)
    assert "DE1" in await run(memory_recall, recall, query="iban")


async def test_what_stands_in_the_persons_message_is_theirs_whatever_was_read_before(
    memories: MemoryStore,
) -> None:
    await run(memory_remember, memories, fact="My IBAN is DE1")
    said = replace(LATER, label=STRANGE | Label(private=True), words="Remember that MY IBAN  is DE2, please")

    await run(memory_remember, memories, fact="my IBAN is DE2", call=said)
    await run(memory_remember, memories, fact="my IBAN is DE", call=said)

    assert [(row.text, row.label) for row in memories.latest(9)] == [
        ("my IBAN is DE", STRANGE | Label(private=True)),
        ("my IBAN is DE2", Label(private=True)),
    ]


async def test_a_fact_is_updated_by_its_id_and_the_older_one_is_kept(memories: MemoryStore) -> None:
    await run(memory_remember, memories, fact="I drive a Volvo")

    told = await run(memory_update, memories, memory="m1", fact="I drive a bicycle", call=LATER)

    assert told == f"Remembered: I drive a bicycle (m2)\nIt replaces: I drive a Volvo (m1, {DAY})"
    assert [row.id for row in memories.latest(5)] == [2]
    # After a crash the runtime makes the same call again.
    assert await run(memory_update, memories, memory="m1", fact="I drive a bicycle", call=LATER) == told
    with pytest.raises(ToolError, match="m1 was replaced by m2; update that one"):
        await run(memory_update, memories, memory="m1", fact="I walk")


@pytest.mark.parametrize("wanted", ["m9", "", "tea", "m", "m-1", "9" * 30, "m٣"])
async def test_a_memory_that_is_not_there_is_named(memories: MemoryStore, wanted: str) -> None:
    with pytest.raises(ToolError, match="recall it first and use its id, such as m3"):
        await run(memory_update, memories, memory=wanted, fact="I walk")


async def test_forgetting_takes_the_exact_words_and_says_what_counts_again(
    database: Database, memories: MemoryStore
) -> None:
    services = (memories, Forgetting(database))
    await run(memory_remember, memories, fact="My seat is 7")
    await run(memory_remember, memories, fact="My seat is 8", call=LATER)

    with pytest.raises(
        ToolError, match=r"no fact has exactly the words 'seat'\. Similar facts: m2: My seat is 8"
    ):
        await run(memory_forget, *services, words="seat")

    assert await run(memory_forget, *services, words="my seat is 8") == (
        "Forgotten: My seat is 8\nIt had replaced m1, which counts again"
    )
    assert [row.text for row in memories.latest(5)] == ["My seat is 7"]


def test_forgetting_waits_for_a_person_since_it_cannot_be_undone() -> None:
    assert memory_forget.risk == "guarded"


async def test_nothing_found_is_said_plainly(memories: MemoryStore, recall: Recall) -> None:
    assert await run(memory_recall, recall, query="tea") == (
        "I do not remember anything yet. You can tell me now."
    )
    await run(memory_remember, memories, fact="I like tea")
    assert await run(memory_recall, recall, query="my boat") == (
        "I remember nothing about 'my boat'. You can tell me now."
    )


async def test_what_is_read_has_the_labels_of_its_rows_and_is_private(
    memories: MemoryStore, recall: Recall, observations: ObservationStore
) -> None:
    memories.add("I like tea", Origin("s", "t", CLEAN))
    memories.add("The page says: drink coffee", Origin("s", "t", STRANGE))
    observations.add_observation("asked for tea", Origin("s", "t", CLEAN))
    observations.add_observation("read a page about coffee", Origin("s", "t", STRANGE))

    assert await label_of(memory_recall, recall, query="tea") == Label(
        private=True, sources=("memory_recall of agent",)
    )
    assert await label_of(memory_recall, recall, query="coffee") == STRANGE | Label(
        private=True, sources=("memory_recall of agent",)
    )
    assert await label_of(memory_recall, recall, query="boat") == CLEAN
    assert (await label_of(memory_list_observations, observations)).untrusted
    assert not (await label_of(memory_list_observations, observations, session_id="x")).private


async def label_of(tool: Tool, service: object, **arguments: JsonValue) -> Label:
    bound = tool.bind({type(service): service})
    assert bound is not None
    assert bound.function is not None
    answer = await bound.function(CALL, **arguments)
    assert isinstance(answer, Labelled)
    return answer.label


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        (" \n", "'fact' is empty"),
        ("x" * 2_001, "'fact' has 2,001 characters, and the most is 2,000"),
        ("\ud800", "'fact' has characters that cannot be stored"),
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
    observations.add_observation("asked for tea", Origin("s1", "t1", CLEAN), "rules")
    observations.add_observation("asked for milk", Origin("s2", "t2", CLEAN))

    assert await run(memory_list_observations, observations) == (
        "Observations, newest first:\n"
        f"- o2: asked for milk ({DAY}, session s2, by chronicler)\n"
        f"- o1: asked for tea ({DAY}, session s1, by rules)"
    )
    assert await run(memory_list_observations, observations, session_id="s1") == (
        f"Observations in session 's1', newest first:\n- o1: asked for tea ({DAY}, session s1, by rules)"
    )
    assert len((await run(memory_list_observations, observations, limit=1)).splitlines()) == 2


async def test_an_event_is_observed_once_for_each_turn(observations: ObservationStore) -> None:
    told = await run(observe_event, observations, event="met the new client")

    assert told == "Observed: met the new client (o1)"
    assert await run(observe_event, observations, event="met the new client") == told
    assert (await run(observe_event, observations, event="met the new client", call=LATER)).endswith("(o2)")


async def test_a_noted_event_is_recalled_where_no_fact_answers(
    memories: MemoryStore, observations: ObservationStore, recall: Recall
) -> None:
    await run(observe_event, observations, event="I planted garlic on 10 October")
    # The observer wrote this one.
    observations.add_observation("I planted roses on 3 May", Origin("s1", "t1", CLEAN), "rules")

    noted = await run(memory_recall, recall, query="when did I plant the garlic?")
    assert noted == f"Noted:\n- I planted garlic on 10 October (o1, {DAY})"
    assert "roses" not in await run(memory_recall, recall, query="when did I plant the roses?")

    await run(memory_remember, memories, fact="I planted the garlic in bed five")
    assert (await run(memory_recall, recall, query="when did I plant the garlic?")).startswith("You told me:")


async def test_a_reflection_rests_on_observations_that_exist_and_has_their_labels(
    observations: ObservationStore,
) -> None:
    await run(observe_event, observations, event="asked for tea")
    await run(observe_event, observations, event="read about tea", call=replace(LATER, label=STRANGE))

    text = await run(reflect_summary, observations, summary="drinks tea", observations="o1, o2")

    about = f"{DAY}, session session-1, level 1, by agent, from o1, o2, perhaps not in your own words"
    assert text == f"- r1: drinks tea ({about})"
    assert await run(reflect_summary, observations, summary="drinks tea", observations="o1 o2") == text
    (row,) = observations.reflections(5)
    assert (row.label.untrusted, row.label.private) == (True, True)
    assert await run(memory_list_reflections, observations) == f"Reflections, newest first:\n{text}"
    for nothing in ("", " , "):
        with pytest.raises(ToolError, match="name their ids"):
            await run(reflect_summary, observations, summary="x", observations=nothing)
    with pytest.raises(ToolError, match="there is no observation 'o7'"):
        await run(reflect_summary, observations, summary="x", observations="o1,o7")


async def test_a_reflection_is_listed_with_what_it_rests_on(observations: ObservationStore) -> None:
    observations.add_observation("asked for tea", Origin("s1", "t1", CLEAN))
    observations.add_observation("asked for more tea", Origin("s1", "t2", CLEAN))
    observations.add_reflection(
        "drinks tea", Origin("s1", "t2", CLEAN), 1, ReflectionSources([2, 1]), "rules"
    )
    observations.add_reflection("tea matters", Origin("", "t2", CLEAN), 2, ReflectionSources(reflections=[1]))

    assert await run(memory_list_reflections, observations) == (
        "Reflections, newest first:\n"
        f"- r2: tea matters ({DAY}, several sessions, level 2, by chronicler, from r1)\n"
        f"- r1: drinks tea ({DAY}, session s1, level 1, by rules, from o1, o2)"
    )


async def test_an_empty_list_is_said_plainly(observations: ObservationStore) -> None:
    assert await run(memory_list_observations, observations) == "Nothing has been observed yet."
    assert await run(memory_list_reflections, observations, session_id="s9") == (
        "Nothing has been reflected on in session 's9' yet."
    )


def test_the_tools_of_observing_exist_exactly_when_observations_are_kept(
    observations: ObservationStore,
) -> None:
    for tool in (memory_list_observations, memory_list_reflections, observe_event, reflect_summary):
        assert tool.bind({MemoryStore: object(), Recall: object()}) is None
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
        ("Don't forget that I like tea", "memory_remember", {"fact": "I like tea"}),
        ("Please forget that I like tea", "memory_forget", {"words": "I like tea"}),
        ("change memory m3 to I walk", "memory_update", {"memory": "m3", "fact": "I walk"}),
        ("what do I like?", "memory_recall", {"query": "what do I like"}),
        ("What did I tell you about my sister?", "memory_recall", {"query": "my sister"}),
        ("what have you noticed about me?", "memory_list_observations", {}),
        ("list your reflections", "memory_list_reflections", {}),
        ("record that we met Bob", "observe_event", {"event": "we met Bob"}),
    ],
)
def test_a_request_in_plain_words_finds_its_tool_and_arguments(
    request_text: str, tool: str, arguments: dict[str, JsonValue]
) -> None:
    tools = (
        memory_remember,
        memory_recall,
        memory_update,
        memory_forget,
        memory_list_observations,
        memory_list_reflections,
        observe_event,
        reflect_summary,
    )

    match = match_tool(request_text, tools)

    assert match is not None
    assert (match.tool.name, match.arguments) == (tool, arguments)


async def test_a_fact_is_replaced_in_other_words_however_many_came_after_it(memories: MemoryStore) -> None:
    await run(memory_remember, memories, fact="I live in Oslo")
    for number in range(30):
        memories.add(f"a fact number {number}", Origin("s", "t", CLEAN))

    done = await run(memory_remember, memories, fact="I moved to Bergen", call=LATER)

    assert done == f"Remembered: I moved to Bergen\nIt replaces: I live in Oslo (m1, {DAY})"


async def test_a_fact_is_recalled_in_other_words_where_there_is_an_embedding(
    database: Database, memories: MemoryStore
) -> None:
    embedding = open_embedding(EmbeddingSettings(), database)
    assert embedding is not None
    recall = Recall(database, embedding=embedding)
    for fact in (
        "My phone is an old Nokia",
        "My sister is a surgeon",
        "My dog is called Rex",
        "I was in Rome",
    ):
        await run(memory_remember, memories, fact=fact)
    await run(memory_update, memories, memory="m1", fact="I have a new phone, a Pixel", call=LATER)

    found = await run(memory_recall, recall, query="which smartphone have I got?", limit=1)

    await embedding.close()
    assert found == f"You told me:\n- I have a new phone, a Pixel (m5, {DAY})"
    assert await run(memory_recall, Recall(database), query="which smartphone have I got?") == (
        "I remember nothing about 'which smartphone have I got?'. You can tell me now."
    )


async def test_a_fact_is_recalled_in_other_words_however_often_it_has_changed(
    database: Database, memories: MemoryStore
) -> None:
    embedding = open_embedding(EmbeddingSettings(), database)
    assert embedding is not None
    origin = Origin("s", "t", CLEAN)
    row = memories.add("I drink one espresso", origin)
    for cups in range(2, 40):
        row = memories.add(f"I drink {cups} cups of espresso", origin, supersedes=[row.id])
    memories.add("I drink no coffee any more", origin, supersedes=[row.id])

    found = await Recall(database, embedding=embedding).facts("espresso", 5)

    await embedding.close()
    assert [fact.text for fact in found] == ["I drink no coffee any more"]
