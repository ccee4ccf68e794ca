"""The instructions of the orchestrator and of the specialists."""

import re

import pytest

import sestet
from sestet.core.offer import entries_of

from .samples import ALL_OWNED, OWNED, SIX, routing_entries, sub_agent, tools, tree

#: Words of the old design, and categories that a model once took for the name of an agent.
_MISLEADING = (
    "browser",
    "exec",
    "executor",
    "researcher",
    "memory-manager",
    "memorymanager",
    "crypto",
    "subagent",
)


@pytest.mark.scenario("000-instruction-never-invent")
@pytest.mark.scenario("001-instruction-never-invent")
def test_the_orchestrator_is_told_never_to_invent_or_abbreviate_names() -> None:
    assert "NEVER invent or abbreviate agent names" in tree(*ALL_OWNED).instruction


@pytest.mark.scenario("001-instruction-never-invent")
def test_only_the_names_of_agents_that_exist_are_listed() -> None:
    root = tree("fs_read", "search_web")

    assert list(routing_entries(root.instruction)) == ["operator", "librarian", "planner"]
    for absent in ("navigator", "vault", "chronicler"):
        assert absent not in root.instruction.lower()


@pytest.mark.scenario("001-instruction-never-invent")
def test_a_remote_agent_is_listed_by_its_exact_name_after_the_local_ones() -> None:
    remote = sestet.Agent(name="weather_station", description="Measures rain in Oslo")
    config = sestet.OrchestrationConfig(tools=tools("fs_read"), remote_agents=[remote])

    entries = routing_entries(sestet.build_agent_tree(config).instruction)

    assert list(entries) == ["operator", "planner", "weather_station"]
    assert "Measures rain in Oslo" in entries["weather_station"]


@pytest.mark.scenario("000-instruction-exact-name")
def test_the_instruction_holds_the_exact_names_and_no_word_that_could_pass_for_one() -> None:
    instruction = tree(*ALL_OWNED).instruction

    assert tuple(routing_entries(instruction)) == SIX
    words = set(re.findall(r"[a-z_-]+", instruction.lower()))
    assert words.isdisjoint(_MISLEADING)


@pytest.mark.scenario("000-instruction-capabilities")
@pytest.mark.scenario("001-instruction-capabilities")
@pytest.mark.parametrize("name", [name for name in SIX if OWNED[name]])
def test_an_entry_describes_capabilities_and_no_raw_tool_names(name: str) -> None:
    entry = routing_entries(tree(*ALL_OWNED).instruction)[name]

    assert f"Capabilities: {sestet.capability_description(tools(*OWNED[name]))}" in entry
    assert [tool for tool in ALL_OWNED if tool in entry] == []


@pytest.mark.scenario("001-instruction-capabilities")
def test_no_owned_tool_is_named_anywhere_in_the_instruction() -> None:
    instruction = tree(*ALL_OWNED).instruction

    assert [tool for tool in ALL_OWNED if tool in instruction] == []
    assert "command execution, file operations" in instruction


@pytest.mark.scenario("004-routing-table")
@pytest.mark.parametrize("spec", sestet.default_specs()[:6], ids=lambda spec: spec.name)
def test_an_entry_holds_keywords_accepts_returns_and_cannot(spec: sestet.AgentSpec) -> None:
    entry = routing_entries(tree(*ALL_OWNED, "fs_write").instruction)[spec.name]

    assert spec.description in entry
    for phrase in (*entries_of(spec.accepts), *entries_of(spec.returns), *spec.keywords, *spec.examples):
        assert phrase in entry
    for phrase in (*spec.cannot, *spec.not_for.values()):
        assert (phrase in entry) == (phrase not in spec.lacks)


@pytest.mark.scenario("004-routing-table")
def test_the_decision_protocol_names_its_steps_in_order() -> None:
    instruction = tree(*ALL_OWNED).instruction

    positions = [instruction.index(step) for step in ("CLASSIFY", "MATCH", "SELECT", "VERIFY", "DELEGATE")]

    assert positions == sorted(positions)


