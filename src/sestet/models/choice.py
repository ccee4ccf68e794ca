"""Which model each agent has."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from threading import Thread
from typing import TYPE_CHECKING

from sestet.config import Settings
from sestet.core.agent import Agent, AgentSpec
from sestet.core.errors import ConfigError, ModelError
from sestet.core.model import Model
from sestet.models.named import LOCAL, OFFLINE, NamedModel

if TYPE_CHECKING:
    from sestet.models.router import Router

#: On the routing set, one owner in five hundred is less probable than this; few others are more.
_POSSIBLE = 0.02


class Models:
    """The model of each agent: its own where the settings name one, else everybody's."""

    def __init__(
        self, settings: Settings, root: Agent, specs: Sequence[AgentSpec], given: Model | None
    ) -> None:
        self._settings = settings
        self._tools = {agent.name: agent.tools or () for agent in root.sub_agents or (root,)}
        self._specs = specs
        self._built: dict[tuple[str, str], Model] = {}
        self._openers: list[Callable[[], object]] = []
        self._given = given
        self.default = self._with_fallback(_everybodys(settings)) if given is None else given
        self._own: dict[str, Model] = {}
        if given is None:
            for name in settings.agents:
                self._own[name] = self._with_fallback(_own(settings, name))

    def of(self, agent_name: str) -> Model:
        return self._own.get(agent_name, self.default)

    def is_real(self, agent_name: str) -> bool:
        """Whether an agent has another model than the built-in one."""
        own = self._settings.agents.get(agent_name)
        provider = (own and own.provider) or self._settings.agent.provider
        return self._given is not None or provider != OFFLINE

    @cached_property
    def router(self) -> "Router":
        """Tells whose work a request is without a model; it loads what it needs when it is first asked."""
        from sestet.models.router import open_router

        return open_router(self._specs)

    def warm_up(self) -> None:
        """Load what the models need while the person is still writing: it takes more than a second."""
        if self._openers:
            # A thread that the interpreter waits for: what is being loaded must not be torn down under it.
            Thread(target=self._open_all, name="warm-up").start()

    def _open_all(self) -> None:
        for open_model in self._openers:
            # Whoever asks the model is told.
            with suppress(ModelError):
                open_model()

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

            return OfflineModel(self._specs, self._tools, lambda: self.router)
        if is_local(self._settings, named.provider):
            return self._local(named)
        from sestet.models.retry import Pacing, RetryingModel
        from sestet.models.vendor import vendor_model

        vendor, provider = vendor_model(self._settings, named), self._settings.providers[named.provider]
        self._openers.append(vendor.open)
        patient = RetryingModel(vendor, Pacing(provider.retries))
        return self._small(patient) if provider.tool_calls == "text" else patient

    def _local(self, named: NamedModel) -> Model:
        from sestet.models.files.catalogue import model_file
        from sestet.models.local import LocalModel

        local = LocalModel(named.model, model_file(named.model), self._settings.local)
        self._openers.append(local.open)
        return self._small(local)

    def _small(self, model: Model) -> Model:
        from sestet.models.small.model import SmallModel

        return SmallModel(model, self._specs, self._possible_owners)

    def _possible_owners(self, request: str) -> Collection[str]:
        scores = self.router.route(request).scores
        return [name for name, share in scores.items() if share >= _POSSIBLE]

    async def close(self) -> None:
        for model in (self._given, *self._built.values()):
            if model is not None:
                await model.close()


def check_models(settings: Settings) -> None:
    """Raise for a model that the settings name and nobody can be; nothing is opened or written."""
    problems: list[str] = []
    for named in named_models(settings):
        if is_local(settings, named.provider):
            problems += _local_problems(named)
        elif named.provider != OFFLINE:
            from sestet.models.vendor import vendor_model

            try:
                vendor_model(settings, named)
            except ConfigError as error:
                problems += error.problems
    if problems:
        raise ConfigError(list(dict.fromkeys(problems)))


def is_local(settings: Settings, provider_id: str) -> bool:
    """Whether this id means models in this process: an entry of that name under providers goes before."""
    return provider_id == LOCAL and LOCAL not in settings.providers


def is_small(settings: Settings, agent_name: str = "") -> bool:
    """Whether a small model may answer for this agent, or for everybody: then every effect is asked about."""
    named = _own(settings, agent_name) if agent_name in settings.agents else _everybodys(settings)
    return any(_is_small(settings, each.provider) for each in (named, *_fallbacks(settings)))


def _is_small(settings: Settings, provider_id: str) -> bool:
    provider = settings.providers.get(provider_id)
    return is_local(settings, provider_id) or (provider is not None and provider.tool_calls == "text")


def _local_problems(named: NamedModel) -> Iterator[str]:
    """Why there is no such model on this machine; nothing is loaded to find out."""
    from sestet.core.schema import suggest
    from sestet.models.endpoint import is_installed
    from sestet.models.files.catalogue import catalogue, model_file
    from sestet.models.llama import PACKAGE
    from sestet.models.local import INSTALL

    if not is_installed(PACKAGE):
        yield f"{named.provider_key}: 'local' needs a package that is not installed: {INSTALL}"
    if not named.model:
        first = next(iter(catalogue()))
        yield f"{named.model_key}: is empty; choose one with: sestet models use {first}"
    elif not model_file(named.model).is_file():
        known = named.model in catalogue()
        way_out = f": sestet models pull {named.model}" if known else suggest(named.model, list(catalogue()))
        yield f"{named.model_key}: the model {named.model!r} is not on this machine{way_out}"


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
