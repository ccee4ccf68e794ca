"""Reads what a killed process left behind, and checks it."""

import json
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sestet.core.event import (
    ApprovalDecided,
    ApprovalRequested,
    DelegationFinished,
    DelegationStarted,
    Event,
    ModelCalled,
    RequestRouted,
    TextStreamed,
    ToolCalled,
    ToolFinished,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnPaused,
    TurnResumed,
)
from sestet.core.model import Usage
from sestet.runtime.prompts import say
from sestet.storage.approvals import ApprovalStore
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.journal import Journal, TurnRow
from tests.faults.effects import Effects
from tests.faults.plan import ALL_DONE
from tests.faults.victim import EFFECTS, MODEL_CALLS, SHOWN

ENDS = (TurnFinished, TurnFailed, TurnCancelled)
UNSAFE = ("exec_unsafe", "crypto_guarded")
#: The effects of these tools have keys or can be looked up, so each happens exactly once.
EXACTLY_ONCE = ("crypto_probe", "fs_keyed", "fs_guarded")
GUARDED = ("crypto_guarded", "fs_guarded")


class Asked(NamedTuple):
    """One model call: the agent, its request, and the number of the reply."""

    agent: str
    request: str
    number: int


class Shown(NamedTuple):
    turn_id: str
    seq: int
    kind: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """The journal and the logs of the victim at a moment when none of its lives is running."""

    turns: list[TurnRow]
    open_turns: list[TurnRow]
    events: list[Event]
    #: The state of each question.
    approvals: dict[str, str]
    asked: list[Asked]
    #: All tool results that models were shown.
    told: set[str]
    shown: list[Shown]
    effects: Effects

    def interrupted(self) -> set[str]:
        """Calls whose intent is written and whose result is not."""
        intents = {event.call.id for event in self.events if isinstance(event, ToolCalled)}
        return intents - {event.call.id for event in self.events if isinstance(event, ToolFinished)}

    def replied(self) -> set[Asked]:
        """The model calls whose replies are in the journal."""
        requests = {e.delegation_id: e.request for e in self.events if isinstance(e, DelegationStarted)}
        numbers: Counter[str] = Counter()
        found: set[Asked] = set()
        for event in self.events:
            # It replaces the first reply.
            numbers[""] += isinstance(event, RequestRouted)
            if isinstance(event, ModelCalled):
                place = event.delegation_id
                found.add(Asked(event.author, requests.get(place, ""), numbers[place]))
                numbers[place] += 1
        return found


def gather(home: Path) -> Evidence:
    """Read everything from a copy, so that opening the database repairs nothing."""
    with tempfile.TemporaryDirectory() as place:
        for file in home.glob(f"{FILE_NAME}*"):
            shutil.copy(file, place)
        database = Database(Path(place) / FILE_NAME)
        journal = Journal(database)
        ids = [row[0] for row in database.execute("SELECT id FROM turns ORDER BY number")]
        turns = [turn for turn in map(journal.turn, ids) if turn is not None]
        events = [event for turn in turns for event in journal.events_of(turn.id)]
        store = ApprovalStore(database, journal)
        questions = [event.approval_id for event in events if isinstance(event, ApprovalRequested)]
        found = {name: question.state for name in questions if (question := store.get(name))}
        stored = database.execute("SELECT count(*) FROM approvals").fetchone()
        assert stored == (len(found),), "a question is in the journal and in the table, or in neither"
        open_turns = journal.open_turns()
        database.close()
    calls = [json.loads(line) for line in lines(home / MODEL_CALLS)]
    return Evidence(
        turns=turns,
        open_turns=open_turns,
        events=events,
        approvals=found,
        asked=[Asked(*call) for *call, _ in calls],
        told={text for *_, told in calls for text in told},
        shown=[Shown(*json.loads(line)) for line in lines(home / SHOWN)],
        effects=Effects(home / EFFECTS),
    )


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def check_left(left: Evidence) -> None:
    """Check what must hold right after a kill."""
    written = {Shown(event.stamp.turn_id, event.seq, event.kind) for event in left.events}
    whole = {(event.stamp.turn_id, event.seq) for event in left.events if isinstance(event, ModelCalled)}
    for shown in left.shown:
        folded = shown.kind == TextStreamed.kind and any(
            turn_id == shown.turn_id and seq > shown.seq for turn_id, seq in whole
        )
        assert shown in written or folded, f"{shown} was shown and is not in the journal"
    assert len(written) == len(left.events), "each number is given once"
    for turn in left.turns:
        ended = [event for event in left.events if event.stamp.turn_id == turn.id and isinstance(event, ENDS)]
        assert len(ended) == (turn not in left.open_turns), f"{turn} ends once or is open"
    _check_effects(left)


