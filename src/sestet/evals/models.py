"""Which model is tried, by the words of ``--model``."""

from sestet.config import Settings
from sestet.core.agent import Agent
from sestet.core.errors import ConfigError
from sestet.core.record import replace
from sestet.evals.result import Subject
from sestet.evals.sets import digest
from sestet.models.choice import OFFLINE, check_models

CONFIGURED = "configured"


def settings_for(settings: Settings, model: str) -> Settings:
    """The settings under which this model answers for every agent; ``configured``: whichever are set.

    There is no fallback: a figure is of one model.
    """
    alone = replace(settings, agent=replace(settings.agent, fallback=()))
    if model == CONFIGURED:
        return alone
    provider, _, name = model.partition("/")
    chosen = replace(alone, agent=replace(alone.agent, provider=provider, model=name), agents={})
    try:
        check_models(chosen)
    except ConfigError as error:
        problems = (f"--model {model}: {problem}" for problem in error.problems)
        raise ConfigError([*problems, f"write {OFFLINE}, {CONFIGURED}, or provider/model"]) from error
    return chosen


def model_subject(root: Agent, names: list[str]) -> Subject:
    """The models of these names, with the prompts of all agents."""
    shown = [
        [agent.instruction, [[tool.name, tool.description, tool.parameters] for tool in agent.tools or ()]]
        for agent in (root, *root.sub_agents)
    ]
    return Subject(", ".join(dict.fromkeys(names)), basis_digest=digest(shown))
