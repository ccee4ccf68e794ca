"""The built-in model: greetings, routing by words, arguments from examples, and honesty about the rest."""

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
    ToolFinished,
    TurnFinished,
)
from tests.agents.test_tool_examples import filled


async def say(app: App, text: str, session_id: str = "s1") -> list[Event]:
    return [event async for event in app.run_turn(session_id, text)]


def reply(events: list[Event]) -> str:
    assert isinstance(events[-1], TurnFinished)
    return events[-1].text


def calls(events: list[Event]) -> list[tuple[str, dict[str, object]]]:
    """The calls that were made or wait for approval."""
    made = (event for event in events if isinstance(event, ToolCalled | ApprovalRequested))
    return [(event.call.name, dict(event.call.arguments)) for event in made]


def reached(events: list[Event]) -> list[str]:
    """The tools that got a call with fitting arguments, even if it could not work."""
    return [
        event.call.name
        for event in events
        if isinstance(event, ApprovalRequested) or (isinstance(event, ToolFinished) and not event.mistake)
    ]


@pytest.fixture(autouse=True)
def _workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "README.md").write_text("# A garden\nRoses and thyme.\n", encoding="utf-8")
    (tmp_path / "work" / "notes.md").write_text("Milk\n- wifi code: 7781-tulip\n", encoding="utf-8")
    # A file that is not there would be looked for.
    (tmp_path / "work" / "7path7").write_text("thyme\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "work")


@pytest.mark.parametrize(
    "greeting", ["hello", "Hi!", "good morning", "hey there", "How are you?", "thanks a lot"]
)
async def test_small_talk_costs_one_model_call_and_no_delegation(tmp_path: Path, greeting: str) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        events = await say(app, greeting)

    assert sum(isinstance(event, ModelCalled) for event in events) == 1
    assert "did not understand" not in reply(events)


@pytest.mark.parametrize("request_text", ["read README.md and notes.md", "compare README.md, and notes.md"])
async def test_no_file_that_is_named_is_left_out(tmp_path: Path, request_text: str) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        events = await say(app, request_text)

    assert [arguments["path"] for _, arguments in calls(events)] == ["README.md", "notes.md"]
    assert "Roses and thyme." in reply(events)
    assert "7781-tulip" in reply(events)


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
    "question",
    [
        "who are you?",
        "help",
        "xyzzy plugh",
        "show me the meaning of being lonely",
        "make a plan for moving our shop to a new server",
    ],
)
async def test_it_says_what_it_is_and_how_to_set_a_real_model(tmp_path: Path, question: str) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        answer = reply(await say(app, question))

    assert "small model built into Sestet" in answer
    assert "agent.provider" in answer


async def test_work_for_an_agent_that_does_not_exist_is_declined_honestly(tmp_path: Path) -> None:
    async with sestet.open({"browser": {"enabled": False}}, home=tmp_path) as app:
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


@pytest.mark.parametrize(
    ("sum_", "answer"),
    [
        ("what's 12 times 12?", "12 times 12 = 144"),
        ("15% of 240", "15% of 240 = 36"),
        ("(1,000 - 1) / 4 =", "(1,000 - 1) / 4 = 249.75"),
        ("how much is 7 plus -2", "7 plus -2 = 5"),
    ],
)
async def test_sums_are_worked_out(tmp_path: Path, sum_: str, answer: str) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        assert reply(await say(app, sum_)) == answer


@pytest.mark.parametrize("no_sum", ["1 / 0", "(1 + 2", "1 +", "2024-05-01", "5"])
async def test_what_is_no_sum_is_not_worked_out(tmp_path: Path, no_sum: str) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        assert " = " not in reply(await say(app, no_sum))


async def test_a_plan_is_a_frame_of_what_the_request_names_and_says_so(tmp_path: Path) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        events = await say(
            app, "make a plan for buying paint, clearing the room and painting the walls by Friday"
        )

    plan = reply(events)
    assert events[-1].author == "planner"
    assert plan.index("Buying paint.") < plan.index("Clearing the room.") < plan.index("Painting the walls.")
    assert "Limit: by Friday" in plan
    assert "only a frame" in plan


