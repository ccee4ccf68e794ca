"""The compact profile: short enough for a small model, and with every rule that the full one has."""

from pathlib import Path

import pytest

import sestet
from sestet.agents import default_specs
from sestet.api import OrchestrationConfig, build_agent_tree
from sestet.core.tool import Tool

TOOLS = [
    Tool("fs_read"),
    Tool("browser_open"),
    Tool("secrets_get"),
    Tool("rag_retrieve"),
    Tool("memory_recall"),
]


def tree(profile: str, *more: Tool) -> sestet.Agent:
    config = OrchestrationConfig(
        tools=[*TOOLS, *more],
        system_prompt="You are Al.",
        max_delegation_rounds=3,
        prompt_profile="compact" if profile == "compact" else "full",
    )
    return build_agent_tree(config)


def test_the_compact_prompt_has_less_than_half_the_characters() -> None:
    full, compact = tree("full"), tree("compact")

    assert len(compact.instruction) < len(full.instruction) / 2
    for one, other in zip(full.sub_agents, compact.sub_agents, strict=True):
        assert len(other.instruction) < len(one.instruction) * 0.75


def test_the_compact_prompt_names_every_agent_every_rule_and_what_nobody_can_use() -> None:
    compact = tree("compact", Tool("strange_thing"))

    for agent in compact.sub_agents:
        assert f"- {agent.name}: " in compact.instruction
    for rule in (
        "You are Al.",
        "transfer_to_agent",
        "Maximum 3 delegation rounds",
        "NEVER invent",
        "`rejected`",
    ):
        assert rule in compact.instruction
    assert "`strange_thing`" in compact.instruction


def test_a_specialist_keeps_who_it_is_its_limits_and_how_it_declines() -> None:
    specs = {spec.name: spec for spec in default_specs()}
    for agent in tree("compact").sub_agents:
        spec = specs[agent.name]
        assert agent.instruction.startswith(spec.instruction.strip().splitlines()[0])
        assert "## Constraints" in agent.instruction
        assert "reject_task" in agent.instruction


def test_a_prompt_in_a_form_of_its_own_is_not_cut() -> None:
    spec = sestet.AgentSpec(
        "poet", "Writes", always_include=True, instruction="You write.\n\nIn rhymes only."
    )
    config = OrchestrationConfig(specs=[spec], prompt_profile="compact")

    assert "In rhymes only." in build_agent_tree(config).sub_agents[0].instruction


@pytest.mark.parametrize(
    ("settings", "is_compact"),
    [
        ({}, False),
        ({"agent": {"promptProfile": "compact"}}, True),
        ({"agent": {"provider": "home", "model": "m"}, "providers": {"home": {"toolCalls": "text"}}}, True),
        (
            {
                "agent": {"provider": "home", "model": "m", "promptProfile": "full"},
                "providers": {"home": {"toolCalls": "text"}},
            },
            False,
        ),
    ],
)
async def test_the_profile_follows_the_model_unless_it_is_set(
    settings: dict[str, object], is_compact: bool, tmp_path: Path
) -> None:
    async with sestet.open(settings, model=sestet.ScriptedModel(), home=tmp_path) as app:
        assert ("# Specialists" in app.root.instruction) is is_compact
