"""The models of vendors and of model servers. The vendor's client is loaded on first use."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from threading import Lock
from typing import TYPE_CHECKING

from sestet.config.installation import install_command
from sestet.config.settings import PriceSettings, ProviderSettings, Settings
from sestet.core.errors import ConfigError, ModelError
from sestet.core.model import ModelItem, ModelReply, ModelRequest
from sestet.core.record import replace
from sestet.models.provider import Endpoint, NamedModel, vendor_problems

if TYPE_CHECKING:
    from sestet.models.vendor.wire import Wire


class VendorModel:
    """A model of one provider. Creating it costs nothing; the first call opens the client."""

    def __init__(self, provider_id: str, settings: ProviderSettings, model: str) -> None:
        self._endpoint = Endpoint(provider_id, model, settings)
        self._wire: Wire | None = None
        self._opening = Lock()

    @property
    def name(self) -> str:
        return f"{self._endpoint.provider_id}/{self._endpoint.model}"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        # In a thread: loading the vendor's package takes more than a second and would freeze the screen.
        wire = self._wire or await asyncio.to_thread(self.open)
        async with aclosing(wire.stream(request)) as items:
            async for item in items:
                yield self._priced(item) if isinstance(item, ModelReply) else item

    async def close(self) -> None:
        wire, self._wire = self._wire, None
        if wire:
            await wire.close()

    def has_price(self) -> bool:
        """Whether the settings or the price list know its price, so that a limit of dollars holds for it."""
        return self._price is not None or self.open().has_price()

    def _priced(self, reply: ModelReply) -> ModelReply:
        """The reply with the price of the settings, if they have one."""
        if (price := self._price) is None:
            return reply
        used = reply.usage
        cached = used.cached_tokens * (price.cached_input or price.input)
        fresh = (used.input_tokens - used.cached_tokens) * price.input
        # Dollars for a million tokens are thousands of billionths for one.
        nano_dollars = max(0, round((fresh + cached + used.output_tokens * price.output) * 1000))
        is_free = not (price.input or price.output)
        return reply._replace(usage=replace(used, nano_dollars=nano_dollars), free=is_free)

    @property
    def _price(self) -> PriceSettings | None:
        return self._endpoint.settings.prices.get(self._endpoint.model)

    def open(self) -> "Wire":
        """Load the vendor's package and create the client, once for all agents."""
        with self._opening:
            if self._wire is None:
                self._wire = self._load()
            return self._wire

    def _load(self) -> "Wire":
        try:
            from sestet.models.vendor.wire import Wire

            return Wire(self._endpoint)
        except ImportError as error:
            raise ModelError(
                f"The model '{self.name}' needs a package that is not installed ({error.name}): "
                f"{install_command(self._endpoint.vendor.extra)}"
            ) from error


def vendor_model(settings: Settings, named: NamedModel) -> VendorModel:
    """A model that the settings name; nothing is loaded or called yet."""
    if problems := vendor_problems(settings, named):
        raise ConfigError(problems)
    return VendorModel(named.provider, settings.providers[named.provider], named.model)