async def test_two_parts_are_done_in_order_and_the_second_gets_what_the_first_found(tmp_path: Path) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        events = await say(app, "read notes.md and remember the wifi code")

    assert calls(events) == [
        ("fs_read", {"path": "notes.md"}),
        ("memory_remember", {"fact": "wifi code: 7781-tulip"}),
    ]
    assert reply(events).endswith("Remembered: wifi code: 7781-tulip")
    assert events[-1].author == "orchestrator"


async def test_what_the_first_part_did_not_find_is_not_made_up_for_the_second(tmp_path: Path) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        events = await say(app, "read README.md and remember the wifi code")

    assert [name for name, _ in calls(events)] == ["fs_read"]
    assert "found nothing to go on with for “remember the wifi code”" in reply(events)


async def test_parts_that_stand_alone_are_each_done_as_they_were_said(tmp_path: Path) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        events = await say(app, "list the files here, and remember that I like thyme")

    assert calls(events) == [("fs_list", {}), ("memory_remember", {"fact": "I like thyme"})]


async def test_a_part_that_could_go_on_for_ever_ends_where_the_next_begins(tmp_path: Path) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        events = await say(app, "remember that I like thyme, and list the files here")

    assert calls(events) == [("memory_remember", {"fact": "I like thyme"}), ("fs_list", {})]


async def test_a_question_with_where_to_look_is_one_request(tmp_path: Path) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        await say(app, "save this knowledge: the office closes at six")
        events = await say(app, "when does the office close? look it up in the knowledge base")

    assert [name for name, _ in calls(events)] == ["search_knowledge"]
    assert "closes at six" in reply(events)


@pytest.mark.parametrize(
    "question",
    ["what is the capital of Peru?", "why is the sky blue?", "xyzzy plugh", "should I sell my car?"],
)
async def test_it_says_in_one_line_that_it_has_no_answer_and_what_has(tmp_path: Path, question: str) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        answer = reply(await say(app, question))

    assert "\n" not in answer
    assert "real model" in answer
    assert "sestet setup" in answer


@pytest.mark.parametrize(
    ("text", "agent", "said"),
    [
        ("upload README.md", "operator", "No tool of the operator here can upload anything."),
        ("search the web for thyme", "librarian", "can do that (“search the web”)"),
    ],
)
async def test_what_no_tool_of_a_room_can_do_is_said_without_examples_of_other_work(
    tmp_path: Path, text: str, agent: str, said: str
) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        events = await say(app, text)

    assert not calls(events)
    assert events[-1].author == agent
    assert said in reply(events)
    assert "example" not in reply(events)
    assert "Say “help”" in reply(events)


async def test_a_refusal_is_told_without_what_is_meant_for_a_model(tmp_path: Path) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        await say(app, "remember that I like tea")
        events = [event async for event in app.run_turn("s1", "forget that I like tea", can_ask=False)]

    assert "nobody can be asked here" in reply(events)
    assert "in your answer" not in reply(events)


async def test_a_person_who_said_no_is_told_so_in_the_second_person(tmp_path: Path) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        await say(app, "remember that I like tea")
        (asked,) = [e for e in await say(app, "forget that I like tea") if isinstance(e, ApprovalRequested)]
        app.decide(asked.approval_id, "deny")
        events = [event async for event in app.resume_turn(asked.stamp.turn_id)]

    assert reply(events) == "Not done: you said no."


async def test_every_example_of_every_tool_reaches_that_tool(tmp_path: Path) -> None:
    """Relation: every tool understands its own examples."""
    async with sestet.open({}, home=tmp_path) as app:
        # A question that memory or knowledge cannot answer would go on to other places.
        await say(app, "remember that my 7query7 is green")
        await say(app, "save this knowledge: 7query7 is green")
        for tool in app.tools:
            for number, example in enumerate(tool.examples):
                request, _ = filled(tool, example)
                events = await say(app, request, session_id=f"{tool.name}-{number}")
                assert reached(events) == [tool.name], example
