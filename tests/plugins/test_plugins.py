"""Plug-ins join the assistant; one that cannot be used is named, and the others go on."""

import importlib.util
import marshal
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sestet
from sestet.config import settings_from
from sestet.core.errors import DefinitionError
from sestet.core.event import TurnFinished
from sestet.plugins import Plugins
from sestet.plugins.find import find_plugins, read_folder
from tests.plugins.conftest import World, tool_file, write


async def answer(app: sestet.App, text: str) -> TurnFinished:
    *_, last = [event async for event in app.run_turn("s", text)]
    assert isinstance(last, TurnFinished)
    return last


def names(plugins: Plugins) -> tuple[list[str], list[str]]:
    return [spec.name for spec in plugins.specs], [tool.name for tool in plugins.tools]


def only_problem(plugins: Plugins) -> str:
    (problem,) = plugins.problems
    return problem


async def test_an_agent_of_the_config_directory_answers_through_the_built_in_model(world: World) -> None:
    folder = world.agent()

    async with sestet.open() as app:
        end = await answer(app, "feed the north hive")

    assert (end.author, end.text) == ("beekeeper", "Fed: north hive")
    assert app.warnings == ()
    assert app.plugins.origins == {
        "beekeeper": f"{folder}/AGENT.md",
        "hive_feed": f"{folder}/care.py",
    }


async def test_a_tool_of_the_config_directory_goes_to_the_agent_that_owns_its_prefix(world: World) -> None:
    write(world.config / "tools" / "feeding.py", tool_file("exec_feed"))

    async with sestet.open() as app:
        end = await answer(app, "feed the north hive")

    assert (end.author, end.text) == ("operator", "Fed: north hive")


async def test_given_settings_leave_plugins_out_unless_they_are_wanted(world: World) -> None:
    world.agent()

    async with sestet.open({}) as app:
        assert app.plugins == Plugins()
    async with sestet.open({}, plugins=True) as app:
        assert names(app.plugins) == (["beekeeper"], ["hive_feed"])
    async with sestet.open(plugins=False) as app:
        assert app.plugins == Plugins()


async def test_one_folder_can_be_loaded_alone(world: World, tmp_path: Path) -> None:
    world.agent("poet", "poem_")
    folder = world.agent(where=tmp_path / "elsewhere")

    async with sestet.open({}, plugins=folder) as app:
        assert names(app.plugins) == (["beekeeper"], ["hive_feed"])
        assert app.warnings == ()
    with pytest.raises(DefinitionError, match="cannot be read"):
        async with sestet.open({}, plugins=tmp_path / "gone"):
            pass


def test_files_of_one_folder_import_each_other_and_nothing_else_changes(world: World) -> None:
    folder = world.agent()
    write(folder / "__init__.py", "HIVES = 3\n")
    write(folder / "_words.py", "from . import HIVES\nFED = 'Well fed'\n")
    write(folder / "second.py", f"from . import care\nfrom ._words import FED\n{tool_file('hive_second')}")
    before = list(sys.path)

    plugins = find_plugins()

    assert names(plugins) == (["beekeeper"], ["hive_feed", "hive_second"])
    assert sys.path == before
    assert "care" not in sys.modules
    assert not (folder / "__pycache__").exists()


def test_tests_and_helpers_are_not_loaded(world: World) -> None:
    folder = world.agent()
    for name in ("test_care.py", "care_test.py", "conftest.py", "_helper.py"):
        write(folder / name, "raise SystemExit\n")
    assert find_plugins().problems == ()


