"""What a vendor's reply costs, by the public price list."""

import pytest
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage

from sestet.models.vendor_wire import to_usage


def reply(model: str, url: str, provider: str = "openai") -> ModelResponse:
    usage = RequestUsage(input_tokens=1_000_000, output_tokens=1000)
    return ModelResponse(
        [TextPart("hi")], usage=usage, model_name=model, provider_name=provider, provider_url=url
    )


def test_a_known_model_has_a_price_in_whole_billionths_of_a_dollar() -> None:
    usage = to_usage(reply("gpt-4o", "https://api.openai.com/v1"))

    assert usage.input_tokens == 1_000_000
    # Dollars for a million tokens of a large model: neither free nor a fortune.
    assert 10**8 < usage.nano_dollars < 10**11


@pytest.mark.parametrize("url", ["http://127.0.0.1:11434/v1", "http://localhost:8080/v1"])
def test_a_server_of_ones_own_costs_nothing(url: str) -> None:
    assert to_usage(reply("qwen3:8b", url, "openai-compatible")).nano_dollars == 0
