"""Which model each agent has."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

from sestet.config import Settings
from sestet.core.agent import Agent, AgentSpec
from sestet.core.errors import ConfigError, ModelError
from sestet.core.model import Model
from sestet.models.named import OFFLINE, NamedModel

# A program that brings its own model, or has the built-in one, loads none of the others.
if TYPE_CHECKING:
    from sestet.models.vendor import VendorModel


class Models:
    """The model of each agent: its own where the settings name one, else everybody's."""

    def __init__(
        self, settings: Settings, root: Agent, specs: Sequence[AgentSpec], given: Model | None
    ) -> None:
        self._settings = settings
        self._tools = {agent.name: agent.tools or () for agent in root.sub_agents or (root,)}
        self._specs = specs
        self._built: dict[tuple[str, str], Model] = {}
        self._vendors: list[VendorModel] = []
        self._given = given
        self.default = given or self._with_fallback(_everybodys(settings))
        self._own: dict[str, Model] = {}
        if given is None:
            for name in settings.agents:
                self._own[name] = self._with_fallback(_own(settings, name))

    def of(self, agent_name: str) -> Model:
        return self._own.get(agent_name, self.default)

    def warm_up(self) -> None:
        """Load what the vendors need while the person is still writing: it takes more than a second."""
        if self._vendors:
            # A thread that the interpreter waits for: what is being loaded must not be torn down under it.
            Thread(target=self._open_vendors, name="warm-up").start()

    def _open_vendors(self) -> None:
        for vendor in self._vendors:
            # Whoever asks the model is told.
            with suppress(ModelError):
                vendor.open()

    def _with_fallback(self, named: NamedModel) -> Model:
        first, *others = dict.fromkeys(self._build(each) for each in (named, *_fallbacks(self._settings)))
        if not others or named.provider == OFFLINE:  # the built-in model does not fail
            return first
        from sestet.models.fallback import FallbackModel

        return FallbackModel([first, *others])

    def _build(self, named: NamedModel) -> Model:
        key = (named.provider, named.model)
        if key not in self._built:
            self._built[key] = self._make(named)
        return self._built[key]

    def _make(self, named: NamedModel) -> Model:
        if named.provider == OFFLINE:
            from sestet.models.offline import OfflineModel

            return OfflineModel(self._specs, self._tools)
        from sestet.models.retry import Pacing, RetryingModel
        from sestet.models.vendor import vendor_model

        vendor = vendor_model(self._settings, named)
        self._vendors.append(vendor)
        return RetryingModel(vendor, Pacing(self._settings.providers[named.provider].retries))

    async def close(self) -> None:
        for model in (self._given, *self._built.values()):
            if model:
                await model.close()


def check_models(settings: Settings) -> None:
    """Raise for a model that the settings name and nobody can be; nothing is opened or written."""
    problems: list[str] = []
    for named in named_models(settings):
        if named.provider != OFFLINE:
            from sestet.models.vendor import vendor_model

            try:
                vendor_model(settings, named)
            except ConfigError as error:
                problems += error.problems
    if problems:
        raise ConfigError(list(dict.fromkeys(problems)))


def named_models(settings: Settings) -> Iterator[NamedModel]:
    """Every model that the settings name, also one that nobody can be."""
    yield _everybodys(settings)
    for name in settings.agents:
        yield _own(settings, name)
    yield from _fallbacks(settings)


def _everybodys(settings: Settings) -> NamedModel:
    return NamedModel(settings.agent.provider, settings.agent.model.strip(), "agent.provider", "agent.model")


def _own(settings: Settings, agent_name: str) -> NamedModel:
    own, everybodys = settings.agents[agent_name], _everybodys(settings)
    key = f"agents.{agent_name}"
    return NamedModel(
        own.provider or everybodys.provider,
        own.model.strip() or everybodys.model,
        f"{key}.provider" if own.provider else everybodys.provider_key,
        f"{key}.model" if own.model else everybodys.model_key,
    )


def _fallbacks(settings: Settings) -> Iterator[NamedModel]:
    for text in settings.agent.fallback:
        # Some vendors' names of models have a slash themselves; an id of a provider has none.
        provider, _, model = text.strip().partition("/")
        yield NamedModel(provider, model.strip(), "agent.fallback", "agent.fallback")