def test_the_same_files_are_run_once_and_changed_files_again(world: World) -> None:
    folder = world.agent()
    write(folder / "care.py", f"import os\nos.environ['RUNS'] += 'x'\n{tool_file('hive_feed')}")
    os.environ["RUNS"] = ""
    try:
        find_plugins()
        find_plugins()
        assert os.environ["RUNS"] == "x"
        write(folder / "care.py", f"{(folder / 'care.py').read_text('utf-8')}\n# changed\n")
        find_plugins()
        assert os.environ["RUNS"] == "xx"
    finally:
        del os.environ["RUNS"]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import not_there\n", "ModuleNotFoundError: No module named 'not_there'"),
        ("def broken(:\n", "line 1: invalid syntax"),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("class Odd(BaseException): pass\nraise Odd\n", "Odd"),
        ("x = '\0'\n", "null bytes"),
        ("import sestet\n@sestet.tool\ndef f(): ...\n", "tool 'f' must be an 'async def' function"),
        ("from . import gone\n", "cannot import name 'gone'"),
        ("class E(Exception):\n    def __str__(self): raise SystemExit\nraise E\n", "cannot be shown"),
        ("import sys\nsys.modules[__name__] = 5\n", "it replaced itself by a value that is not a module"),
    ],
)
def test_a_file_that_cannot_be_imported_is_named_and_the_rest_goes_on(
    world: World, code: str, reason: str
) -> None:
    broken = write(world.config / "tools" / "a_broken.py", code)
    write(world.config / "tools" / "b_sound.py", tool_file("exec_feed"))
    world.agent()

    plugins = find_plugins()

    assert names(plugins) == (["beekeeper"], ["hive_feed", "exec_feed"])
    assert only_problem(plugins).startswith(f"{broken}: skipped: ")
    assert reason in only_problem(plugins)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ("5", "Expected `str`, got `int` - at `$.name`"),
        ("'exec_odd', 5", "Expected `str`, got `int` - at `$.description`"),
        ("'exec_odd', parameters={'properties': {'a': object()}}", "object is unsupported"),
        ("'exec_odd', needs=('a',)", "its needs must be a tuple of types"),
        ("'exec_odd', needs=5", "not iterable"),
        ("'exec_odd', examples=(5,)", "Expected `str`, got `int` - at `$.examples[0]`"),
        ("'exec_odd', examples=['a']", "its examples must be a tuple"),
        ("'exec_odd', function=5", "its function cannot be called"),
    ],
)
async def test_a_tool_with_values_of_a_wrong_type_is_named_and_the_rest_goes_on(
    world: World, fields: str, reason: str
) -> None:
    write(world.config / "tools" / "a_odd.py", f"import sestet\nodd = sestet.Tool({fields})\n")
    write(world.config / "tools" / "b_sound.py", tool_file("exec_feed"))

    async with sestet.open() as app:
        assert names(app.plugins) == ([], ["exec_feed"])
        assert reason in only_problem(app.plugins)
        assert (await answer(app, "feed the north hive")).text == "Fed: north hive"


def test_a_value_that_fails_when_it_is_looked_at_does_no_harm(world: World) -> None:
    odd = (
        "class Odd:\n    @property\n    def __class__(self): raise RuntimeError\nodd = Odd()\n__file__ = 5\n"
    )
    file = write(world.config / "tools" / "odd.py", tool_file("exec_feed") + odd)

    plugins = find_plugins()

    assert plugins.origins == {"exec_feed": str(file)}
    assert plugins.problems == ()


async def test_an_agent_with_a_broken_file_is_skipped_as_a_whole_and_its_settings_are_no_mistake(
    world: World,
) -> None:
    folder = world.agent()
    write(folder / "broken.py", "1 / 0\n")
    write(world.config / "sestet.yaml", "agents: {beekeeper: {provider: p, model: m}}\nproviders: {p: {}}\n")

    async with sestet.open(model=sestet.ScriptedModel()) as app:
        assert [spec.name for spec in app.specs] == [spec.name for spec in sestet.default_specs()]
        assert "hive_feed" not in [tool.name for tool in app.tools]
        assert app.warnings == (
            f"{folder}/broken.py: skipped: ZeroDivisionError: division by zero; "
            "without this file there is no agent 'beekeeper'",
        )


