"""A stubborn orchestrator cannot keep a turn going: code ends it with what the specialists found."""

from sestet.core.errors import ModelError
from sestet.core.event import Event, ModelCalled, TurnFailed, TurnFinished
from sestet.core.message import ToolCall, ToolMessage
from sestet.core.model import Usage
from sestet.models.scripted import ScriptedModel, ScriptItem
from sestet.runtime.limits import Limits
from sestet.storage.database import Database
from tests.runtime.conftest import Conversation
from tests.runtime.transcript import streamed, transfer

EVERYBODY = ["operator", "navigator", "vault", "librarian", "planner", "chronicler"]
#: More calls than any turn may make.
STUBBORN: list[ScriptItem] = [transfer("operator", f"again {number}") for number in range(60)]


def asked(events: list[Event], agent: str = "orchestrator") -> int:
    return sum(isinstance(event, ModelCalled) and event.author == agent for event in events)


def finished(events: list[Event]) -> TurnFinished:
    end = events[-1]
    assert isinstance(end, TurnFinished)
    return end


def failed(events: list[Event]) -> TurnFailed:
    end = events[-1]
    assert isinstance(end, TurnFailed)
    return end


async def test_two_refused_replies_after_the_last_round_end_the_turn_with_the_findings(
    talk: Conversation,
) -> None:
    script = {"orchestrator": STUBBORN, "operator": ["There are two files.", "One of them is empty."]}

    events = await talk(ScriptedModel(script), limits=Limits(rounds=2)).begin("go")

    end = finished(events)
    assert asked(events) == 2 + 2
    assert end.author == "orchestrator"
    assert end.cut_short == "the limit of 2 delegations in one turn was reached"
    assert end.cut_short in end.text
    assert end.text.index("From operator:\n\nThere are two files.") < end.text.index(
        "From operator:\n\nOne of them is empty."
    )
    replies = (event.usage for event in events if isinstance(event, ModelCalled))
    assert end.usage == sum(replies, Usage())


async def test_a_call_that_the_orchestrator_invents_after_the_last_round_ends_the_same_way(
    talk: Conversation,
) -> None:
    invented: list[ScriptItem] = [ToolCall("fs_list", {"path": str(number)}) for number in range(60)]
    script = {"orchestrator": [transfer("operator"), *invented], "operator": ["Two files."]}

    events = await talk(ScriptedModel(script), limits=Limits(rounds=1)).begin("go")

    assert asked(events) == 1 + 2
    assert "From operator:\n\nTwo files." in finished(events).text


async def test_a_specialist_without_a_result_is_named_and_nothing_of_its_rejection_is_shown(
    talk: Conversation,
) -> None:
    script: dict[str, list[ScriptItem]] = {
        "orchestrator": [[transfer("operator"), transfer("planner")], *STUBBORN],
        "operator": ["Two files."],
        "planner": ["[REJECT] ask another colleague"],
    }

    events = await talk(ScriptedModel(script), limits=Limits(rounds=2)).begin("go")

    text = finished(events).text
    assert "No result from planner (rejected)." in text
    assert "another colleague" not in text + streamed(events)
    # The orchestrator was told this; the person is not.
    assert "Answer the person" not in text


async def test_when_everybody_declined_and_the_orchestrator_goes_on_the_turn_fails_with_its_usage(
    talk: Conversation,
) -> None:
    script: dict[str, list[ScriptItem]] = {name: ["[REJECT] not mine"] for name in EVERYBODY}
    model = ScriptedModel({"orchestrator": [[transfer(name) for name in EVERYBODY], *STUBBORN], **script})

    events = await talk(model, limits=Limits(rounds=9)).begin("go")

    end = failed(events)
    assert (end.cause, end.detail) == ("rejected", "every specialist declined")
    assert asked(events) == 1 + 2
    assert end.usage == sum((event.usage for event in events if isinstance(event, ModelCalled)), Usage())
    assert end.milliseconds > 0


async def test_asking_again_who_declined_ends_the_turn_although_others_are_left(talk: Conversation) -> None:
    script = {"orchestrator": STUBBORN, "operator": ["[REJECT] not mine"]}

    events = await talk(ScriptedModel(script)).begin("go")

    end = failed(events)
    assert end.detail == "operator was asked again after it had declined"
    assert asked(events) == 1 + 2


async def test_the_end_on_wrong_names_says_to_the_person_what_happened_and_not_what_to_do(
    talk: Conversation,
) -> None:
    events = await talk(ScriptedModel([transfer("browser"), transfer("executor")])).say("go")

    end = failed(events)
    assert end.text == "I could not answer: the orchestrator named an agent that does not exist: 'executor'."


async def test_the_findings_of_a_turn_that_was_cut_off_are_those_of_the_whole_turn(
    talk: Conversation, database: Database
) -> None:
    script = {"orchestrator": STUBBORN, "operator": ["There are two files.", "One of them is empty."]}
    begun = await talk(ScriptedModel(script), limits=Limits(rounds=2)).begin("go")
    second = [event.seq for event in begun if event.kind == "delegation_finished"][1]
    database.execute("DELETE FROM events WHERE seq > ?", (second,))
    database.execute("UPDATE turns SET state = 'running'")

    later = talk(ScriptedModel({"orchestrator": STUBBORN}), limits=Limits(rounds=2))
    events = await later.resume(begun)

    assert finished(events).text == finished(begun).text
    assert asked(events) == 2


async def test_the_turn_after_a_failed_one_is_shown_what_the_specialists_found(talk: Conversation) -> None:
    model = ScriptedModel(
        {
            "orchestrator": [transfer("operator", "read"), ModelError("the wire broke"), "You wanted tea."],
            "operator": ["They say tea."],
        }
    )
    conversation = talk(model)

    failed(await conversation.begin("what did I want?"))
    await conversation.say("and now?")

    shown = model.requests[-1].messages
    assert [message.text for message in shown if isinstance(message, ToolMessage)] == ["They say tea."]
