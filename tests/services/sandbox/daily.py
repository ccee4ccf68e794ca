"""``python -m tests.services.sandbox.daily ISOLATION DIRECTORY``: ordinary work in the sandbox."""

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path
from typing import cast

from sestet.services.sandbox.plan import Isolation
from sestet.services.sandbox.sandbox import Sandbox
from tests.services.sandbox.trial import run
from tests.services.sandbox.world import INTERPRETER, World

_SERVER = """
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: server.accept()[0].sendall(b"hello")).start()
print(socket.create_connection(server.getsockname()).recv(10).decode())
"""
_POOL = """
import multiprocessing, tempfile
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(4) as pool:
        print(sum(pool.map(abs, range(-10, 10))))
"""
_FILES = """
import os, shutil, tempfile
with tempfile.TemporaryDirectory() as folder:
    open(folder + "/a", "w").write("a")
    shutil.copytree(folder, "copied")
os.utime("copied/a", (1, 2))
os.chmod("copied/a", 0o640)
print(int(os.stat("copied/a").st_mtime), oct(os.stat("copied/a").st_mode & 0o777))
"""

#: A shell command, the end of its output, and the isolations in which it cannot work.
WORK = {
    "write and read": ("echo hello > a.txt && cat a.txt && rm a.txt", "hello", ()),
    "directories and links": ("mkdir -p d/e && ln -s e d/l && ls d && rm -r d", "l", ()),
    "make a script and run it": (
        "printf '#!/bin/sh\\necho ran' > s && chmod +x s && ./s && stat -c %a s",
        "755",
        (),
    ),
    "pipes and many processes": ("seq 1000 | sort -n | tail -1 | cat", "1000", ()),
    "the background": ("(sleep 0.1; echo late) & wait", "late", ()),
    "a named pipe": ("mkfifo p && (echo through > p &) && cat p && rm p", "through", ()),
    "temporary files": ('f=$(mktemp) && echo kept > "$f" && cat "$f"', "kept", ()),
    "the time of a file": ("touch -d 2001-02-03 t && date -r t +%Y", "2001", ()),
    "an archive": (
        "mkdir x && echo 1 > x/1 && tar cf x.tar x && rm -r x && tar xf x.tar && cat x/1",
        "1",
        (),
    ),
    "Python processes": (f"\"{INTERPRETER}\" -c '{_POOL}'", "100", ("landlock",)),
    "Python files": (f"\"{INTERPRETER}\" -c '{_FILES}'", "2 0o640", ()),
    "a server of its own": (f"\"{INTERPRETER}\" -c '{_SERVER}'", "hello", ("landlock",)),
    "its own limits": ("ulimit -n 100 && ulimit -n", "100", ()),
    "what the computer has": (
        "grep -c processor /proc/cpuinfo > n && test $(cat n) -gt 0 && echo yes",
        "yes",
        (),
    ),
}
if shutil.which("git", path="/usr/bin"):
    WORK["git"] = (
        "git init -q r && cd r && echo a > a && git add a && "
        "git -c user.name=a -c user.email=a@b commit -qm first && git log --format=%s",
        "first",
        (),
    )
if shutil.which("cc", path="/usr/bin"):
    WORK["a compiler"] = ("echo 'int main(){return 7;}' > m.c && cc m.c -o m && ./m; echo $?", "7", ())


async def work(isolation: Isolation, world: World) -> dict[str, list[str]]:
    """For each piece of work what it should print, what it printed, and its errors."""
    world.build()
    sandbox = Sandbox(world.plan(isolation), [isolation])
    report: dict[str, list[str]] = {}
    try:
        for name, (command, wanted, not_in) in WORK.items():
            if isolation not in not_in:
                _, output, errors = await run(sandbox, ["/bin/sh", "-c", command], world.work)
                report[name] = [wanted, output.strip(), errors]
    finally:
        await sandbox.close()
    owners = {path.stat().st_uid for path in world.work.rglob("x*")}
    report["the files belong to the owner of the workspace"] = [
        str({world.work.stat().st_uid}),
        str(owners),
        "",
    ]
    return report


if __name__ == "__main__":
    os.umask(0o022)
    given = (cast("Isolation", sys.argv[1]), World(Path(sys.argv[2])))
    print(json.dumps(asyncio.run(work(*given))))
