"""Own tools and agents from the command line: begun by it, listed, and used."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.cli.program import Home


def config(home: Home) -> Path:
    return home.directory / ".config" / "sestet"


def test_a_new_agent_works_at_once(home: Home, call: Call) -> None:
    done = call("agents", "new", "poet")
    folder = config(home) / "agents" / "poet"
    assert done.out.splitlines() == [str(folder / name) for name in ("AGENT.md", "tools.py", "test_poet.py")]

    assert call("ask", "ask the poet to greet Ann").out == "Hello, Ann!\n"
    tree = json.loads(call("agents", "--json").out)
    (poet,) = (agent for agent in tree["root"]["sub_agents"] if agent["name"] == "poet")
    assert poet["origin"] == str(folder / "AGENT.md")
    assert poet["tools"][0]["origin"] == str(folder / "tools.py")
    assert "poet  ~/.config/sestet/agents/poet  Greets" in call("agents").out
    assert "poet_greet  Greet" in call("agents").out
    assert call("agents", "--owner", "poet_rhyme").out == "poet\n"


def test_a_new_tool_works_at_once(home: Home, call: Call) -> None:
    assert 'sestet ask "use fs_count to count' in call("tools", "new", "count", "--agent", "operator").err

    assert call("ask", "use fs_count to count the letters in tea").out == "3 letters\n"
    rows = {row["name"]: row for row in json.loads(call("tools", "--json").out)}
    assert (rows["fs_count"]["owner"], rows["fs_list"]["origin"]) == ("operator", None)
    assert rows["fs_count"]["origin"] == str(config(home) / "tools" / "fs_count.py")
    assert "  ~/.config/sestet/tools/fs_count.py  Count the letters" in call("tools").out
    assert re.search(r"fs_count +~/.config/sestet/tools/fs_count.py  Count", call("agents").out)


def test_the_request_for_a_new_tool_reaches_it_beside_another_new_one(call: Call) -> None:
    call("tools", "new", "exec_first")
    call("tools", "new", "exec_second")
    assert "operator · exec_second " in call("ask", "use exec_second to count the letters in tea").err


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("agents", "new", "poet"),
        ("agents", "new", "bard", "--prefix", "verse_", "--workspace"),
        ("tools", "new", "exec_count"),
        ("tools", "new", "count", "--agent", "librarian", "--workspace"),
    ],
    ids=" ".join,
)
def test_the_test_of_a_skeleton_passes_at_once_and_fails_for_a_broken_tool(
    home: Home, call: Call, command: tuple[str, ...]
) -> None:
    files = [Path(line) for line in call(*command).out.splitlines()]

    def run_pytest() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", files[-1]],
            cwd=home.work,
            env=home.environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    assert run_pytest().returncode == 0
    tool = files[-2]
    tool.write_text(tool.read_text("utf-8").replace("    return f", "    return f'broken' + f"), "utf-8")
    assert run_pytest().returncode == 1


def test_what_is_begun_in_an_empty_workspace_is_used_there(home: Home, call: Call) -> None:
    home.trusts_work = False
    call("agents", "new", "poet", "--workspace")
    assert (home.work / ".agents" / "agents" / "poet" / "AGENT.md").exists()
    assert call("ask", "ask the poet to greet Ann") == (
        0,
        "Hello, Ann!\n",
        "→ poet\npoet · poet_greet person=Ann\nchanged: nothing\n",
    )


def test_what_is_begun_beside_a_strangers_files_does_not_make_those_accepted(home: Home, call: Call) -> None:
    home.trusts_work = False
    tools = home.work / ".agents" / "tools"
    tools.mkdir(parents=True)
    (tools / "planted.py").write_text("open('ran', 'w').close()\n", encoding="utf-8")
    call("agents", "new", "poet", "--workspace")
    call("ask", "hello")
    assert not (home.work / "ran").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["agents", "new", "Two Words"], "'Two Words' cannot be a name"),
        (["agents", "new", "../evil"], "'../evil' cannot be a name"),
        (["agents", "new", "test_it"], "files that begin with 'test_' are tests"),
        (["agents", "new", "operator"], "there is an agent 'operator' already"),
        (["agents", "new", "poet", "--prefix", "fs_"], "collides with 'fs_' of the agent 'operator'"),
        (["agents", "new", "poet", "--prefix", "Poem"], "'Poem' cannot be a prefix"),
        (["tools", "new", "rhyme"], "no agent owns a tool called 'rhyme'"),
        (["tools", "new", "rhyme", "--agent", "planner"], "the agent 'planner' owns no prefix"),
        (["tools", "new", "rhyme", "--agent", "operater"], "did you mean 'operator'?"),
        (["agents", "new", "assistant"], "the name 'assistant' has another meaning"),
        (["agents", "new", "user"], "the name 'user' has another meaning"),
        (["tools", "new", "test", "--agent", "operator"], "files that end with '_test.py' are tests"),
        (["tools", "new", "fs_read"], "there is a tool of this name already"),
    ],
)
def test_what_cannot_be_begun_is_said_and_nothing_is_written(
    home: Home, call: Call, arguments: list[str], why: str
) -> None:
    done = call(*arguments)
    assert done.code == 1
    assert why in done.err
    assert not config(home).exists()


def test_a_file_that_is_there_is_never_written_over(home: Home, call: Call) -> None:
    folder = config(home) / "agents" / "poet"
    folder.mkdir(parents=True)
    (folder / "tools.py").write_text("mine = 1\n", encoding="utf-8")
    done = call("agents", "new", "poet")
    assert done.code == 1
    assert "tools.py exists already" in done.err
    assert [path.name for path in folder.iterdir()] == ["tools.py"]


def test_a_broken_plugin_is_named_by_every_view_and_the_rest_works(home: Home, call: Call) -> None:
    call("agents", "new", "poet")
    broken = config(home) / "tools" / "broken.py"
    broken.parent.mkdir()
    broken.write_text("1 / 0\n", encoding="utf-8")
    problem = f"{broken}: skipped: ZeroDivisionError: division by zero"

    done = call("ask", "ask the poet to greet Ann")
    assert (done.code, done.out) == (0, "Hello, Ann!\n")
    assert f"warning: {problem}" in done.err
    assert f"warning: {problem}" in call("agents").err
    assert json.loads(call("agents", "--json").out)["problems"] == [problem]
    done = call("doctor", "--json")
    details = [check["detail"] for check in json.loads(done.out)["checks"] if check["name"] == "plug-ins"]
    assert problem in details
    assert f"poet, poet_greet in {config(home) / 'agents' / 'poet'}" in details
    assert done.code == 1


def test_a_warning_at_a_terminal_breaks_between_words(home: Home) -> None:
    home.trusts_work = False
    (home.work / ".agents" / "tools").mkdir(parents=True)
    (home.work / ".agents" / "tools" / "planted.py").write_text("", encoding="utf-8")
    with home.terminal("agents") as terminal:
        seen = terminal.expect("orchestrator")
    said = seen[seen.index("warning: ") :].rstrip().removesuffix("orchestrator")
    assert "\n" in said
    assert "'sestet trust' shows and accepts them" in " ".join(said.split())


def test_a_conversation_calls_a_skipped_plugin_a_warning(home: Home) -> None:
    broken = config(home) / "tools" / "broken.py"
    broken.parent.mkdir(parents=True)
    broken.write_text("1 / 0\n", encoding="utf-8")
    with home.terminal("chat") as terminal:
        seen = terminal.expect("skipped: ZeroDivisionError")
    assert f"warning:{broken}:" in "".join(seen.split())


def test_a_line_of_the_doctor_continues_below_its_own_text(home: Home, call: Call) -> None:
    call("agents", "new", "poet")
    with home.terminal("doctor") as terminal:
        seen = terminal.expect("No problem, 1 warning.")
    at = seen.index("poet, poet_greet in")
    column = at - seen.rindex("\n", 0, at) - 1
    agents = seen[seen.index("operator (") :].splitlines()
    assert agents[1].startswith(" " * column)
    assert agents[1][column] != " "


def test_the_doctor_says_how_to_begin_a_plugin(call: Call) -> None:
    (check,) = (c for c in json.loads(call("doctor", "--json").out)["checks"] if c["name"] == "plug-ins")
    assert (check["status"], check["detail"]) == ("ok", "none")
    assert "sestet agents new NAME" in check["way_out"]
