"""The agents as they are tried: every specialist with every tool of its room, whatever is switched on."""

from collections.abc import Sequence
from dataclasses import replace

from sestet.agents import room_names, room_tools
from sestet.api import OrchestrationConfig, build_agent_tree
from sestet.config import Settings
from sestet.core.agent import Agent, AgentSpec
from sestet.core.tool import Tool
from sestet.parts import prompt_profile


def trial_tree(settings: Settings, specs: Sequence[AgentSpec], tools: Sequence[Tool] | None = None) -> Agent:
    """The orchestrator with its real prompt, and all of the specialists below it.

    Nothing is run in a trial, so tools need no services; None means those of all rooms. A specialist without
    tools is there as well: what belongs to it has to be told apart from the rest already.
    """
    if tools is None:
        tools = [tool for name in room_names() for tool in room_tools(name)]
    config = OrchestrationConfig(
        tools=tools,
        system_prompt=settings.agent.system_prompt,
        max_delegation_rounds=settings.agent.max_delegation_rounds,
        prompt_profile=prompt_profile(settings),
        specs=[replace(spec, always_include=True) for spec in specs],
    )
    return build_agent_tree(config)
