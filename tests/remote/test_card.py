"""Which redirects and addresses count as the host that the owner named."""

import httpx
import pytest

from sestet.remote.card import is_same_place


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("http://a.example/card", "http://a.example/rpc?x=1"),
        ("http://a.example", "http://A.example:80/"),
        ("https://a.example:443", "https://a.example"),
        ("http://a.example:8080", "http://a.example:8080/rpc"),
        ("http://a.example", "https://a.example"),
        ("http://[::1]:9", "http://[::1]:9/rpc"),
    ],
)
def test_the_same_host_and_port_are_one_place_also_when_they_become_safe(url: str, other: str) -> None:
    assert is_same_place(httpx.URL(url), httpx.URL(other))


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("http://a.example", "http://b.example"),
        ("http://a.example", "http://a.example.evil.example"),
        ("http://a.example", "http://x.a.example"),
        ("http://a.example", "http://a.example:8080"),
        ("http://a.example:8080", "https://a.example:8443"),
        ("http://a.example:8080", "https://a.example:8080"),
        ("https://a.example", "http://a.example"),
        ("http://a.example", "http://user:pw@a.example"),
        ("http://a.example", "http://a.example@evil.example"),
        ("http://127.0.0.1:9", "http://localhost:9"),
        ("http://a.example", "file:///a.example"),
        ("http://a.example", "/rpc"),
        ("http://a.example", ""),
    ],
)
def test_anything_else_is_another_place(url: str, other: str) -> None:
    assert not is_same_place(httpx.URL(url), httpx.URL(other))
