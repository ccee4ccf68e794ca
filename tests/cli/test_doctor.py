"""The doctor reports every problem, and never crashes itself."""

import json
import re
import shutil
import sqlite3
from pathlib import Path
from typing import NamedTuple

import pytest

from sestet.core.agent import Agent
from sestet.core.tool import Tool
from sestet.doctor import assistant, database, machine
from sestet.doctor import check as check_module
from sestet.storage.database import FILE_NAME, Database
from tests.cli.conftest import Call
from tests.cli.program import Home


def examine(call: Call, *arguments: str) -> tuple[int | str | None, dict[str, list[str]], str]:
    """The exit code, the status of every check by its name, and everything that was said."""
    done = call("doctor", "--json", *arguments)
    checks = json.loads(done.out)["checks"]
    found: dict[str, list[str]] = {}
    for check in checks:
        found.setdefault(check["name"], []).append(check["status"])
        assert check["status"] != "problem" or check["way_out"], "every problem has a way out"
    return done.code, found, done.out


def test_a_healthy_set_up_has_no_problem_and_nothing_is_written(home: Home, call: Call) -> None:
    code, found, _ = examine(call)
    assert code == 0
    assert {"Python", "SQLite", "data", "database", "settings", "model", "agents", "tools"} <= found.keys()
    assert found["model"] == ["warning"]
    assert not home.data.exists()


def test_the_report_is_for_people_too(home: Home) -> None:
    home.run("ask", "hello")
    done = home.run("doctor")
    assert done.returncode == 0
    assert "schema" in done.stdout
    assert "→ 'sestet setup' finds a real one" in done.stdout
    assert done.stdout.endswith("No problem, 1 warning.\n")


def test_broken_settings_are_reported_with_the_rest(home: Home, call: Call) -> None:
    (home.work / "sestet.yaml").write_text("graph: {enabeld: 1}\nfoo: 1\n", encoding="utf-8")
    code, found, said = examine(call)
    assert code == 1
    assert found["settings"] == ["problem", "problem"]
    assert found["SQLite"] == ["ok"]
    assert "did you mean 'enabled'?" in said
    assert "2 problems." in call("doctor").out


def test_a_database_that_is_none_is_reported(home: Home, call: Call) -> None:
    home.data.mkdir()
    (home.data / FILE_NAME).write_text(
        "this is no database, and long enough to be looked at", encoding="utf-8"
    )
    code, found, said = examine(call)
    assert (code, found["database"]) == (1, ["problem"])
    assert "not a database" in said
    assert found["agents"] == ["ok"]


def test_a_database_of_a_newer_sestet_is_reported(home: Home, call: Call) -> None:
    home.data.mkdir()
    connection = sqlite3.connect(home.data / FILE_NAME)
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    code, found, said = examine(call)
    assert (code, found["database"]) == (1, ["problem"])
    assert "newer" in said
    assert "put a copy back" not in said
    assert "update Sestet, or choose another directory with SESTET_HOME" in said


class _Usage(NamedTuple):
    free: int


