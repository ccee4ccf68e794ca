"""Chooses the model of each agent from the settings."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from threading import Thread
from typing import TYPE_CHECKING

from sestet.config import Settings
from sestet.config.installation import install_command
from sestet.config.vendors import LOCAL, OFFLINE, SCRIPTED
from sestet.core.agent import Agent, AgentSpec
from sestet.core.errors import ConfigError, ModelError
from sestet.core.model import Model
from sestet.core.offer import fit_to_tools
from sestet.core.schema import suggest
from sestet.models.fallback import FallbackModel
from sestet.models.files.catalogue import catalogue, model_file
from sestet.models.metered import GuardedModel
from sestet.models.offline import OfflineModel
from sestet.models.provider import (
    LOCAL_PACKAGE,
    NamedModel,
    is_installed,
    vendor_problems,
)
from sestet.models.rules import RuleModel, read_rules

if TYPE_CHECKING:
    from sestet.models.router import Router

#: The router gives the right owner less than this for one request in five hundred of the routing set.
_POSSIBLE = 0.02


class Models:
    """The model of each agent: its own where the settings name one, else the default."""

    def __init__(
        self,
        settings: Settings,
        root: Agent,
        specs: Sequence[AgentSpec],
        given: Model | None,
        check: Callable[[], None] | None = None,
    ) -> None:
        """``check`` is called before each call of a model that may cost money, and raises to prevent it."""
        self._settings = settings
        self._tools = {agent.name: agent.tools or () for agent in root.sub_agents or (root,)}
        self._specs = specs
        self._built: dict[tuple[str, str], Model] = {}
        self._openers: list[Callable[[], object]] = []
        self._given = given
        self._check = check
        self.default = self._chosen(_default(settings)) if given is None else self._guarded(given)
        self._own: dict[str, Model] = {}
        if given is None:
            for name in settings.agents:
                self._own[name] = self._chosen(_own(settings, name))

    def of(self, agent_name: str) -> Model:
        return self._own.get(agent_name, self.default)

    def is_real(self, agent_name: str) -> bool:
        """Whether an agent has another model than the built-in one."""
        own = self._settings.agents.get(agent_name)
        provider = (own and own.provider) or self._settings.agent.provider
        return self._given is not None or provider != OFFLINE

    @cached_property
    def router(self) -> "Router":
        """Routes requests without a language model. It loads its weights on first use."""
        from sestet.models.router import open_router

        return open_router(self._specs)

    def warm_up(self) -> None:
        """Load the models' packages and files while the person still writes: it takes over a second."""
        if self._openers:
            # Not a daemon thread: the interpreter must not exit while a package is being loaded.
            Thread(target=self._open_all, name="warm-up").start()

    def _open_all(self) -> None:
        for open_model in self._openers:
            # The first call of the model raises the same error.
            with suppress(ModelError):
                open_model()

    def _chosen(self, named: NamedModel) -> Model:
        """The model with its fallbacks; guarded, unless all of them run on this machine."""
        named_too = () if named.provider == OFFLINE else _fallbacks(self._settings)
        providers = {each.provider for each in (named, *named_too)}
        own = all(each in (OFFLINE, SCRIPTED) or is_local(self._settings, each) for each in providers)
        model = self._with_fallback(named)
        return model if own else self._guarded(model)

    def _guarded(self, model: Model) -> Model:
        return model if self._check is None else GuardedModel(model, self._check)

    def _with_fallback(self, named: NamedModel) -> Model:
        first, *others = dict.fromkeys(self._build(each) for each in (named, *_fallbacks(self._settings)))
        if not others or named.provider == OFFLINE:  # the built-in model does not fail
            return first
        return FallbackModel([first, *others])

    def _build(self, named: NamedModel) -> Model:
        key = (named.provider, named.model)
        if key not in self._built:
            self._built[key] = self._make(named)
        return self._built[key]

    def _make(self, named: NamedModel) -> Model:
        if named.provider == OFFLINE:
            return OfflineModel(self._specs, self._tools, lambda: self.router)
        if is_scripted(self._settings, named.provider):
            return RuleModel(named.model)
        if is_local(self._settings, named.provider):
            return self._local(named)
        from sestet.models.retry import Pacing, RetryingModel
        from sestet.models.vendor import vendor_model

        vendor, provider = vendor_model(self._settings, named), self._settings.providers[named.provider]
        self._openers.append(vendor.open)
        patient = RetryingModel(vendor, Pacing(provider.retries))
        return self._small(patient) if provider.tool_calls == "text" else patient

    def _local(self, named: NamedModel) -> Model:
        from sestet.models.local import LocalModel

        local = LocalModel(named.model, model_file(named.model), self._settings.local)
        self._openers.append(local.open)
        return self._small(local)

    def _small(self, model: Model) -> Model:
        from sestet.models.small.model import SmallModel, leading_rules

        # Its prompt shows the examples: leave out those whose tools are not there.
        specs = [
            fit_to_tools(spec, (tool.name for tool in self._tools.get(spec.name, ()))) for spec in self._specs
        ]
        if not self._settings.agent.lead_small_models:
            return SmallModel(model, specs, self._possible_owners)
        lead = leading_rules(self._specs, self._tools, lambda: self.router)
        return SmallModel(model, specs, self._possible_owners, lead)

    def _possible_owners(self, request: str) -> Collection[str]:
        scores = self.router.route(request).scores
        return [name for name, share in scores.items() if share >= _POSSIBLE]

    async def close(self) -> None:
        for model in (self._given, *self._built.values()):
            if model is not None:
                await model.close()


