"""The surroundings of an attack: private files, a workspace, another process, servers, all of one user."""

import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sestet.services.sandbox.plan import Isolation, Plan, Usage
from sestet.services.sandbox.syscall_numbers import numbers_here

SECRET = "correct-horse-battery-staple"
MARKER = "a-process-of-the-person"
COMMAND = "another-command-of-the-sandbox"
#: A program in the workspace that runs with root's rights.
AS_ROOT = "as-root"
INTERPRETER = os.path.realpath(sys.executable)

_VICTIM = """
import ctypes, json, sys, time
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
libc.prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0)  # any process of this user may trace it
secret = sys.argv[1].encode()
buffer = ctypes.create_string_buffer(secret)
shared = libc.shmget(0, 4096, 0o1600)
place = libc.shmat(shared, None, 0)
ctypes.memmove(place, secret, len(secret))
print(json.dumps({"address": ctypes.addressof(buffer), "shared": shared}), flush=True)
sys.stdin.read()
libc.shmctl(shared, 0, None)
"""


USUAL = Usage()


class World:
    def __init__(self, base: Path) -> None:
        self.base = base
        self.work, self.outside, self.home = base / "work", base / "outside", base / "home"
        self.data, self.tools = base / "data", base / "tools"
        self.own = self.work / ".own" / "sestet"

    def build(self) -> None:
        """Write every file as it was at first."""
        (self.base / "mounted").mkdir(exist_ok=True)
        for name in (
            "home/.ssh/id_ed25519",
            "home/.config/sestet/sestet.yaml",
            "data/sestet.db",
            "tools/private/sestet.yaml",
            "work/.own/sestet/sestet.db",
            "outside/target",
            "outside/spare",
            "tools/tool",
            "work/.git/hooks/pre-commit",
            "work/.git/config",
            "work/sestet.yaml",
        ):
            path = self.base / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(SECRET, encoding="utf-8")
            path.chmod(0o600)
            os.utime(path, (0, 0))
        if os.geteuid() == 0:
            owner = self.work.stat()
            for path in self.work.rglob("*"):
                if path.name != AS_ROOT:
                    os.chown(path, owner.st_uid, owner.st_gid)

    def digest(self) -> str:
        """Changes when anything outside of the workspace changes, or a protected place in it."""
        places = (self.outside, self.home, self.data, self.tools, self.own, self.work / ".git")
        found = hashlib.sha256((self.work / "sestet.yaml").read_bytes())
        for path in sorted(path for place in places for path in place.rglob("*")):
            state = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            found.update(repr((str(path), state.st_mode, state.st_uid, content)).encode())
        return found.hexdigest()

    def plan(self, isolation: Isolation, usage: Usage = USUAL) -> Plan:
        # Landlock alone cannot hide a place in the workspace; it refuses such a plan.
        inner = () if isolation == "landlock" else (str(self.own),)
        protected = (self.work / ".git" / "hooks", self.work / ".git" / "config", self.work / "sestet.yaml")
        return Plan(
            writable=(str(self.work),),
            readable=(str(self.tools), os.path.realpath(sys.base_prefix)),
            protected=tuple(map(str, protected)),
            hidden=(str(self.home), str(self.data), str(self.tools / "private"), *inner),
            usage=usage,
        )

    @contextmanager
    def facts(self) -> Generator[dict[str, object]]:
        """What an attacker knows, while the other process and the servers run."""
        with _victim() as victim, _servers(self.outside / "server") as servers:
            yield {
                "secret": SECRET,
                "marker": MARKER,
                "command": COMMAND,
                "numbers": numbers_here(),
                "home": str(self.home),
                "work": str(self.work),
                "outside": str(self.outside),
                "data": str(self.data),
                "readable": str(self.tools),
                "mounted": str(self.base / "mounted"),
                "setuid": str(self.work / AS_ROOT),
                **victim,
                **servers,
            }


@contextmanager
def _victim() -> Generator[dict[str, object]]:
    environment = {**os.environ, "KEY": SECRET}
    with subprocess.Popen(
        [sys.executable, "-ISc", _VICTIM, SECRET, MARKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdin
        assert process.stdout
        yield {"victim": process.pid, **json.loads(process.stdout.readline())}
        process.stdin.close()


@contextmanager
def _servers(path: Path) -> Generator[dict[str, object]]:
    abstract = f"sestet-{os.getpid()}"
    path.unlink(missing_ok=True)
    families = ((socket.AF_INET, ("", 0)), (socket.AF_UNIX, str(path)), (socket.AF_UNIX, f"\0{abstract}"))
    listening = [socket.socket(family) for family, _ in families]
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        for server, (_, address) in zip(listening, families, strict=True):
            server.bind(address)
            server.listen(64)
        udp.bind(("", 0))
        threading.Thread(target=_answer, args=(udp,), daemon=True).start()
        yield {
            "tcp": listening[0].getsockname()[1],
            "udp": udp.getsockname()[1],
            "abstract": abstract,
            "address_out": _own_address(),
        }
    finally:
        for server in (*listening, udp):
            server.close()
        path.unlink(missing_ok=True)


def _answer(udp: socket.socket) -> None:
    while True:
        try:
            _, sender = udp.recvfrom(100)
            udp.sendto(b"heard", sender)
        except OSError:
            return


def _own_address() -> str:
    """An address of this computer beside the loopback, if it has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            any_socket.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(any_socket.getsockname()[0])
