"""The librarian's tools: linked facts and saved knowledge."""

import pytest

from sestet.agents.librarian.graph import graph_add, graph_query, graph_traverse
from sestet.agents.librarian.knowledge import save_knowledge, search_knowledge
from sestet.agents.librarian.retrieval import rag_retrieve
from sestet.core.errors import ToolError
from sestet.core.schema import JsonValue
from sestet.core.tool import Tool
from sestet.services.retrieval import Retrieval
from sestet.storage.database import Database
from sestet.storage.graph import GraphStore
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.passages import PassageStore

from .calling import CALL, DAY, LATER, problems, run


@pytest.fixture
def graph(database: Database) -> GraphStore:
    return GraphStore(database)


@pytest.fixture
def knowledge(database: Database) -> KnowledgeStore:
    return KnowledgeStore(database)


@pytest.fixture
def retrieval(database: Database) -> Retrieval:
    """By words alone; what vectors add is shown where retrieval itself is tested."""
    return Retrieval(PassageStore(database))


async def test_a_fact_is_added_once(graph: GraphStore) -> None:
    ada = {"subject": "Ada", "predicate": "works at", "object": "Acme"}

    assert await run(graph_add, graph, call=CALL, **ada) == "Added to the graph: Ada → works_at → Acme"
    assert await run(graph_add, graph, call=CALL, **ada) == "Added to the graph: Ada → works_at → Acme"
    assert await run(graph_add, graph, call=LATER, subject="ada", predicate="WORKS-AT", object=" acme ") == (
        f"Already in the graph: Ada → works_at → Acme ({DAY})"
    )
    assert len(graph.query("Ada")) == 1


async def test_a_walk_shows_each_fact_with_its_distance(graph: GraphStore) -> None:
    await _add(graph, "Ada works_at Acme", "Acme located_in Berlin", "Berlin part_of Germany")

    assert await run(graph_traverse, graph, start_node="acme") == (
        "Within 2 steps of acme:\n"
        "- 1: Ada → works_at → Acme\n"
        "- 1: Acme → located_in → Berlin\n"
        "- 2: Berlin → part_of → Germany\n"
        "Reached: Ada (1), Berlin (1), Germany (2)"
    )
    assert await run(graph_traverse, graph, start_node="Ada", max_depth=1) == (
        "Within 1 step of Ada:\n- 1: Ada → works_at → Acme\nReached: Acme (1)"
    )


async def test_a_walk_that_meets_its_limit_says_so(graph: GraphStore) -> None:
    await _add(graph, "a to b", "a to c")

    assert (await run(graph_traverse, graph, start_node="a", limit=1)).splitlines()[-1] == (
        "… stopped at the limit of 1; there are more facts"
    )
    assert "stopped" not in await run(graph_traverse, graph, start_node="a", limit=2)


async def test_facts_are_found_by_any_of_their_parts(graph: GraphStore) -> None:
    await _add(graph, "Ada works_at Acme", "Ben works_at Acme", "Ada knows Ben")

    assert await run(graph_query, graph, subject="ada") == (
        f"Facts with subject 'ada':\n- Ada → works_at → Acme ({DAY})\n- Ada → knows → Ben ({DAY})"
    )
    assert await run(graph_query, graph, predicate="works at", object="ACME") == (
        "Facts with predicate 'works at', object 'ACME':\n"
        f"- Ada → works_at → Acme ({DAY})\n- Ben → works_at → Acme ({DAY})"
    )


async def test_more_facts_than_are_shown_are_mentioned(graph: GraphStore) -> None:
    await _add(graph, *(f"a to {number}" for number in range(101)))

    answer = (await run(graph_query, graph, subject="a")).splitlines()

    assert len(answer) == 102
    assert answer[-1] == "… stopped at the limit of 100; there are more facts"


async def test_what_the_graph_does_not_know_is_said_plainly(graph: GraphStore) -> None:
    await _add(graph, "Ada works_at Acme")

    assert await run(graph_traverse, graph, start_node="Zed") == "The graph holds nothing about 'Zed'."
    assert await run(graph_query, graph, predicate="-") == "The graph holds no fact with predicate '-'."


async def test_knowledge_is_saved_updated_and_recognised(knowledge: KnowledgeStore) -> None:
    hours: dict[str, JsonValue] = {"key": "Office hours", "content": "Closes at six."}

    assert await run(save_knowledge, knowledge, call=CALL, **hours) == "Saved: Office hours (note)"
    assert await run(save_knowledge, knowledge, call=CALL, **hours) == "Saved: Office hours (note)"
    assert await run(save_knowledge, knowledge, call=LATER, **hours) == (
        f"Already saved: Office hours (note, {DAY})"
    )
    later = {"key": "office hours", "content": "Closes at seven.", "category": "fact"}
    assert await run(save_knowledge, knowledge, call=LATER, **later) == (
        f"Updated: Office hours (fact, version 2; first saved {DAY})"
    )
    assert [row.content for row in knowledge.latest(5)] == ["Closes at seven."]


