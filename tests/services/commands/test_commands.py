"""Commands run in the real sandbox: their output, their end, and bad input."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sestet.core.errors import ToolError
from sestet.services.commands import output
from sestet.services.commands.commands import Commands
from sestet.services.sandbox.plan import Plan
from sestet.services.sandbox.sandbox import Sandbox


@pytest.fixture
async def commands(tmp_path: Path) -> AsyncIterator[Commands]:
    made = Commands(Sandbox(Plan(writable=(str(tmp_path),))), tmp_path)
    yield made
    await made.close()


async def test_output_and_errors_are_kept_apart_with_the_exit_code(commands: Commands) -> None:
    done = await commands.run("echo out; echo err >&2; exit 3", seconds=30)

    assert (done.output, done.errors) == ("out\n", "err\n")
    assert done.ended is not None
    assert (done.ended.code, done.ended.signal, done.timed_out) == (3, None, None)


async def test_a_command_works_in_the_workspace_and_leaves_its_files_to_the_owner(
    commands: Commands, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    done = await commands.run("pwd; echo hello > made.txt", seconds=30, directory="sub")

    assert done.output == f"{tmp_path}/sub\n"
    made = tmp_path / "sub" / "made.txt"
    assert made.read_text() == "hello\n"
    assert made.stat().st_uid == os.getuid()


async def test_output_is_reported_while_the_command_runs(commands: Commands, tmp_path: Path) -> None:
    first = asyncio.Event()
    pieces: list[str] = []

    def report(text: str) -> None:
        pieces.append(text)
        first.set()

    running = asyncio.create_task(
        commands.run("echo one; while [ ! -e go ]; do :; done; echo two", seconds=30, report=report)
    )
    await first.wait()
    assert ("".join(pieces), running.done()) == ("one\n", False)
    (tmp_path / "go").touch()

    assert (await running).output == "one\ntwo\n"
    assert "".join(pieces) == "one\ntwo\n"


async def test_what_a_python_script_prints_is_reported_while_it_runs(
    commands: Commands, tmp_path: Path
) -> None:
    first = asyncio.Event()
    (tmp_path / "slow.py").write_text("import os\nprint('one')\nwhile not os.path.exists('go'):\n    pass\n")

    running = asyncio.create_task(commands.run("python3 slow.py", seconds=30, report=lambda _: first.set()))
    said = asyncio.create_task(first.wait())
    await asyncio.wait((running, said), return_when=asyncio.FIRST_COMPLETED)
    (tmp_path / "go").touch()

    assert (said.done(), (await running).output) == (True, "one\n")
    said.cancel()


async def test_a_command_that_takes_too_long_is_stopped_with_all_that_it_started(
    commands: Commands, tmp_path: Path
) -> None:
    done = await commands.run("(trap '' TERM; sleep 60) & echo begun; sleep 60", seconds=0.5)

    assert (done.output, done.timed_out) == ("begun\n", 0.5)
    assert done.ended is not None
    assert done.ended.signal in (signal.SIGTERM, signal.SIGKILL)


async def test_a_stopped_turn_ends_its_command(commands: Commands, tmp_path: Path) -> None:
    begun = asyncio.Event()
    running = asyncio.create_task(
        commands.run("echo x; sleep 1; touch survived", seconds=30, report=lambda _: begun.set())
    )
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    await commands.run("sleep 1.5", seconds=30)
    assert not (tmp_path / "survived").exists()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("nosuchprogram", "not found"),
        ("cat missing", "No such file"),
        ("if", "syntax error"),
        ("./x", "No such"),
    ],
)
async def test_a_command_that_cannot_work_says_why(commands: Commands, command: str, said: str) -> None:
    done = await commands.run(command, seconds=30)
    assert said in done.errors
    assert done.ended is not None
    assert done.ended.code not in (0, None)


async def test_a_command_that_reads_its_input_finds_it_empty(commands: Commands) -> None:
    assert (await commands.run("wc -c; read line || echo nothing", seconds=30)).output == "0\nnothing\n"


async def test_bytes_that_are_not_text_are_counted_and_not_shown(commands: Commands) -> None:
    assert (
        await commands.run("head -c 1000 /dev/zero", seconds=30)
    ).output == "[1,000 bytes that are not text]"


async def test_of_long_output_the_beginning_and_the_end_are_kept(commands: Commands) -> None:
    done = await commands.run("echo first; seq 1000000; echo last", seconds=60)
    assert done.output.startswith("first\n1\n")
    assert done.output.endswith("1000000\nlast\n")
    assert "bytes left out" in done.output


async def test_a_command_that_never_stops_printing_is_stopped(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "MOST_BYTES", 1_000_000)
    done = await commands.run("yes", seconds=60)
    assert done.flooded
    assert done.timed_out is None


@pytest.mark.parametrize(
    ("directory", "said"), [("..", "outside"), ("missing", "does not exist"), ("file", "is a file")]
)
async def test_a_directory_that_cannot_be_used_is_named(
    commands: Commands, tmp_path: Path, directory: str, said: str
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ToolError, match=said):
        await commands.run("ls", seconds=30, directory=directory)


async def test_a_background_command_is_followed_and_stopped(commands: Commands, tmp_path: Path) -> None:
    number = await commands.start("echo begun; touch begun; sleep 60")
    while not (tmp_path / "begun").exists():
        await commands.run("sleep 0.05", seconds=30)
    await commands.run("true", seconds=30)

    assert (commands.status(number).output, commands.status(number).ended) == ("begun\n", None)
    assert list(commands.list()) == [number]
    stopped = await commands.stop(number)
    assert stopped.ended is not None
    assert stopped.ended.signal == signal.SIGTERM
    with pytest.raises(ToolError, match=f"no command has the id 'c9'; known are: {number}"):
        commands.status("c9")


async def test_a_git_command_that_only_reads_runs_no_program_of_the_repository(
    commands: Commands, tmp_path: Path
) -> None:
    """A repository without a folder of its own can lie among the files of a clone."""
    for command in ("git init -q own", "git init -q --bare own/inner", "git init -q other"):
        await commands.run(command, seconds=30)
    marks = [tmp_path / "ran-inner", tmp_path / "ran-other"]
    for config, mark in zip(("own/inner/config", "other/.git/config"), marks, strict=True):
        with (tmp_path / config).open("a") as file:
            file.write(f'[core]\n bare = false\n worktree = .\n fsmonitor = "touch {mark}"\n')
    listed = "; ".join(f"cd {tmp_path}/{place}; git status" for place in ("own/inner", "other"))

    reading = await commands.run(listed, seconds=30)
    assert not any(each.exists() for each in marks)
    assert "cannot use bare repository" in reading.errors
    assert "On branch" in reading.output
    # The control: the same line with a change in it has the repository's own settings.
    await commands.run(f"touch x; {listed}", seconds=30)
    assert all(each.exists() for each in marks)
