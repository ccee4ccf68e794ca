"""Events at the worst moment: between a crash and the resumption, or in another process."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sestet.core.errors import PersonError, StorageError
from sestet.core.event import (
    ApprovalRequested,
    DelegationFinished,
    Event,
    ModelCalled,
    ToolFinished,
    TurnCancelled,
    TurnFinished,
    TurnPaused,
)
from sestet.core.message import UserMessage
from sestet.core.model import ModelItem, ModelReply, ModelRequest, Usage
from sestet.core.tool import CallInfo, tool
from sestet.storage.approvals import ApprovalStore
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.journal import Journal
from tests.faults.opened import Home, read_all, read_into
from tests.faults.plan import ALL_DONE, PlanModel
from tests.faults.victim import EFFECTS
from tests.faults.watched import Death, DeathAfterEvent, When, watched_connections
from tests.remote.server import Agent, running_agent


def outcomes(events: Sequence[Event]) -> list[tuple[str, str]]:
    return [(e.call.name, e.outcome) for e in events if isinstance(e, ToolFinished)]


def asked(events: Sequence[Event]) -> list[str]:
    return [event.approval_id for event in events if isinstance(event, ApprovalRequested)]


@tool(risk="safe", effect="none", reads=(), recovery="pure", calls_per_turn=1)
async def search_once(what: str) -> str:
    """Looks something up, once in a turn."""
    return f"found {what}"


@tool(risk="safe", effect="local", reads=(), recovery="unsafe", calls_per_turn=1)
async def exec_endless(call: CallInfo, /, what: str) -> str:
    """Begins something once in a turn, and does not come back."""
    await asyncio.Event().wait()
    return what


async def test_a_decision_while_another_specialist_is_still_working_disturbs_nobody(tmp_path: Path) -> None:
    home = Home(tmp_path)
    events: list[Event] = []
    async with home.open() as app:
        turn = app.run_turn("s1", "vault: crypto_guarded a | operator: fs_pure b, fs_pure c, fs_pure d")
        async for event in turn:
            events.append(event)
            if isinstance(event, ApprovalRequested):
                app.decide(event.approval_id, "approve")
        while isinstance(events[-1], TurnPaused):
            await read_into(events, app.resume_turn(events[0].stamp.turn_id))

    assert isinstance(events[-1], TurnFinished)
    assert events[-1].text == ALL_DONE
    assert len(home.effects.of("crypto_guarded")) == 1


async def test_a_call_limit_of_a_tool_holds_across_a_crash(tmp_path: Path) -> None:
    home = Home(tmp_path, tools=(search_once,))
    plan = "librarian: search_once a then librarian: search_once b"
    seen = await home.die(DeathAfterEvent("delegation_finished"), lambda app: app.run_turn("s1", plan))

    resumed = await home.resume(seen)

    assert outcomes([*seen, *resumed]) == [("search_once", "ok"), ("search_once", "refused")]


async def test_the_limit_of_model_calls_holds_across_a_crash(tmp_path: Path) -> None:
    home = Home(tmp_path, {"limits": {"modelCalls": 5}})
    plan = "operator: fs_pure a then operator: fs_pure b"
    seen = await home.die(DeathAfterEvent("delegation_finished"), lambda app: app.run_turn("s1", plan))

    resumed = await home.resume(seen)

    assert sum(isinstance(event, ModelCalled) for event in [*seen, *resumed]) == 5


async def test_a_call_that_was_cut_off_and_is_now_forbidden_is_in_doubt(tmp_path: Path) -> None:
    home = Home(tmp_path)
    plan = "operator: exec_unsafe a"
    seen = await home.die(DeathAfterEvent("tool_called"), lambda app: app.run_turn("s1", plan))

    resumed = await replace(home, settings={"policy": {"block": ["exec_*"]}}).resume(seen)

    assert outcomes(resumed) == [("exec_unsafe", "in_doubt")]


async def test_a_keyed_call_that_was_cut_off_and_is_now_forbidden_does_not_run_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    death = DeathAfterEvent("tool_called")
    seen = await home.die(death, lambda app: app.run_turn("s1", "operator: fs_keyed a"))
    (home.path / EFFECTS).unlink()

    resumed = await replace(home, settings={"policy": {"block": ["fs_*"]}}).resume(seen)

    assert not home.effects.of("fs_keyed")
    assert outcomes(resumed) == [("fs_keyed", "in_doubt")]


async def test_a_call_that_was_cut_off_is_in_doubt_although_its_grant_is_revoked(tmp_path: Path) -> None:
    home = Home(tmp_path)
    plan = "vault: crypto_guarded a"
    async with home.open() as app:
        paused = await read_all(app.run_turn("s1", plan))
        app.decide(asked(paused)[0], "approve", "session")
        await read_all(app.resume_turn(paused[0].stamp.turn_id))
    seen = await home.die(DeathAfterEvent("tool_called"), lambda app: app.run_turn("s1", plan))
    async with home.open() as app:
        for grant in app.approvals.grants():
            app.approvals.revoke(grant.id)

    resumed = await home.resume(seen)

    assert asked([*seen, *resumed]) == []
    assert outcomes(resumed) == [("crypto_guarded", "in_doubt")]


async def test_a_call_that_was_cut_off_is_in_doubt_although_others_have_used_up_its_limit(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path, tools=(exec_endless,))
    plan = "operator: fs_pure a, exec_endless b | operator: exec_endless c"
    death = DeathAfterEvent("tool_finished", "exec_endless")
    seen = await home.die(death, lambda app: app.run_turn("s1", plan))
    assert outcomes(seen) == [("fs_pure", "ok"), ("exec_endless", "refused")]

    resumed = await home.resume(seen)

    assert outcomes(resumed) == [("exec_endless", "in_doubt")]


async def test_a_result_without_text_leaves_the_label_clean_after_a_crash_too(tmp_path: Path) -> None:
    home = Home(tmp_path)
    plan = "navigator: browser_flag a"
    seen = await home.die(DeathAfterEvent("tool_finished"), lambda app: app.run_turn("s1", plan))

    resumed = await home.resume(seen)

    (end,) = (event for event in resumed if isinstance(event, TurnFinished))
    assert not end.label.untrusted


async def test_a_turn_that_another_process_brought_to_its_end_is_part_of_the_conversation(
    tmp_path: Path,
) -> None:
    requests: list[ModelRequest] = []
    home = Home(tmp_path)
    async with replace(home, model=PlanModel(requests.append)).open() as here:
        paused = await read_all(here.run_turn("s1", "vault: crypto_guarded a"))
        async with home.open() as elsewhere:
            elsewhere.decide(asked(paused)[0], "approve")
            await read_all(elsewhere.resume_turn(paused[0].stamp.turn_id))
        await read_all(here.run_turn("s1", "and now"))

    words = [message.text for message in requests[-1].messages if isinstance(message, UserMessage)]
    assert words == ["vault: crypto_guarded a", "and now"]
    assert ALL_DONE in [message.text for message in requests[-1].messages]


async def test_a_turn_that_ended_without_this_process_being_told_is_part_of_the_conversation(
    tmp_path: Path,
) -> None:
    """The turn fails here, ends in another process, and the conversation continues here."""
    requests: list[ModelRequest] = []
    home = Home(tmp_path)
    broken = Hiccup("tool_finished", "fs_pure")
    seen: list[Event] = []
    with watched_connections(broken.watch):
        async with replace(home, model=PlanModel(requests.append)).open() as here:
            with pytest.raises(StorageError):
                await read_into(seen, here.run_turn("s1", "operator: fs_pure a"))
            await home.resume(seen)
            await read_all(here.run_turn("s1", "and now"))

    words = [message.text for message in requests[-1].messages if isinstance(message, UserMessage)]
    assert words == ["operator: fs_pure a", "and now"]


async def test_a_question_of_a_turn_that_has_ended_is_no_longer_open(tmp_path: Path) -> None:
    home = Home(tmp_path, tools=(exec_endless,))
    events: list[Event] = []
    async with home.open() as app:
        async for event in app.run_turn("s1", "vault: crypto_guarded a | operator: exec_endless b"):
            events.append(event)
            if isinstance(event, ApprovalRequested):
                app.cancel_turn("s1")
        assert isinstance(events[-1], TurnCancelled)

        assert app.approvals.pending() == []
        with pytest.raises(PersonError):
            app.decide(asked(events)[0], "approve")
        assert isinstance(list(app.journal.events_of(events[0].stamp.turn_id))[-1], TurnCancelled)


async def test_a_turn_that_is_given_up_while_it_waits_takes_its_question_with_it(tmp_path: Path) -> None:
    async with Home(tmp_path).open() as app:
        paused = await read_all(app.run_turn("s1", "vault: crypto_guarded a"))
        await app.abandon_turn(paused[0].stamp.turn_id)

        assert app.approvals.pending() == []
        with pytest.raises(PersonError):
            app.decide(asked(paused)[0], "approve")


async def test_a_call_that_was_denied_does_not_run_because_a_like_one_was_granted(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.open() as app:
        paused = await read_all(app.run_turn("s1", "vault: crypto_guarded a | vault: crypto_guarded a"))
        one, other = asked(paused)
        app.decide(one, "approve", "session")
        app.decide(other, "deny")
        resumed = await read_all(app.resume_turn(paused[0].stamp.turn_id))

        assert sorted(outcomes(resumed)) == [("crypto_guarded", "denied"), ("crypto_guarded", "ok")]
        assert home.effects.of("crypto_guarded").total() == 1
        question = app.approvals.get(one)
        assert question is not None
        assert question.state == "used"


async def test_a_question_that_a_standing_answer_has_overtaken_cannot_be_denied_later(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.open() as app:
        plan = "vault: crypto_guarded a | vault: crypto_guarded a | operator: fs_guarded b"
        paused = await read_all(app.run_turn("s1", plan))
        first, second, third = asked(paused)
        app.decide(first, "approve", "session")
        resumed = await read_all(app.resume_turn(paused[0].stamp.turn_id))

        assert isinstance(resumed[-1], TurnPaused)
        if home.effects.of("crypto_guarded").total() == 2:
            assert [question.id for question in app.approvals.pending()] == [third]
            with pytest.raises(PersonError):
                app.decide(second, "deny")


class ExpensiveAnswers(PlanModel):
    """Calls cost little, answers cost much."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        async for item in super().stream(request):
            is_answer = isinstance(item, ModelReply) and not item.calls
            yield item._replace(usage=Usage(10_000)) if is_answer else item


