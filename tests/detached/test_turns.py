"""Turns without a reader: accepted once, run to their end, followed from any place, resumed after an end."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

import sestet
from sestet.core.errors import PersonError
from sestet.core.event import (
    END_OF_TURN,
    PIECES,
    Event,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnResumed,
    TurnStarted,
)
from sestet.core.model import Model, ModelItem, ModelRequest
from sestet.detached.turns import DetachedTurns, TooManyWaitingError, detached_turns
from sestet.storage.session_log import START, Place, Placed, read_place


class HangingModel(sestet.ScriptedModel):
    """Never answers."""

    def __init__(self) -> None:
        super().__init__([])
        self.asked = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        self.asked.set()
        await asyncio.Event().wait()
        async for item in super().stream(request):
            yield item


class Host(NamedTuple):
    app: sestet.App
    turns: DetachedTurns


@asynccontextmanager
async def opened(home: Path, *replies: object, model: Model | None = None) -> AsyncGenerator[Host]:
    model = model or sestet.ScriptedModel(list(replies))  # pyright: ignore[reportArgumentType] - texts, calls
    settings = {"embedding": {"provider": "none"}, "observationalMemory": {"enabled": False}}
    async with sestet.open(settings, model=model, home=home) as app, detached_turns(app) as turns:
        yield Host(app, turns)


async def follow(host: Host, session_id: str, after: Place = START, turns: int = 1) -> list[Placed]:
    """The events after a place until so many turns have ended."""
    seen: list[Placed] = []
    with host.turns.feeds.reading(session_id) as feed:
        async for found in feed.follow(after):
            seen += found
            if sum(isinstance(each.event, END_OF_TURN) for each in seen) >= turns:
                return seen
    raise AssertionError("the feed ended")


def kinds(events: list[Placed]) -> list[str]:
    return [each.event.kind for each in events]


async def test_an_accepted_message_is_answered_without_a_reader(tmp_path: Path) -> None:
    async with opened(tmp_path, "Hello!") as host:
        message = host.turns.accept("s1", "hi")
        await follow(host, "s1")
        assert host.turns.state(message.turn_id) == "finished"

        (row,) = host.app.journal.sessions()
        assert row.turns == 1


async def test_a_repeated_key_is_one_turn(tmp_path: Path) -> None:
    async with opened(tmp_path, "Hello!") as host:
        first = host.turns.accept("s1", "hi", "key-1")
        again = host.turns.accept("s1", "hi", "key-1")
        await follow(host, "s1")
        later = host.turns.accept("s1", "hi", "key-1")

        assert first.turn_id == again.turn_id == later.turn_id
        assert host.app.journal.sessions()[0].turns == 1


async def test_messages_of_a_session_are_answered_in_their_order(tmp_path: Path) -> None:
    async with opened(tmp_path, "one", "two", "three") as host:
        for word in ("a", "b", "c"):
            host.turns.accept("s1", word)

        seen = await follow(host, "s1", turns=3)

    started = [each.event.text for each in seen if isinstance(each.event, TurnStarted)]
    finished = [each.event.text for each in seen if isinstance(each.event, TurnFinished)]
    assert (started, finished) == (["a", "b", "c"], ["one", "two", "three"])


async def test_a_reader_continues_from_any_place_without_loss_or_repetition(tmp_path: Path) -> None:
    async with opened(tmp_path, "one", "two") as host:
        host.turns.accept("s1", "a")
        host.turns.accept("s1", "b")
        # Pieces of a text are gone from the journal once the text is whole.
        seen = [each for each in await follow(host, "s1", turns=2) if not isinstance(each.event, PIECES)]
        whole = [each.place for each in seen]
        first_end = next(each.place for each in seen if isinstance(each.event, END_OF_TURN))

        for place in whole[:-1]:
            ends = 2 if place.turn == 1 and Place(1, place.seq) < first_end else 1
            rest = [each.place for each in await follow(host, "s1", place, ends)]
            assert rest == [each for each in whole if each > place]

    assert whole == sorted(set(whole))


async def test_many_readers_see_the_same_events(tmp_path: Path) -> None:
    async with opened(tmp_path, "Hello!") as host:
        readers = [asyncio.create_task(follow(host, "s1")) for _ in range(20)]
        await asyncio.sleep(0)
        host.turns.accept("s1", "hi")
        seen = await asyncio.gather(*readers)

    assert len({tuple(each.place for each in events) for events in seen}) == 1


async def test_a_reader_that_leaves_does_not_stop_the_turn(tmp_path: Path) -> None:
    async with opened(tmp_path, "Hello!") as host:
        message = host.turns.accept("s1", "hi")
        reader = asyncio.create_task(follow(host, "s1"))
        await asyncio.sleep(0)
        reader.cancel()
        await asyncio.wait((reader,))

        await follow(host, "s1")
        assert host.turns.state(message.turn_id) == "finished"


async def test_a_running_turn_is_cancelled_by_its_id(tmp_path: Path) -> None:
    model = HangingModel()
    async with opened(tmp_path, model=model) as host:
        message = host.turns.accept("s1", "hi")
        await model.asked.wait()

        assert await host.turns.cancel(message.turn_id) == "cancelled"
        seen = await follow(host, "s1")

        assert isinstance(seen[-1].event, TurnCancelled)
        assert await host.turns.cancel(message.turn_id) == "ended"


async def test_a_waiting_message_is_cancelled_before_its_turn_begins(tmp_path: Path) -> None:
    model = HangingModel()
    async with opened(tmp_path, model=model) as host:
        running = host.turns.accept("s1", "first")
        waiting = host.turns.accept("s1", "second")
        await model.asked.wait()

        assert host.turns.state(waiting.turn_id) == "queued"
        assert await host.turns.cancel(waiting.turn_id) == "cancelled"
        assert host.turns.state(waiting.turn_id) == "cancelled"
        await host.turns.cancel(running.turn_id)
        await follow(host, "s1")
        assert host.app.journal.sessions()[0].turns == 1


async def test_a_closed_assistant_leaves_its_turns_to_the_next_one(tmp_path: Path) -> None:
    model = HangingModel()
    async with opened(tmp_path, model=model) as host:
        running = host.turns.accept("s1", "first")
        waiting = host.turns.accept("s1", "second")
        await model.asked.wait()

    async with opened(tmp_path, "one", "two") as host:
        assert host.turns.state(running.turn_id) == "running"
        assert host.turns.state(waiting.turn_id) == "queued"
        host.turns.start()
        seen = await follow(host, "s1", turns=2)

    assert [each.event.text for each in seen if isinstance(each.event, TurnFinished)] == ["one", "two"]
    assert sum(isinstance(each.event, TurnResumed) for each in seen) == 1
    places = [each.place for each in seen]
    assert places == sorted(set(places))


async def test_a_turn_of_the_terminal_that_was_cut_off_is_left_to_the_person(tmp_path: Path) -> None:
    model = HangingModel()
    async with opened(tmp_path, model=model) as host:

        async def read() -> list[Event]:
            return [event async for event in host.app.run_turn("s1", "hi")]

        reader = asyncio.create_task(read())
        await model.asked.wait()
    # The closed assistant has cut the turn off.
    await asyncio.wait((reader,))
    assert reader.exception() is not None

    async with opened(tmp_path) as host:
        host.turns.start()
        await asyncio.sleep(0)
        (turn,) = host.app.unfinished_turns()
        assert turn.state == "running"


async def test_the_text_of_a_message_is_kept_only_until_its_turn_has_begun(tmp_path: Path) -> None:
    async with opened(tmp_path, "Hello!") as host:
        host.turns.accept("s1", "my words", "key")
        await follow(host, "s1")
        rows = host.app.database.execute("SELECT text FROM accepted_messages")
        assert rows == [("",)]


async def test_a_full_session_takes_no_more_messages(tmp_path: Path) -> None:
    async with opened(tmp_path, model=HangingModel()) as host:
        for number in range(20):
            host.turns.accept("s1", "hi", f"key {number}")

        with pytest.raises(TooManyWaitingError, match="20 messages already wait"):
            host.turns.accept("s1", "hi")
        # A message that was accepted before is still acknowledged.
        host.turns.accept("s1", "hi", "key 3")
        host.turns.accept("s2", "hi")


async def test_bad_messages_are_refused_at_once(tmp_path: Path) -> None:
    async with opened(tmp_path) as host:
        for session_id, text, key in (("s1", " ", ""), ("-x", "hi", ""), ("s1", "hi", "k" * 201)):
            with pytest.raises(PersonError):
                host.turns.accept(session_id, text, key)


async def test_events_of_another_assistant_on_the_same_file_arrive_too(tmp_path: Path) -> None:
    async with opened(tmp_path) as host, opened(tmp_path, "Hello!") as other:
        reader = asyncio.create_task(follow(host, "s1"))
        await asyncio.sleep(0)
        own = [event async for event in other.app.run_turn("s1", "hi")]
        seen = await asyncio.wait_for(reader, 30)

    facts = [event.kind for event in own if event.kind != "text_streamed"]
    assert [kind for kind in kinds(seen) if kind != "text_streamed"] == facts


async def test_a_reader_that_is_far_behind_reads_the_journal(tmp_path: Path) -> None:
    async with opened(tmp_path, *(f"answer {number}" for number in range(300))) as host:
        with host.turns.feeds.reading("s1"):
            for number in range(300):
                host.turns.accept("s1", f"message {number}")
                await follow(host, "s1", Place(number, 10**6))
            seen = await follow(host, "s1", turns=300)

    assert [each.place for each in seen] == sorted({each.place for each in seen})
    assert {each.place.turn for each in seen} == set(range(1, 301))


@pytest.mark.parametrize(
    "text", ["", "1", "1.", ".1", "a.b", "1.2.3", "-1.2", "1.-2", "\u0663.\u0661", "9" * 99 + ".1"]
)
def test_a_text_that_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(PersonError, match="is no place"):
        read_place(text)


def test_a_place_reads_as_it_is_written() -> None:
    assert read_place(str(Place(3, 14))) == Place(3, 14)


async def test_a_chosen_specialist_is_kept_over_restarts(tmp_path: Path) -> None:
    model = HangingModel()
    async with opened(tmp_path, model=model) as host:
        host.turns.accept("s1", "first", agent="operator")
        host.turns.accept("s1", "second", agent="Librarian")
        await model.asked.wait()

    async with opened(tmp_path, "one", "two") as host:
        host.turns.start()
        seen = await follow(host, "s1", turns=2)

    ends = [each.event for each in seen if isinstance(each.event, TurnFinished)]
    assert [(end.author, end.text) for end in ends] == [("operator", "one"), ("librarian", "two")]


async def test_a_message_for_a_specialist_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    async with opened(tmp_path) as host:
        with pytest.raises(PersonError, match="there is no specialist 'gardener'"):
            host.turns.accept("s1", "hi", agent="gardener")
        assert host.turns.open_turns == 0


async def test_a_waiting_message_whose_specialist_is_gone_fails_honestly(tmp_path: Path) -> None:
    async with opened(tmp_path) as host:
        text = "INSERT INTO accepted_messages VALUES ('t1', 's1', 'k', 'hi', 1, 1, 0, 0, 'gardener', '')"
        host.app.database.execute(text)
        host.turns.start()
        seen = await follow(host, "s1")

    assert isinstance(end := seen[-1].event, TurnFailed)
    assert "there is no specialist 'gardener'" in end.text


async def test_added_words_are_read_by_the_next_process(tmp_path: Path) -> None:
    model = HangingModel()
    async with opened(tmp_path, model=model) as host:
        message = host.turns.accept("s1", "list the books")
        await model.asked.wait()
        assert await host.turns.steer(message.turn_id, "only the German ones", "k")
        assert await host.turns.steer(message.turn_id, "only the German ones", "k")

    again = sestet.ScriptedModel(["Two."])
    async with opened(tmp_path, model=again) as host:
        host.turns.start()
        seen = await follow(host, "s1")
        # The same words sent again after the end are still known.
        assert await host.turns.steer(message.turn_id, "only the German ones", "k")
        assert not await host.turns.steer(message.turn_id, "only the German ones", "other")

    assert kinds(seen).count("turn_steered") == 1
    assert "only the German ones" in again.requests[0].messages[-1].text
