"""The price of a vendor's reply, by the public price list."""

import pytest
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage

from sestet.models.vendor.wire import to_usage

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
