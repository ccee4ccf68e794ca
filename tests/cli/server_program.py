"""``sestet serve`` as a process of its own; as a program: the server with a model that hangs or answers."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import httpx2

import sestet
from sestet.server.serve import Address, serve
from tests.cli.hanging import HangingModel
from tests.cli.program import PATIENCE, Home

ANSWER = "Here I am."


class Server:
    """A server that answers."""

    def __init__(self, process: subprocess.Popen[str], home: Home, said: list[str], verify: bool) -> None:
        self.process = process
        #: What it has printed before it was ready.
        self.said = said
        self.url = said[-1].split(" ")[3]
        self.token_file = home.data / "server-token"
        self._verify = verify

    def client(self, **headers: str) -> httpx2.Client:
        entry = {"Authorization": f"Bearer {self.token_file.read_text().strip()}"} | headers
        return httpx2.Client(
            base_url=self.url, headers=entry, timeout=PATIENCE, trust_env=False, verify=self._verify
        )

    def read_until_ready(self) -> list[str]:
        """What it prints from now until it answers."""
        assert self.process.stderr is not None
        return _until_ready(self.process.stderr)

    def stop(self, number: signal.Signals) -> tuple[int, str]:
        """Stop it with a signal; returns its exit code, and what it printed meanwhile."""
        self.process.send_signal(number)
        _, printed = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, printed


def _until_ready(lines: Iterable[str]) -> list[str]:
    said: list[str] = []
    for line in lines:
        said.append(line.rstrip())
        if line.startswith("Sestet listens at "):
            return said
    raise AssertionError(f"the server did not start: {said}")


@contextmanager
def start_server(
    home: Home,
    *options: str,
    program: tuple[str, ...] = ("-m", "sestet", "serve"),
    extra: Mapping[str, str] | None = None,
    verify: bool = True,
) -> Generator[Server]:
    process = subprocess.Popen(
        [sys.executable, *program, *options],
        cwd=home.work,
        env=home.environment(extra),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    bound = Timer(2 * PATIENCE, process.kill)
    bound.start()
    try:
        assert process.stderr is not None
        yield Server(process, home, _until_ready(process.stderr), verify)
    finally:
        bound.cancel()
        process.kill()
        process.communicate()


async def _main(what: str) -> None:
    model = HangingModel() if what == "hang" else sestet.ScriptedModel([ANSWER])
    settings = {"embedding": {"provider": "none"}, "observationalMemory": {"enabled": False}}
    async with sestet.open(settings, model=model, home=Path(sys.argv[2])) as app:
        await serve(
            app,
            Address(port=0),
            lambda url, codes: print(f"Sestet listens at {url} ", file=sys.stderr, flush=True),
        )


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1]))
