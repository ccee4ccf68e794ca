"""SIGKILL at every point of a turn and at random points: no event lost, no effect repeated silently."""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sestet.core.event import (
    AgentNudged,
    ApprovalDecided,
    ApprovalRequested,
    DelegationFinished,
    DelegationStarted,
    ModelCalled,
    RequestRouted,
    ToolCalled,
    ToolFinished,
    TurnFinished,
    TurnPaused,
    TurnResumed,
    TurnStarted,
)
from tests.faults.evidence import (
    Evidence,
    check_answered,
    check_left,
    check_sums,
    check_survived,
    course,
    gather,
    lines,
)
from tests.faults.victim import POINTS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
_SECONDS = 60
#: Each test takes every n-th point, so that several processors share the matrix.
SHARES = 8
MOST_POINTS = 1000
#: Seconds at each point, so that a turn takes long enough even on a busy machine.
LINGER = 0.003
LONGEST_LIFE = 0.4


def victim(home: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "tests.faults.victim", str(home), *arguments]


def live(home: Path, *arguments: str) -> int:
    """Run the victim once, to its end or its kill."""
    done = subprocess.run(
        victim(home, *arguments), cwd=ROOT, timeout=_SECONDS, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


def undisturbed_turn(place: pytest.TempPathFactory, *arguments: str) -> Evidence:
    """The same turn without a kill."""
    home = place.mktemp("undisturbed")
    assert live(home, *arguments) == 0
    return gather(home)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return undisturbed_turn(tmp_path_factory)


@pytest.fixture(scope="module")
def undisturbed_routed(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return undisturbed_turn(tmp_path_factory, "--routed")


def test_a_turn_that_nobody_disturbs_passes_every_kind_of_point(undisturbed: Evidence) -> None:
    check_survived(undisturbed, undisturbed)
    check_answered(undisturbed, set())
    check_sums(undisturbed)
    kinds = {type(event) for event in undisturbed.events}
    assert kinds == {
        AgentNudged,
        ApprovalDecided,
        ApprovalRequested,
        DelegationFinished,
        DelegationStarted,
        ModelCalled,
        ToolCalled,
        ToolFinished,
        TurnFinished,
        TurnPaused,
        TurnResumed,
        TurnStarted,
    }


def kill_at_every_point(place: Path, share: int, undisturbed: Evidence, *arguments: str) -> None:
    """Kill the turn at every n-th point, and let the next process end it."""
    for point in range(share + 1, MOST_POINTS, SHARES):
        home = place / str(point)
        home.mkdir()
        if live(home, "--kill-at", str(point), *arguments) == 0:
            assert len(lines(home / POINTS)) < point, "it was killed wherever it could be"
            return
        where = f"killed at point {point}, {lines(home / POINTS)[-1]}"
        left = gather(home)
        check_left(left)
        assert live(home, *arguments) == 0, where
        after = gather(home)
        check_survived(left, after)
        check_answered(after, left.interrupted())
        check_sums(after)
        assert course(after.events) == course(undisturbed.events), where
    pytest.fail("the turn has no end of points")


@pytest.mark.parametrize("share", range(SHARES))
def test_a_turn_killed_at_any_point_is_brought_to_its_end_by_the_next_process(
    share: int, tmp_path: Path, undisturbed: Evidence
) -> None:
    kill_at_every_point(tmp_path, share, undisturbed)


def test_a_routed_turn_that_nobody_disturbs_is_routed_once_and_ends_with_the_model(
    undisturbed_routed: Evidence,
) -> None:
    events = undisturbed_routed.events
    assert [event.agent for event in events if isinstance(event, RequestRouted)] == ["operator"]
    assert [event.outcome for event in events if isinstance(event, DelegationFinished)][-1] == "empty"
    assert [asked.agent for asked in undisturbed_routed.asked].count("orchestrator") == 1


@pytest.mark.parametrize("share", range(SHARES))
def test_a_routed_turn_killed_at_any_point_is_brought_to_its_end_by_the_next_process(
    share: int, tmp_path: Path, undisturbed_routed: Evidence
) -> None:
    kill_at_every_point(tmp_path, share, undisturbed_routed, "--routed")


@pytest.mark.parametrize("seed", range(5))
def test_a_turn_killed_from_outside_again_and_again_ends_once(seed: int, tmp_path: Path) -> None:
    print(f"seed {seed}")
    chance = random.Random(seed)
    hits = 0
    for number in range(5):
        home = tmp_path / str(number)
        home.mkdir()
        left, interrupted = gather(home), set[str]()
        for _ in range(3):
            kill_after(home, chance.uniform(0, LONGEST_LIFE))
            found = gather(home)
            check_left(found)
            later = found.asked[len(left.asked) :]
            assert not left.replied().intersection(later), "a reply in the journal was asked for again"
            interrupted |= found.interrupted()
            hits += bool(found.open_turns)
            left = found
        assert live(home) == 0
        after = gather(home)
        check_survived(left, after)
        check_answered(after, interrupted)
        check_sums(after)
    assert hits > 0, "no kill has hit a turn"


def kill_after(home: Path, seconds: float) -> None:
    """Start a slow victim, and kill it a given time after it is ready."""
    command = victim(home, "--linger", str(LINGER))
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
        assert process.wait(_SECONDS) in (0, -signal.SIGKILL)
