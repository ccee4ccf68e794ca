"""The librarian's graph tools: add, query, follow, remove, and the labels of their answers."""

import pytest

from sestet.agents.librarian.graph import graph_add, graph_path, graph_query, graph_remove, graph_traverse
from sestet.core.errors import ToolError
from sestet.core.label import CLEAN, Label, Labelled
from sestet.core.record import replace
from sestet.core.schema import JsonValue
from sestet.core.tool import Tool
from sestet.storage.database import Database
from sestet.storage.graph import BUILT_IN_PREDICATES, GraphStore, Predicates

from .calling import CALL, DAY, LATER, problems, run

TOOLS = (graph_traverse, graph_query, graph_path, graph_add, graph_remove)
DECLARED = Predicates(["works at", "located_in", "part-of", "knows", "to"])
STRANGE = Label(untrusted=True, sources=("a page",))


@pytest.fixture
def graph(database: Database) -> GraphStore:
    return GraphStore(database)


async def test_a_fact_is_added_once(graph: GraphStore) -> None:
    ada = {"subject": "Ada", "predicate": "works at", "object": "Acme"}

    assert await _ask(graph_add, graph, **ada) == "Added to the graph: Ada → works_at → Acme"
    assert await _ask(graph_add, graph, **ada) == "Added to the graph: Ada → works_at → Acme"
    again = {"subject": "ada", "predicate": "WORKS-AT", "object": " acme "}
    assert await run(graph_add, graph, DECLARED, call=LATER, **again) == (
        f"Already in the graph: Ada → works_at → Acme ({DAY})"
    )
    assert len(graph.query("Ada")) == 1


async def test_a_walk_shows_each_fact_and_each_node_with_its_distance(graph: GraphStore) -> None:
    await _add(graph, "Ada works_at Acme", "Acme located_in Berlin", "Berlin part_of Germany")

    assert await _ask(graph_traverse, graph, start_node="acme") == (
        "Within 2 steps of acme:\n"
        "- 1: Ada → works_at → Acme\n"
        "- 1: Acme → located_in → Berlin\n"
        "- 2: Berlin → part_of → Germany\n"
        "Reached: Ada (1), Berlin (1), Germany (2)"
    )
    assert await _ask(graph_traverse, graph, start_node="Ada", max_depth=1) == (
        "Within 1 step of Ada:\n- 1: Ada → works_at → Acme\nReached: Acme (1)"
    )


async def test_a_walk_follows_the_wanted_links_in_the_wanted_direction(graph: GraphStore) -> None:
    await _add(graph, "Ada works_at Acme", "Ben works_at Acme", "Acme located_in Berlin")

    out = await _ask(graph_traverse, graph, start_node="Acme", direction="out")
    into = await _ask(graph_traverse, graph, start_node="Acme", direction="in", max_depth=1)
    named = await _ask(graph_traverse, graph, start_node="Ada", predicates=["works at"])

    assert out.splitlines()[1:] == ["- 1: Acme → located_in → Berlin", "Reached: Berlin (1)"]
    assert into.splitlines()[-1] == "Reached: Ada (1), Ben (1)"
    assert named.splitlines()[-1] == "Reached: Acme (1), Ben (2)"
    assert await _ask(graph_traverse, graph, start_node="Berlin", direction="out") == (
        "The graph knows 'Berlin', but has no such facts about it."
    )


async def test_a_walk_that_meets_its_limit_says_so(graph: GraphStore) -> None:
    await _add(graph, "a to b", "a to c")

    assert (await _ask(graph_traverse, graph, start_node="a", limit=1)).splitlines()[-1] == (
        "… stopped at the limit of 1; there are more facts"
    )
    assert "stopped" not in await _ask(graph_traverse, graph, start_node="a", limit=2)


async def test_facts_are_found_by_any_of_their_parts(graph: GraphStore) -> None:
    await _add(graph, "Ada works_at Acme", "Ben works_at Acme", "Ada knows Ben")

    assert await _ask(graph_query, graph, subject="ada") == (
        f"Facts with subject 'ada':\n- Ada → works_at → Acme ({DAY})\n- Ada → knows → Ben ({DAY})"
    )
    assert await _ask(graph_query, graph, predicate="works at", object="ACME") == (
        "Facts with predicate 'works_at', object 'ACME':\n"
        f"- Ada → works_at → Acme ({DAY})\n- Ben → works_at → Acme ({DAY})"
    )


