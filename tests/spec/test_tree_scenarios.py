"""Which agents a tree has, and what each of them holds."""

from pathlib import Path

import pytest

import sestet
from sestet.core.record import replace

from .samples import ALL_OWNED, OWNED, SIX, names, sub_agent, sub_agent_names, tools, tree


@pytest.mark.scenario("000-tree-multi-agent")
@pytest.mark.scenario("004-six-agents")
def test_the_tree_is_an_orchestrator_above_the_six() -> None:
    root = tree(*ALL_OWNED)

    assert root.name == "orchestrator"
    assert root.tools is None
    assert sub_agent_names(root) == SIX
    assert {agent.name: names(agent.tools) for agent in root.sub_agents} == OWNED


@pytest.mark.scenario("000-tree-multi-agent")
async def test_multi_agent_mode_puts_the_orchestrator_in_front(tmp_path: Path) -> None:
    model = sestet.ScriptedModel(["Hello!"])

    async with sestet.open({"agent": {"multiAgent": True}}, home=tmp_path, model=model) as app:
        _ = [event async for event in app.run_turn("s1", "hello")]
        owned = {tool.name for tool in app.tools}

    assert [request.agent for request in model.requests] == ["orchestrator"]
    assert owned.isdisjoint(names(model.requests[0].tools))


@pytest.mark.scenario("000-tree-root-without-tools")
@pytest.mark.scenario("002-tree-root-without-tools")
def test_each_owned_tool_is_adapted_exactly_once_for_its_owner() -> None:
    adapted: list[tuple[str, str]] = []

    def adapt(tool: sestet.Tool, agent_name: str) -> sestet.Tool:
        adapted.append((tool.name, agent_name))
        return replace(tool, description=f"adapted for {agent_name}")

    root = sestet.build_agent_tree(
        sestet.OrchestrationConfig(tools=tools(*ALL_OWNED, "odd"), adapt_tool=adapt)
    )

    assert root.tools is None
    assert sorted(adapted) == sorted((tool, owner) for owner, owned in OWNED.items() for tool in owned)
    assert {tool.description for tool in sub_agent(root, "vault").tools or ()} == {"adapted for vault"}


@pytest.mark.scenario("000-tree-root-without-tools")
@pytest.mark.scenario("002-tree-root-without-tools")
def test_a_failing_adaptation_names_the_agent() -> None:
    def refuse(tool: sestet.Tool, agent_name: str) -> sestet.Tool:
        raise RuntimeError(f"no {tool.name} for {agent_name}")

    config = sestet.OrchestrationConfig(tools=tools("fs_read"), adapt_tool=refuse)

    with pytest.raises(ValueError, match="adapt operator tools"):
        sestet.build_agent_tree(config)


@pytest.mark.scenario("000-tree-single-agent")
@pytest.mark.scenario("002-tree-single-agent")
@pytest.mark.scenario("003-tree-single-agent")
def test_the_single_agent_holds_every_tool_and_has_nobody_below() -> None:
    given = tools(*ALL_OWNED, "calendar_add")

    agent = sestet.build_single_agent(sestet.OrchestrationConfig(tools=given))

    assert agent.name == "assistant"
    assert agent.tools == given
    assert agent.sub_agents == ()


@pytest.mark.scenario("000-tree-single-agent")
@pytest.mark.scenario("002-tree-single-agent")
@pytest.mark.scenario("003-tree-single-agent")
async def test_single_agent_mode_offers_the_model_every_tool(tmp_path: Path) -> None:
    model = sestet.ScriptedModel(["Hello!"])

    async with sestet.open({"agent": {"multiAgent": False}}, home=tmp_path, model=model) as app:
        _ = [event async for event in app.run_turn("s1", "hello")]
        every_tool = names(tuple(app.tools))

    assert [request.agent for request in model.requests] == ["assistant"]
    assert names(model.requests[0].tools) == every_tool
    assert every_tool


