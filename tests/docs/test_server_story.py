"""The conversation with curl in docs/server.md, against the real program."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.markdown import read_blocks

pytestmark = pytest.mark.slow
_PAGE = Path("docs/server.md")
#: Ids of turns differ from run to run.
_TURN = re.compile(r'"turn":"[0-9a-f]+"')


def story(page: str) -> tuple[str, str]:
    """The commands of the page, and what it says that they print."""
    commands, printed = "", ""
    blocks = read_blocks(page)
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if block.info == "sh curl":
            commands += block.code
            printed += following.code if following and following.info == "text" else ""
    return commands, printed


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_conversation_with_curl_prints_what_the_page_says(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    program = [sys.executable, "-m", "sestet", "serve", "--port", "0"]
    server = subprocess.Popen(program, env=environment, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        assert server.stderr is not None
        url = next(found[0] for line in server.stderr if (found := re.search(r"http://\S+", line)))
        commands, printed = story(_PAGE.read_text())
        commands = commands.replace("http://127.0.0.1:7373", url)
        done = subprocess.run(
            ["bash", "-c", commands],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)

    assert done.stderr == ""
    # An empty line ends each stream.
    shown = [line for line in _TURN.sub('"turn":"…"', done.stdout).splitlines() if line]
    assert shown == printed.splitlines()
    assert server.returncode == 0