def check_models(settings: Settings) -> None:
    """Raise if the settings name a model that cannot work; opens and writes nothing."""
    problems: list[str] = []
    for named in named_models(settings):
        if is_local(settings, named.provider):
            problems += _local_problems(named)
        elif is_scripted(settings, named.provider):
            read_rules(named.model, named.model_key)
        elif named.provider != OFFLINE:
            problems += vendor_problems(settings, named)
    if problems:
        raise ConfigError(list(dict.fromkeys(problems)))


def is_local(settings: Settings, provider_id: str) -> bool:
    """Whether this id means models in this process. An entry ``local`` under providers takes precedence."""
    return provider_id == LOCAL and LOCAL not in settings.providers


def is_scripted(settings: Settings, provider_id: str) -> bool:
    """Whether this id means a file of rules. An entry ``scripted`` under providers takes precedence."""
    return provider_id == SCRIPTED and SCRIPTED not in settings.providers


def is_small(settings: Settings, agent_name: str = "") -> bool:
    """Whether a small model may answer for this agent, or by default. Then a person approves every effect."""
    named = _own(settings, agent_name) if agent_name in settings.agents else _default(settings)
    return any(_is_small(settings, each.provider) for each in (named, *_fallbacks(settings)))


def _is_small(settings: Settings, provider_id: str) -> bool:
    provider = settings.providers.get(provider_id)
    return is_local(settings, provider_id) or (provider is not None and provider.tool_calls == "text")


def _local_problems(named: NamedModel) -> Iterator[str]:
    """Why the model cannot run on this machine; loads nothing."""
    if not is_installed(LOCAL_PACKAGE):
        needs = f"needs a package that is not installed: {install_command('local')}"
        yield f"{named.provider_key}: 'local' {needs}"
    if not named.model:
        first = next(iter(catalogue()))
        yield f"{named.model_key}: is empty; choose one with: sestet models use {first}"
    elif not model_file(named.model).is_file():
        known = named.model in catalogue()
        way_out = f": sestet models pull {named.model}" if known else suggest(named.model, list(catalogue()))
        yield f"{named.model_key}: the model {named.model!r} is not on this machine{way_out}"


def named_models(settings: Settings) -> Iterator[NamedModel]:
    """Every model that the settings name, also one that cannot work."""
    yield _default(settings)
    for name in settings.agents:
        yield _own(settings, name)
    yield from _fallbacks(settings)


def _default(settings: Settings) -> NamedModel:
    return NamedModel(settings.agent.provider, settings.agent.model.strip(), "agent.provider", "agent.model")


def _own(settings: Settings, agent_name: str) -> NamedModel:
    own, default = settings.agents[agent_name], _default(settings)
    key = f"agents.{agent_name}"
    return NamedModel(
        own.provider or default.provider,
        own.model.strip() or default.model,
        f"{key}.provider" if own.provider else default.provider_key,
        f"{key}.model" if own.model else default.model_key,
    )


def _fallbacks(settings: Settings) -> Iterator[NamedModel]:
    for text in settings.agent.fallback:
        # A model's name may contain a slash; a provider id does not.
        provider, _, model = text.strip().partition("/")
        yield NamedModel(provider, model.strip(), "agent.fallback", "agent.fallback")
