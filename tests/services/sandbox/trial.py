"""``python -m tests.services.sandbox.trial ISOLATION PART DIRECTORY``: attacks without and with a sandbox.

Prints a report as JSON. It runs in a process of its own, as root or as an ordinary user.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict, cast, get_args

from sestet.services.sandbox.plan import Isolation
from sestet.services.sandbox.sandbox import Ended, Sandbox
from tests.services.sandbox.attacks import PARTS, Attack
from tests.services.sandbox.world import AS_ROOT, COMMAND, INTERPRETER, SECRET, World

PROBE = Path(__file__).with_name("probe.py").read_text(encoding="utf-8")


class Report(TypedDict):
    user: int
    #: The result of each attack by its name; ESCAPED: it worked.
    controls: dict[str, str]
    confined: dict[str, str]
    #: Whether a file outside of the workspace was changed from the sandbox.
    is_damaged: bool


async def run(sandbox: Sandbox, arguments: Sequence[str], directory: Path) -> tuple[Ended, str, str]:
    """Run a command in the sandbox to its end."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        command = await sandbox.start(arguments, output.fileno(), errors.fileno(), directory=str(directory))
        ended = await command.wait()
        output.seek(0)
        errors.seek(0)
        return ended, output.read().decode(errors="replace"), errors.read().decode(errors="replace")


def probe(
    attacks: Sequence[Attack], facts: Mapping[str, object], file: Path, *, is_control: bool
) -> list[str]:
    """The command line that tries these attacks, which it reads from a file."""
    listed = [
        {
            "name": attack.name,
            "code": (attack.harmless if is_control else "") or attack.code,
            "rootless": is_control and attack.control == "rootless",
        }
        for attack in attacks
    ]
    unique = "control" if is_control else "confined"
    given = json.dumps({"facts": {**facts, "unique": unique}, "attacks": listed})
    file.write_text(given, encoding="utf-8")
    file.chmod(0o644)
    return [INTERPRETER, "-ISc", PROBE, str(file)]


def run_control(command: Sequence[str], descriptor: int, directory: Path) -> str:
    done = subprocess.run(
        command,
        pass_fds=[descriptor],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        cwd=directory,
        text=True,
        check=True,
    )
    return done.stdout


def results(output: str) -> dict[str, str]:
    return dict(json.loads(line) for line in output.splitlines())


async def attack(isolation: Isolation, part: str, world: World) -> Report:
    attacks = [
        each
        for each in PARTS[part]
        if isolation not in each.except_in and ("setuid" not in each.code or (world.work / AS_ROOT).exists())
    ]
    world.build()
    os.environ["SESTET_TEST_KEY"] = SECRET
    descriptor = os.open(world.data / "sestet.db", os.O_RDWR)
    os.set_inheritable(descriptor, True)
    with world.facts() as facts:
        command = probe(attacks, facts, world.work / "control.json", is_control=True)
        controls = await asyncio.to_thread(run_control, command, descriptor, world.work)
        world.build()
        before = world.digest()
        sandbox = Sandbox(world.plan(isolation), [isolation])
        try:
            other = ["/bin/sh", "-c", f"sleep 600; : {COMMAND}"]
            await sandbox.start(other, descriptor, descriptor, directory="/")
            command = probe(attacks, facts, world.work / "confined.json", is_control=False)
            _, output, errors = await run(sandbox, command, world.work)
        finally:
            await sandbox.close()
        assert not errors, errors
        is_damaged = world.digest() != before
    return {
        "user": os.geteuid(),
        "controls": results(controls),
        "confined": results(output),
        "is_damaged": is_damaged,
    }


def main() -> None:
    isolation, part, directory = sys.argv[1:]
    assert isolation in get_args(Isolation)
    report = asyncio.run(attack(cast("Isolation", isolation), part, World(Path(directory))))
    print(json.dumps(report))


if __name__ == "__main__":
    main()
