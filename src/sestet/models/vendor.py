"""The models of vendors and of local servers; what talks to them is loaded on first use."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sestet.config.settings import ProviderSettings, Settings
from sestet.core.errors import ConfigError, ModelError
from sestet.core.model import ModelItem, ModelRequest
from sestet.core.schema import suggest

if TYPE_CHECKING:
    from sestet.models.vendor_wire import Wire

#: The id of the built-in model: a name that `agent.provider` may have without an entry under `providers`.
_BUILT_IN = "offline"


class VendorModel:
    """A model behind a provider of the settings. Making one is free; the first call opens the client."""

    def __init__(
        self,
        provider_id: str,
        settings: ProviderSettings,
        model: str,
        *,
        connect_timeout: float = 10.0,
        # Before the first piece of a reply as well: a small machine reads a long prompt for minutes.
        idle_timeout: float = 300.0,
    ) -> None:
        self._provider_id = provider_id
        self._settings = settings
        self._model = model
        self._timeouts = (connect_timeout, idle_timeout)
        self._wire: Wire | None = None
        self._opening = Lock()

    @property
    def name(self) -> str:
        return f"{self._provider_id}/{self._model}"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        # In a thread: loading the vendor's package takes more than a second, and the screen must not freeze.
        wire = self._wire or await asyncio.to_thread(self._open)
        async with aclosing(wire.stream(request)) as items:
            async for item in items:
                yield item

    async def close(self) -> None:
        wire, self._wire = self._wire, None
        if wire:
            await wire.close()

    def _open(self) -> "Wire":
        # Agents that start at the same time share one client.
        with self._opening:
            if self._wire is None:
                self._wire = self._load()
            return self._wire

    def _load(self) -> "Wire":
        try:
            from sestet.models.vendor_errors import Endpoint
            from sestet.models.vendor_wire import OPENAI_URL, Wire
        except ImportError as error:
            raise ModelError(
                f"The model '{self.name}' needs a package that is not installed ({error}): "
                "pip install 'sestet[openai]'"
            ) from error
        base_url, api_key = self._settings.base_url or OPENAI_URL, self._settings.api_key
        return Wire(Endpoint(self._provider_id, self._model, base_url, api_key, *self._timeouts))


def vendor_model(settings: Settings) -> VendorModel:
    """The model that ``agent.provider`` and ``agent.model`` name; nothing is loaded or called yet."""
    provider_id, model = settings.agent.provider, settings.agent.model.strip()
    provider = settings.providers.get(provider_id)
    problems: list[str] = []
    if provider is None:
        near = suggest(provider_id, [*settings.providers, _BUILT_IN])
        problems.append(f"agent.provider: {provider_id!r} is not under providers{near}")
    else:
        problems.extend(f"providers.{provider_id}.{problem}" for problem in _problems(provider))
    if not model:
        problems.append("agent.model: is empty; write the name that the provider has for the model")
    if provider is None or problems:
        raise ConfigError(problems)
    return VendorModel(provider_id, provider, model)


def _problems(provider: ProviderSettings) -> Iterator[str]:
    if provider.base_url and not _is_address(provider.base_url):
        yield f"baseUrl: {provider.base_url!r} is not an address; write it as http://127.0.0.1:11434/v1"
    if not provider.base_url and not provider.api_key:
        yield "apiKey: is empty, and the vendor's own address (no baseUrl) needs a key"
    if not (provider.api_key.isascii() and provider.api_key.isprintable()):
        # A key with a line break or a typographic dash would fail far from here, in the words of a codec.
        yield "apiKey: has characters that no key has; was more than the key copied?"


def _is_address(text: str) -> bool:
    try:
        address = urlsplit(text)
        return address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        return False
