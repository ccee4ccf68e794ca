"""What is tried: the embedded router, or a model with the tree of agents that it is shown."""

import time
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from sestet.agents import default_specs, room_tools
from sestet.api import OrchestrationConfig, build_agent_tree
from sestet.assembly import prompt_profile
from sestet.config import Settings
from sestet.config.vendors import OFFLINE
from sestet.core.agent import Agent, AgentSpec
from sestet.core.errors import ConfigError
from sestet.core.offer import fit_to_tools, named_tools
from sestet.core.record import replace
from sestet.core.tool import Tool
from sestet.evals.runs import Subject
from sestet.evals.sets import digest
from sestet.models.choice import check_models
from sestet.models.router import Router, open_router
from sestet.models.router.weights import FILE

CONFIGURED = "configured"


def settings_for(settings: Settings, model: str) -> Settings:
    """The settings with ``model`` for every agent; ``configured`` keeps the models that are set.

    The fallback is removed, so that each figure belongs to one model.
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
    """The models with these names, and a digest of all prompts that they are shown."""
    shown = [
        [agent.instruction, [[tool.name, tool.description, tool.parameters] for tool in agent.tools or ()]]
        for agent in (root, *root.sub_agents)
    ]
    return Subject(", ".join(dict.fromkeys(names)), basis_digest=digest(shown))


_FIRST_REQUEST = "hello"


class OpenedRouter(NamedTuple):
    router: Router
    subject: Subject


def open_embedded(specs: Sequence[AgentSpec], light: bool = False) -> OpenedRouter:
    """The loaded router, and how long loading took. The light variant has no sentence encoder."""
    started, worked = time.perf_counter(), time.process_time()
    router = open_router(specs, with_encoder=not light)
    router.route(_FIRST_REQUEST)
    subject = Subject(
        "router",
        router.variant,
        router.threshold,
        load_milliseconds=(time.perf_counter() - started) * 1000,
        load_cpu_milliseconds=(time.process_time() - worked) * 1000,
        basis_digest=sha256(FILE.read_bytes()).hexdigest(),
    )
    return OpenedRouter(router, subject)


def trial_tree(settings: Settings, specs: Sequence[AgentSpec], tools: Sequence[Tool] | None = None) -> Agent:
    """The orchestrator with its real prompt, and every specialist below it, also one without tools.

    A trial runs no tool, so tools need no services. ``None`` means the tools of all rooms.
    """
    if tools is None:
        tools = [tool for spec in default_specs() for tool in room_tools(spec.name)]
    config = OrchestrationConfig(
        tools=tools,
        system_prompt=settings.agent.system_prompt,
        max_delegation_rounds=settings.agent.max_delegation_rounds,
        prompt_profile=prompt_profile(settings),
        specs=[replace(fit_to_tools(spec, named_tools(spec)), always_include=True) for spec in specs],
    )
    return build_agent_tree(config)
