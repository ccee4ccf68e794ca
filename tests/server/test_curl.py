"""Plain ``curl -N`` against the real program, with the built-in model."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sestet.services.tokens import OWNER_FILE
from tests.cli.program import PATIENCE, Home

CURL = shutil.which("curl") or ""
pytestmark = pytest.mark.skipif(not CURL, reason="curl was not found")


class Program(NamedTuple):
    url: str
    token: str

    def curl(self, path: str, body: object) -> str:
        """The whole answer to a POST; curl ends when the stream does."""
        headers = (f"Authorization: Bearer {self.token}", "Content-Type: application/json")
        done = subprocess.run(
            [CURL, "-sN", "--noproxy", "*", "--config", "-", f"{self.url}{path}", "-d", json.dumps(body)],
            # Other users of a machine can read the arguments of a program, and not its input.
            input="".join(f'header = "{header}"\n' for header in headers),
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=True,
        )
        return done.stdout


@pytest.fixture
def program(tmp_path: Path) -> Generator[Program]:
    home = Home(tmp_path)
    command = [sys.executable, "-m", "sestet", "serve", "--port", "0"]
    with subprocess.Popen(
        command, cwd=home.work, env=home.environment(), stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        try:
            assert process.stderr is not None
            url = next(word for line in process.stderr for word in line.split() if word.startswith("http"))
            yield Program(url, (home.data / OWNER_FILE).read_text(encoding="utf-8").strip())
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def data(stream: str) -> list[Any]:  # Any: JSON
    lines = [line.removeprefix("data: ") for line in stream.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def test_curl_follows_every_surface(program: Program) -> None:
    message = {"role": "user", "content": "hello"}
    chat = program.curl(
        "/v1/chat/completions", {"model": "sestet", "messages": [message], "user": "s1", "stream": True}
    )
    responses = program.curl("/v1/responses", {"model": "sestet", "input": "hello", "stream": True})
    run = program.curl("/agui", {"threadId": "s1", "runId": "r1", "messages": [{**message, "id": "m1"}]})

    assert chat.endswith("data: [DONE]\n\n")
    assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in data(chat))
    assert data(responses)[-1]["type"] == "response.completed"
    assert data(run)[0]["type"] == "RUN_STARTED"
    assert data(run)[-1]["result"]["session"] == "s1"


def test_the_server_starts_without_the_packages_of_its_clients() -> None:
    load = "import sys; from sestet.server.application import all_endpoints; all_endpoints()"
    look = f"{load}; print({{'pydantic', 'ag_ui', 'openai'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "set()\n"
