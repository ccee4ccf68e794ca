"""Every command ends with its stop, its limits and its parents, and nothing that it started outlives it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.services.sandbox.conftest import Setting


@pytest.mark.slow
def test_no_command_outlives_its_end_and_every_limit_holds(
    setting: Setting, base: Path, run_module: Callable[..., str]
) -> None:
    report: dict[str, str] = json.loads(run_module("lives", setting.isolation, str(base)))

    assert len(report) > 20
    assert {name: error for name, error in report.items() if error} == {}
