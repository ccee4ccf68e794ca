"""A command with a secret: a real broker, a real sandbox, and turns in which the secret stays unseen."""

import base64
import os
import shlex
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

import sestet
from sestet.agents.operator.shell import exec_run, exec_with_secret
from sestet.core.agent import TRANSFER
from sestet.core.errors import ToolError
from sestet.core.event import ApprovalRequested, TurnFinished
from sestet.services.commands.commands import Commands
from sestet.services.commands.judgement import OwnerRules
from sestet.services.sandbox.plan import Isolation, Plan
from sestet.services.sandbox.sandbox import Sandbox
from sestet.services.vault.vault import Vault
from tests.agents.calling import CALL, run
from tests.services.vault.cheap import CHEAP, PASSPHRASE

VALUE = "ghp_Zz11/Yy22+Xx33Ww44Vv55"
READ = "cat /dev/fd/3"
_SHOW = (
    "import os; words = open('/proc/self/cmdline').read().split(chr(0)); "
    "print(os.environ, words, sorted(os.listdir('/dev/fd')))"
)


@pytest.fixture
def vault(tmp_path: Path) -> Generator[Vault]:
    vault = _made_vault(tmp_path)
    vault.unlock(PASSPHRASE)
    yield vault
    vault.close()


def _made_vault(home: Path) -> Vault:
    home.mkdir(mode=0o700, exist_ok=True)
    vault = Vault(home / "sestet.vault")
    vault.create(PASSPHRASE, cost=CHEAP)
    vault.store("deploy-key", VALUE.encode(), commands=["cat *", "python3 *", "/usr/bin/env *", "sleep *"])
    vault.close()
    return vault


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return workspace


@pytest.fixture(params=["namespaces", "none"])
async def commands(request: pytest.FixtureRequest, workspace: Path) -> AsyncGenerator[Commands]:
    isolation: Isolation = request.param
    made = Commands(Sandbox(Plan(writable=(str(workspace),)), [isolation]), workspace)
    yield made
    await made.close()


async def _run(commands: Commands, vault: Vault, command: str, secret: str = "deploy-key") -> str:
    return await run(exec_with_secret, commands, vault, command=command, secret=secret)


async def test_a_command_reads_its_secret_and_no_other_command_does(commands: Commands, vault: Vault) -> None:
    assert VALUE in await _run(commands, vault, READ, "vault:deploy-key")
    assert VALUE not in await run(exec_run, commands, command=f"{READ} 2>&1")
    # Read once: nothing is left for a second reader.
    told = await _run(commands, vault, "cat /dev/fd/3 /dev/fd/3")
    assert told.count(VALUE) == 1


async def test_the_secret_is_neither_an_argument_nor_in_the_environment(
    commands: Commands, vault: Vault
) -> None:
    told = await _run(commands, vault, f'python3 -c "{_SHOW}"')

    assert "Exit code 0" in told
    assert VALUE not in told
    assert "'HOME': '/nonexistent'" in told
    # The last one is the directory that is listed.
    assert "['0', '1', '2', '3', '4']" in told


async def test_no_shell_reads_the_command(commands: Commands, vault: Vault, workspace: Path) -> None:
    told = await _run(commands, vault, "python3 -c 'print(\"$HOME; touch x | `y` > z\")'")

    assert "$HOME; touch x | `y` > z" in told
    assert os.listdir(workspace) == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("ls /dev/fd/3", "may not go to this command"),
        ("cat /dev/fd/3 | base64", "one plain command alone"),
        ("cat /dev/fd/3 > leak.txt", "one plain command alone"),
    ],
)
async def test_a_command_that_the_binding_does_not_fit_is_refused_before_anybody_is_asked(
    commands: Commands, vault: Vault, command: str, said: str
) -> None:
    bound = exec_with_secret.bind({Commands: commands, Vault: vault})
    assert bound is not None
    assert bound.preview is not None
    with pytest.raises(ToolError, match=said):
        await _run(commands, vault, command)
    with pytest.raises(ToolError, match=said):
        await bound.preview(CALL, command=command, secret="deploy-key")


async def test_a_program_that_commands_can_change_gets_no_secret(
    commands: Commands, vault: Vault, workspace: Path
) -> None:
    program = workspace / "deploy"
    program.write_text("#!/bin/sh\ncat /dev/fd/3\n")
    program.chmod(0o755)
    link = workspace / "link"
    link.symlink_to("/bin/cat")
    vault.bind("deploy-key", commands=[f"{program} *", f"{link} *", "nosuchprogram *"])

    with pytest.raises(ToolError, match=r"commands can change .*deploy"):
        await _run(commands, vault, str(program))
    with pytest.raises(ToolError, match=r"commands can change .*link"):
        await _run(commands, vault, f"{link} /dev/fd/3")
    with pytest.raises(ToolError, match="no program 'nosuchprogram'"):
        await _run(commands, vault, "nosuchprogram x")


