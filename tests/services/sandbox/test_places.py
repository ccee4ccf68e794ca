"""Which places the sandbox shows, hides and protects, by the settings."""

import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from sestet.config import settings_from
from sestet.services.sandbox.places import isolations_of, make_plan
from sestet.services.sandbox.plan import ISOLATIONS, Plan
from sestet.services.sandbox.sandbox import Sandbox, SandboxError
from tests.services.sandbox.conftest import NO_NAMESPACES
from tests.services.sandbox.ordinary import can_make_namespaces
from tests.services.sandbox.trial import run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home, with Sestet's data and settings in it."""
    home = (tmp_path / "home").resolve()
    for name in ("project/.git/hooks", "data", ".config/sestet"):
        (home / name).mkdir(parents=True)
    (home / "secret").write_text("secret ", encoding="utf-8")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SESTET_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    return home


def plan_of(directory: Path, **sections: object) -> Plan:
    return make_plan(settings_from(sections), directory=directory)


def test_the_working_directory_is_the_workspace_and_the_home_is_hidden(home: Path) -> None:
    plan = plan_of(home / "project")
    assert plan.writable == (str(home / "project"),)
    assert {str(home), str(home / "data"), str(home / ".config" / "sestet")} <= set(plan.hidden)


def test_named_roots_replace_the_working_directory_and_links_are_resolved(home: Path) -> None:
    (home / "link").symlink_to(home / "project")
    plan = plan_of(home, workspace={"roots": ["~/link", "project/.git"]})
    assert plan.writable == (str(home / "project"),)


def test_what_programs_of_the_person_read_is_protected(home: Path) -> None:
    root = home / "project"
    assert {f"{root}/{name}" for name in (".git/hooks", ".git/config", "sestet.yaml", ".agents")} <= set(
        plan_of(root).protected
    )


def test_the_file_that_names_the_git_directory_is_protected(home: Path) -> None:
    (home / "work").mkdir()
    (home / "work" / ".git").write_text("gitdir: elsewhere", encoding="utf-8")
    assert str(home / "work" / ".git") in plan_of(home / "work").protected


def test_the_settings_in_use_are_hidden_in_the_workspace(home: Path) -> None:
    root, file = home / "project", home / "project" / "sestet.yaml"
    file.write_text("", encoding="utf-8")
    plan = make_plan(settings_from({}), settings_file=file, directory=root)
    assert str(file) in plan.hidden
    assert str(file) not in plan.protected


def test_sestet_itself_is_protected_in_its_own_checkout(home: Path) -> None:
    checkout = Path(__file__).parents[3]
    protected = make_plan(settings_from({}), directory=checkout).protected
    assert str(checkout / "src" / "sestet") in protected
    inside = Path(sys.prefix).resolve().is_relative_to(checkout)
    assert (str(Path(sys.prefix).resolve()) in protected) == inside


@pytest.mark.parametrize(
    ("root", "why"),
    [
        ("~", "home directory"),
        ("~/..", "home directory"),
        ("/", "home directory"),
        ("/tmp", "home directory"),  # noqa: S108 - the home of this test lies in it
        ("/var", "system"),
        ("/etc/ssl", "system"),
        ("/usr", "system"),
        ("~/data", "Sestet's own files"),
        ("~/.config/sestet/x", "not a directory"),
    ],
)
def test_a_directory_that_holds_private_places_is_no_workspace(home: Path, root: str, why: str) -> None:
    if root == "/tmp" and not str(home).startswith("/tmp/"):  # noqa: S108
        pytest.skip("temporary directories lie elsewhere")
    with pytest.raises(SandboxError, match=why) as raised:
        plan_of(home / "project", workspace={"roots": [root]})
    assert "workspace.roots" in str(raised.value)


def test_a_readable_place_is_no_whole_home(home: Path) -> None:
    (home / ".pyenv" / "bin").mkdir(parents=True)
    plan = plan_of(home / "project", sandbox={"readable": ["~/.pyenv", "~/missing"]})
    assert plan.readable == (str(home / ".pyenv"),)
    with pytest.raises(SandboxError, match=r"sandbox\.readable"):
        plan_of(home / "project", sandbox={"readable": ["~"]})


