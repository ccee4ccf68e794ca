"""Secrets in addresses: masked wherever an address is shown, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.core.masking import mask_address, mask_addresses, secrets_in

KEY = "sk3Jd92hfLq0aZb81xYt"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (f"https://h.example/v1?api-key={KEY}", "https://h.example/v1?api-key=***"),
        ("https://h.example/v1?api-key=short&x=1", "https://h.example/v1?api-key=***&x=1"),
        (
            "https://h.example/v1?ACCESS%5FTOKEN=a%20b#sig=c",
            "https://h.example/v1?ACCESS%5FTOKEN=***#sig=***",
        ),
        (f"https://h.example/v1?x={KEY}", "https://h.example/v1?x=***"),
        (f"https://h.example/v1?{KEY}", "https://h.example/v1?***"),
        (f"https://h.example/hooks/{KEY}/v1", "https://h.example/hooks/***/v1"),
        ("https://h.example/v1?k=6f1c0e9a-7a51-4a52-9c56-0d3b6a1f2e4d", "https://h.example/v1?k=***"),
        ("https://anna:p%40ss@h.example:8443/v1", "https://***@h.example:8443/v1"),
        ("https://anna:p@ss@h.example/v1", "https://***@h.example/v1"),
        ("https://anna:pa/ss@h.example/v1", "https://***@h.example/v1"),
        ("anna:secret@h.example/v1", "***@h.example/v1"),
        ("https://h.example/v1?passphrase=x;sig=y", "https://h.example/v1?passphrase=***;sig=***"),
    ],
)
def test_a_secret_in_an_address_is_masked(address: str, shown: str) -> None:
    assert mask_address(address) == shown


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:11434/v1",
        "https://h.example/openai?api-version=2024-10-01-preview",
        "https://h.example/v1?model=gpt-4.1-mini-2025-04-14&encoding=utf-8",
        "http://[::1]:8080/v1",
        "",
    ],
)
def test_an_address_without_a_secret_is_shown_as_it_is(address: str) -> None:
    assert mask_address(address) == address


def test_a_mask_never_hides_the_host_behind_another() -> None:
    assert "evil.example" in mask_address("https://evil.example/@good.example")
    assert "evil.example" in mask_address("https://evil.example:8443/x?to=a@good.example")
    assert "evil.example" in mask_address("https://evil.example\\@good.example/")


def test_each_address_in_a_text_is_masked() -> None:
    text = (
        f"401 for url 'https://h.example/v1?key={KEY}', then http://a:b@i.example/ and mail to anna@x.example"
    )

    assert mask_addresses(text) == (
        "401 for url 'https://h.example/v1?key=***', then http://***@i.example/ and mail to anna@x.example"
    )


@given(st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=12), st.sampled_from("&;#"))
def test_what_is_masked_is_found_as_a_secret_too(secret: str, sign: str) -> None:
    address = f"https://h.example/v1?a=1{sign}my_api_key={secret}"

    assert secret not in mask_address(address)
    assert secret in secrets_in(address)


@given(st.text())
def test_any_text_can_be_masked(text: str) -> None:
    once = mask_address(text)
    assert mask_address(once) == once or "@" in once
    mask_addresses(f"see http://{text}")