def _check_effects(seen: Evidence) -> None:
    """Check what must never happen."""
    for name in (*UNSAFE, *EXACTLY_ONCE):
        assert max(seen.effects.of(name).values(), default=0) <= 1, f"{name} took effect twice"
    approved = {e.approval_id for e in seen.events if isinstance(e, ApprovalDecided)}
    intents = {event.call.id for event in seen.events if isinstance(event, ToolCalled)}
    for name in GUARDED:
        for key in seen.effects.of(name):
            turn_id, call_id = key.split("/")
            assert f"{turn_id}-{call_id}" in approved, f"{key} was not approved"
            assert call_id in intents, f"{key} took effect before its intent was written"


def check_survived(left: Evidence, after: Evidence) -> None:
    """Check what must hold after a later process ended the turn; ``left`` is the state before it."""
    check_left(after)
    (turn,) = after.turns
    assert turn.state == "finished"
    assert after.events[-1].kind == TurnFinished.kind
    assert not left.turns or left.turns[0].id == turn.id, "an acknowledged turn goes on"
    later = after.asked[len(left.asked) :]
    assert not left.replied().intersection(later), "a reply that is in the journal is not asked for again"
    assert len(after.replied()) == sum(isinstance(event, ModelCalled) for event in after.events)
    assert after.replied() <= set(after.asked)
    assert set(after.approvals.values()) == {"used"}
    assert len(after.approvals) == sum(isinstance(event, ApprovalRequested) for event in after.events)


def check_answered(after: Evidence, in_doubt: set[str]) -> None:
    """Every call of the finished turn has a result, and only interrupted calls are in doubt."""
    assert after.interrupted() == set()
    (turn,) = after.turns
    for event in after.events:
        if not isinstance(event, ToolFinished) or event.outcome == "refused":
            continue
        effects = after.effects.of(event.call.name)[f"{turn.id}/{event.call.id}"]
        if event.call.id in in_doubt and event.call.name in UNSAFE:
            assert event.outcome == "in_doubt"
            assert effects <= 1
            assert say("in_doubt", tool=event.call.name) in after.told, "the model is told"
        else:
            assert event.outcome == "ok"
            assert effects >= 1 if event.call.name == "fs_pure" else effects == 1


def check_sums(after: Evidence) -> None:
    """The last event has the usage of the whole turn, before and after the kill."""
    spent = Usage()
    for event in after.events:
        spent = spent + event.usage if isinstance(event, ModelCalled) else spent
    (end,) = (event for event in after.events if isinstance(event, TurnFinished))
    assert (end.text, end.usage) == (ALL_DONE, spent)


def course(events: list[Event]) -> dict[str, list[str]]:
    """The events of each delegation without its interruptions, which are equal for every kill."""
    places: dict[str, list[str]] = {}
    for event in events:
        if isinstance(event, TurnPaused | TurnResumed | TextStreamed | ApprovalDecided):
            continue
        if isinstance(event, DelegationFinished) and event.outcome == "paused":
            continue
        name = event.call.name if isinstance(event, ToolCalled | ToolFinished | ApprovalRequested) else ""
        places.setdefault(event.delegation_id, []).append(f"{event.kind} {name}".strip())
    return places
