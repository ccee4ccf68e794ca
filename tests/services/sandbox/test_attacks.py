"""Attacks on the sandbox: each works without it, and none works in it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.services.sandbox.attacks import PARTS
from tests.services.sandbox.conftest import Setting
from tests.services.sandbox.ordinary import ROOT
from tests.services.sandbox.trial import Report


@pytest.mark.parametrize("part", PARTS)
def test_every_attack_works_without_the_sandbox_and_none_in_it(
    part: str, setting: Setting, base: Path, run_module: Callable[..., str]
) -> None:
    report: Report = json.loads(run_module("trial", setting.isolation, part, str(base)))

    assert (report["user"] == 0) == (setting.user == "root")
    tried = [attack.name for attack in PARTS[part] if setting.isolation not in attack.except_in]
    assert list(report["controls"]) == list(report["confined"]) == tried
    assert {name: why for name, why in report["controls"].items() if why != "ESCAPED"} == {}
    assert [name for name, result in report["confined"].items() if result == "ESCAPED"] == []
    assert not report["is_damaged"]


def test_the_page_of_the_sandbox_counts_the_attacks() -> None:
    page = (ROOT / "docs" / "sandbox.md").read_text(encoding="utf-8")
    counts = [len(attacks) for attacks in PARTS.values()]
    assert f"tries {sum(counts)} attacks" in page
    assert [f"| {count} |" in page for count in counts] == [True] * len(counts)


def test_ordinary_work_succeeds_in_the_sandbox(
    setting: Setting, base: Path, run_module: Callable[..., str]
) -> None:
    report: dict[str, list[str]] = json.loads(run_module("daily", setting.isolation, str(base)))

    assert len(report) > 10
    failed = {name: got for name, got in report.items() if not got[1].endswith(got[0])}
    assert failed == {}
