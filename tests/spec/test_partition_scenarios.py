"""Which specialist owns which tool."""

import pytest

import sestet
from sestet import agents

from .samples import ALL_OWNED, SIX, names, tools


@pytest.mark.scenario("000-partition-operator")
def test_operator_gets_shell_file_and_skill_tools() -> None:
    parts = sestet.partition_tools(tools("exec_shell", "fs_read", "skill_deploy"))

    assert parts == sestet.RoleToolSet(operator=tools("exec_shell", "fs_read", "skill_deploy"))


@pytest.mark.scenario("000-partition-operator")
def test_the_prefix_exec_needs_no_underscore() -> None:
    parts = sestet.partition_tools(tools("exec", "exec_shell", "execute_x"))

    assert names(parts.operator) == ("exec", "exec_shell", "execute_x")


@pytest.mark.scenario("000-partition-navigator")
def test_navigator_gets_tools_for_pages() -> None:
    parts = sestet.partition_tools(tools("browser_navigate", "browser_screenshot"))

    assert parts == sestet.RoleToolSet(navigator=tools("browser_navigate", "browser_screenshot"))


@pytest.mark.scenario("000-partition-vault")
def test_vault_gets_cryptography_secrets_and_payment_tools() -> None:
    parts = sestet.partition_tools(tools("crypto_sign", "secrets_get", "payment_send"))

    assert parts == sestet.RoleToolSet(vault=tools("crypto_sign", "secrets_get", "payment_send"))


@pytest.mark.scenario("000-partition-librarian")
def test_librarian_gets_search_retrieval_graph_and_skill_management_tools() -> None:
    given = tools(
        "search_web", "rag_query", "graph_traverse", "save_knowledge_item", "create_skill_x", "list_skills"
    )

    assert sestet.partition_tools(given) == sestet.RoleToolSet(librarian=given)


@pytest.mark.scenario("000-partition-librarian")
def test_the_librarian_s_whole_words_are_prefixes_too() -> None:
    given = tools(
        "save_knowledge",
        "save_knowledge_item",
        "save_learning",
        "save_learnings",
        "create_skill",
        "create_skill_x",
        "list_skills",
        "list_skills_all",
        "graph_query",
    )

    assert sestet.partition_tools(given).librarian == given


@pytest.mark.scenario("000-partition-chronicler")
def test_chronicler_gets_memory_tools() -> None:
    given = tools("memory_store", "observe_event", "reflect_summary")

    assert sestet.partition_tools(given) == sestet.RoleToolSet(chronicler=given)


@pytest.mark.scenario("000-partition-unmatched")
@pytest.mark.scenario("004-unmatched-bucket")
def test_tool_with_unknown_prefix_is_assigned_to_nobody() -> None:
    parts = sestet.partition_tools(tools("calendar_add", "fs_read"))

    assert names(parts.unmatched) == ("calendar_add",)
    assert parts == sestet.RoleToolSet(operator=tools("fs_read"), unmatched=tools("calendar_add"))


@pytest.mark.scenario("000-partition-unmatched")
@pytest.mark.parametrize(
    "name",
    [
        "fs",
        "skill",
        "browser",
        "my_exec",
        "Exec_shell",
        "searchweb",
        "save_note",
        "list_skill",
        "create_",
        "planner_x",
    ],
)
def test_a_name_that_only_resembles_a_prefix_is_unmatched(name: str) -> None:
    assert names(sestet.partition_tools(tools(name)).unmatched) == (name,)


@pytest.mark.scenario("000-partition-librarian-first")
def test_librarian_prefixes_match_before_the_operator_is_asked() -> None:
    parts = sestet.partition_tools(tools("save_knowledge_data", "create_skill_new", "skill_new"))

    assert names(parts.librarian) == ("save_knowledge_data", "create_skill_new")
    assert names(parts.operator) == ("skill_new",)


@pytest.mark.scenario("000-partition-librarian-first")
@pytest.mark.scenario("004-match-order")
def test_librarian_wins_when_the_operator_claims_its_prefixes_too() -> None:
    greedy = sestet.AgentSpec(name="operator", prefixes=("save_", "create_", "skill_"))
    librarian = sestet.AgentSpec(name="librarian", prefixes=("save_knowledge", "create_skill"))

    parts = sestet.partition_tools(
        tools("save_knowledge_data", "create_skill_new", "save_x"), [greedy, librarian]
    )

    assert isinstance(parts, dict)
    assert names(parts["librarian"]) == ("save_knowledge_data", "create_skill_new")
    assert names(parts["operator"]) == ("save_x",)


@pytest.mark.scenario("000-roles-seven-fields")
def test_the_partition_has_six_roles_and_unmatched() -> None:
    parts = sestet.partition_tools(tools(*ALL_OWNED, "calendar_add"))

    assert isinstance(parts, sestet.RoleToolSet)
    # Rooms beside the six of the specification have fields too, between the six and the last one.
    assert parts._fields[:6] == SIX
    assert parts._fields[6:] == (*agents.room_names()[6:], "unmatched")
    assert all(isinstance(tool, sestet.Tool) for bucket in parts for tool in bucket)


@pytest.mark.scenario("000-roles-planner-empty")
def test_the_planner_never_gets_a_tool() -> None:
    parts = sestet.partition_tools(tools(*ALL_OWNED, "plan_trip", "planner_think", "calendar_add"))

    assert parts.planner == ()
    assert names(parts.unmatched) == ("plan_trip", "planner_think", "calendar_add")