async def test_knowledge_without_a_title_gets_its_first_words(knowledge: KnowledgeStore) -> None:
    start = "The refund is paid within two weeks to the account that the order was "

    assert await run(save_knowledge, knowledge, content="The office closes at six.") == (
        "Saved: The office closes at six (note)"
    )
    for end in ("paid from", "made with"):
        assert (await run(save_knowledge, knowledge, content=start + end)).startswith(
            "Saved: The refund is paid"
        )
    assert len(knowledge.latest(5)) == 3


async def test_saved_knowledge_is_found_with_title_category_date_and_text(
    knowledge: KnowledgeStore, retrieval: Retrieval
) -> None:
    await run(
        save_knowledge, knowledge, key="Refunds", content="Paid in two weeks.\nNo fee.", category="fact"
    )

    assert await run(search_knowledge, knowledge, query="refund") == (
        f"In the knowledge base about 'refund':\n- Refunds (fact, {DAY}): Paid in two weeks.\nNo fee."
    )
    assert await run(rag_retrieve, retrieval, query="how is a refund paid?") == (
        "Passages about 'how is a refund paid?':\n"
        f"- Refunds (knowledge, {DAY}; score 0.67: words: refund, paid): Paid in two weeks.\nNo fee."
    )


async def test_an_empty_shelf_is_an_answer(knowledge: KnowledgeStore, retrieval: Retrieval) -> None:
    assert (
        await run(search_knowledge, knowledge, query="tea") == "The knowledge base holds nothing about 'tea'."
    )
    assert await run(rag_retrieve, retrieval, query="tea") == "No passage was found about 'tea'."


@pytest.mark.parametrize(
    ("tool", "arguments", "answer"),
    [
        (graph_query, {"subject": " "}, "give at least one of 'subject', 'predicate' and 'object'"),
        (graph_traverse, {"start_node": ""}, "'start_node' is empty"),
        (graph_add, {"subject": "a", "predicate": "", "object": "b"}, "'predicate' is empty"),
        (graph_add, {"subject": "a" * 501, "predicate": "p", "object": "b"}, "'subject' has 501 characters"),
        (save_knowledge, {"content": "\n"}, "'content' is empty"),
        (save_knowledge, {"content": "x" * 8_001}, "'content' has 8,001 characters"),
        (save_knowledge, {"content": "x", "key": "\udc00"}, "'key' holds characters that are not text"),
        (search_knowledge, {"query": " "}, "'query' is empty"),
    ],
)
async def test_what_cannot_be_done_is_told_to_the_model(
    graph: GraphStore, knowledge: KnowledgeStore, tool: Tool, arguments: dict[str, JsonValue], answer: str
) -> None:
    with pytest.raises(ToolError) as refused:
        await run(tool, graph, knowledge, call=CALL, **arguments)

    assert str(refused.value).startswith(answer)


def test_numbers_and_categories_out_of_range_do_not_fit_the_schema() -> None:
    assert problems(graph_traverse, start_node="a", max_depth=7) == ["max_depth: must be at most 6, got 7"]
    assert problems(graph_traverse, start_node="a", limit=0) == ["limit: must be at least 1, got 0"]
    assert problems(rag_retrieve, query="a", limit=51) == ["limit: must be at most 50, got 51"]
    assert problems(rag_retrieve, query="a", collections=["knowledge", "document"]) == [
        "collections.1: expected one of knowledge, learnings, observations, reflections, documents, "
        "got 'document'; did you mean 'documents'?"
    ]
    assert problems(save_knowledge, content="a", category="notes") == [
        "category: expected one of fact, note, document, procedure, got 'notes'; did you mean 'note'?"
    ]


def test_a_tool_exists_exactly_when_its_service_does(
    graph: GraphStore, knowledge: KnowledgeStore, retrieval: Retrieval
) -> None:
    tools = (graph_traverse, graph_query, graph_add, rag_retrieve, save_knowledge, search_knowledge)

    def exist(*services: object) -> list[str]:
        bound = (tool.bind({type(service): service for service in services}) for tool in tools)
        return [tool.name for tool in bound if tool is not None]

    assert exist() == []
    assert exist(graph) == ["graph_traverse", "graph_query", "graph_add"]
    assert exist(knowledge) == ["save_knowledge", "search_knowledge"]
    assert exist(retrieval) == ["rag_retrieve"]


async def _add(graph: GraphStore, *facts: str) -> None:
    for fact in facts:
        subject, predicate, object_ = fact.split()
        await run(graph_add, graph, subject=subject, predicate=predicate, object=object_)