async def test_what_is_in_the_journal_is_taken_although_the_budget_is_used_up_by_now(tmp_path: Path) -> None:
    home = Home(tmp_path, {"limits": {"tokens": 5_000}}, (exec_endless,), ExpensiveAnswers())
    plan = "operator: fs_pure a | operator: exec_endless b"
    death = DeathAfterEvent("delegation_finished")
    seen = await die_while_stopped(home, death, plan, "delegation_finished")

    resumed = await home.resume(seen)

    assert outcomes(resumed) == [("exec_endless", "in_doubt")]


async def die_while_stopped(home: Home, death: Death, plan: str, stop_at: str) -> list[Event]:
    """The events of a turn that is stopped at the first event of a kind and dies then or soon after."""
    seen: list[Event] = []
    with watched_connections(death.watch):
        async with home.open() as app:
            turn = app.run_turn("s1", plan)
            while not seen or seen[-1].kind != stop_at:
                seen.append(await anext(turn))
            app.cancel_turn("s1")
            with pytest.raises(StorageError, match="the process is dead"):
                await read_into(seen, turn)
    return seen


async def test_a_turn_that_dies_while_it_is_stopped_still_says_what_is_in_doubt(tmp_path: Path) -> None:
    home = Home(tmp_path, tools=(exec_endless,))
    death = DeathAfterEvent("delegation_finished", "cancelled")
    # The end of a single delegation is written together with the end of its turn.
    seen = await die_while_stopped(home, death, "operator: exec_endless b | planner:", "tool_called")
    await home.resume(seen)

    async with home.open() as app:
        written = list(app.journal.events_of(seen[0].stamp.turn_id))
    assert outcomes(written) == [("exec_endless", "in_doubt")]
    assert isinstance(written[-1], TurnFinished)


