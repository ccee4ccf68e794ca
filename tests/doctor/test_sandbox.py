"""The doctor starts the sandbox, and says in plain words how commands are confined."""

import os
from pathlib import Path

import pytest

from sestet.config import settings_from
from sestet.doctor.check import Check
from sestet.doctor.sandbox import check_sandbox
from tests.services.sandbox.conftest import NO_NAMESPACES
from tests.services.sandbox.ordinary import can_make_namespaces


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "home" / "project"
    project.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SESTET_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(project)
    return project


async def check(**sandbox: object) -> list[Check]:
    return await check_sandbox(settings_from({"sandbox": sandbox}))


@pytest.mark.skipif(not can_make_namespaces(), reason=NO_NAMESPACES)
async def test_the_isolation_that_works_is_named_with_what_it_means() -> None:
    (found,) = await check(isolation="namespaces")
    assert found.status == "ok"
    assert found.detail.startswith("namespaces, as ")
    assert "commands see the workspace" in found.detail
    assert ("61187" in found.detail) == (os.geteuid() == 0)


async def test_commands_without_a_sandbox_are_a_problem() -> None:
    (found,) = await check(isolation="none")
    assert found.status == "problem"
    assert "sandbox.isolation" in found.way_out


async def test_a_home_as_the_workspace_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path / "home")
    (found,) = await check()
    assert found.status == "warning"
    assert "home directory" in found.detail


@pytest.mark.skipif(os.geteuid() != 0, reason="bubblewrap is refused to root only")
async def test_each_refusal_has_its_reason_and_the_way_out() -> None:
    (found,) = await check(isolation="bubblewrap")
    assert found.status == "warning"
    assert "bubblewrap: root makes namespaces itself" in found.detail
    assert "sandbox.isolation: none" in found.way_out
