"""Anything that a tool or a model raises or returns becomes a typed result, and the turn goes on."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Mapping
from types import MappingProxyType
from typing import cast

import pytest

from sestet.core.errors import PersonError
from sestet.core.event import DelegationFinished, Event, ToolFinished
from sestet.core.label import Label, Labelled
from sestet.core.message import ToolCall
from sestet.core.model import ModelItem, ModelReply, ModelRequest
from sestet.core.schema import JsonObject
from sestet.core.tool import tool
from sestet.models.scripted import ScriptedModel, ScriptItem
from sestet.runtime.stopping import is_stopped_by
from sestet.storage.event_json import decode, encode
from tests.runtime.conftest import Conversation
from tests.runtime.transcript import transcript, transfer


class Panic(BaseException):
    """An exception of the kind that native extensions raise."""


class SpeechlessError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("nothing to say")


ENDLESS: list[object] = []
ENDLESS.append(ENDLESS)
HUGE = 10**5000
ERRORS = [
    Panic("out of bounds"),
    SystemExit(3),
    GeneratorExit(),
    BaseExceptionGroup("several", [Panic("one")]),
    asyncio.CancelledError(),
    SpeechlessError(),
    PersonError("no key"),
]


class RaisingModel(ScriptedModel):
    """The operator's model raises the given exception."""

    def __init__(self, script: Mapping[str, list[ScriptItem]], error: BaseException) -> None:
        super().__init__(script)
        self._error = error

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        if request.agent == "operator":
            raise self._error
        async for item in super().stream(request):
            yield item


def both(operator: list[ScriptItem]) -> dict[str, list[ScriptItem]]:
    """Two specialists at the same time; the failure of one must not affect the other."""
    return {
        "orchestrator": [[transfer("operator"), transfer("planner")], "done"],
        "operator": operator,
        "planner": ["planned"],
    }


def outcomes(events: list[Event]) -> dict[str, str]:
    return {event.agent: event.outcome for event in events if isinstance(event, DelegationFinished)}


def tool_result(events: list[Event]) -> ToolFinished:
    (result,) = (event for event in events if isinstance(event, ToolFinished))
    return result


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
async def test_whatever_a_tool_raises_is_told_to_its_model(talk: Conversation, error: BaseException) -> None:
    @tool(risk="safe", effect="none", recovery="pure")
    async def fs_odd() -> str:
        """Raises."""
        raise error

    model = ScriptedModel(both([ToolCall("fs_odd"), "It failed."]))

    events = await talk(model, tools=[fs_odd]).say("go")

    assert outcomes(events) == {"operator": "ok", "planner": "ok"}
    assert type(error).__name__ in tool_result(events).text
    assert transcript(events)[-1] == ("orchestrator", "answers done")


@pytest.mark.parametrize(
    "value", [{1, 2}, b"bytes", {(1, 2): 3}, HUGE, ENDLESS, object()], ids=lambda value: type(value).__name__
)
async def test_a_result_that_is_no_json_is_an_error_of_its_tool(talk: Conversation, value: object) -> None:
    @tool(risk="safe", effect="none", recovery="pure")
    async def fs_odd() -> str:
        """Returns a value that is not JSON."""
        return cast("str", value)

    model = ScriptedModel(both([ToolCall("fs_odd"), "It failed."]))

    events = await talk(model, tools=[fs_odd]).say("go")

    assert tool_result(events).outcome == "error"
    assert outcomes(events) == {"operator": "ok", "planner": "ok"}


async def test_a_tool_that_gave_up_waiting_is_not_said_to_have_used_up_its_time(talk: Conversation) -> None:
    @tool(risk="safe", effect="none", recovery="pure")
    async def fs_odd() -> str:
        """Waits for a future that another task cancels."""
        raise TimeoutError("the server did not answer")

    events = await talk(ScriptedModel(both([ToolCall("fs_odd"), "x"])), tools=[fs_odd]).say("go")

    assert tool_result(events).text == "'fs_odd' failed: TimeoutError: the server did not answer"


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
async def test_whatever_a_model_raises_is_a_failure_of_its_agent(
    talk: Conversation, error: BaseException
) -> None:
    events = await talk(RaisingModel(both([]), error)).say("go")

    assert outcomes(events) == {"operator": "failed", "planner": "ok"}
    assert transcript(events)[-1] == ("orchestrator", "answers done")


