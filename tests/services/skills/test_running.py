"""A skill's script runs in a sandbox of its own, from the bytes that were trusted."""

import asyncio
import os

import pytest

from sestet.services.commands.command_rules import OwnerRules
from sestet.services.commands.commands import CommandResult
from sestet.services.skills.service import ScriptRun, Skills
from sestet.services.skills.skill import SkillError
from sestet.services.skills.staging import DIRECTORY, staged
from tests.services.skills.world import World

#: Prints whether each of its arguments can be read.
LOOK = """import sys, os
for path in sys.argv[1:]:
    try:
        print("read", open(path).read().strip())
    except OSError as error:
        print("refused", type(error).__name__)
"""


async def run(world: World, *arguments: str, stdin: str = "", seconds: float = 30) -> CommandResult:
    skill = world.skills.catalog.trusted("count")[1]
    wanted = ScriptRun(skill, skill.entry, arguments, stdin, seconds)
    return await world.skills.run_script(wanted, lambda _: None)


async def test_a_script_reads_its_input_and_gets_its_arguments_without_a_shell(running: World) -> None:
    running.write_counter()
    running.trust("count")

    done = await run(running, "a b", "$(id)", ";", stdin="one two\nthree")

    assert (done.output, done.errors) == ("3 a b $(id) ;\n", "")
    assert done.ended is not None
    assert done.ended.code == 0


async def test_a_script_changes_the_workspace_and_not_its_own_folder(running: World) -> None:
    script = """import os
print(os.getcwd())
open("made.txt", "w").write("x")
for path in ("scripts/run.py", "new"):
    try:
        open(os.path.join(os.environ["SKILL_DIR"], path), "a")
    except OSError as error:
        print(type(error).__name__, error.errno)
"""
    running.write_counter(script=script)
    running.trust("count")

    done = await run(running)

    assert done.output.split("\n")[0] == str(running.work)
    assert done.output.count("OSError 30") + done.output.count("PermissionError") == 2
    assert (running.work / "made.txt").read_text() == "x"


async def test_a_script_reads_no_key_of_the_owner_and_no_data_of_sestet(running: World) -> None:
    running.write_counter(script=LOOK)
    running.trust("count")
    key = running.home / ".ssh" / "id_rsa"
    key.parent.mkdir()
    key.write_text("KEY")
    (running.data / "sestet.db").write_text("ROWS")
    readable = running.work / "notes.txt"
    readable.write_text("notes")
    secrets = [str(key), str(running.data / "sestet.db"), str(running.data / "skills.json"), "/etc/shadow"]

    # The control: outside of the sandbox, the same script reads the key.
    outside = await asyncio.create_subprocess_exec(
        "python3", "-c", LOOK, secrets[0], stdout=asyncio.subprocess.PIPE
    )
    assert (await outside.communicate())[0] == b"read KEY\n"

    done = await run(running, str(readable), *secrets)

    lines = done.output.splitlines()
    assert lines[0] == "read notes"
    assert [line.split()[0] for line in lines[1:]] == ["refused"] * len(secrets)


async def test_a_script_has_no_network_unless_the_owner_gives_it_to_this_skill(running: World) -> None:
    running.write_counter()
    assert not running.skills.has_network("count")
    running.owner = OwnerRules(network=("skill_run count",), allowed=("skill_run co*",))
    assert running.skills.has_network("count")
    assert not running.skills.has_network("counter")
    assert running.skills.owner_allows("counter")


async def test_files_that_are_swapped_after_the_look_are_not_run(running: World) -> None:
    folder = running.write_counter(script="print('trusted')\n")
    running.trust("count")
    skill = running.skills.catalog.trusted("count")[1]
    (folder / "scripts/run.py").write_text("print('swapped')\n")

    done = await running.skills.run_script(ScriptRun(skill, skill.entry), lambda _: None)

    assert done.output == "trusted\n"


async def test_commands_of_the_workspace_do_not_see_the_copy_of_a_running_skill(running: World) -> None:
    running.write_counter(
        script="import os, time\nprint(os.environ['SKILL_DIR'], flush=True)\ntime.sleep(60)"
    )
    running.trust("count")
    skill = running.skills.catalog.trusted("count")[1]
    printed: asyncio.Queue[str] = asyncio.Queue()
    task = asyncio.create_task(
        running.skills.run_script(ScriptRun(skill, skill.entry), lambda text: printed.put_nowait(text))
    )
    where = (await printed.get()).strip()

    assert "SKILL.md" in os.listdir(where)
    seen = await running.commands.run(f"ls {where}", seconds=30)
    assert seen.ended is not None
    assert seen.ended.code != 0

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert os.listdir(running.data / DIRECTORY) == []


async def test_a_script_that_takes_too_long_leaves_no_copy(running: World) -> None:
    script = "import os, subprocess\nsubprocess.Popen(['sleep', '60'])\nprint('begun', flush=True)\nos.wait()"
    running.write_counter(script=script)
    running.trust("count")

    done = await run(running, seconds=1)

    assert (done.output, done.timed_out) == ("begun\n", 1)
    assert os.listdir(running.data / DIRECTORY) == []


async def test_the_copies_of_runs_that_a_crash_cut_off_are_removed_by_the_next_run(running: World) -> None:
    running.write_counter()
    running.trust("count")
    left = running.data / DIRECTORY / "left"
    (left / "count").mkdir(parents=True)

    with staged(running.data, "other", {"SKILL.md": b""}) as kept:
        assert not left.exists()
        await run(running)
        assert kept.is_dir()
    assert os.listdir(running.data / DIRECTORY) == []


async def test_without_a_sandbox_no_script_runs(world: World) -> None:
    world.write_counter()
    world.trust("count")
    skills = Skills(world.data, [world.work])
    skill = skills.catalog.trusted("count")[1]
    with pytest.raises(SkillError, match="no sandbox works here"):
        await skills.run_script(ScriptRun(skill, skill.entry), lambda _: None)


async def test_a_script_that_cannot_start_says_why(running: World) -> None:
    running.write_counter(script="#!/no/such/program\n")
    running.trust("count")
    done = await run(running)
    assert done.ended is not None
    assert "No such file" in done.ended.failed


async def test_too_much_input_is_refused(running: World) -> None:
    running.write_counter()
    running.trust("count")
    with pytest.raises(SkillError, match="the input has more than"):
        await run(running, stdin="x" * 1_000_001)
    done = await run(running, stdin="x " * 100_000)
    assert done.output == "100000\n"


async def test_a_script_can_only_read_its_input(running: World) -> None:
    script = "import os\ntry:\n    os.write(0, b'x')\nexcept OSError:\n    print('refused')\n"
    running.write_counter(script=script)
    running.trust("count")
    assert (await run(running, stdin="text")).output == "refused\n"
