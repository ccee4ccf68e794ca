"""The price of a vendor's reply, by the public price list."""

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage

from sestet.config.settings import ProviderSettings
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