async def test_more_facts_than_are_shown_are_mentioned(graph: GraphStore) -> None:
    await _add(graph, *(f"a to {number}" for number in range(101)))

    answer = (await _ask(graph_query, graph, subject="a")).splitlines()

    assert len(answer) == 102
    assert answer[-1] == "… stopped at the limit of 100; there are more facts"


async def test_the_shortest_chain_between_two_things_is_told_step_by_step(graph: GraphStore) -> None:
    await _add(graph, "Ada works_at Acme", "Ben works_at Acme", "Ben knows Cleo", "Dora knows Eve")

    assert await _ask(graph_path, graph, from_node="ada", to_node="Cleo") == (
        "From ada to Cleo in 3 steps: Ada, Acme, Ben, Cleo\n"
        "- 1: Ada → works_at → Acme\n"
        "- 2: Ben → works_at → Acme\n"
        "- 3: Ben → knows → Cleo"
    )
    for arguments in ({"to_node": "Dora"}, {"to_node": "Cleo", "max_depth": 2}):
        answer = await _ask(graph_path, graph, from_node="Ada", **arguments)
        assert answer.startswith(f"No facts lead from Ada to {arguments['to_node']} within ")
    assert await _ask(graph_path, graph, from_node="Ada", to_node="Cleo", direction="out") == (
        "No facts lead from Ada to Cleo within 6 steps."
    )
    assert await _ask(graph_path, graph, from_node="Ada", to_node="ADA") == "Ada and ADA are the same."
    assert await _ask(graph_path, graph, from_node="Ada", to_node="Zed") == (
        "The graph holds nothing about 'Zed'."
    )


async def test_removing_tells_what_is_gone_and_nothing_when_nothing_was_there(graph: GraphStore) -> None:
    await _add(graph, "Ada works_at Acme", "Ada knows Ben")
    gone = {"subject": "ADA", "predicate": "works at", "object": "acme"}

    assert await _ask(graph_remove, graph, **gone) == (
        f"Removed from the graph: Ada → works_at → Acme (added {DAY})"
    )
    assert await _ask(graph_remove, graph, **gone) == (
        "Nothing was removed: the graph holds no fact ADA → works_at → acme."
    )
    assert [row.predicate for row in graph.query("Ada")] == ["knows"]


async def test_what_the_graph_does_not_know_is_said_plainly(graph: GraphStore) -> None:
    await _add(graph, "Ada works_at Acme")

    assert await _ask(graph_traverse, graph, start_node="Zed") == "The graph holds nothing about 'Zed'."
    assert await _ask(graph_query, graph, predicate="knows") == (
        "The graph holds no fact with predicate 'knows'."
    )


@pytest.mark.parametrize("predicate", BUILT_IN_PREDICATES)
async def test_every_named_predicate_needs_no_declaration(graph: GraphStore, predicate: str) -> None:
    answer = await run(graph_add, graph, Predicates(), subject="a", predicate=predicate, object="b")

    assert answer == f"Added to the graph: a → {predicate} → b"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (graph_add, {"subject": "a", "predicate": "work at", "object": "b"}),
        (graph_remove, {"subject": "a", "predicate": "work at", "object": "b"}),
        (graph_query, {"predicate": "work at"}),
        (graph_traverse, {"start_node": "a", "predicates": ["work at"]}),
        (graph_path, {"from_node": "a", "to_node": "b", "predicates": ["work at"]}),
    ],
)
async def test_an_unknown_predicate_is_answered_with_the_nearest_and_the_way_to_declare_it(
    graph: GraphStore, tool: Tool, arguments: dict[str, JsonValue]
) -> None:
    with pytest.raises(ToolError) as refused:
        await _ask(tool, graph, **arguments)

    said = str(refused.value)
    assert said.startswith("there is no predicate 'work_at'; did you mean 'works_at'? Known: related_to, ")
    assert said.endswith("The person can add it with 'sestet graph predicates --add work_at'")
    assert graph.size() == (0, 0)


async def test_facts_of_a_predicate_that_is_no_longer_declared_can_be_asked_for_but_not_added(
    graph: GraphStore,
) -> None:
    graph.add("Ada", "mentors", "Acme", CALL.origin)
    fact = {"subject": "Ada", "predicate": "mentors", "object": "Acme"}

    assert "Acme" in await run(graph_query, graph, Predicates(), predicate="mentors")
    with pytest.raises(ToolError):
        await run(graph_add, graph, Predicates(), call=CALL, **fact)
    assert (await run(graph_remove, graph, Predicates(), call=CALL, **fact)).startswith("Removed")


