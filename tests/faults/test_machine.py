"""Messages, decisions, stops, deaths and resumptions in any order: the contract of a turn always holds."""

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import sestet
from sestet.core.effects import effects_of
from sestet.core.errors import PersonError, StorageError
from sestet.core.event import (
    ApprovalDecided,
    ApprovalRequested,
    DelegationFinished,
    Effects,
    Event,
    ModelCalled,
    TextStreamed,
    ToolCalled,
    ToolFinished,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from sestet.core.label import CLEAN, Label
from sestet.core.model import Usage
from sestet.core.record import as_dict
from sestet.storage.approvals import Basis, Decision, Scope
from sestet.storage.journal import TurnRow
from tests.faults.opened import SECONDS, Home
from tests.faults.watched import Death, DeathAtEvent, When, watched_connections

STATE_OF_END = {TurnFinished: "finished", TurnFailed: "failed", TurnCancelled: "cancelled"}
ONCE = ("exec_unsafe", "crypto_guarded", "crypto_probe", "fs_keyed", "fs_guarded")
GUARDED = ("crypto_guarded", "fs_guarded")
#: What a standing answer to one of them can be bound to.
BASES = [(why, *read) for why in ("risk", "target") for read in product((False, True), repeat=2)]
UNSAFE = ("exec_unsafe", "crypto_guarded")

READS = {"browser_strange": Label(untrusted=True), "memory_private": Label(private=True)}
WORK: dict[str, list[str]] = {
    "operator": ["fs_pure a", "fs_keyed b", "exec_unsafe c", "fs_guarded d", "silence"],
    "vault": ["crypto_probe e", "crypto_guarded f", "crypto_guarded g"],
    "navigator": ["browser_strange h", "browser_flag i"],
    "chronicler": ["memory_private j"],
}


def _requests(agent: str) -> st.SearchStrategy[str]:
    steps = st.lists(st.sampled_from(WORK[agent]), min_size=1, max_size=3, unique=True)
    return steps.map(lambda steps: f"{agent}: {', '.join(steps)}")


#: One to three delegations at the same time, in one or two stages; or small talk.
_STAGES = st.lists(st.sampled_from(sorted(WORK)).flatmap(_requests), min_size=1, max_size=3).map(" | ".join)
MESSAGES = st.lists(_STAGES, min_size=1, max_size=2).map(" then ".join) | st.just("hello")
SESSIONS = st.sampled_from(["s1", "s2"])


class Disturbance(NamedTuple):
    """What happens while a turn runs.

    ``death`` of its process, ``cancel`` of the turn or ``stop`` of one delegation, the reader ``leave``s; or
    every question is decided at once, ``approve`` or ``deny``, while the others are still at work.
    """

    kind: str = ""
    #: At which event.
    number: int = 0
    when: When = "before"
    #: Of which kind.
    of: str = ""


DISTURBANCES = (
    st.just(Disturbance())
    | st.builds(Disturbance, st.just("death"), st.integers(1, 40), st.sampled_from(["before", "after"]))
    # The moment between an effect and its result matters most.
    | st.builds(Disturbance, st.just("death"), st.integers(1, 4), of=st.just(ToolFinished.kind))
    | st.builds(Disturbance, st.sampled_from(["cancel", "leave", "stop"]), st.integers(1, 20))
    | st.builds(Disturbance, st.sampled_from(["approve", "deny"]))
)


class Conversations(RuleBasedStateMachine):
    """One home directory, used by one process after another."""

    def __init__(self) -> None:
        super().__init__()
        self._home = Home(Path(tempfile.mkdtemp()))
        self._loop = asyncio.Runner()
        self._death: Death | None = None
        self._acknowledged: set[str] = set()
        self._denied: set[str] = set()
        #: Whether the turn that is being read was cancelled.
        self._stopped = False
        self._shown: set[tuple[str, int]] = set()
        self._start()

    # Processes, one after another

    def _start(self) -> None:
        self._patched: AbstractContextManager[object] = watched_connections(self._watch)
        self._patched.__enter__()
        self._opening: AbstractAsyncContextManager[sestet.App] = self._home.open()
        self._app = self._loop.run(self._opening.__aenter__())

    def _watch(self, when: When, sql: str, parameters: Sequence[object]) -> None:
        if self._death is not None:
            self._death.watch(when, sql, parameters)

    def _stop(self) -> None:
        self._loop.run(self._opening.__aexit__(None, None, None))
        self._patched.__exit__(None, None, None)

    @rule()
    def restart(self) -> None:
        self._stop()
        self._start()

    def teardown(self) -> None:
        self._stop()
        self._loop.close()
        shutil.rmtree(self._home.path)

    # Actions of people

    @rule(session_id=SESSIONS, text=MESSAGES, disturbance=DISTURBANCES)
    def deliver(self, session_id: str, text: str, disturbance: Disturbance) -> None:
        self._follow(lambda app: app.run_turn(session_id, text), disturbance)

    @precondition(lambda self: self._open_turns())
    @rule(choice=st.integers(0, 100), disturbance=DISTURBANCES)
    def resume(self, choice: int, disturbance: Disturbance) -> None:
        turns = self._open_turns()
        turn = turns[choice % len(turns)]
        self._follow(lambda app: app.resume_turn(turn.id), disturbance)

    @precondition(lambda self: self._open_turns())
    @rule()
    def resume_all(self) -> None:
        for turn in self._open_turns():
            self._follow(lambda app, turn_id=turn.id: app.resume_turn(turn_id), Disturbance())

    @precondition(lambda self: self._app.approvals.pending())
    @rule(
        choice=st.integers(0, 100),
        decision=st.sampled_from(["approve", "approve", "deny"]),
        scope=st.sampled_from(["once", "once", "session"]),
    )
    def decide(self, choice: int, decision: Decision, scope: Scope) -> None:
        questions = self._app.approvals.pending()
        question = questions[choice % len(questions)]
        self._decide(question.id, decision, scope)
        with pytest.raises(PersonError):
            self._app.decide(question.id, "approve")

    def _decide(self, approval_id: str, decision: Decision, scope: Scope) -> None:
        self._app.decide(approval_id, decision, scope)
        if decision == "deny":
            self._denied.add(approval_id)

    @precondition(lambda self: self._open_turns())
    @rule(choice=st.integers(0, 100))
    def give_up(self, choice: int) -> None:
        turns = self._open_turns()
        self._loop.run(self._app.abandon_turn(turns[choice % len(turns)].id))

    def _follow(self, begin: Callable[[sestet.App], AsyncGenerator[Event]], disturbance: Disturbance) -> None:
        if disturbance.kind == "death":
            self._death = DeathAtEvent(disturbance.when, disturbance.number, disturbance.of)
        died = self._loop.run(self._read(begin(self._app), disturbance))
        if died:
            self._stop()
            self._death = None
            self._start()
        self._death = None

    async def _read(self, events: AsyncGenerator[Event], disturbance: Disturbance) -> bool:
        """Read a turn until it ends or is interrupted; True if the process died."""
        number, last = 0, None
        self._stopped = False
        try:
            async with asyncio.timeout(SECONDS):
                async for event in events:
                    number, last = number + 1, event
                    self._see(event)
                    if number == disturbance.number and disturbance.kind == "leave":
                        await events.aclose()
                        assert self._app.journal.turn_state(event.stamp.turn_id) != "running"
                    elif number == disturbance.number or isinstance(event, ApprovalRequested):
                        self._disturb(event, disturbance)
        except StorageError:
            assert self._death is not None
            assert self._death.is_dead
            return True
        assert not self._stopped or isinstance(last, TurnCancelled)
        return self._death is not None and self._death.is_dead

    def _disturb(self, event: Event, disturbance: Disturbance) -> None:
        match disturbance.kind, event:
            case ("approve" | "deny" as decision, ApprovalRequested()):
                self._decide(event.approval_id, decision, "once")
            case ("cancel", _):
                self._stopped = self._app.cancel_turn(event.stamp.session_id)
            case ("stop", _):
                self._app.cancel_delegation(event.stamp.session_id, event.delegation_id)
            case _:
                pass

    def _see(self, event: Event) -> None:
        if isinstance(event, TurnStarted):
            self._acknowledged.add(event.stamp.turn_id)
        if not isinstance(event, TextStreamed):
            self._shown.add((event.stamp.turn_id, event.seq))

    # Invariants

    def _open_turns(self) -> list[TurnRow]:
        return self._app.journal.open_turns()

    def _turns(self) -> dict[str, list[Event]]:
        journal = self._app.journal
        kinds = [TurnStarted.kind]
        started = [event for name in ("s1", "s2") for event in journal.session_events(name, kinds, 1000)]
        return {event.stamp.turn_id: list(journal.events_of(event.stamp.turn_id)) for event in started}

    @invariant()
    def every_turn_has_one_end_or_is_offered(self) -> None:
        offered = {row.id for row in self._open_turns()}
        turns = self._turns()
        assert self._acknowledged <= turns.keys()
        for turn_id, events in turns.items():
            ends = [event for event in events if isinstance(event, tuple(STATE_OF_END))]
            if turn_id in offered:
                assert ends == []
                continue
            assert ends == [events[-1]], "nothing happens after the end"
            row = self._app.journal.turn(turn_id)
            assert row is not None
            assert row.state == STATE_OF_END[type(ends[0])]

    @invariant()
    def what_was_shown_is_written_under_its_own_number(self) -> None:
        turns = self._turns()
        written = Counter((turn_id, event.seq) for turn_id, events in turns.items() for event in events)
        assert self._shown <= written.keys()
        assert set(written.values()) <= {1}

    @invariant()
    def no_effect_happens_twice_or_unapproved(self) -> None:
        turns = self._turns()
        for name in ONCE:
            effects = self._home.effects.of(name)
            assert max(effects.values(), default=0) <= 1, f"{name} took effect twice"
            for key in effects:
                turn_id, call_id = key.split("/")
                self._check_allowed(turns[turn_id], call_id, f"{turn_id}-{call_id}", name)

    def _check_allowed(self, events: list[Event], call_id: str, approval_id: str, name: str) -> None:
        intents = [e for e in events if isinstance(e, ToolCalled) and e.call.id == call_id]
        assert len(intents) == 1, "one intent for each effect"
        assert approval_id not in self._denied
        question = self._app.approvals.get(approval_id)
        if question is not None:
            assert question.state == "used"
        elif name in GUARDED:
            pattern = {"what": intents[0].call.arguments["what"]}
            session_id = intents[0].stamp.session_id
            granted = self._app.approvals.is_granted
            bases = [Basis(pattern, *basis) for basis in BASES]
            assert any(granted(session_id, intents[0].author, name, basis) for basis in bases)

    @invariant()
    def an_approval_is_asked_for_once_and_used_once(self) -> None:
        for turn_id, events in self._turns().items():
            asked = Counter(e.approval_id for e in events if isinstance(e, ApprovalRequested))
            decided = Counter(e.approval_id for e in events if isinstance(e, ApprovalDecided))
            assert set(asked.values()) | set(decided.values()) <= {1}
            called = Counter(f"{turn_id}-{e.call.id}" for e in events if isinstance(e, ToolCalled))
            for approval_id in asked:
                question = self._app.approvals.get(approval_id)
                assert question is not None
                assert called[approval_id] == (question.state == "used")
                assert approval_id not in decided or question.state != "pending"

    @invariant()
    def a_finished_turn_has_answered_every_call_and_said_every_doubt(self) -> None:
        for turn_id, events in self._turns().items():
            if not isinstance(events[-1], TurnFinished):
                continue
            answers = {e.call.id: e for e in events if isinstance(e, ToolFinished)}
            results = {e.delegation_id: e.outcome for e in events if isinstance(e, DelegationFinished)}
            for event in events:
                if isinstance(event, ToolCalled) and results[event.delegation_id] != "cancelled":
                    answer = answers[event.call.id]
                    assert answer.outcome == "ok" or event.call.name in UNSAFE
                    happened = self._home.effects.happened(event.call.name, f"{turn_id}/{event.call.id}")
                    assert happened or answer.outcome == "in_doubt" or event.call.name not in ONCE

    @invariant()
    def the_end_of_a_turn_tells_all_that_it_did_and_used(self) -> None:
        for turn_id, events in self._turns().items():
            end = events[-1]
            if not isinstance(end, TurnFinished | TurnFailed | TurnCancelled):
                continue
            assert end.effects == effects_of(events[:-1])
            told = {name for names in as_dict(end.effects or Effects()).values() for name in names}
            for event in events:
                if isinstance(event, ToolCalled) and event.effect != "none":
                    key = f"{turn_id}/{event.call.id}"
                    happened = self._home.effects.happened(event.call.name, key)
                    assert told.issuperset(event.targets) or not happened
            if not isinstance(end, TurnCancelled):
                used = (event.usage for event in events if isinstance(event, ModelCalled))
                assert end.usage == sum(used, Usage())

    @invariant()
    def labels_hold_what_was_read_and_only_grow(self) -> None:
        for events in self._turns().values():
            so_far: dict[str, Label] = {}
            for event in events:
                # A call that was stopped before it began has read nothing.
                if (
                    isinstance(event, ToolFinished)
                    and event.call.name in READS
                    and event.outcome != "refused"
                ):
                    so_far[event.delegation_id] = (
                        so_far.get(event.delegation_id, CLEAN) | READS[event.call.name]
                    )
                elif isinstance(event, DelegationFinished):
                    assert includes(event.label, so_far.get(event.delegation_id, CLEAN))
                    so_far[event.delegation_id] = event.label
                elif isinstance(event, TurnFinished):
                    assert all(includes(event.label, label) for label in so_far.values())


def includes(larger: Label, smaller: Label) -> bool:
    return larger.untrusted >= smaller.untrusted and larger.private >= smaller.private


Conversations.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=15,
    derandomize=True,
    deadline=None,
    # The other phases would run for minutes after a failure.
    phases=[Phase.generate, Phase.shrink],
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow],
)
TestConversations = pytest.mark.slow(Conversations.TestCase)
