"""The price of a vendor's reply, by the public price list."""

from collections.abc import AsyncGenerator
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage

from sestet.config.settings import PriceSettings, ProviderSettings
from sestet.core.model import ModelItem, ModelReply, ModelRequest, Usage
from sestet.models.vendor import VendorModel
from sestet.models.vendor.wire import price_of, to_usage

KNOWN = [
    ("gpt-4o", "openai", "https://api.openai.com/v1"),
    ("claude-sonnet-4-5", "anthropic", "https://api.anthropic.com"),
    ("gemini-2.5-pro", "google", "https://generativelanguage.googleapis.com"),
]


def reply(model: str, provider: str, url: str, cached: int = 0) -> ModelResponse:
    usage = RequestUsage(input_tokens=100_000, output_tokens=1000, cache_read_tokens=cached)
    return ModelResponse(
        [TextPart("hi")], usage=usage, model_name=model, provider_name=provider, provider_url=url
    )


@pytest.mark.parametrize(("model", "provider", "url"), KNOWN)
def test_a_known_model_has_a_price_in_whole_billionths_of_a_dollar(
    model: str, provider: str, url: str
) -> None:
    usage = to_usage(reply(model, provider, url))

    assert usage.input_tokens == 100_000
    # Dollars for a million tokens of a large model: neither free nor a fortune.
    assert 10**7 < usage.nano_dollars < 10**10


@pytest.mark.parametrize(("model", "provider", "url"), KNOWN)
def test_what_the_vendor_had_kept_is_cheaper(model: str, provider: str, url: str) -> None:
    fresh, kept = to_usage(reply(model, provider, url)), to_usage(reply(model, provider, url, 90_000))

    assert (kept.input_tokens, kept.cached_tokens) == (100_000, 90_000)
    assert kept.nano_dollars < fresh.nano_dollars


@pytest.mark.parametrize("url", ["http://127.0.0.1:11434/v1", "http://localhost:8080/v1"])
def test_a_server_of_ones_own_costs_nothing(url: str) -> None:
    assert to_usage(reply("qwen3:8b", "openai-compatible", url)).nano_dollars == 0


def test_a_price_that_the_list_does_not_have_is_unknown_and_not_nothing() -> None:
    assert price_of(reply("a-model-of-tomorrow", "openai", "https://api.openai.com/v1")) is None


@pytest.mark.parametrize("price", ["NaN", "sNaN", "Infinity", "-Infinity", "-0.01"])
def test_a_price_that_is_no_amount_of_money_is_unknown(price: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def cost(self: Any) -> Any:  # Any: the library's own types
        return SimpleNamespace(total_price=Decimal(price))

    monkeypatch.setattr(ModelResponse, "cost", cost)

    answer = reply("gpt-4o", "openai", "https://api.openai.com/v1")
    assert price_of(answer) is None
    assert to_usage(answer).nano_dollars == 0


@pytest.mark.parametrize(
    ("settings", "model", "known"),
    [
        (ProviderSettings(api_key="k"), "gpt-4o", True),
        (ProviderSettings(api_key="k"), "a-model-of-tomorrow", False),
        (ProviderSettings(type="anthropic", api_key="k"), "claude-sonnet-4-5", True),
        (ProviderSettings(base_url="http://127.0.0.1:9/v1"), "qwen3:8b", False),
    ],
)
async def test_the_list_says_before_any_call_whether_it_has_a_price(
    settings: ProviderSettings, model: str, known: bool
) -> None:
    named = VendorModel("vendor", settings, model)

    assert named.has_price() is known
    await named.close()


class _Answering:
    """An open client that gives one reply."""

    def __init__(self, usage: Usage) -> None:
        self._reply = ModelReply("hi", usage=usage)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        yield self._reply


@pytest.mark.parametrize(
    ("price", "nano_dollars", "free"),
    [
        (PriceSettings(2.0, 10.0), 100 * 2_000 + 20 * 10_000, False),
        (PriceSettings(2.0, 10.0, 0.5), 60 * 2_000 + 40 * 500 + 20 * 10_000, False),
        (PriceSettings(0, 0), 0, True),
    ],
    ids=["no discount", "cached tokens are cheaper", "free"],
)
async def test_the_price_in_the_settings_replaces_that_of_the_list(
    monkeypatch: pytest.MonkeyPatch, price: PriceSettings, nano_dollars: int, free: bool
) -> None:
    model = VendorModel("home", ProviderSettings(prices={"new": price}), "new")
    monkeypatch.setattr(model, "_wire", _Answering(Usage(100, 20, 7, 40)))

    (reply,) = [item async for item in model.stream(ModelRequest("a", "", (), ()))]

    assert isinstance(reply, ModelReply)
    assert (reply.usage, reply.free) == (Usage(100, 20, nano_dollars, 40), free)
    assert model.has_price()
