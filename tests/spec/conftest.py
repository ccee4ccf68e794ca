"""Registers the marker by which a test claims a scenario."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "scenario(id): the test shows this scenario of tests/spec/scenarios.py"
    )