@pytest.mark.parametrize(
    ("plaque", "reason"),
    [
        ("no front matter", "line 1: the document must begin with front matter"),
        ("---\nname: bee\n---\n", "'name' and 'description' are required"),
        ("---\nname: bee\ndescription: d\ncolour: red\n---\n", "the field 'colour' is not known"),
        ("---\nname: two words\ndescription: d\n---\n", "must start with a letter"),
        ("---\nname: Orchestrator\ndescription: d\n---\n", "this name is reserved"),
        ("---\nname: OPERATOR\ndescription: d\n---\n", "there is an agent 'operator' already"),
        (
            "---\nname: bee\ndescription: d\ncapabilities:\n  fs_: files\n---\n",
            "collides with 'fs_' of the agent 'operator'",
        ),
        (
            "---\nname: bee\ndescription: d\ncapabilities:\n  f: files\n---\n",
            "collides with 'fs_' of the agent",
        ),
        ("---\nname: bee\ndescription: d\ncapabilities:\n  fs_read: files\n---\n", "collides with 'fs_' of"),
        ('---\nname: bee\ndescription: d\ncapabilities:\n  "": all\n---\n', "cannot begin the name"),
    ],
)
def test_a_plaque_that_makes_no_sense_is_named_and_skipped(world: World, plaque: str, reason: str) -> None:
    file = write(world.config / "agents" / "bee" / "AGENT.md", plaque)
    world.agent()

    plugins = find_plugins()

    assert names(plugins) == (["beekeeper"], ["hive_feed"])
    assert only_problem(plugins).startswith(f"{file}: skipped: ")
    assert reason in only_problem(plugins)


def test_a_plaque_that_is_not_text_and_a_folder_without_one_are_named(world: World) -> None:
    folder = world.config / "agents"
    (folder / "bee").mkdir(parents=True)
    (folder / "bee" / "AGENT.md").write_bytes(b"\xff\xfe")
    (folder / "empty").mkdir()

    assert find_plugins().problems == (
        f"{folder}/bee/AGENT.md: skipped: is not text in UTF-8",
        f"{folder}/empty: skipped: has no AGENT.md",
    )


def test_the_first_of_two_agents_with_one_name_or_one_prefix_wins(world: World) -> None:
    world.agent("ann", "hive_")
    world.agent("bob", "hive_north_")
    world.agent("carl", "poem_")
    write(world.config / "agents" / "dora" / "AGENT.md", "---\nname: C-arl\ndescription: d\n---\n")

    plugins = find_plugins()

    assert names(plugins)[0] == ["ann", "carl"]
    first, second = plugins.problems
    assert "its prefix 'hive_north_' collides with 'hive_' of the agent 'ann'" in first
    assert "there is an agent 'carl' already" in second


@pytest.mark.parametrize(
    ("tool", "reason"),
    [
        ("fs_feed", "its name must begin with 'hive_', as AGENT.md says"),
        ("transfer_to_agent", "this name is reserved"),
        ("reject_task", "this name is reserved"),
        ("fs_read", "there is a tool of this name already"),
    ],
)
def test_a_tool_that_its_agent_cannot_have_is_skipped_alone(world: World, tool: str, reason: str) -> None:
    folder = world.agent()
    file = write(folder / "more.py", tool_file(tool))

    plugins = find_plugins()

    assert names(plugins) == (["beekeeper"], ["hive_feed"])
    assert only_problem(plugins) == f"{file}: the tool '{tool}' is skipped: {reason}"


async def test_a_tool_that_needs_a_service_that_is_switched_off_is_named(world: World) -> None:
    code = """
import sestet
from sestet.storage.graph import GraphStore


@sestet.tool(risk="safe", reads=(), effect="none", recovery="pure")
async def exec_count(graph: GraphStore, /) -> str:
    \"\"\"Count facts.\"\"\"
    return "0"
"""
    file = write(world.config / "tools" / "counting.py", code)

    async with sestet.open({"graph": {"enabled": False}}, plugins=True) as app:
        assert app.plugins.tools == ()
        assert app.warnings == (
            f"{file}: the tool 'exec_count' is skipped: it needs GraphStore, and not all of that is there",
        )
    async with sestet.open({}, plugins=True) as app:
        assert names(app.plugins)[1] == ["exec_count"]
        assert app.warnings == ()


