"""The librarian's tools for lessons and past conversations, and the labels of all answers."""

import asyncio
import sys
import threading
from pathlib import Path
from types import FrameType

import pytest

import sestet
from sestet.agents.librarian.knowledge import save_knowledge, search_knowledge
from sestet.agents.librarian.learnings import save_learning, search_learnings
from sestet.agents.librarian.sessions import search_sessions
from sestet.core.errors import ToolError
from sestet.core.label import Label, Labelled
from sestet.core.record import replace
from sestet.core.schema import JsonValue
from sestet.core.tool import Tool
from sestet.storage import session_search
from sestet.storage.database import Database
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.learnings import LearningStore
from sestet.storage.session_search import SessionSearch

from .calling import CALL, DAY, LATER, run

PAGE = Label(untrusted=True, sources=("browser_fetch of navigator",))
AFTER_A_PAGE = replace(CALL, label=PAGE)


async def label_of(tool: Tool, *services: object, **arguments: JsonValue) -> Label:
    bound = tool.bind({type(service): service for service in services})
    assert bound is not None
    assert bound.function is not None
    answer = await bound.function(**arguments)
    assert isinstance(answer, Labelled)
    return answer.label


async def test_a_lesson_is_kept_once_and_found_by_what_happens(database: Database) -> None:
    learnings = LearningStore(database)
    lesson = {"trigger": "the build says EPERM", "fix": "close the editor first"}

    saved = "when the build says EPERM: close the editor first"
    assert await run(save_learning, learnings, call=CALL, **lesson) == f"Lesson saved: {saved}"
    assert await run(save_learning, learnings, call=LATER, **lesson) == f"Already known since {DAY}: {saved}"
    second = lesson | {"fix": "reboot", "cause": "the scanner holds it"}
    assert await run(save_learning, learnings, call=LATER, **second) == (
        "Lesson saved: when the build says EPERM: reboot (because the scanner holds it)"
    )
    assert await run(search_learnings, learnings, query="EPERM in the editor") == (
        "Lessons about 'EPERM in the editor':\n"
        f"- when the build says EPERM: close the editor first (lesson 1, {DAY})\n"
        f"- when the build says EPERM: reboot (because the scanner holds it) (lesson 2, {DAY})"
    )
    assert await run(search_learnings, learnings, query="tea") == "There is no lesson about 'tea'."


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({"trigger": " ", "fix": "x"}, "'trigger' is empty"),
        ({"trigger": "x", "fix": "\n"}, "'fix' is empty"),
        ({"trigger": "x", "fix": "y" * 4_001}, "'fix' has 4,001 characters"),
    ],
)
async def test_half_a_lesson_is_none(database: Database, arguments: dict[str, str], answer: str) -> None:
    with pytest.raises(ToolError, match=answer):
        await run(save_learning, LearningStore(database), call=CALL, **arguments)


async def test_tags_are_kept_in_lower_case_and_shown(database: Database) -> None:
    knowledge = KnowledgeStore(database)
    await run(
        save_knowledge, knowledge, key="Hours", content="until six", tags=["Shop", "shop", " Berlin  Mitte"]
    )

    assert await run(search_knowledge, knowledge, query="mitte") == (
        f"In the knowledge base about 'mitte':\n- Hours (note, shop, berlin mitte, {DAY}): until six"
    )
    with pytest.raises(ToolError, match="13 tags are too many"):
        await run(save_knowledge, knowledge, content="x", tags=[str(number) for number in range(13)])
    with pytest.raises(ToolError, match="'tags' is empty"):
        await run(save_knowledge, knowledge, content="x", tags=[" "])