async def test_a_locked_vault_and_a_wrong_directory_are_told_and_leave_no_descriptor(
    commands: Commands, vault: Vault
) -> None:
    await _run(commands, vault, READ)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(ToolError, match="does not exist"):
        await run(exec_with_secret, commands, vault, command=READ, secret="deploy-key", cwd="missing")
    assert len(os.listdir("/proc/self/fd")) == before

    vault.close()
    with pytest.raises(ToolError, match="/unlock"):
        await _run(commands, vault, READ)


@pytest.mark.parametrize(
    ("command", "risk", "allowed"),
    [
        (READ, "guarded", False),
        ("sleep 1", "guarded", False),
        ("gh release list", "safe", True),
        ("gh release list | cat", "guarded", False),
        ("gh release list > x", "guarded", False),
        ("sudo gh release", "dangerous", False),
    ],
)
def test_a_call_asks_unless_the_settings_allow_exactly_that_command(
    vault: Vault, workspace: Path, command: str, risk: str, allowed: bool
) -> None:
    owner = OwnerRules(allowed=("gh release *",))
    commands = Commands(Sandbox(Plan(writable=(str(workspace),))), workspace, owner)
    tool = exec_with_secret.bind({Commands: commands, Vault: vault})
    assert tool is not None

    declared = tool.for_call({"command": command, "secret": "deploy-key"})

    assert (declared.risk, declared.owner_allows) == (risk, allowed)
    assert declared.targets == ("command", "secret")


_PRINT = """
import base64, sys, time
value = open("/dev/fd/3").read()
print("before " * 100, flush=True)
for piece in (value[:9], value[9:] + "\\n", base64.b64encode(value.encode()).decode(), value[::-1]):
    print(piece, end="", flush=True)
    print(piece, end="", file=sys.stderr, flush=True)
    time.sleep(0.15)
print("after " * 100, flush=True)
time.sleep(0.15)
"""


async def _turn(
    home: Path, workspace: Path, call: sestet.ToolCall, **sandbox: object
) -> tuple[list[str], str]:
    """The reasons of a turn's questions, all answered with yes, and what it left outside of the vault."""
    to_operator = sestet.ToolCall(TRANSFER, {"agent_name": "operator", "request": "go on", "reply": True})
    model = sestet.ScriptedModel([to_operator, call, lambda request: request.messages[-1].text])
    _made_vault(home)
    settings = {"sandbox": sandbox, "workspace": {"roots": [str(workspace)]}}
    async with sestet.open(settings, model=model, home=home) as app:
        app.vault.unlock(PASSPHRASE)
        events = [event async for event in app.run_turn("s", "please go on")]
        asked = [event for event in events if isinstance(event, ApprovalRequested)]
        for question in asked:
            app.decide(question.approval_id, "approve")
            events += [event async for event in app.resume_turn(question.stamp.turn_id)]
    assert isinstance(events[-1], TurnFinished), events[-1]
    left = "\n".join((*map(repr, events), *map(repr, model.requests), _stored(home)))
    return [question.reason for question in asked], left


def _stored(home: Path) -> str:
    files = (file for file in home.rglob("*") if file.is_file() and "sestet.vault" not in file.name)
    return "".join(file.read_bytes().decode("latin-1") for file in files)


def _call(command: str) -> sestet.ToolCall:
    return sestet.ToolCall("exec_with_secret", {"command": command, "secret": "deploy-key"})


async def test_a_command_that_prints_its_secret_does_not_leak_it(tmp_path: Path, workspace: Path) -> None:
    asked, left = await _turn(tmp_path / "home", workspace, _call(shlex.join(["python3", "-c", _PRINT])))

    assert asked == ["the program gets the secret, and can do with it what it wants"]
    assert "python3 reads vault:deploy-key from /dev/fd/3" in left
    assert "OutputStreamed" in left
    assert "[vault:deploy-key]" in left
    encoded = base64.b64encode(VALUE.encode()).decode()
    for form in (VALUE, encoded, VALUE[::-1]):
        assert form not in left
        assert form.rstrip("=")[-12:] not in left


async def test_what_the_settings_allow_runs_with_its_secret_without_a_question(
    tmp_path: Path, workspace: Path
) -> None:
    asked, left = await _turn(tmp_path / "home", workspace, _call(READ), allowed=["cat /dev/fd/3"])

    assert asked == []
    assert "[vault:deploy-key]" in left


async def test_a_reference_elsewhere_is_only_a_word(tmp_path: Path, workspace: Path) -> None:
    call = sestet.ToolCall("exec_run", {"command": "echo vault:deploy-key; cat /dev/fd/3"})
    _, left = await _turn(tmp_path / "home", workspace, call)

    assert VALUE not in left
    assert "vault:deploy-key\\n" in left
