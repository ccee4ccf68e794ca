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