async def test_a_stop_that_cannot_be_written_is_an_error_and_not_the_end(tmp_path: Path) -> None:
    """It also holds if the turn is stopped before its first step."""
    with watched_connections(Hiccup("turn_cancelled", "").watch):
        async with Home(tmp_path).open() as app:
            turn = app.run_turn("s1", "hello")
            seen = [await anext(turn)]
            app.cancel_turn("s1")
            with pytest.raises(StorageError, match="disk I/O error"):
                await read_into(seen, turn)

            assert [row.id for row in app.journal.open_turns()] == [seen[0].stamp.turn_id]


def test_what_is_wrong_with_a_file_besides_a_lock_is_said_at_once(tmp_path: Path) -> None:
    tries: list[str] = []

    def refuse(when: When, sql: str, parameters: Sequence[object]) -> None:
        if "journal_mode" in sql:
            tries.append(sql)
            raise sqlite3.OperationalError("attempt to write a readonly database")

    with watched_connections(refuse), pytest.raises(StorageError, match="readonly"):
        Database(tmp_path / FILE_NAME)

    assert len(tries) == 1


class Hiccup:
    """The first write of one kind of event fails."""

    def __init__(self, kind: str, word: str) -> None:
        self._kind = kind
        self._word = word
        self._over = False

    def watch(self, when: When, sql: str, parameters: Sequence[object]) -> None:
        if when == "before" and sql.startswith("INSERT INTO events") and not self._over:
            self._over = parameters[2] == self._kind and self._word in str(parameters[6])
            if self._over:
                raise sqlite3.OperationalError("disk I/O error")


