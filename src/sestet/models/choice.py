"""Which model each agent has."""

from collections.abc import Sequence
from dataclasses import replace

from sestet.config import Settings
from sestet.core.agent import Agent, AgentSpec
from sestet.core.model import Model

OFFLINE = "offline"


class Models:
    """The model of each agent: its own where the settings name one, else everybody's."""

    def __init__(
        self, settings: Settings, root: Agent, specs: Sequence[AgentSpec], given: Model | None
    ) -> None:
        self._settings = settings
        self._tools = {agent.name: agent.tools or () for agent in root.sub_agents or (root,)}
        self._specs = specs
        self._built: dict[tuple[str, str], Model] = {}
        self.default = given or self._build(settings.agent.provider, settings.agent.model)
        self._own: dict[str, Model] = {}
        if given is None:
            for name in settings.agents:
                self._own[name] = self._build(*_named(settings, name))

    def of(self, agent_name: str) -> Model:
        return self._own.get(agent_name, self.default)

    def _build(self, provider: str, model: str) -> Model:
        if (provider, model) not in self._built:
            self._built[provider, model] = self._make(provider, model)
        return self._built[provider, model]

    def _make(self, provider: str, model: str) -> Model:
        if provider == OFFLINE:
            from sestet.models.offline import OfflineModel

            return OfflineModel(self._specs, self._tools)
        return _vendor(self._settings, provider, model)

    async def close(self) -> None:
        for model in {id(model): model for model in (self.default, *self._built.values())}.values():
            await model.close()


def check_models(settings: Settings) -> None:
    """Raise for a model that the settings name and nobody can be; nothing is opened or written."""
    named = {
        (settings.agent.provider, settings.agent.model),
        *(_named(settings, name) for name in settings.agents),
    }
    for provider, model in sorted(named):
        if provider != OFFLINE:
            _vendor(settings, provider, model)


def _named(settings: Settings, agent_name: str) -> tuple[str, str]:
    own = settings.agents[agent_name]
    return own.provider or settings.agent.provider, own.model or settings.agent.model


def _vendor(settings: Settings, provider: str, model: str) -> Model:
    from sestet.models.vendor import vendor_model

    return vendor_model(replace(settings, agent=replace(settings.agent, provider=provider, model=model)))
