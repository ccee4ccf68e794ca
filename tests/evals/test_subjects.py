"""Which model is tried."""

import pytest

from sestet.config import Settings, settings_from
from sestet.core.errors import ConfigError
from sestet.evals.subjects import settings_for

SETTINGS = settings_from(
    {
        "agent": {"provider": "home", "model": "large", "fallback": ["offline"]},
        "agents": {"vault": {"model": "tiny"}},
        "providers": {"home": {"baseUrl": "http://127.0.0.1:1/v1"}},
    }
)


def test_the_configured_models_are_those_of_the_settings_without_their_fallback() -> None:
    tried = settings_for(SETTINGS, "configured")
    assert (tried.agent.model, tried.agents) == ("large", SETTINGS.agents)
    assert tried.agent.fallback == ()


def test_a_model_that_is_named_answers_for_every_agent() -> None:
    tried = settings_for(SETTINGS, "home/some/model:7b")
    assert (tried.agent.provider, tried.agent.model, tried.agents) == ("home", "some/model:7b", {})
    assert settings_for(SETTINGS, "offline").agent.provider == "offline"


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ("hme/x", "'hme' is not under providers; did you mean 'home'?"),
        ("home", "is empty"),
        ("home/", "is empty"),
    ],
)
def test_a_model_that_is_not_there_is_said_with_the_way_out(model: str, problem: str) -> None:
    with pytest.raises(ConfigError) as raised:
        settings_for(SETTINGS, model)
    first, last = raised.value.problems
    assert first.startswith(f"--model {model}: ")
    assert problem in first
    assert last == "write offline, configured, or provider/model"


def test_the_defaults_are_the_built_in_model() -> None:
    assert settings_for(Settings(), "configured").agent.provider == "offline"