async def test_a_short_storage_error_in_one_delegation_takes_no_other_one_down_for_good(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path, tools=(exec_endless,))
    seen: list[Event] = []
    with watched_connections(Hiccup("tool_finished", "fs_pure").watch):
        async with home.open() as app:
            with pytest.raises(StorageError, match="disk I/O error"):
                await read_into(seen, app.run_turn("s1", "operator: fs_pure a | operator: exec_endless b"))

    resumed = await home.resume(seen)

    assert sorted(outcomes(resumed)) == [("exec_endless", "in_doubt"), ("fs_pure", "ok")]
    results = [event for event in resumed if isinstance(event, DelegationFinished)]
    assert [result.outcome for result in results] == ["ok", "ok"]


async def test_somebody_who_reads_a_turn_slowly_locks_nobody_out(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.open() as here, home.open() as elsewhere:
        first = await read_all(here.run_turn("s1", "operator: fs_pure a"))
        reading = here.journal.events_of(first[0].stamp.turn_id)
        next(reading)
        await read_all(elsewhere.run_turn("s2", "hello"))

        events = await read_all(here.run_turn("s3", "hello"))

        assert isinstance(events[-1], TurnFinished)
        assert len(list(reading)) > 5


async def test_a_request_to_a_remote_agent_is_not_sent_again_silently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    async with running_agent(Agent("It is booked.")) as server:
        peer = {"name": "stranger", "url": server.url}
        home = Home(tmp_path, {"a2a": {"enabled": True, "remoteAgents": [peer]}})
        plan = "chronicler: memory_private a then stranger: book the flight"
        async with home.open() as app:
            paused = await read_all(app.run_turn("s1", plan))
            app.decide(asked(paused)[0], "approve")
        death = DeathBeforeResult()
        await home.die(death, lambda app: app.resume_turn(paused[0].stamp.turn_id))
        sent = len(server.received)

        resumed = await home.resume(paused)

        async with home.open() as app:
            question = app.approvals.get(asked(paused)[0])
        assert question is not None
        assert question.state == "used"
        cards = [request for request in server.received[sent:] if "agent-card" in request.path]
        assert len(server.received) == sent + len(cards), "the request was sent a second time"
        (result,) = (event for event in resumed if isinstance(event, DelegationFinished))
        assert result.outcome == "failed"


class DeathBeforeResult(DeathAfterEvent):
    """Dies just before the result of the second delegation is written."""

    def __init__(self) -> None:
        super().__init__("")

    def strikes(self, when: When, sql: str, parameters: Sequence[object]) -> bool:
        about_to_write = when == "before" and sql.startswith("INSERT INTO events")
        return about_to_write and parameters[2:5] == ("delegation_finished", "stranger", "d2")


def test_a_file_that_another_process_is_just_making_is_waited_for(tmp_path: Path) -> None:
    """Before the file is in WAL mode, SQLite reports "locked" at once and ignores the timeout."""
    path = tmp_path / FILE_NAME
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    soon = threading.Timer(0.1, other.close)
    soon.start()

    Database(path).close()

    soon.join()


async def test_a_decision_from_another_process_while_the_turn_runs_disturbs_nobody(tmp_path: Path) -> None:
    home = Home(tmp_path)
    events: list[Event] = []
    async with home.open() as app:
        async for event in app.run_turn("s1", "vault: crypto_guarded a | operator: fs_pure b, fs_pure c"):
            events.append(event)
            if isinstance(event, ApprovalRequested):
                other = Database(tmp_path / FILE_NAME)
                ApprovalStore(other, Journal(other)).decide(event.approval_id, "deny")
                other.close()
        while isinstance(events[-1], TurnPaused):
            await read_into(events, app.resume_turn(events[0].stamp.turn_id))

    assert isinstance(events[-1], TurnFinished)
    assert ("crypto_guarded", "denied") in outcomes(events)
