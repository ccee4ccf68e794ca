"""The doctor as a service: its findings are data, and it needs no terminal."""

from pathlib import Path

import pytest

from sestet.doctor import examine


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESTET_HOME", str(tmp_path / "data"))


async def test_a_fresh_machine_has_no_problem(tmp_path: Path) -> None:
    (tmp_path / "sestet.yaml").write_text("agent:\n  provider: offline\n", encoding="utf-8")

    checks = {check.name: check for check in await examine(tmp_path / "sestet.yaml")}

    assert {check.status for check in checks.values()} <= {"ok", "warning"}
    assert checks["settings"].detail == str(tmp_path / "sestet.yaml")
    assert checks["graph"].detail == "empty"


async def test_a_database_that_cannot_be_read_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "sestet.yaml").write_text("graph:\n  enabled: true\n", encoding="utf-8")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "sestet.db").write_text("no database at all" * 100, encoding="utf-8")

    problems = [check for check in await examine(tmp_path / "sestet.yaml") if check.status == "problem"]

    assert [check.name for check in problems] == ["database"]


@pytest.mark.parametrize(
    ("model", "limits", "statuses"),
    [
        ("a-model-of-tomorrow", "limits: {dollars: 0.5}", ["warning"]),
        ("gpt-4o", "limits: {dollars: 0.5}", ["ok"]),
        ("a-model-of-tomorrow", "limits: {tokens: 5000}", []),
    ],
    ids=["unknown", "known", "no limit"],
)
async def test_a_limit_of_dollars_that_cannot_hold_is_a_warning(
    tmp_path: Path, model: str, limits: str, statuses: list[str]
) -> None:
    providers = "providers:\n  vendor:\n    apiKey: k\n"
    agent = f"agent:\n  provider: vendor\n  model: {model}\n"
    (tmp_path / "sestet.yaml").write_text(f"{providers}{agent}{limits}\n", encoding="utf-8")

    checks = [check for check in await examine(tmp_path / "sestet.yaml") if check.name == "price limit"]

    assert [check.status for check in checks] == statuses
    assert all("limits.dollars" in check.detail and f"vendor/{model}" in check.detail for check in checks)
    assert all("limits.tokens" in check.way_out for check in checks if check.status == "warning")