async def test_an_answer_carries_the_labels_of_the_facts_in_it_and_no_others(graph: GraphStore) -> None:
    strange = replace(CALL, label=STRANGE)
    await run(graph_add, graph, DECLARED, subject="a", predicate="to", object="b")
    await run(graph_add, graph, DECLARED, call=strange, subject="b", predicate="to", object="c")

    async def label(tool: Tool, **arguments: JsonValue) -> Label:
        bound = tool.bind({GraphStore: graph, Predicates: DECLARED})
        assert bound is not None
        assert bound.function is not None
        answer = await bound.function(**arguments)
        assert isinstance(answer, Labelled)
        return answer.label

    clean = Label(private=True, sources=("the graph",))
    both = STRANGE | clean
    assert await label(graph_query, subject="a") == clean
    assert await label(graph_query, predicate="to") == both
    assert await label(graph_traverse, start_node="a", max_depth=1) == clean
    assert await label(graph_traverse, start_node="a", max_depth=2) == both
    assert await label(graph_path, from_node="a", to_node="b") == clean
    assert await label(graph_path, from_node="a", to_node="c") == both
    assert await label(graph_query, subject="nothing") == clean
    assert await label(graph_remove, subject="b", predicate="to", object="c") == both


async def test_the_person_s_own_word_for_a_fact_makes_it_trusted_and_a_stranger_s_changes_nothing(
    graph: GraphStore,
) -> None:
    strange = replace(CALL, label=STRANGE)
    fact = {"subject": "a", "predicate": "to", "object": "b"}

    await run(graph_add, graph, DECLARED, call=strange, **fact)
    assert graph.query("a")[0].label == STRANGE
    await run(graph_add, graph, DECLARED, call=LATER, **fact)
    await run(graph_add, graph, DECLARED, call=strange, **fact)

    (row,) = graph.query("a")
    assert (row.label, row.turn_id) == (CLEAN, LATER.turn_id)


@pytest.mark.parametrize(
    ("tool", "arguments", "answer"),
    [
        (graph_query, {"subject": " "}, "give at least one of 'subject', 'predicate' and 'object'"),
        (graph_query, {}, "give at least one of 'subject', 'predicate' and 'object'"),
        (graph_traverse, {"start_node": ""}, "'start_node' is empty"),
        (graph_path, {"from_node": "a", "to_node": " "}, "'to_node' is empty"),
        (graph_add, {"subject": "a", "predicate": "", "object": "b"}, "'predicate' is empty"),
        (graph_add, {"subject": "a" * 501, "predicate": "to", "object": "b"}, "'subject' has 501 characters"),
        (graph_remove, {"subject": "", "predicate": "to", "object": "b"}, "'subject' is empty"),
    ],
)
async def test_what_cannot_be_done_is_told_to_the_model(
    graph: GraphStore, tool: Tool, arguments: dict[str, JsonValue], answer: str
) -> None:
    with pytest.raises(ToolError) as refused:
        await _ask(tool, graph, **arguments)

    assert str(refused.value).startswith(answer)


def test_numbers_and_directions_out_of_range_do_not_fit_the_schema() -> None:
    assert problems(graph_traverse, start_node="a", max_depth=7) == ["max_depth: must be at most 6, got 7"]
    assert problems(graph_traverse, start_node="a", limit=0) == ["limit: must be at least 1, got 0"]
    assert problems(graph_traverse, start_node="a", direction="up") == [
        "direction: expected one of out, in, both, got 'up'"
    ]


def test_the_tools_exist_exactly_when_there_is_a_graph(graph: GraphStore) -> None:
    services = {GraphStore: graph, Predicates: DECLARED}

    assert all(tool.bind(services) for tool in TOOLS)
    assert not any(tool.bind({}) for tool in TOOLS)


async def _ask(tool: Tool, graph: GraphStore, **arguments: JsonValue) -> str:
    return await run(tool, graph, DECLARED, call=CALL, **arguments)


async def _add(graph: GraphStore, *facts: str) -> None:
    for fact in facts:
        subject, predicate, object_ = fact.split()
        await _ask(graph_add, graph, subject=subject, predicate=predicate, object=object_)