@pytest.mark.scenario("004-unmatched-bucket")
def test_unmatched_tools_are_mentioned_apart_from_every_entry() -> None:
    instruction = tree("fs_read", "calendar_add").instruction

    assert "calendar_add" in instruction
    assert [name for name, entry in routing_entries(instruction).items() if "calendar_add" in entry] == []


@pytest.mark.scenario("004-unmatched-bucket")
def test_without_unmatched_tools_the_instruction_says_nothing_of_them() -> None:
    with_unmatched = tree("fs_read", "calendar_add").instruction.splitlines()
    without = tree("fs_read").instruction.splitlines()

    assert set(without) < set(with_unmatched)


@pytest.mark.scenario("004-reject-protocol")
def test_every_specialist_is_given_the_reject_format() -> None:
    for agent in tree(*ALL_OWNED).sub_agents:
        assert "\n[REJECT] <one sentence: why this is not yours>\n" in agent.instruction


@pytest.mark.scenario("004-reject-protocol")
def test_the_orchestrator_is_told_what_a_rejection_means() -> None:
    assert "reject" in tree(*ALL_OWNED).instruction.lower()


@pytest.mark.scenario("002-direct-greeting")
def test_the_orchestrator_is_told_to_answer_simple_conversation_itself() -> None:
    instruction = tree(*ALL_OWNED).instruction

    for kind in ("greetings", "opinions", "general knowledge"):
        assert kind in instruction
    assert "weather, news, prices" in instruction, "live data must not pass for general knowledge"


@pytest.mark.scenario("001-instruction-tool-task")
@pytest.mark.scenario("002-instruction-tool-task")
def test_the_orchestrator_is_told_that_it_has_no_tools() -> None:
    assert "You have no tools of your own" in tree(*ALL_OWNED).instruction


@pytest.mark.scenario("002-rounds-default")
@pytest.mark.parametrize("unset", [None, 0, -1])
def test_five_rounds_unless_set(unset: int | None) -> None:
    config = sestet.OrchestrationConfig(max_delegation_rounds=unset)

    assert "Maximum 5 delegation rounds" in sestet.build_agent_tree(config).instruction
    assert "Maximum 5 delegation rounds" in tree().instruction


@pytest.mark.scenario("002-rounds-default")
def test_a_limit_that_is_set_takes_the_place_of_the_default() -> None:
    instruction = sestet.build_agent_tree(sestet.OrchestrationConfig(max_delegation_rounds=3)).instruction

    assert "Maximum 3 delegation rounds" in instruction
    assert "Maximum 5" not in instruction


@pytest.mark.scenario("002-reporting-operator")
def test_the_operator_is_told_to_give_results_clearly() -> None:
    assert "the result itself" in _output_format("operator")


@pytest.mark.scenario("002-reporting-librarian")
def test_the_librarian_is_told_to_summarise_findings_with_sources() -> None:
    output = _output_format("librarian")

    assert "Summarise the findings clearly" in output
    assert "source of every finding" in output


@pytest.mark.scenario("002-reporting-planner")
def test_the_planner_is_told_to_present_the_plan_for_review() -> None:
    assert "Present the plan for review" in _output_format("planner")


@pytest.mark.scenario("002-reporting-chronicler")
def test_the_chronicler_is_told_to_report_what_was_stored_or_retrieved() -> None:
    assert "Report what was stored or retrieved" in _output_format("chronicler")


@pytest.mark.scenario("002-reporting-operator")
@pytest.mark.scenario("002-reporting-librarian")
@pytest.mark.scenario("002-reporting-planner")
@pytest.mark.scenario("002-reporting-chronicler")
def test_every_specialist_is_told_how_to_report_back() -> None:
    for agent in tree(*ALL_OWNED).sub_agents:
        assert "## Reporting Back" in agent.instruction


def _output_format(name: str) -> str:
    instruction = sub_agent(tree(*ALL_OWNED), name).instruction
    return instruction.split("## Output Format\n")[1].split("\n## ")[0]
