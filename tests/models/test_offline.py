"""The built-in model: greetings, routing by words, arguments from examples, and honesty about the rest."""

import re
from pathlib import Path

import pytest

import sestet
from sestet.app import App
from sestet.core.event import (
    ApprovalRequested,
    DelegationStarted,
    Event,
    ModelCalled,
    ToolCalled,
    TurnFinished,
)

INTEGERS = {"start", "limit", "lines", "max_depth"}


async def say(app: App, text: str, session_id: str = "s1") -> list[Event]:
    return [event async for event in app.run_turn(session_id, text)]


def reply(events: list[Event]) -> str:
    assert isinstance(events[-1], TurnFinished)
    return events[-1].text


def calls(events: list[Event]) -> list[tuple[str, dict[str, object]]]:
    return [
        (event.call.name, dict(event.call.arguments)) for event in events if isinstance(event, ToolCalled)
    ]


@pytest.fixture(autouse=True)
def _workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "README.md").write_text("# A garden\nRoses and thyme.\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "work")


@pytest.mark.parametrize(
    "greeting", ["hello", "Hi!", "good morning", "hey there", "How are you?", "thanks a lot"]
)
async def test_small_talk_costs_one_model_call_and_no_delegation(tmp_path: Path, greeting: str) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        events = await say(app, greeting)

    assert sum(isinstance(event, ModelCalled) for event in events) == 1
    assert "did not understand" not in reply(events)


@pytest.mark.parametrize(
    ("request_text", "tool", "arguments"),
    [
        ("list the files here", "fs_list", {}),
        ("Could you please list the files here?", "fs_list", {}),
        ("read README.md", "fs_read", {"path": "README.md"}),
        ("Please read the file README.md for me.", "fs_read", {"path": "README.md"}),
        ("show me 'my notes.txt'", "fs_read", {"path": "my notes.txt"}),
        ("which files contain roses", "fs_search", {"text": "roses"}),
        ("remember that I like tea", "memory_remember", {"fact": "I like tea"}),
        ("what do I like?", "memory_recall", {"query": "what do I like"}),
    ],
)
async def test_a_request_reaches_its_tool_with_its_arguments_in_three_model_calls(
    tmp_path: Path, request_text: str, tool: str, arguments: dict[str, object]
) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        events = await say(app, request_text)

    assert calls(events) == [(tool, arguments)]
    assert sum(isinstance(event, ModelCalled) for event in events) == 3


async def test_files_are_listed_and_read_end_to_end(tmp_path: Path) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        listing = reply(await say(app, "list the files here"))
        text = reply(await say(app, "read README.md"))

    assert "README.md" in listing
    assert "Roses and thyme." in text


async def test_a_fact_is_remembered_across_sessions_and_restarts(tmp_path: Path) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        await say(app, "remember that I like tea")
    async with sestet.open({}, home=tmp_path) as app:
        answer = reply(await say(app, "what do I like?", session_id="s2"))

    assert "I like tea" in answer


@pytest.mark.parametrize(
    "question", ["who are you?", "help", "xyzzy plugh", "show me the way home", "make a plan for my garden"]
)
async def test_it_says_what_it_is_and_how_to_set_a_real_model(tmp_path: Path, question: str) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        answer = reply(await say(app, question))

    assert "small model built into Sestet" in answer
    assert "agent.provider" in answer


async def test_work_for_an_agent_that_does_not_exist_is_declined_honestly(tmp_path: Path) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        events = await say(app, "take a screenshot of python.org")

    assert not any(isinstance(event, DelegationStarted) for event in events)
    assert "navigator" in reply(events)


async def test_a_failing_tool_is_reported_as_it_is(tmp_path: Path) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        answer = reply(await say(app, "read REDME.md"))

    assert "'REDME.md' does not exist; did you mean 'README.md'?" in answer


async def test_one_flat_agent_works_with_it_too(tmp_path: Path) -> None:
    async with sestet.open({"agent": {"multiAgent": False}}, home=tmp_path) as app:
        events = await say(app, "list the files here")

    assert calls(events) == [("fs_list", {})]
    assert "README.md" in reply(events)


async def test_every_example_of_every_tool_reaches_that_tool(tmp_path: Path) -> None:
    """Relation: what a tool declares as an example is understood, whatever the tool."""
    async with sestet.open({}, home=tmp_path) as app:
        for tool in app.tools:
            for example in tool.examples:
                request = re.sub(r"\{(\w+)\}", lambda slot: "3" if slot[1] in INTEGERS else slot[1], example)
                events = await say(app, request, session_id=example)
                # One that a person has to approve is asked about instead of called.
                asked = [event.call.name for event in events if isinstance(event, ApprovalRequested)]
                assert [*asked, *(name for name, _ in calls(events))] == [tool.name], example
