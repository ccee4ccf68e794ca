"""Who does the work of a turn, as a transcript of its events."""

from pathlib import Path

import pytest

import sestet
from sestet.core.event import DelegationFinished, DelegationStarted, ModelCalled, ToolFinished, TurnFinished

from .samples import names

_LIST_FILES = sestet.ToolCall("fs_list", {"path": "."})


def _delegate(agent_name: str, request: str, *, reply: bool = True) -> sestet.ToolCall:
    return sestet.ToolCall(
        "transfer_to_agent", {"agent_name": agent_name, "request": request, "reply": reply}
    )


@pytest.mark.scenario("002-direct-greeting")
async def test_a_greeting_is_answered_directly_with_one_model_call(tmp_path: Path) -> None:
    model = sestet.ScriptedModel(["Hello! What can I do for you?"])

    async with sestet.open({}, home=tmp_path, model=model) as app:
        events = [event async for event in app.run_turn("s1", "hello")]

    assert [request.agent for request in model.requests] == ["orchestrator"]
    assert [event for event in events if isinstance(event, DelegationStarted)] == []
    assert isinstance(events[-1], TurnFinished)
    assert (events[-1].author, events[-1].text) == ("orchestrator", "Hello! What can I do for you?")


@pytest.mark.scenario("001-instruction-tool-task")
@pytest.mark.scenario("002-instruction-tool-task")
@pytest.mark.scenario("002-direct-not-for-tools")
async def test_a_task_that_needs_a_tool_goes_to_the_agent_of_that_exact_name(tmp_path: Path) -> None:
    model = sestet.ScriptedModel(
        [_delegate("operator", "list the files"), _LIST_FILES, "There are some files."]
    )

    async with sestet.open({}, home=tmp_path, model=model) as app:
        events = [event async for event in app.run_turn("s1", "list the files here")]

    transcript = [
        (event.author, event.kind)
        for event in events
        if isinstance(
            event, ModelCalled | DelegationStarted | ToolFinished | DelegationFinished | TurnFinished
        )
    ]
    assert transcript == [
        ("orchestrator", "model_called"),
        ("orchestrator", "delegation_started"),
        ("operator", "model_called"),
        ("operator", "tool_finished"),
        ("operator", "model_called"),
        ("operator", "delegation_finished"),
        ("operator", "turn_finished"),
    ]
    assert [(event.agent, event.request) for event in events if isinstance(event, DelegationStarted)] == [
        ("operator", "list the files")
    ]
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].text == "There are some files."


@pytest.mark.scenario("001-instruction-tool-task")
@pytest.mark.scenario("002-direct-not-for-tools")
async def test_the_orchestrator_is_offered_delegation_and_the_specialist_its_own_tools(
    tmp_path: Path,
) -> None:
    model = sestet.ScriptedModel(
        [_delegate("operator", "list the files"), _LIST_FILES, "There are some files."]
    )

    async with sestet.open({}, home=tmp_path, model=model) as app:
        _ = [event async for event in app.run_turn("s1", "list the files here")]
        owned = set(names(sestet.partition_tools(app.tools).operator))

    root, specialist, *_ = model.requests
    assert names(root.tools) == ("transfer_to_agent",)
    assert set(names(specialist.tools)) - {"reject_task", "show_results"} == owned
    assert "fs_list" in owned


@pytest.mark.scenario("002-instruction-tool-task")
async def test_a_tool_that_the_orchestrator_calls_itself_is_not_run(tmp_path: Path) -> None:
    model = sestet.ScriptedModel(
        [_LIST_FILES, _delegate("operator", "list the files"), _LIST_FILES, "Some files."]
    )

    async with sestet.open({}, home=tmp_path, model=model) as app:
        events = [event async for event in app.run_turn("s1", "list the files here")]

    ran = [event.author for event in events if isinstance(event, ToolFinished) and event.outcome == "ok"]
    assert ran == ["operator"]
    assert isinstance(events[-1], TurnFinished)


@pytest.mark.scenario("000-instruction-exact-name")
@pytest.mark.parametrize("wrong", ["exec", "browser", "op", "operator_agent"])
async def test_a_name_that_is_not_exact_is_answered_with_the_valid_ones(tmp_path: Path, wrong: str) -> None:
    model = sestet.ScriptedModel(
        [
            _delegate(wrong, "list the files"),
            _delegate("operator", "list the files"),
            _LIST_FILES,
            "Some files.",
        ]
    )

    async with sestet.open({}, home=tmp_path, model=model) as app:
        events = [event async for event in app.run_turn("s1", "list the files here")]

    assert [event.agent for event in events if isinstance(event, DelegationStarted)] == ["operator"]
    correction = model.requests[1].messages[-1].text
    assert "operator" in correction
    assert "planner" in correction


@pytest.mark.scenario("000-instruction-exact-name")
async def test_only_the_exact_names_are_choices_of_the_call(tmp_path: Path) -> None:
    model = sestet.ScriptedModel(["Hello!"])

    async with sestet.open({}, home=tmp_path, model=model) as app:
        _ = [event async for event in app.run_turn("s1", "hello")]

    (transfer,) = model.requests[0].tools
    properties = transfer.parameters["properties"]
    assert isinstance(properties, dict)
    choices = properties["agent_name"]
    assert isinstance(choices, dict)
    listed = [
        line.removeprefix("### ") for line in model.requests[0].instruction.splitlines() if "### " in line
    ]
    assert choices["enum"] == listed


@pytest.mark.scenario("004-reject-protocol")
async def test_a_rejection_goes_back_to_the_orchestrator_and_is_never_shown(tmp_path: Path) -> None:
    model = sestet.ScriptedModel(
        [
            _delegate("planner", "list the files"),
            "[REJECT] This needs somebody who works with files.",
            _delegate("operator", "list the files"),
            _LIST_FILES,
            "There are some files.",
        ]
    )

    async with sestet.open({}, home=tmp_path, model=model) as app:
        events = [event async for event in app.run_turn("s1", "list the files here")]

    finished = [(event.agent, event.outcome) for event in events if isinstance(event, DelegationFinished)]
    assert finished == [("planner", "rejected"), ("operator", "ok")]
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].text == "There are some files."
