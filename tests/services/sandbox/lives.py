"""``python -m tests.services.sandbox.lives ISOLATION DIRECTORY``: how commands end, as a report.

Each story is a function; its name says what it shows, and it fails by an assertion.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

from sestet.services.sandbox.kernel import PR_SET_DUMPABLE, prctl
from sestet.services.sandbox.plan import Isolation, Usage
from sestet.services.sandbox.sandbox import Ended, RunningCommand, Sandbox
from sestet.services.vault.vault import Vault
from tests.services.sandbox.trial import run
from tests.services.sandbox.world import INTERPRETER, World
from tests.services.vault.cheap import CHEAP, PASSPHRASE

#: In the arguments of each process that has to be gone at the end of its story.
MARK = f"mark-of-{Path(sys.argv[2]).name}"
#: Processes of a command, each with a way of its own to outlive it.
SURVIVORS = f"""
sleep_on() {{ sh -c 'sleep 600; : {MARK}'; }}
setsid sh -c 'sleep 600; : {MARK}' &
(setsid sh -c 'sleep 600; : {MARK}' &)
nohup sh -c 'trap "" TERM HUP INT; sleep 600; : {MARK}' &
sleep 0.2
"""
#: Prints the descriptors that are open.
_DESCRIPTORS = "for n in 0 1 2 3 4 5 6 7 8 9; do (: <&$n) 2>/dev/null && echo $n; done"
_CHAIN = f"""
import os, sys
'{MARK}'
while True:
    if os.fork(): os._exit(0)
"""
_BOMB = f"""
import os
'{MARK}'
while True:
    try: os.fork()
    except OSError: pass
"""
_MANY = """
import os, time
for number in range(8):
    if not os.fork():
        filled = bytearray(os.urandom(1)) * 100_000_000
        time.sleep(60)
time.sleep(60)
"""
_SHARED = """
import mmap, os, time
for number in range(8):
    if not os.fork():
        shared = mmap.mmap(-1, 100_000_000)
        shared.write(bytes(100_000_000))
        time.sleep(60)
time.sleep(60)
"""
_ONE_SHARED_BY_MANY = """
import mmap, os, time
shared = mmap.mmap(-1, 100_000_000)
for place in range(0, len(shared), 4096): shared[place] = 1
for number in range(8):
    if not os.fork():
        shared[::4096]
        time.sleep(1)
        os._exit(0)
