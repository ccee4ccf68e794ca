"""The commands that show something: agents, prompts, sessions, settings."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, cast

import pytest
from typer.core import TyperCommand, TyperGroup

import sestet
from sestet.cli.program import COMMANDS, LazyCommand, put_config_first
from sestet.config import settings_schema
from tests.cli.conftest import Call
from tests.cli.program import Home


def test_the_tree_shows_every_agent_with_its_tools(call: Call) -> None:
    done = call("agents")
    assert done.code == 0
    tree = json.loads(call("agents", "--json").out)
    created = [agent["name"] for agent in tree["root"]["sub_agents"]]
    missing = [agent["name"] for agent in tree["not_created"]]
    assert sorted(created + missing) == sorted(spec.name for spec in sestet.default_specs())
    assert tree["root"]["tools"] is None
    assert tree["unmatched"] == []
    for name in [
        *created,
        *missing,
        *(tool["name"] for a in tree["root"]["sub_agents"] for tool in a["tools"]),
    ]:
        assert name in done.out
    for name in missing:
        assert f"{name}  not created: it has no tool here" in done.out


@pytest.mark.parametrize(
    ("tool", "owner", "code"),
    [("fs_read", "operator", 0), ("payment_send", "vault", 0), ("memory_not_there_yet", "chronicler", 0)],
)
def test_the_owner_of_a_tool_is_told_by_its_name(call: Call, tool: str, owner: str, code: int) -> None:
    assert call("agents", "--owner", tool) == (code, f"{owner}\n", "")


def test_a_tool_name_without_an_owner_is_reported(home: Home, call: Call) -> None:
    done = call("agents", "--owner", "weather_get")
    assert done.code == 1
    assert "no agent would own" in done.out
    assert json.loads(call("agents", "--owner", "weather_get", "--json").out)["owner"] is None
    assert not home.data.exists()


def test_the_prompts_are_printed_as_they_are(call: Call) -> None:
    assert "NEVER invent or abbreviate agent names" in call("prompt").out
    assert call("prompt", "--agent", "Operator").out.startswith("You are the operator")
    done = call("prompt", "--agent", "oprator")
    assert (done.code, done.err) == (1, "sestet: there is no agent 'oprator'; did you mean 'operator'?\n")


def test_the_prompts_offer_only_what_the_tools_that_are_there_can_do(call: Call, home: Home) -> None:
    everything = call("prompt").out + call("prompt", "--agent", "operator").out

    for absent in ("search the web", "["):
        assert absent not in everything.replace("[REJECT]", "")
    for present in (
        "run a command",
        "run the skill",
        "create a skill",
        "write a file",
        "Write, move and delete files",
        "do a web search",
    ):
        assert present in everything
    assert "run commands or programs" not in everything
    assert "write, change, move or delete files" not in everything

    (home.work / "sestet.yaml").write_text("search: {url: 'http://127.0.0.1:9'}\n", encoding="utf-8")
    with_search = call("prompt").out
    assert "search the web" in with_search
    assert "do a web search" not in with_search

    # Commands have no sandbox there, so they do not exist.
    (home.work / "sestet.yaml").write_text("workspace: {roots: ['/']}\n", encoding="utf-8")
    without_commands = call("prompt").out
    assert "run a command" not in without_commands
    assert "run commands or programs" in without_commands


def test_sessions_are_listed_and_shown(call: Call) -> None:
    assert "There is no session yet" in call("sessions").err
    call("ask", "--session", "20261115-aaaa", "list the files here")
    call("ask", "--session", "20261115-bbbb", "hello")
    listed = call("sessions").out.splitlines()
    assert [line.split()[0] for line in listed] == ["20261115-bbbb", "20261115-aaaa"]
    assert len(call("sessions", "--limit", "1").out.splitlines()) == 1
    shown = call("sessions", "show", "aaaa").out
    assert shown.index("list the files here") < shown.index("operator · fs_list") < shown.index("notes.txt")
    turns = json.loads(call("sessions", "show", "20261115-aaaa", "--json").out)["turns"]
    assert [turn["state"] for turn in turns] == ["finished"]
    done = call("sessions", "show", "20261115-cccc")
    assert done.code == 1
    assert "there is no session '20261115-cccc'" in done.err


def test_the_settings_that_hold_are_shown_with_their_origin_and_without_secrets(
    home: Home, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = home.work / "sestet.yaml"
    file.write_text("providers: {mine: {apiKey: hunter2}}\ngraph: {enabled: false}\n", encoding="utf-8")
    monkeypatch.setenv("SESTET_LIMITS__MODELCALLS", "7")
    rows = {row["key"]: row for row in json.loads(call("config", "show", "--json").out)}
    assert rows["graph.enabled"] == {"key": "graph.enabled", "value": False, "source": str(file)}
    assert rows["limits.modelCalls"]["source"] == "SESTET_LIMITS__MODELCALLS"
    assert rows["limits.modelCalls"]["value"] == 7
    assert rows["agent.multiAgent"]["source"] == "default"
    assert rows["providers.mine.apiKey"]["value"] == "***"
    text = call("config", "show").out
    assert "hunter2" not in text
    assert all(key in text for key in rows)


def test_a_file_is_validated_with_all_its_problems(home: Home, call: Call) -> None:
    good, bad = home.work / "good.yaml", home.work / "bad.yaml"
    good.write_text("graph: {enabled: false}\n", encoding="utf-8")
    bad.write_text("graph: {enabeld: false}\nlimits: {seconds: soon}\n", encoding="utf-8")
    assert call("config", "validate", str(good)) == (0, f"{good}: no problems\n", "")
    done = call("config", "validate", str(bad))
    assert (done.code, done.out) == (2, "")
    assert "graph.enabeld" in done.err
    assert "did you mean 'enabled'?" in done.err
    assert "limits.seconds" in done.err


def test_the_schema_is_the_one_that_files_are_checked_against(call: Call) -> None:
    schema = json.loads(call("config", "schema").out)
    assert schema.items() >= settings_schema().items()


def test_the_settings_file_may_be_named_before_or_after_the_command() -> None:
    first = ["--config", "x.yaml", "ask", "hello"]
    assert put_config_first(["ask", "--config", "x.yaml", "hello"]) == first
    assert put_config_first(first) == first
    assert put_config_first(["ask", "--config=x.yaml"]) == ["--config=x.yaml", "ask"]
    assert put_config_first(["ask", "--", "--config", "x"]) == ["ask", "--", "--config", "x"]


@pytest.mark.parametrize("arguments", [("chat",), ("ask", "hello"), ("agents",), ("sessions",)])
def test_settings_with_mistakes_stop_everything_before_anything_is_written(
    home: Home, call: Call, arguments: tuple[str, ...]
) -> None:
    (home.work / "wrong.yaml").write_text("agent: {multiAgnt: true}\nfoo: 1\n", encoding="utf-8")
    done = call(*arguments, "--config", "wrong.yaml")
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines() == [
        "sestet: wrong.yaml: agent.multiAgnt: is not known; did you mean 'multiAgent'?",
        "        wrong.yaml: foo: is not known",
    ]
    assert not home.data.exists()


def test_a_provider_that_is_not_there_is_a_mistake_in_the_settings(home: Home, call: Call) -> None:
    file = home.directory / ".config" / "sestet" / "sestet.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("agent: {provider: nowhere, model: m}\n", encoding="utf-8")
    for arguments in (("config", "validate"), ("ask", "hello")):
        done = call(*arguments)
        assert done.code == 2
        assert "agent.provider: 'nowhere' is not under providers" in done.err
    assert not home.data.exists()


def test_an_error_of_the_person_is_one_message_without_a_trace(home: Home) -> None:
    home.data.write_text("not a directory", encoding="utf-8")
    done = home.run("ask", "hello")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("sestet: ")
    assert "Traceback" not in done.stderr


def test_without_a_command_there_is_help_and_a_version(call: Call) -> None:
    assert call().out.startswith("Usage: sestet")
    assert call("--version").out == f"sestet {sestet.__version__}\n"


def test_a_command_that_is_nearly_right_is_guessed(call: Call) -> None:
    done = call("agnets")
    assert done.code == 2
    assert "Did you mean 'agents'" in done.err


def test_an_option_without_its_value_is_named(call: Call) -> None:
    done = call("ask", "hello", "--config")
    assert done.code == 2
    assert "'--config' requires an argument" in done.err


def test_a_session_without_a_name_is_none(call: Call) -> None:
    done = call("ask", "hello", "--session", "")
    assert (done.code, done.out) == (1, "")
    assert "'' cannot be the name of a session" in done.err


def test_a_reader_that_goes_away_is_no_error(home: Home) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "sestet", "agents"],
        cwd=home.work,
        env=home.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdout.close()
        assert program.stderr.read() == b""


def test_no_command_shows_a_key_that_an_address_carries(call: Call, home: Home) -> None:
    (home.work / "sestet.yaml").write_text(
        "agent: {provider: mine, model: m}\n"
        "providers: {mine: {baseUrl: 'http://anna:s3cr3t@127.0.0.1:1/v1?api-key=k3y&api-version=2024-10-21'}}\n"
        "search: {url: 'http://127.0.0.1:1/?token=k3y'}\n"
        "a2a: {enabled: true, remoteAgents: [{name: far, url: 'http://127.0.0.1:1/?sig=k3y'}]}\n"
    )

    commands = (("config", "show"), ("config", "show", "--json"), ("doctor",), ("agents",))
    shown = [call(*words) for words in commands]

    for done in shown:
        assert "k3y" not in done.out + done.err
        assert "s3cr3t" not in done.out + done.err
    assert "http://***@127.0.0.1:1/v1?api-key=***&api-version=2024-10-21" in shown[1].out


def commands(name: str) -> Iterator[TyperCommand | TyperGroup]:
    """A command with its subcommands."""
    left = [LazyCommand(name, COMMANDS[name]).load()]
    while left:
        command = left.pop()
        yield command
        left += cast("Any", getattr(command, "commands", {})).values()  # Any: typer's classes are private


@pytest.mark.parametrize("name", COMMANDS)
def test_no_number_of_a_command_is_described_in_the_words_of_a_parser(name: str) -> None:
    for command in commands(name):
        for parameter in command.params:
            assert parameter.type.name not in ("int", "int range", "float", "float range"), parameter.name


@pytest.mark.parametrize("number", ["0", "x", "-1", "1.5", "100001", "9" * 5_000])
def test_a_wrong_number_is_answered_with_the_possible_ones(call: Call, number: str) -> None:
    done = call("sessions", "--limit", number)
    assert done.code == 2
    assert f"'{number[:40]}' is not a whole number from 1 to 100,000." in done.err


def test_an_error_breaks_its_lines_between_words_at_a_terminal_and_not_in_a_pipe(home: Home) -> None:
    place = {"SESTET_HOME": str(home.work / "notes.txt")}
    with home.terminal("ask", "hello", extra=place) as terminal:
        assert terminal.wait() == 1
        lines = terminal.raw.splitlines()
    piped = home.run("ask", "hello", extra=place).stderr

    assert " ".join(line.strip() for line in lines) == piped.strip()
    assert len(lines) > 1
    assert all(line.startswith("        ") for line in lines[1:])


def test_a_data_directory_that_is_a_file_is_said_to_be_one(home: Home) -> None:
    file = home.work / "notes.txt"
    done = home.run("ask", "hello", extra={"SESTET_HOME": str(file)})

    assert done.stderr == (
        f"sestet: {file}/sestet.db: '{file}' is not a directory; "
        "see 'sestet doctor', or choose another directory with SESTET_HOME\n"
    )