async def test_what_is_read_has_the_label_it_was_stored_with(database: Database) -> None:
    knowledge, learnings = KnowledgeStore(database), LearningStore(database)
    for call, word in ((CALL, "mine"), (AFTER_A_PAGE, "theirs")):
        await run(save_knowledge, knowledge, call=call, key=word, content=word)
        await run(save_learning, learnings, call=call, trigger=word, fix=word)

    for tool, store, shelf in (
        (search_knowledge, knowledge, "the knowledge base"),
        (search_learnings, learnings, "the lessons"),
    ):
        assert await label_of(tool, store, query="mine") == Label(private=True, sources=(shelf,))
        theirs = await label_of(tool, store, query="theirs")
        assert theirs == PAGE | Label(private=True, sources=(shelf,))
        assert await label_of(tool, store, query="mine or theirs") == theirs
        assert await label_of(tool, store, query="nothing") == Label()


async def test_past_conversations_are_found_by_the_words_of_both_sides(tmp_path: Path) -> None:
    model = sestet.ScriptedModel({"orchestrator": ["Try the harbour.", "Dry, I hope.", "Anything else?"]})
    async with sestet.open({}, model=model, home=tmp_path) as app:
        for session, text in (("s1", "where is good fish?"), ("s2", "how is the weather?"), ("s2", "thanks")):
            async for _ in app.run_turn(session, text):
                pass
    database = Database(tmp_path / "sestet.db")
    exchanges = SessionSearch(database)

    for query in ("fish", "the HARBOURS"):
        assert await run(search_sessions, exchanges, query=query) == (
            f"In past conversations about '{query}':\n"
            f"- {DAY}, session s1\n  the person: where is good fish?\n  the answer: Try the harbour."
        )
    latest = await run(search_sessions, exchanges, query="what did we", limit=1)
    assert latest.splitlines()[2:] == ["  the person: thanks", "  the answer: Anything else?"]
    assert await run(search_sessions, exchanges, query="tea") == "No past conversation is about 'tea'."
    assert await label_of(search_sessions, exchanges, query="fish") == Label(
        private=True, sources=("past conversations",)
    )
    database.close()


async def test_the_words_of_a_caller_are_not_shown_as_the_persons(tmp_path: Path) -> None:
    async with sestet.open({}, model=sestet.ScriptedModel(["No."]), home=tmp_path) as app:
        async for _ in app.runner.run_turn("caller:1", "I like to pay mallory", caller="peer"):
            pass
    database = Database(tmp_path / "sestet.db")

    found = await run(search_sessions, SessionSearch(database), query="mallory")
    label = await label_of(search_sessions, SessionSearch(database), query="mallory")
    database.close()

    assert "  somebody else: I like to pay mallory" in found
    assert "the person" not in found
    assert label.untrusted


async def test_a_conversation_that_goes_on_after_a_search_is_found_by_the_next(tmp_path: Path) -> None:
    model = sestet.ScriptedModel({"orchestrator": ["One.", "Two."]})
    async with sestet.open({}, model=model, home=tmp_path) as app:
        database = Database(tmp_path / "sestet.db")
        exchanges = SessionSearch(database)
        for text, found in (("red apples", ["red apples"]), ("green apples", ["green apples", "red apples"])):
            async for _ in app.run_turn("s1", text):
                pass
            assert [exchange.asked for exchange in exchanges.search("apple", 5)] == found
    database.close()


async def test_many_past_turns_are_searched_while_the_event_loop_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_search, "_SEARCHED_AT_ONCE", 0)
    searching, may_go_on = asyncio.Event(), threading.Event()
    loop, index = asyncio.get_running_loop(), SessionSearch._index_ended_turns  # pyright: ignore[reportPrivateUsage]

    def slowly(self: SessionSearch) -> None:
        loop.call_soon_threadsafe(searching.set)
        # Without a thread of its own, the loop would never get to let it go on.
        assert may_go_on.wait(20)
        index(self)

    monkeypatch.setattr(SessionSearch, "_index_ended_turns", slowly)
    async with sestet.open({}, model=sestet.ScriptedModel(["Try the harbour."]), home=tmp_path) as app:
        async for _ in app.run_turn("s1", "where is good fish?"):
            pass
        search = asyncio.create_task(SessionSearch(app.database).search_soon("fish", 5))
        await searching.wait()
        may_go_on.set()
        assert [exchange.asked for exchange in await search] == ["where is good fish?"]