def test_limits_and_isolation_come_from_the_settings(home: Path) -> None:
    plan = plan_of(home / "project", sandbox={"memoryMb": 100, "processes": 7})
    assert (plan.usage.memory, plan.usage.processes) == (100_000_000, 7)
    assert isolations_of(settings_from({})) == ISOLATIONS
    assert isolations_of(settings_from({"sandbox": {"isolation": "landlock"}})) == ("landlock",)


needs_namespaces = pytest.mark.skipif(not can_make_namespaces(), reason=NO_NAMESPACES)


@pytest.fixture
async def sandbox(home: Path) -> AsyncGenerator[Sandbox]:
    sandbox = Sandbox(plan_of(home / "project"), ["namespaces"])
    yield sandbox
    await sandbox.close()


async def shell(sandbox: Sandbox, home: Path, text: str) -> tuple[int | None, str]:
    ended, output, errors = await run(sandbox, ["/bin/sh", "-c", text], home / "project")
    return ended.code, output + errors


@needs_namespaces
async def test_a_place_that_is_made_later_is_protected_from_the_next_command_on(
    sandbox: Sandbox, home: Path
) -> None:
    assert await shell(sandbox, home, "mkdir .agents && echo mine > .agents/a") == (0, "")
    code, output = await shell(sandbox, home, "echo other > .agents/a || mv .agents b || rm -r .agents")
    assert code != 0, output
    assert (home / "project" / ".agents" / "a").read_text(encoding="utf-8") == "mine\n"


@needs_namespaces
async def test_a_readable_place_inside_hidden_data_inside_the_workspace_is_shown(home: Path) -> None:
    root = home / "project"
    skills = root / "data" / "skills"
    skills.mkdir(parents=True)
    for path in (skills / "skill", root / "data" / "key"):
        path.write_text("content", encoding="utf-8")
    plan = Plan((str(root),), readable=(str(skills),), hidden=(str(root / "data"),))
    sandbox = Sandbox(plan, ["namespaces"])
    try:
        assert await shell(sandbox, home, "cat data/skills/skill; ls data") == (0, "contentskills\n")
    finally:
        await sandbox.close()


@needs_namespaces
async def test_a_protected_file_that_the_person_replaces_stays_protected(
    sandbox: Sandbox, home: Path
) -> None:
    config = home / "project" / ".git" / "config"
    config.write_text("old", encoding="utf-8")
    assert await shell(sandbox, home, "cat .git/config") == (0, "old")
    (home / "project" / "new").write_text("new", encoding="utf-8")
    os.replace(home / "project" / "new", config)
    code, output = await shell(sandbox, home, "cat .git/config; echo changed > .git/config")
    assert code != 0
    assert output.startswith("new")
    assert config.read_text(encoding="utf-8") == "new"


@needs_namespaces
async def test_a_program_in_a_readable_place_is_found_and_the_rest_of_the_home_is_not(home: Path) -> None:
    program = home / ".pyenv" / "bin" / "tool"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho works\n", encoding="utf-8")
    program.chmod(0o755)
    sandbox = Sandbox(plan_of(home / "project", sandbox={"readable": ["~/.pyenv"]}), ["namespaces"])
    try:
        assert await shell(sandbox, home, "tool") == (0, "works\n")
        code, output = await shell(sandbox, home, f"cat '{home}/secret'")
        assert code != 0, output
    finally:
        await sandbox.close()


@needs_namespaces
async def test_a_link_in_the_place_of_a_root_is_refused(home: Path) -> None:
    plan = plan_of(home / "project")
    (home / "project").rename(home / "moved")
    (home / "project").symlink_to("/etc")
    sandbox = Sandbox(plan, ["namespaces"])
    with pytest.raises(SandboxError, match="project"):
        await sandbox.isolation()
    await sandbox.close()


async def test_without_a_sandbox_a_command_still_ends_with_all_that_it_started(home: Path) -> None:
    sandbox = Sandbox(plan_of(home / "project"), ["none"])
    try:
        code, output = await shell(sandbox, home, f"cat '{home}/secret'; setsid sleep 600 & echo $!")
        assert (code, await sandbox.isolation()) == (0, "none")
        assert output.startswith("secret")
    finally:
        await sandbox.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(output.split()[-1]), 0)
