"""Code enforces the rules that the prompt states: one transcript for each rule."""

from typing import cast

import pytest

from sestet.core.event import DelegationFinished, Event, ToolFinished, TurnFinished
from sestet.core.message import ToolCall
from sestet.models.scripted import ScriptedModel, ScriptItem
from sestet.runtime.limits import Limits
from tests.runtime.conftest import Conversation
from tests.runtime.transcript import streamed, transcript, transfer


def last_told(model: ScriptedModel) -> str:
    """The last message that the model read before its last reply."""
    return model.requests[-1].messages[-1].text


def outcomes(events: list[Event]) -> list[str]:
    return [event.outcome for event in events if isinstance(event, DelegationFinished)]


@pytest.mark.parametrize("spelling", ["Operator", "OPERATOR", " operator ", "op-era_tor", "`operator`"])
async def test_a_name_is_found_however_it_is_spelt(talk: Conversation, spelling: str) -> None:
    events = await talk(ScriptedModel([transfer(spelling, reply=True), "done"])).say("go")

    assert transcript(events)[2] == ("orchestrator", "delegates to operator: do it")


async def test_a_wrong_name_is_answered_with_the_names_there_are(talk: Conversation) -> None:
    model = ScriptedModel([transfer("browser_agent"), "I cannot do that."])

    events = await talk(model).say("go")

    assert "'browser_agent'" in last_told(model)
    assert "operator, navigator, vault, librarian, planner, chronicler" in last_told(model)
    assert transcript(events)[-1] == ("orchestrator", "answers I cannot do that.")


async def test_the_second_wrong_name_in_a_row_is_a_typed_failure(talk: Conversation) -> None:
    events = await talk(ScriptedModel([transfer("browser_agent"), transfer("executor")])).say("go")

    assert transcript(events)[-1] == ("orchestrator", "fails: failed")


async def test_two_wrong_names_in_one_reply_are_one_mistake(talk: Conversation) -> None:
    model = ScriptedModel([[transfer("browser_agent"), transfer("executor")], "I cannot do that."])

    events = await talk(model).say("go")

    assert transcript(events)[-1] == ("orchestrator", "answers I cannot do that.")


async def test_only_agents_that_exist_are_in_the_schema(talk: Conversation) -> None:
    model = ScriptedModel(["hi"])

    await talk(model).say("hello")

    (tool,) = model.requests[0].tools
    properties = cast("dict[str, dict[str, object]]", tool.parameters["properties"])
    assert properties["agent_name"]["enum"] == [
        "operator",
        "navigator",
        "vault",
        "librarian",
        "planner",
        "chronicler",
    ]


async def test_rounds_are_counted_and_then_the_call_is_withdrawn(talk: Conversation) -> None:
    script: dict[str, list[ScriptItem]] = {
        "orchestrator": [transfer("operator"), transfer("operator", "again"), "This is what I have."],
        "operator": ["one", "two"],
    }
    model = ScriptedModel(script)

    events = await talk(model, limits=Limits(rounds=2)).say("go")

    assert outcomes(events) == ["ok", "ok"]
    assert model.requests[-1].tools == ()
    assert transcript(events)[-1] == ("orchestrator", "answers This is what I have.")


async def test_a_delegation_beyond_the_rounds_is_not_made(talk: Conversation) -> None:
    both = [transfer("operator", "one"), transfer("operator", "two")]
    model = ScriptedModel({"orchestrator": [both, "done"], "operator": ["one"]})

    events = await talk(model, limits=Limits(rounds=1)).say("go")

    assert outcomes(events) == ["ok"]
    told = [message.text for message in model.requests[-1].messages[-2:]]
    assert any("All 1 delegation rounds" in text for text in told)


async def test_a_tool_that_the_orchestrator_invents_is_answered_with_its_owner(talk: Conversation) -> None:
    model = ScriptedModel([ToolCall("fs_list", {}), "I see."])

    events = await talk(model).say("go")

    assert "You have no tools" in last_told(model)
    assert "belongs to operator" in last_told(model)
    assert not any(isinstance(event, ToolFinished) for event in events)


