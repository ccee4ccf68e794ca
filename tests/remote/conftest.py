"""Fixtures for the tests of remote agents."""

import pytest


@pytest.fixture(autouse=True)
def no_proxy_on_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
