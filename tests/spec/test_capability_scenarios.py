"""The phrases that describe a specialist's tools."""

import pytest

import sestet

from .samples import sub_agent, tools, tree


@pytest.mark.scenario("000-capability-operator")
def test_the_operator_is_described_by_capabilities() -> None:
    description = sub_agent(tree("exec_shell", "fs_read"), "operator").description

    assert description.endswith(". Capabilities: command execution, file operations")
    assert "exec_shell" not in description
    assert "fs_read" not in description


@pytest.mark.scenario("000-capability-vault")
def test_the_vault_is_described_by_capabilities() -> None:
    description = sub_agent(tree("crypto_sign", "secrets_get", "payment_send"), "vault").description

    assert "cryptography, secret management, blockchain payments (USDC on Base)" in description


@pytest.mark.scenario("000-capability-once")
@pytest.mark.scenario("001-capability-once")
def test_a_capability_that_two_tools_share_appears_once() -> None:
    description = sub_agent(tree("exec_shell", "exec_run"), "operator").description

    assert sestet.capability_description(tools("exec_shell", "exec_run")) == "command execution"
    assert description.count("command execution") == 1


@pytest.mark.scenario("001-capability-unknown")
def test_an_unknown_prefix_falls_back_to_general_actions() -> None:
    assert sestet.tool_capability("calendar_add") == ""
    assert sestet.capability_description(tools("calendar_add")) == "general actions"
    assert sestet.capability_description(tools("calendar_add", "mail_send")) == "general actions"


@pytest.mark.scenario("001-capability-unknown")
def test_capabilities_stand_in_order_of_first_appearance() -> None:
    mixed = tools("fs_read", "calendar_add", "exec_shell", "fs_write", "mail_send")

    assert sestet.capability_description(mixed) == "file operations, general actions, command execution"


@pytest.mark.scenario("000-capability-operator")
@pytest.mark.scenario("000-capability-vault")
@pytest.mark.parametrize(
    ("tool", "phrase"),
    [
        ("exec", "command execution"),
        ("fs_read", "file operations"),
        ("skill_deploy", "skill management"),
        ("browser_navigate", "web browsing"),
        ("crypto_sign", "cryptography"),
        ("secrets_get", "secret management"),
        ("payment_send", "blockchain payments (USDC on Base)"),
        ("search_web", "information search"),
        ("rag_retrieve", "knowledge retrieval (RAG)"),
        ("graph_traverse", "knowledge graph traversal"),
        ("save_knowledge", "knowledge persistence"),
        ("save_learning", "learning persistence"),
        ("create_skill", "skill creation"),
        ("list_skills", "skill listing"),
        ("memory_store", "memory storage and recall"),
        ("observe_event", "event observation"),
        ("reflect_summary", "reflection and summarization"),
    ],
)
def test_each_prefix_has_its_phrase(tool: str, phrase: str) -> None:
    assert sestet.tool_capability(tool) == phrase


@pytest.mark.scenario("000-capability-once")
def test_the_longest_prefix_decides_the_phrase_whatever_the_order() -> None:
    short = sestet.AgentSpec(
        name="clerk", description="Clerk", capabilities={"post_": "mail", "post_air_": "airmail"}
    )
    long = sestet.AgentSpec(
        name="clerk", description="Clerk", capabilities={"post_air_": "airmail", "post_": "mail"}
    )

    for spec in (short, long):
        config = sestet.OrchestrationConfig(tools=tools("post_air_send"), specs=[spec])
        assert sestet.build_agent_tree(config).sub_agents[0].description == "Clerk. Capabilities: airmail"