@pytest.mark.parametrize(
    "declined",
    [
        "[REJECT] This is for somebody else.",
        "  **[reject]** not mine",
        ToolCall("reject_task", {"reason": "not mine"}),
    ],
)
@pytest.mark.parametrize("chunk", [0, 1, 4])
async def test_a_rejection_is_typed_and_never_shown(
    talk: Conversation, declined: ScriptItem, chunk: int
) -> None:
    script = {
        "orchestrator": [transfer("operator", reply=True), "Nobody can do this."],
        "operator": [declined],
    }

    events = await talk(ScriptedModel(script, chunk=chunk)).say("go")

    assert outcomes(events) == ["rejected"]
    assert streamed(events) == "Nobody can do this."
    assert transcript(events)[-1] == ("orchestrator", "answers Nobody can do this.")


async def test_an_agent_that_declined_is_not_asked_again_in_this_turn(talk: Conversation) -> None:
    model = ScriptedModel(
        {"orchestrator": [transfer("operator"), transfer("operator"), "Sorry."], "operator": ["[REJECT] no"]}
    )

    events = await talk(model).say("go")

    assert outcomes(events) == ["rejected"]
    assert "operator has already declined" in last_told(model)


async def test_when_everybody_declined_the_call_is_withdrawn_and_the_answer_is_honest(
    talk: Conversation,
) -> None:
    everybody = ["operator", "navigator", "vault", "librarian", "planner", "chronicler"]
    script: dict[str, list[ScriptItem]] = {name: ["[REJECT] not mine"] for name in everybody}
    model = ScriptedModel({"orchestrator": [[transfer(name) for name in everybody], "I cannot."], **script})

    events = await talk(model, limits=Limits(rounds=6)).say("go")

    assert outcomes(events) == ["rejected"] * 6
    assert model.requests[-1].tools == ()
    assert transcript(events)[-1] == ("orchestrator", "answers I cannot.")


async def test_a_rejection_of_the_orchestrator_itself_is_never_shown(talk: Conversation) -> None:
    events = await talk(ScriptedModel(["[REJECT] ask another agent", "I cannot do that."])).say("go")

    assert streamed(events) == "I cannot do that."
    assert transcript(events)[-1] == ("orchestrator", "answers I cannot do that.")


async def test_the_same_call_three_times_is_a_loop(talk: Conversation) -> None:
    # Calls with reordered arguments are the same call.
    calls: list[ScriptItem] = [ToolCall("fs_list", {"path": "a"}), ToolCall("fs_list", {"path": "a"})]
    script = {
        "orchestrator": [transfer("operator"), "It got stuck."],
        "operator": [*calls, ToolCall("fs_list", {"path": "a"})],
    }

    events = await talk(ScriptedModel(script)).say("go")

    assert outcomes(events) == ["loop"]
    assert sum(isinstance(event, ToolFinished) for event in events) == 2


async def test_tool_use_without_an_answer_is_nudged_once(talk: Conversation) -> None:
    script = {
        "orchestrator": [transfer("operator", reply=True)],
        "operator": [ToolCall("fs_list", {}), "", "two files"],
    }

    events = await talk(ScriptedModel(script)).say("go")

    assert ("operator", "is nudged: silence") in transcript(events)
    assert transcript(events)[-1] == ("operator", "answers two files")


async def test_silence_after_the_nudge_is_empty_and_not_success(talk: Conversation) -> None:
    script = {"orchestrator": [transfer("operator", reply=True), "It said nothing."], "operator": ["", "  "]}

    events = await talk(ScriptedModel(script)).say("go")

    assert outcomes(events) == ["empty"]
    assert transcript(events)[-1] == ("orchestrator", "answers It said nothing.")


@pytest.mark.parametrize(
    "claim",
    [
        "I'll hand this over to the operator.",
        "Let me ask the librarian.",
        "I have passed it on to a specialist.",
    ],
)
async def test_a_hand_over_that_is_announced_and_not_made_is_nudged(talk: Conversation, claim: str) -> None:
    script = {"orchestrator": [claim, transfer("operator", reply=True)], "operator": ["done"]}

    events = await talk(ScriptedModel(script)).say("go")

    assert ("orchestrator", "is nudged: announced") in transcript(events)
    assert transcript(events)[-1] == ("operator", "answers done")


@pytest.mark.parametrize(
    "answer", ["I'll be happy to help!", "Operators in Python are + and -.", "Let me think: 4."]
)
async def test_an_ordinary_answer_is_not_taken_for_a_hand_over(talk: Conversation, answer: str) -> None:
    events = await talk(ScriptedModel([answer])).say("hi")

    assert transcript(events)[-1] == ("orchestrator", f"answers {answer}")