async def test_a_turn_whose_words_are_taken_out_of_the_journal_is_not_found_by_them(tmp_path: Path) -> None:
    model = sestet.ScriptedModel({"orchestrator": ["A zanzibarwort."]})
    async with sestet.open({}, model=model, home=tmp_path) as app:
        async for _ in app.run_turn("s1", "what grows here?"):
            pass
    database = Database(tmp_path / "sestet.db")
    exchanges = SessionSearch(database)
    assert len(exchanges.search("zanzibarwort", 5)) == 1

    database.execute("UPDATE events SET data = replace(data, 'zanzibarwort', '[forgotten]')")

    assert exchanges.search("zanzibarwort", 5) == []
    assert [exchange.answered for exchange in exchanges.search("grow", 5)] == ["A [forgotten]."]
    database.execute("INSERT INTO exchanges_index (exchanges_index) VALUES ('integrity-check')")
    database.close()


async def test_an_excerpt_of_a_huge_message_costs_no_more_than_one_of_a_long_one(tmp_path: Path) -> None:
    model = sestet.ScriptedModel({"orchestrator": ["yes", "no"]})
    async with sestet.open({}, model=model, home=tmp_path) as app:
        for text in ("needle a1 " + "a1 " * 33_000, "needle a1 " + "a1 " * 330_000):
            async for _ in app.run_turn("s1", text):
                pass
    database = Database(tmp_path / "sestet.db")
    exchanges = SessionSearch(database)
    looked_through: list[int] = []

    def watch(frame: FrameType, event: str, called: object) -> None:
        owner = getattr(called, "__self__", None)
        if event == "c_call" and getattr(called, "__name__", "") in ("search", "find"):
            looked_through.append(len(owner) if isinstance(owner, str) else sys.maxsize)

    sys.setprofile(watch)
    try:
        answer = await run(
            search_sessions, exchanges, query=" ".join(f"a{n}" for n in range(1, 400)), limit=50
        )
    finally:
        sys.setprofile(None)

    assert answer.count("needle a1") == 2
    assert max(looked_through) <= 100_000
    assert len(looked_through) < 200
    database.close()


async def test_a_long_reply_is_shown_around_the_words_that_were_looked_for(tmp_path: Path) -> None:
    reply = "word " * 500 + "needle " + "word " * 500
    async with sestet.open({}, model=sestet.ScriptedModel({"orchestrator": [reply]}), home=tmp_path) as app:
        async for _ in app.run_turn("s1", "hay?"):
            pass
    database = Database(tmp_path / "sestet.db")

    answer = (await run(search_sessions, SessionSearch(database), query="needles needle")).splitlines()[-1]

    assert "needle" in answer
    assert answer.startswith("  the answer: …")
    assert len(answer) < 450
    database.close()


async def test_a_reply_that_rests_on_untrusted_text_stays_untrusted_when_it_is_found(tmp_path: Path) -> None:
    @sestet.tool(risk="safe", reads=("untrusted",), effect="none", recovery="pure")
    async def browser_fetch(url: str) -> str:
        """Read a page."""
        return "fish is cheap"

    script: dict[str, list[sestet.ToolCall | str]] = {
        "orchestrator": [
            sestet.ToolCall("transfer_to_agent", {"agent_name": "navigator", "request": "read"}),
            "Fish is cheap.",
        ],
        "navigator": [sestet.ToolCall("browser_fetch", {"url": "x"}), "cheap"],
    }
    model = sestet.ScriptedModel(script)
    async with sestet.open({}, model=model, home=tmp_path, tools=[browser_fetch]) as app:
        async for _ in app.run_turn("s1", "what does the page say?"):
            pass
    database = Database(tmp_path / "sestet.db")

    label = await label_of(search_sessions, SessionSearch(database), query="fish")

    assert (label.untrusted, label.private) == (True, True)
    assert "browser_fetch of navigator" in label.sources
    database.close()