async def test_a_plugin_gives_way_to_what_the_program_adds_and_to_remote_agents(world: World) -> None:
    world.agent()
    mine = sestet.AgentSpec("bee_keeper", "Mine", always_include=True)
    async with sestet.open({}, plugins=True, specs=[mine]) as app:
        assert app.plugins.specs == ()
        assert "there is an agent 'bee_keeper' already" in app.warnings[0]

    entry = {"name": "BeeKeeper", "url": "http://127.0.0.1:9"}
    async with sestet.open({"a2a": {"enabled": True, "remoteAgents": [entry]}}, plugins=True) as app:
        assert app.plugins.specs == ()
        assert any("there is an agent 'BeeKeeper' already" in warning for warning in app.warnings)


def test_a_file_that_others_can_write_is_not_used(world: World) -> None:
    folder = world.agent()
    (folder / "care.py").chmod(0o666)

    plugins = find_plugins()

    assert names(plugins) == ([], [])
    assert only_problem(plugins).endswith(
        "care.py: skipped: can be written by everybody, so it is not used; "
        "without this file there is no agent 'beekeeper'"
    )


def test_a_pipe_in_place_of_a_file_does_not_hold_up_the_start(world: World) -> None:
    (world.config / "tools").mkdir()
    os.mkfifo(world.config / "tools" / "pipe.py")
    assert only_problem(find_plugins()).endswith("pipe.py: skipped: is not a regular file")


async def test_plugins_of_a_workspace_are_inert_until_it_is_accepted(world: World) -> None:
    folder = world.agent(where=world.work / ".agents")
    write(world.work / ".agents" / "tools" / "ran.py", "open('ran', 'w').close()\n" + tool_file("exec_feed"))

    async with sestet.open() as app:
        assert app.plugins.tools == ()
        (warning,) = app.warnings
    assert "until you accept them; 'sestet trust'" in warning
    assert not (world.work / "ran").exists()

    world.accept()
    async with sestet.open() as app:
        assert names(app.plugins) == (["beekeeper"], ["hive_feed", "exec_feed"])
        assert app.warnings == ()
        end = await answer(app, "feed the north hive")
    assert (world.work / "ran").exists()
    assert end.text == "Fed: north hive"

    write(folder / "care.py", tool_file("hive_feed") + "open('changed', 'w').close()\n")
    async with sestet.open() as app:
        assert app.plugins.tools == ()
    assert not (world.work / "changed").exists()


def test_a_compiled_file_beside_an_accepted_one_is_never_run(world: World) -> None:
    file = write(world.work / ".agents" / "tools" / "exec_a.py", tool_file("exec_feed"))
    world.accept()
    planted = write(world.work / "planted.py", "open('ran', 'w').close()\n")
    cache = Path(importlib.util.cache_from_source(str(file)))
    cache.parent.mkdir()
    state = file.stat()
    code = compile(planted.read_text("utf-8"), str(file), "exec")
    head = importlib.util.MAGIC_NUMBER + (0).to_bytes(4, "little")
    times = int(state.st_mtime).to_bytes(4, "little") + state.st_size.to_bytes(4, "little")
    cache.write_bytes(head + times + marshal.dumps(code))

    assert names(find_plugins())[1] == ["exec_feed"]
    assert not (world.work / "ran").exists()


def test_without_plugins_and_packages_nothing_is_imported_for_them(world: World) -> None:
    code = (
        "import asyncio, sestet, sys\n"
        "async def main():\n"
        "    async with sestet.open(model=sestet.ScriptedModel()): pass\n"
        "asyncio.run(main())\n"
        "names = ('importlib.metadata', '_sestet_plugins', 'hashlib')\n"
        "print(*(name in sys.modules for name in names))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False False\n"


async def test_a_person_without_a_home_directory_has_no_plugins(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_home() -> Path:
        raise RuntimeError

    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.delenv("SESTET_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    assert find_plugins() == Plugins()
    assert read_folder(world.agent()).problems == ()
    assert settings_from({})
