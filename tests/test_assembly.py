"""Settings for a small or local model, and their effect on every turn."""

import pytest

from sestet.assembly import limits_of, policy_of, prompt_profile
from sestet.config import settings_from

LOCAL = {"agent": {"provider": "local", "model": "m"}}
AGENTS = ("orchestrator", "operator", "vault")


def test_the_result_of_a_tool_takes_at_most_a_quarter_of_a_local_models_context() -> None:
    assert limits_of(settings_from({})).tool_output == 16_000
    assert limits_of(settings_from(LOCAL)).tool_output == 8_192
    assert limits_of(settings_from({**LOCAL, "limits": {"toolOutput": 500}})).tool_output == 500


@pytest.mark.parametrize(
    ("settings", "careful"),
    [
        ({}, ()),
        (LOCAL, AGENTS),
        ({"agents": {"vault": {"provider": "local", "model": "m"}}}, ("vault",)),
        # Agents that work for a small orchestrator count as small too.
        ({**LOCAL, "agents": {"vault": {"provider": "big", "model": "m"}}, "providers": {"big": {}}}, AGENTS),
    ],
)
def test_agents_whose_changes_are_asked_about(settings: dict[str, object], careful: tuple[str, ...]) -> None:
    assert policy_of(settings_from(settings), AGENTS).careful == frozenset(careful)


def test_a_small_model_is_told_less_unless_it_is_set_otherwise() -> None:
    assert prompt_profile(settings_from({})) == "full"
    assert prompt_profile(settings_from(LOCAL)) == "compact"
    agent = {"provider": "local", "model": "m", "promptProfile": "full"}
    assert prompt_profile(settings_from({"agent": agent})) == "full"