@pytest.mark.scenario("000-creation-all")
def test_six_sub_agents_when_every_role_has_a_tool() -> None:
    assert (
        sub_agent_names(tree("exec_shell", "browser_open", "secrets_get", "rag_query", "memory_store")) == SIX
    )


@pytest.mark.scenario("000-creation-partial")
def test_roles_without_tools_are_skipped() -> None:
    root = tree("search_web", "fs_read")

    assert sub_agent_names(root) == ("operator", "librarian", "planner")


@pytest.mark.scenario("000-creation-no-tools")
def test_without_tools_only_the_planner_is_created() -> None:
    assert sub_agent_names(tree()) == ("planner",)


@pytest.mark.scenario("000-creation-unmatched-only")
@pytest.mark.scenario("004-unmatched-bucket")
def test_unmatched_tools_create_no_agent_and_are_never_adapted() -> None:
    adapted: list[str] = []

    def adapt(tool: sestet.Tool, agent_name: str) -> sestet.Tool:
        adapted.append(f"{agent_name}: {tool.name}")
        return tool

    config = sestet.OrchestrationConfig(tools=tools("calendar_add", "mail_send"), adapt_tool=adapt)
    root = sestet.build_agent_tree(config)

    assert sub_agent_names(root) == ("planner",)
    assert sub_agent(root, "planner").tools == ()
    assert adapted == []


@pytest.mark.scenario("004-spec-registry")
def test_the_registry_is_the_six_in_creation_order() -> None:
    six = sestet.default_specs()[:6]

    assert tuple(spec.name for spec in six) == SIX
    assert [spec.name for spec in six if spec.always_include] == ["planner"]


@pytest.mark.scenario("004-spec-registry")
def test_a_specialist_is_added_by_adding_a_spec() -> None:
    beekeeper = sestet.AgentSpec(
        name="beekeeper",
        description="Looks after the hives",
        capabilities={"hive_": "bee care"},
        instruction="You are the beekeeper, who looks after the hives.",
    )
    config = sestet.OrchestrationConfig(
        tools=tools("hive_open", "fs_read"), specs=(*sestet.default_specs(), beekeeper)
    )

    root = sestet.build_agent_tree(config)

    assert sub_agent_names(root) == ("operator", "planner", "beekeeper")
    assert sub_agent(root, "beekeeper").description == "Looks after the hives. Capabilities: bee care"
    assert names(sub_agent(root, "beekeeper").tools) == ("hive_open",)
    assert "### beekeeper" in root.instruction


@pytest.mark.scenario("004-spec-registry")
def test_a_specialist_is_removed_by_leaving_its_spec_out() -> None:
    without_operator = [spec for spec in sestet.default_specs() if spec.name != "operator"]

    root = sestet.build_agent_tree(
        sestet.OrchestrationConfig(tools=tools("fs_read", "memory_store"), specs=without_operator)
    )

    assert sub_agent_names(root) == ("planner", "chronicler")
    assert "operator" not in root.instruction


@pytest.mark.scenario("004-six-agents")
def test_the_domains_of_the_old_catch_all_lie_with_three_agents() -> None:
    root = tree("exec_shell", "browser_open", "payment_send")

    assert sub_agent_names(root) == ("operator", "navigator", "vault", "planner")


@pytest.mark.scenario("004-match-order")
def test_the_match_order_decides_who_gets_a_tool_that_two_agents_claim() -> None:
    everything = tuple(
        replace(spec, prefixes=("shared_",)) if spec.name != "planner" else spec
        for spec in sestet.default_specs()
        if spec.name in SIX
    )
    order: list[str] = []
    left: tuple[sestet.AgentSpec, ...] = everything
    while len(left) > 1:
        config = sestet.OrchestrationConfig(tools=tools("shared_x"), specs=left)
        (owner,) = (agent.name for agent in sestet.build_agent_tree(config).sub_agents if agent.tools)
        order.append(owner)
        left = tuple(spec for spec in left if spec.name != owner)

    assert order == ["librarian", "chronicler", "navigator", "vault", "operator"]