def test_a_full_disk_is_not_taken_for_a_broken_database(
    home: Home, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("ask", "hello")
    (home.data / FILE_NAME).write_text("this is no database, and long enough to be looked at", "utf-8")

    def nothing_left(_: Path) -> _Usage:
        return _Usage(free=0)

    monkeypatch.setattr(shutil, "disk_usage", nothing_left)
    code, found, said = examine(call)
    assert (code, found["database"]) == (1, ["problem"])
    assert "the disk is full: make room on it" in said
    assert "put a copy back" not in said


def test_a_data_directory_that_is_a_file_is_reported(home: Home, call: Call) -> None:
    home.data.write_text("", encoding="utf-8")
    code, found, _ = examine(call)
    assert (code, found["data"]) == (1, ["problem"])


@pytest.mark.parametrize(
    "place", ["a-file/below", "a-loop", "x" * 300, "/proc/sestet", "~no-such-user/sestet", "/dev/null"]
)
def test_a_data_directory_that_no_command_could_use_is_a_problem(
    home: Home, call: Call, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (home.work / "a-file").touch()
    (home.work / "a-loop").symlink_to(home.work / "a-loop")
    (home.work / "sestet.yaml").write_text("limits: {seconds: 60}\n", encoding="utf-8")
    home.trusts_work = False
    monkeypatch.setenv("SESTET_HOME", place)
    code, found, said = examine(call)
    assert (code, found["data"]) == (1, ["problem"])
    assert "SESTET_HOME" in said
    assert call("ask", "hello").code in (1, 2)


def test_a_directory_that_can_be_made_is_no_problem_and_is_not_made(
    home: Home, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESTET_HOME", str(home.directory / "some" / "where"))
    assert examine(call)[0] == 0
    assert not (home.directory / "some").exists()


def test_a_locked_database_is_waited_for_only_once(
    home: Home, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("ask", "hello")
    opened: list[Path] = []

    class Counted(Database):
        def __init__(self, path: Path, *, power: bool = False, patience: float | None = None) -> None:
            opened.append(path)
            super().__init__(path, power=power, patience=patience)

    for module in (database, check_module):
        monkeypatch.setattr(module, "Database", Counted)
        monkeypatch.setattr(module, "PATIENCE", 0.05)
    other = sqlite3.connect(home.data / FILE_NAME, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("UPDATE turns SET state = 'finished'")

    code, found, said = examine(call)
    other.close()

    assert (code, found["database"], len(opened)) == (0, ["warning"], 1)
    assert "another process has locked the database" in said
    assert "graph" not in found


def test_a_model_that_cannot_be_made_is_reported(home: Home, call: Call) -> None:
    (home.work / "sestet.yaml").write_text("agent: {provider: nowhere, model: m}\n", encoding="utf-8")
    code, found, said = examine(call)
    assert (code, found["assistant"]) == (1, ["problem"])
    assert "'nowhere' is not under providers" in said
    assert "correct the settings" in said


def test_a_remote_agent_that_cannot_be_reached_is_a_warning(home: Home, call: Call) -> None:
    (home.work / "sestet.yaml").write_text(
        "a2a: {enabled: true, remoteAgents: [{name: far, url: 'ftp://127.0.0.1'}]}\n", encoding="utf-8"
    )
    code, found, said = examine(call)
    assert (code, found["remote agents"]) == (0, ["warning"])
    assert "'far'" in said


def test_the_working_directory_may_be_gone(
    home: Home, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    code, found, _ = examine(call)
    assert (code, found["settings"]) == (1, ["problem"])


def test_a_tool_without_an_owner_is_a_problem() -> None:
    (check,) = assistant.check_unmatched([Tool("weather_get")])
    assert check.status == "problem"
    assert "'weather_get' belongs to no agent" in check.detail
    (fine,) = assistant.check_unmatched([])
    assert fine.status == "ok"


def test_a_flat_agent_is_no_problem() -> None:
    check = assistant.check_agents(Agent("assistant", tools=(Tool("a"),)))
    assert (check.status, check.detail) == ("ok", "one flat agent with 1 tool")


def test_the_extras_are_those_that_the_package_declares() -> None:
    assert [check.name for check in machine.check_extras()]
    assert all(check.status == "ok" for check in machine.check_extras())


def test_a_path_that_is_wider_than_its_column_stays_whole(home: Home) -> None:
    deep = home.directory / "deep"
    deep.mkdir()
    path = deep / ("x" * (97 - len(str(deep))))
    with home.terminal("doctor", extra={"SESTET_HOME": str(path), "HOME": "/"}) as terminal:
        shown = terminal.expect("made by the first")
        assert f"\n {path},\n" in shown
        assert not re.search(r"\S{101}", shown)