for number in range(8): os.wait()
"""


def marked() -> list[int]:
    """The processes of this computer with the mark."""
    found: list[int] = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            arguments = Path(f"/proc/{name}/cmdline").read_bytes()
        except OSError:
            continue
        if MARK.encode() in arguments:
            found.append(int(name))
    return found


async def until_none_is_marked() -> None:
    limit = time.monotonic() + 10
    while found := marked():
        assert time.monotonic() < limit, f"still there: {found}"
        await asyncio.sleep(0.05)


class Stories:
    def __init__(self, isolation: Isolation, world: World) -> None:
        self._isolation: Isolation = isolation
        self._world = world
        self._directory = str(world.work)

    @asynccontextmanager
    async def sandbox(self, usage: Usage | None = None) -> AsyncGenerator[Sandbox]:
        plan = self._world.plan(self._isolation, usage or Usage())
        sandbox = Sandbox(plan, [self._isolation])
        try:
            yield sandbox
        finally:
            await sandbox.close()

    async def shell(self, sandbox: Sandbox, text: str) -> tuple[Ended, str]:
        ended, output, _ = await run(sandbox, ["/bin/sh", "-c", text], self._world.work)
        return ended, output

    async def begin(self, sandbox: Sandbox, text: str) -> RunningCommand:
        """Start a command, and wait for the first line that it prints."""
        reader, writer = os.pipe()
        command = await sandbox.start(["/bin/sh", "-c", text], writer, 2, directory=self._directory)
        os.close(writer)
        await asyncio.to_thread(os.read, reader, 100)
        os.close(reader)
        return command

    async def python(self, source: str, usage: Usage) -> Ended:
        async with self.sandbox(usage) as sandbox:
            ended, _, _ = await run(sandbox, [INTERPRETER, "-ISc", source], self._world.work)
            assert (await self.shell(sandbox, "true"))[0].code == 0
            return ended

    async def a_command_is_asked_to_stop(self) -> None:
        async with self.sandbox() as sandbox:
            command = await self.begin(sandbox, "trap 'exit 5' TERM; echo ready; sleep 600 & wait")
            assert (await command.stop()).code == 5
            assert not command.is_running

    async def a_command_that_does_not_stop_is_killed(self) -> None:
        async with self.sandbox() as sandbox:
            text = f"trap '' TERM; echo ready; while :; do sleep 600; : {MARK}; done"
            ended = await (await self.begin(sandbox, text)).stop(grace=0.3)
            assert ended.signal == signal.SIGKILL
            await until_none_is_marked()

    async def killing_a_command_ends_all_its_processes(self) -> None:
        async with self.sandbox() as sandbox:
            command = await self.begin(sandbox, f"{SURVIVORS} echo ready; sleep 600; : {MARK}")
            assert len(marked()) > 3
            command.kill()
            assert (await command.wait()).signal == signal.SIGKILL
            assert marked() == []

    async def nothing_outlives_a_command_that_ends(self) -> None:
        async with self.sandbox() as sandbox:
            ended, _ = await self.shell(sandbox, f"{SURVIVORS} exit 4")
            assert ended.code == 4
            assert marked() == []

    async def a_process_that_replaces_itself_again_and_again_is_caught(self) -> None:
        async with self.sandbox() as sandbox:
            text = f"'{INTERPRETER}' -ISc \"{_CHAIN}\" & sleep 0.3"
            assert (await self.shell(sandbox, text))[0].code == 0
            assert marked() == []

    async def a_command_that_attacks_its_keepers_ends(self) -> None:
        async with self.sandbox() as sandbox:
            text = (
                f"setsid sh -c 'sleep 600; : {MARK}' & kill -9 $PPID; kill -9 1; kill -STOP $PPID; kill -9 -1"
            )
            await self.shell(sandbox, text)
            await until_none_is_marked()
            assert (await self.shell(sandbox, "true"))[0].code == 0

    async def a_launcher_that_dies_is_noticed_and_replaced(self) -> None:
        async with self.sandbox() as sandbox:
            command = await self.begin(sandbox, f"echo ready; sleep 600; : {MARK}")
            (launcher,) = children(os.getpid())
            os.kill(launcher, signal.SIGKILL)
            assert (await command.wait()).signal == signal.SIGKILL
            await until_none_is_marked()
            assert (await self.shell(sandbox, "exit 3"))[0].code == 3

    async def a_launcher_that_hangs_is_killed(self) -> None:
        async with self.sandbox() as sandbox:
            command = await self.begin(sandbox, f"echo ready; sleep 600; : {MARK}")
            for process in launchers():
                os.kill(process, signal.SIGSTOP)
            command.kill()
            await command.wait()
            await until_none_is_marked()

    async def a_start_that_is_cancelled_leaves_the_sandbox_usable(self) -> None:
        async with self.sandbox() as sandbox:
            starting = asyncio.create_task(sandbox.isolation())
            await asyncio.sleep(0.01)
            starting.cancel()
            assert (await self.shell(sandbox, "exit 3"))[0].code == 3
            assert len(children(os.getpid())) == 1

    async def fifty_commands_run_at_once(self) -> None:
        async with self.sandbox() as sandbox:
            texts = [f"sleep 0.2; echo {number}" for number in range(50)]
            done = await asyncio.gather(*(self.shell(sandbox, text) for text in texts))
            assert [output for _, output in done] == [f"{number}\n" for number in range(50)]

    async def long_commands_wait_for_room_in_the_channel(self) -> None:
        async with self.sandbox() as sandbox:
            text = f"exit 3 # {'x' * 100_000}"
            done = await asyncio.gather(*(self.shell(sandbox, text) for _ in range(10)))
            assert [ended.code for ended, _ in done] == [3] * 10

    async def closing_ends_every_command(self) -> None:
        async with self.sandbox() as sandbox:
            commands = [await self.begin(sandbox, f"{SURVIVORS} echo ready; sleep 600") for _ in range(2)]
            await sandbox.close()
            assert [(await command.wait()).signal for command in commands] == [signal.SIGKILL] * 2
            await until_none_is_marked()

    async def killing_sestet_ends_every_command(self) -> None:
        module = "tests.services.sandbox.lives"
        process = subprocess.Popen(  # noqa: ASYNC220 - it only starts
            [sys.executable, "-m", module, self._isolation, str(self._world.base), "sestet"],
            stdout=subprocess.PIPE,
        )
        try:
            assert process.stdout
            assert (await asyncio.to_thread(process.stdout.readline)) == b"ready\n"
            assert len(marked()) > 3
        finally:
            process.kill()
            process.communicate()
        await until_none_is_marked()

    async def a_missing_program_is_named(self) -> None:
        async with self.sandbox() as sandbox:
            ended, _, _ = await run(sandbox, ["/no/such/program"], self._world.work)
            assert ended.failed == "/no/such/program: No such file or directory"

    async def a_secret_is_descriptor_3_of_its_command_alone(self) -> None:
        # The broker looks at the descriptors of this process, which root has made an ordinary user's.
        prctl(PR_SET_DUMPABLE, 1)
        vault = Vault(self._world.base / "secrets.vault")
        vault.create(PASSPHRASE, cost=CHEAP)
        vault.store("token", b"the value", commands=["cat *"])
        shell = ["/bin/sh", "-c", f"{_DESCRIPTORS}; cat /dev/fd/3"]
        async with self.sandbox() as sandbox:
            reader, writer = os.pipe()
            offered = vault.offer("token", "cat /dev/fd/3")
            given = [offered.reader.fileno()]
            command = await sandbox.start(shell, writer, 2, directory=self._directory, given=given)
            os.close(writer)
            offered.reader.close()
            _, other = await self.shell(sandbox, f"{_DESCRIPTORS}; cat /dev/fd/3 || echo none")
            assert other == "0\n1\n2\nnone\n", other
            vault.fill(offered)
            assert (await command.wait()).code == 0
            assert (printed := os.read(reader, 1_000)) == b"0\n1\n2\n3\nthe value", printed
            os.close(reader)
        vault.close()

    async def a_fork_bomb_is_ended(self) -> None:
        async with self.sandbox(Usage(processes=50)) as sandbox:
            ended, _ = await self.shell(sandbox, f"exec '{INTERPRETER}' -ISc \"{_BOMB}\"")
            assert ended.too_many
            assert marked() == []
            assert (await self.shell(sandbox, "exit 3"))[0].code == 3

    async def a_process_gets_no_more_memory_than_allowed(self) -> None:
        ended = await self.python("bytearray(400_000_000)", Usage(memory=300_000_000))
        assert ended.code == 1

    async def many_processes_get_no_more_memory_than_allowed(self) -> None:
        assert (await self.python(_MANY, Usage(memory=300_000_000))).too_large

    async def memory_that_processes_share_counts_once(self) -> None:
        usage = Usage(memory=300_000_000)
        assert (await self.python(_SHARED, usage)).too_large
        assert (await self.python(_ONE_SHARED_BY_MANY, usage)).code == 0

    async def a_file_grows_no_larger_than_allowed(self) -> None:
        source = "open('large', 'wb').write(bytes(2_000_000))"
        ended = await self.python(source, Usage(file_bytes=1_000_000))
        assert ended.signal in (None, signal.SIGXFSZ)
        assert (self._world.work / "large").stat().st_size <= 1_000_000

    async def a_disk_is_not_filled(self) -> None:
        state = os.statvfs(self._directory)
        usage = Usage(disk_left=state.f_bavail * state.f_frsize - 50_000_000)
        async with self.sandbox(usage) as sandbox:
            ended, _ = await self.shell(
                sandbox, "i=0; while :; do i=$((i+1)); head -c 9999999 /dev/zero > f$i; done"
            )
            await self.shell(sandbox, "rm f*")
            assert ended.no_space

    async def temporary_files_do_not_fill_the_memory(self) -> None:
        if self._isolation == "landlock":  # they lie on the disk
            return
        async with self.sandbox() as sandbox:
            for place in ("/tmp", "/dev/shm"):  # noqa: S108 - the sandbox's own
                text = (
                    f"head -c 600000000 /dev/zero > {place}/large; stat -c %s {place}/large; rm {place}/large"
                )
                _, output = await self.shell(sandbox, text)
                assert 0 < int(output) < 600_000_000

    async def a_process_opens_no_more_files_than_allowed(self) -> None:
        source = "files = [open('/dev/null') for _ in range(200)]"
        assert (await self.python(source, Usage(open_files=100))).code == 1

    async def a_gigabyte_of_output_arrives(self) -> None:
        async with self.sandbox() as sandbox:
            reader, writer = os.pipe()
            text = "head -c 1000000000 /dev/zero"
            command = await sandbox.start(["/bin/sh", "-c", text], writer, 2, directory=self._directory)
            os.close(writer)
            assert await asyncio.to_thread(count_bytes, reader) == 1_000_000_000
            assert (await command.wait()).code == 0


def children(process: int) -> list[int]:
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return [int(each) for task in tasks for each in task.read_text(encoding="ascii").split()]


def launchers() -> list[int]:
    """Every process between Sestet and its commands, with the first one last."""
    found = children(os.getpid())
    for process in found:
        found += children(process)
    return [
        process
        for process in reversed(found)
        if b"sandbox.launcher" in Path(f"/proc/{process}/cmdline").read_bytes()
    ]


def count_bytes(reader: int) -> int:
    with open(reader, "rb", buffering=0) as stream:
        return sum(len(block) for block in iter(lambda: stream.read(1 << 20), b""))


async def tell(stories: Stories, names: Sequence[str]) -> dict[str, str]:
    """What went wrong in each story."""
    report: dict[str, str] = {}
    for name in names:
        try:
            await getattr(stories, name)()
            report[name] = ""
        except Exception:  # any: the story failed
            report[name] = traceback.format_exc(limit=-3)
    return report


async def be_sestet(stories: Stories) -> None:
    """Run commands until someone kills this process."""
    async with stories.sandbox() as sandbox:
        await stories.begin(sandbox, f"{SURVIVORS} echo ready; sleep 600; : {MARK}")
        print("ready", flush=True)
        await asyncio.sleep(600)


def main() -> None:
    isolation, directory, *rest = sys.argv[1:]
    world = World(Path(directory))
    stories = Stories(cast("Isolation", isolation), world)
    if rest:
        asyncio.run(be_sestet(stories))
    world.build()
    names = [name for name in vars(Stories) if name[0] != "_" and "_" in name]
    print(json.dumps(asyncio.run(tell(stories, names))))


if __name__ == "__main__":
    main()
