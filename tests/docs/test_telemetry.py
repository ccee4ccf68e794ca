"""The README says: no telemetry. A conversation with the default settings opens no connection."""

import os
import subprocess
import sys
from pathlib import Path

#: Runs the command line and prints each address that Python code resolves or connects to.
WATCHED = """
import sys

def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        print("connection:", arguments, file=sys.stderr)

sys.addaudithook(watch)
from sestet.cli import main
sys.exit(main())
"""
MESSAGES = """hello
remember that I like tea
what do I like?
save this knowledge: the shop opens at seven
what does the knowledge base say about the shop?
list the files here
"""


def converse(home: Path, *overrides: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "SESTET_HOME": str(home), "PYTHONUTF8": "1"}
    environment |= dict(override.split("=", 1) for override in overrides)
    command = [sys.executable, "-c", WATCHED, "chat"]
    return subprocess.run(
        command, cwd=home, env=environment, input=MESSAGES, capture_output=True, encoding="utf-8", check=False
    )


def test_a_conversation_with_the_default_settings_opens_no_connection(tmp_path: Path) -> None:
    done = converse(tmp_path)
    assert (done.returncode, "I like tea" in done.stdout) == (0, True), done.stderr
    assert "connection:" not in done.stderr


def test_a_connection_that_the_settings_ask_for_is_seen(tmp_path: Path) -> None:
    # Nothing listens on port 9, so texts keep being found by their words.
    done = converse(
        tmp_path,
        "SESTET_EMBEDDING__PROVIDER=openai",
        "SESTET_EMBEDDING__BASEURL=http://127.0.0.1:9/v1",
        "SESTET_EMBEDDING__MODEL=none",
    )
    assert "connection:" in done.stderr