async def test_a_specialist_can_call_its_own_tools_and_nothing_else(talk: Conversation) -> None:
    script = {
        "orchestrator": [transfer("operator", reply=True)],
        "operator": [ToolCall("search_web", {"query": "x"}), "I could not."],
    }

    events = await talk(ScriptedModel(script)).say("go")

    assert ("operator", "search_web is refused") in transcript(events)
    assert ("operator", "calls search_web") not in transcript(events)


async def test_a_tool_that_declares_nothing_is_denied_when_nobody_can_be_asked(talk: Conversation) -> None:
    script = {
        "orchestrator": [transfer("operator", reply=True)],
        "operator": [ToolCall("exec_anything", {"command": "rm -rf /"}), "I may not."],
    }

    events = await talk(ScriptedModel(script)).say("go", can_ask=False)

    assert ("operator", "exec_anything is denied") in transcript(events)


@pytest.mark.parametrize("name", ["fs_fail", "fs_crash"])
async def test_a_tool_that_raises_is_told_to_the_model_and_ends_nothing(
    talk: Conversation, name: str
) -> None:
    script = {
        "orchestrator": [transfer("operator", reply=True)],
        "operator": [ToolCall(name, {}), "It failed."],
    }

    events = await talk(ScriptedModel(script)).say("go")

    assert ("operator", f"{name} is error") in transcript(events)
    assert transcript(events)[-1] == ("operator", "answers It failed.")


async def test_wrong_arguments_are_explained_and_the_tool_is_not_run(talk: Conversation) -> None:
    script = {
        "orchestrator": [transfer("operator", reply=True)],
        "operator": [
            ToolCall("fs_list", {"pth": "a", "path": 3}),
            ToolCall("fs_list", {"path": "a"}),
            "done",
        ],
    }
    model = ScriptedModel(script)

    events = await talk(model).say("go")

    told = model.requests[2].messages[-1].text
    assert "path expected string, got 3" in told
    assert "pth is not known; did you mean 'path'?" in told
    assert sum(entry == ("operator", "calls fs_list") for entry in transcript(events)) == 1


async def test_the_third_malformed_call_in_a_row_is_a_typed_failure(talk: Conversation) -> None:
    broken: list[ScriptItem] = [ToolCall("fs_list", malformed=f'{{"path": {n}') for n in range(3)]
    script = {"orchestrator": [transfer("operator"), "It failed."], "operator": broken}

    events = await talk(ScriptedModel(script)).say("go")

    assert outcomes(events) == ["failed"]


async def test_calls_per_turn_are_limited_by_the_tool(talk: Conversation) -> None:
    searches: list[ScriptItem] = [ToolCall("search_web", {"query": query}) for query in ("a", "b")]
    script = {"orchestrator": [transfer("librarian", reply=True)], "librarian": [*searches, "done"]}

    events = await talk(ScriptedModel(script)).say("go")

    results = [event.outcome for event in events if isinstance(event, ToolFinished)]
    assert results == ["ok", "refused"]


async def test_megabytes_go_whole_to_the_journal_and_clipped_to_the_model(talk: Conversation) -> None:
    model = ScriptedModel(
        {"orchestrator": [transfer("operator", reply=True)], "operator": [ToolCall("fs_big", {}), "big"]}
    )

    events = await talk(model, limits=Limits(tool_output=1000)).say("go")

    assert len(last_told(model)) < 1100
    assert "characters left out" in last_told(model)
    (result,) = (event for event in events if isinstance(event, ToolFinished))
    assert len(result.text) == 3_000_000


async def test_model_calls_of_a_turn_are_limited(talk: Conversation) -> None:
    calls: list[ScriptItem] = [ToolCall("fs_list", {"path": str(n)}) for n in range(3)]
    script = {"orchestrator": [transfer("operator")], "operator": calls}

    events = await talk(ScriptedModel(script), limits=Limits(model_calls=4)).say("go")

    assert outcomes(events) == ["over_budget"]
    assert transcript(events)[-1] == ("orchestrator", "fails: over_budget")


@pytest.mark.parametrize("error", [ValueError("boom"), TimeoutError("slow")])
async def test_a_model_that_raises_anything_is_a_typed_outcome(talk: Conversation, error: Exception) -> None:
    script: dict[str, list[ScriptItem]] = {
        "orchestrator": [transfer("operator"), "It failed."],
        "operator": [error],
    }

    events = await talk(ScriptedModel(script)).say("go")

    assert outcomes(events) == ["failed"]
    assert isinstance(events[-1], TurnFinished)
