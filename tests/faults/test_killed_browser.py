"""Sestet and its browser are killed at any point: no form is sent twice, and nothing is left behind."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from sestet.core.event import ToolFinished
from sestet.services.browser.leftovers import MARK, PROFILES
from sestet.services.browser.processes import all_processes
from sestet.services.browser.program import has_chromium
from sestet.storage.database import Database
from sestet.storage.journal import Journal
from tests.faults.surfers import Outcome, Plan
from tests.services.browser.tasks.web import Web, serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not has_chromium(), reason="Chromium is not installed"),
]
ROOT = Path(__file__).parents[2]
RUNS = int(os.environ.get("SESTET_TEST_SURFERS", "50"))
FORM = "<form method=post action=/send><label>Text <input name=text></label><button>Send</button></form>"


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A directory for profiles; the user that Chromium becomes may pass through it."""
    directory = Path(tempfile.mkdtemp(prefix="sestet-faults-"))
    directory.chmod(0o711)
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def web() -> Iterator[Web]:
    with serving("127.0.0.1") as web:
        web.pages["/form"] = FORM
        yield web


def surf(plan: Plan, directory: Path, temporary: Path) -> Outcome:
    file = directory / "plan.json"
    file.write_bytes(msgspec.json.encode(plan))
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.surfers", str(file)],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary)},
        check=True,
        stdout=subprocess.PIPE,
    )
    return msgspec.json.decode(done.stdout, type=Outcome)


def browsers_in(temporary: Path) -> list[int]:
    """Processes of browsers whose profile is below this directory."""
    found: list[int] = []
    for pid in all_processes():
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if f"{MARK}=".encode() in environment and f"HOME={temporary}".encode() in environment:
            found.append(pid)
    return found


def results(plan: Plan, name: str) -> dict[int, list[ToolFinished]]:
    """How the calls of a tool ended, for each run."""
    database = Database(Path(plan.home) / "sestet.db")
    journal = Journal(database)
    assert journal.open_turns() == []
    ends: dict[int, list[ToolFinished]] = {}
    for run in range(plan.runs):
        events = journal.session_events(f"run-{run}", [ToolFinished.kind], 99)
        ends[run] = [each for each in events if isinstance(each, ToolFinished) and each.call.name == name]
    database.close()
    return ends


def test_killed_conversations_send_once_and_leave_no_browser(
    tmp_path: Path, temporary: Path, web: Web
) -> None:
    plan = Plan(str(tmp_path / "home"), web.site, random.randrange(10**6), RUNS)

    outcome = surf(plan, tmp_path, temporary)

    told = f"seed {plan.seed}"
    assert outcome.broken == [], told
    assert outcome.deaths > RUNS // 6, told
    # The last start removed what the others had left.
    assert browsers_in(temporary) == [], told
    assert list(temporary.glob(f"{PROFILES}*")) == [], told
    sent = Counter(int(each.form["text"][0].removeprefix("run ")) for each in web.posts("/send"))
    assert set(sent.values()) <= {1}, told
    for run, ends in results(plan, "browser_submit").items():
        outcomes, where = [end.outcome for end in ends], (told, run, ends)
        assert len(ends) <= 1, where
        if outcomes == ["ok"]:
            assert sent[run] == 1, where
        elif outcomes != ["in_doubt"]:
            assert sent[run] == 0, where
    # Reading was done again wherever it was interrupted.
    assert len(web.gets("/form")) >= RUNS, told
    assert len(sent) > RUNS // 4, told