class NamelessModel(RaisingModel):
    """Panics again while its failure is told."""

    @property
    def name(self) -> str:
        raise Panic("no name")

    @name.setter
    def name(self, name: str) -> None: ...


async def test_an_error_that_ends_the_task_itself_is_a_typed_end_of_the_turn(talk: Conversation) -> None:
    conversation = talk(NamelessModel(both([]), Panic("first")))

    events = await conversation.begin("go")

    assert transcript(events)[-1] == ("orchestrator", "fails: failed")
    assert conversation.journal.open_turns() == []


async def test_a_task_that_is_thrown_away_ends_instead_of_going_on() -> None:
    stopped: list[bool] = []

    async def wait() -> None:
        task = asyncio.current_task()
        try:
            await asyncio.Event().wait()
        except BaseException as error:
            stopped.append(is_stopped_by(error, task))
            raise

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    waiting = cast("Coroutine[None, None, None]", task.get_coro())
    waiting.close()
    task.cancel()
    await asyncio.wait([task])

    assert stopped == [True]


@pytest.mark.parametrize(
    "arguments",
    [{1: "a", "b": 2}, {"path": {1, 2}}, {"path": b"a"}, {"path": HUGE}, {"path": ENDLESS}, [1], None],
    ids=["key", "set", "bytes", "number", "endless", "list", "nothing"],
)
async def test_arguments_that_are_no_json_are_explained_to_the_model(
    talk: Conversation, arguments: object
) -> None:
    call = ToolCall("fs_list", cast("JsonObject", arguments))
    conversation = talk(ScriptedModel(both([call, "I was wrong."])))

    events = await conversation.say("go")

    assert tool_result(events).outcome == "refused"
    assert "not a JSON object" in tool_result(events).text
    assert list(conversation.journal.events_of(events[0].stamp.turn_id)) == [
        event for event in events if event.kind != "text_streamed"
    ]


async def test_arguments_in_any_mapping_and_sequence_are_those_that_are_recorded(talk: Conversation) -> None:
    arguments = MappingProxyType({"path": "a"})
    conversation = talk(ScriptedModel(both([ToolCall("fs_list", arguments), "done"])))

    events = await conversation.say("go")

    assert tool_result(events).text == "a.txt b.txt in a"


@pytest.mark.parametrize("field", ["text", "calls"])
async def test_a_reply_without_what_belongs_to_it_is_a_failure_of_its_agent(
    talk: Conversation, field: str
) -> None:
    reply = ModelReply("text")._replace(**{field: None})

    events = await talk(ScriptedModel(both([reply]))).say("go")

    assert outcomes(events) == {"operator": "failed", "planner": "ok"}


async def test_half_characters_of_a_model_reach_neither_a_reader_nor_another_model(
    talk: Conversation,
) -> None:
    half = "\ud83d"
    script: list[ScriptItem] = [
        transfer("operator", f"go {half}"),
        ToolCall(f"fs_{half}", {half: [half]}),
        f"it was {half}",
        f"done {half}",
        "yes",
    ]
    model = ScriptedModel(script)
    conversation = talk(model)

    events = [*await conversation.begin("go"), *await conversation.begin("and now?")]

    assert half not in "".join(map(str, events))
    assert half not in "".join(map(str, model.requests))
    assert "done ?" in str(model.requests[-1].messages)


@pytest.mark.parametrize(
    "label", [None, Label(untrusted=cast("bool", 1)), Label(sources=cast("tuple[str]", (5,)))]
)
async def test_a_label_of_wrong_types_is_an_error_of_the_tool_with_the_tools_own_label(
    talk: Conversation, label: Label
) -> None:
    @tool(risk="safe", effect="none", reads=("untrusted",), recovery="pure")
    async def fs_odd() -> Labelled:
        """Give a result with a label that the journal could not read again."""
        return Labelled("text", label)

    script = ScriptedModel([transfer("operator"), ToolCall("fs_odd", {}), "told", "done"])

    events = await talk(script, tools=[fs_odd]).say("go")

    (finished,) = (event for event in events if isinstance(event, ToolFinished))
    assert (finished.outcome, finished.label.untrusted) == ("error", True)
    assert decode(finished.stamp, finished.kind, encode(finished)) == finished
