"""The fast route: code makes the first delegation, and the rest of the turn stays the same."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest

from sestet.core.agent import Agent
from sestet.core.event import (
    DelegationStarted,
    Event,
    ModelCalled,
    RequestRouted,
    ToolFinished,
    TurnFailed,
    TurnFinished,
    TurnPaused,
)
from sestet.core.label import Label
from sestet.core.message import AssistantMessage, ToolCall, ToolMessage, UserMessage
from sestet.models.scripted import ScriptedModel, ScriptItem
from sestet.runtime.fast_route import FastRoute, needs_past
from sestet.runtime.limits import Limits
from sestet.storage.database import Database
from sestet.storage.journal import Journal
from tests.runtime.conftest import SAID_AT, WRITTEN, Conversation
from tests.runtime.test_resume import kinds_by_place, plant, rest_of
from tests.runtime.transcript import transcript, transfer

ASKED = "list the files here"
LISTING: list[ScriptItem] = [ToolCall("fs_list"), "a.txt and b.txt"]


class Known(NamedTuple):
    agent: str
    confidence: float = 0.99
    sure: bool = True


class KnownRoutes:
    """A router with a fixed answer for some requests; it counts its calls."""

    variant = "by heart"

    def __init__(self, routes: dict[str, Known], parts: int = 1) -> None:
        self._routes = routes
        self._parts = parts
        self.asked = 0

    def route(self, request: str) -> Known:
        self.asked += 1
        return self._routes.get(request, Known("direct", 0.2, sure=False))

    def split(self, request: str) -> Sequence[str]:
        return [request] * self._parts


def with_router(router: KnownRoutes) -> FastRoute:
    return FastRoute(lambda: router)


def to(agent: str, **facts: float) -> FastRoute:
    return with_router(KnownRoutes({ASKED: Known(agent)._replace(**facts)}))


def model_calls(events: list[Event]) -> list[str]:
    return [event.author for event in events if isinstance(event, ModelCalled)]


async def test_a_sure_route_saves_the_first_model_call(talk: Conversation) -> None:
    events = await talk(ScriptedModel({"operator": LISTING}), fast_route=to("operator")).say(ASKED)

    assert transcript(events) == [
        ("user", f"says {ASKED}"),
        ("orchestrator", "is sure of operator"),
        ("orchestrator", f"delegates to operator: {ASKED}"),
        ("operator", "thinks → fs_list"),
        ("operator", "calls fs_list"),
        ("operator", "fs_list is ok"),
        ("operator", "thinks → a.txt and b.txt"),
        ("operator", "returns ok: a.txt and b.txt"),
        ("operator", "answers a.txt and b.txt"),
    ]
    assert [event.confidence for event in events if isinstance(event, RequestRouted)] == [0.99]


async def test_apart_from_the_saved_call_the_turn_is_the_one_that_a_model_would_have_made(
    talk: Conversation,
) -> None:
    asked: dict[str, list[ScriptItem]] = {
        "orchestrator": [transfer("operator", ASKED, reply=True)],
        "operator": LISTING,
    }
    slow = await talk(ScriptedModel(asked)).say(ASKED, "slow")
    fast = await talk(ScriptedModel({"operator": LISTING}), fast_route=to("operator")).say(ASKED, "fast")

    def rest(events: list[Event]) -> list[tuple[str, str]]:
        return transcript(e for e in events if e.author != "orchestrator" or isinstance(e, DelegationStarted))

    def labels(events: list[Event]) -> list[Label]:
        return [event.label for event in events if isinstance(event, ToolFinished | TurnFinished)]

    assert rest(fast) == rest(slow)
    assert labels(fast) == labels(slow)


async def test_the_specialist_sees_the_message_alone(talk: Conversation) -> None:
    model = ScriptedModel({"operator": ["Done."]})

    await talk(model, fast_route=to("operator")).say(ASKED)

    assert model.requests[0].messages == (UserMessage(ASKED, SAID_AT),)


@pytest.mark.parametrize(
    "fast_route",
    [
        None,
        to("operator", sure=False),
        to("direct"),
        to("navigatrix"),
        with_router(KnownRoutes({ASKED: Known("operator")}, parts=2)),
        to("operator")._replace(only_measured=True),
    ],
    ids=["off", "not sure", "direct", "an agent that is not there", "two parts", "a router without figures"],
)
async def test_the_model_decides_wherever_code_may_not(
    talk: Conversation, fast_route: FastRoute | None
) -> None:
    events = await talk(ScriptedModel({"orchestrator": ["Hm."]}), fast_route=fast_route).say(ASKED)

    assert transcript(events)[1:] == [("orchestrator", "thinks → Hm."), ("orchestrator", "answers Hm.")]


async def test_a_remote_agent_is_never_chosen_by_code() -> None:
    class Peer:
        name = "harbour"
        description = "Knows ships"

        async def ask(self, request: str, on_text: Callable[[str], None] = lambda _: None) -> str:
            raise AssertionError(request)

        async def close(self) -> None: ...

    here, elsewhere = Agent("operator"), Agent("harbour", remote=Peer())
    root = Agent("orchestrator", tools=None, sub_agents=(here, elsewhere))

    assert await to("operator").choose(root, ASKED, ()) is not None
    assert await to("harbour").choose(root, ASKED, ()) is None


async def test_a_flat_agent_is_not_routed(talk: Conversation) -> None:
    conversation = talk(ScriptedModel({"assistant": LISTING}), multi_agent=False, fast_route=to("operator"))

    events = await conversation.say(ASKED)

    assert model_calls(events) == ["assistant", "assistant"]


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (["[REJECT] not mine"], "rejected"),
        ([ToolCall("reject_task", {"reason": "not mine"})], "rejected"),
        (["", ""], "empty"),
        ([ToolCall("fs_list")] * 3, "loop"),
        ([RuntimeError("no network")], "failed"),
    ],
    ids=["reject text", "reject call", "silence", "loop", "failure"],
)
async def test_whatever_else_comes_back_goes_to_the_model_as_if_it_had_delegated(
    talk: Conversation, said: list[ScriptItem], outcome: str
) -> None:
    model = ScriptedModel({"operator": said, "orchestrator": ["It did not work."]})

    events = await talk(model, fast_route=to("operator")).say(ASKED)

    assert isinstance(events[-1], TurnFinished)
    assert (events[-1].author, events[-1].text) == ("orchestrator", "It did not work.")
    shown = model.requests[-1].messages
    assert shown[0] == UserMessage(ASKED, SAID_AT)
    assert isinstance(delegated := shown[1], AssistantMessage)
    assert [call.arguments for call in delegated.calls] == [
        {"agent_name": "operator", "request": ASKED, "reply": True}
    ]
    assert isinstance(result := shown[2], ToolMessage)
    assert result.failed
    assert result.call_id == delegated.calls[0].id
    assert f"`{outcome}`" in result.text


async def test_whoever_declined_a_routed_request_is_not_asked_again(talk: Conversation) -> None:
    script: dict[str, list[ScriptItem]] = {
        "operator": ["[REJECT] not mine"],
        "orchestrator": [transfer("operator", ASKED), transfer("librarian", ASKED, reply=True)],
        "librarian": ["Here it is."],
    }

    events = await talk(ScriptedModel(script), fast_route=to("operator")).say(ASKED)

    assert events[-1].author == "librarian"
    assert [e.agent for e in events if isinstance(e, DelegationStarted)] == ["operator", "librarian"]


async def test_a_routed_delegation_is_a_round(talk: Conversation) -> None:
    model = ScriptedModel({"operator": ["", ""], "orchestrator": ["No more rounds."]})

    await talk(model, fast_route=to("operator"), limits=Limits(rounds=1)).say(ASKED)

    assert model.requests[-1].agent == "orchestrator"
    assert model.requests[-1].tools == ()


async def test_ids_of_calls_go_on_after_the_routed_one(talk: Conversation) -> None:
    model = ScriptedModel(
        {"operator": ["", "", "Now."], "orchestrator": [transfer("operator", "try again", reply=True)]}
    )

    events = await talk(model, fast_route=to("operator")).say(ASKED)

    ids = [call.id for event in events if isinstance(event, ModelCalled) for call in event.calls]
    assert ids == ["d0c2"]


async def test_the_next_turn_is_shown_what_it_would_be_shown_after_a_model(talk: Conversation) -> None:
    model = ScriptedModel({"operator": LISTING, "orchestrator": ["Two."]})
    conversation = talk(model, fast_route=to("operator"))

    await conversation.begin(ASKED)
    await conversation.say("how many are they?")

    assert model.requests[-1].messages == (
        UserMessage(ASKED, SAID_AT),
        AssistantMessage("a.txt and b.txt"),
        UserMessage("how many are they?", SAID_AT),
    )


@pytest.mark.parametrize(
    "text",
    [
        "do the same for b.txt",
        "read it to me please",
        "and the files in docs?",
        "remember that for me",
        "open the second of the two",
        "read b.txt",
        "what about the folder docs",
    ],
)
def test_a_message_that_may_point_back_is_left_to_the_model(text: str) -> None:
    assert needs_past(text, [UserMessage("hi"), AssistantMessage("Hello!")])
    assert not needs_past(text, [])


@pytest.mark.parametrize(
    "text",
    ["list the files in docs", "remember that I like tea", "what is the weather in Oslo today"],
)
def test_a_message_that_stands_alone_is_routed_in_any_turn_but_after_a_question(text: str) -> None:
    assert not needs_past(text, [UserMessage("hi"), AssistantMessage("Hello!")])
    assert needs_past(text, [UserMessage("hi"), AssistantMessage("Hello! Which folder?")])


async def test_a_routed_turn_cut_off_at_any_event_ends_as_if_nothing_had_happened(
    talk: Conversation, database: Database
) -> None:
    script: dict[str, list[ScriptItem]] = {
        "operator": [ToolCall("fs_list", {"path": "a"}), "", "[REJECT] not mine after all"],
        "orchestrator": [transfer("librarian", "find them", reply=True)],
        "librarian": [ToolCall("search_web", {"query": "q"}), "found"],
    }
    whole = await talk(ScriptedModel(script), fast_route=to("operator")).say(ASKED)
    assert isinstance(expected := whole[-1], TurnFinished)
    journal = Journal(database)
    stored = list(journal.events_of(whole[0].stamp.turn_id))

    for cut in range(1, len(stored)):
        survived = stored[:cut]
        turn_id = plant(journal, f"cut{cut}", survived)
        decided = any(isinstance(event, RequestRouted) for event in survived)
        # A resumed turn does not ask the router again: its answer may have changed, or it may be off.
        fast_route = None if decided else to("operator")
        conversation = talk(ScriptedModel(rest_of(script, survived)), fast_route=fast_route)

        events = [event async for event in conversation.runner.resume_turn(turn_id)]
        await conversation.model.close()

        assert isinstance(events[-1], TurnFinished), cut
        assert (events[-1].author, events[-1].text) == ("librarian", "found")
        assert kinds_by_place(list(journal.events_of(turn_id))) == kinds_by_place(stored), cut
        assert events[-1].usage == expected.usage, cut


async def test_a_turn_that_the_model_began_is_not_routed_when_it_goes_on(
    talk: Conversation, database: Database
) -> None:
    script: dict[str, list[ScriptItem]] = {
        "orchestrator": [transfer("librarian", ASKED), "All done."],
        "librarian": ["found"],
    }
    whole = await talk(ScriptedModel(script)).say(ASKED)
    journal = Journal(database)
    survived = list(journal.events_of(whole[0].stamp.turn_id))[:2]
    turn_id = plant(journal, "cut", survived)
    routes = KnownRoutes({ASKED: Known("operator")})
    conversation = talk(ScriptedModel(rest_of(script, survived)), fast_route=with_router(routes))

    events = [event async for event in conversation.runner.resume_turn(turn_id)]

    assert isinstance(events[-1], TurnFinished)
    assert routes.asked == 0


@pytest.mark.parametrize("decision", ["approve", "deny"])
async def test_a_routed_turn_waits_for_a_person_and_goes_on_with_the_router_switched_off(
    talk: Conversation, decision: str
) -> None:
    write = ToolCall("fs_write", {"path": "a.txt"})
    paused = await talk(ScriptedModel({"operator": [write]}), fast_route=to("operator")).begin(ASKED)
    assert isinstance(paused[-1], TurnPaused)
    later = talk(ScriptedModel({"operator": ["Seen to."]}))
    later.approvals.decide(paused[-1].waiting_for[0], "approve" if decision == "approve" else "deny")

    events = await later.resume(paused)
    await later.model.close()

    assert isinstance(events[-1], TurnFinished)
    assert events[-1].text == "Seen to."
    assert [path for path, _ in WRITTEN] == (["a.txt"] if decision == "approve" else [])


async def test_a_routed_turn_whose_agent_is_gone_when_it_goes_on_is_left_to_the_model(
    talk: Conversation, database: Database
) -> None:
    whole = await talk(ScriptedModel({"operator": LISTING}), fast_route=to("operator")).say(ASKED)
    journal = Journal(database)
    turn_id = plant(journal, "cut", list(journal.events_of(whole[0].stamp.turn_id))[:2])
    model = ScriptedModel({"orchestrator": ["Nobody here can do that."]})
    conversation = talk(model, tools=())

    events = [event async for event in conversation.runner.resume_turn(turn_id)]

    assert isinstance(events[-1], TurnFinished)
    assert "no agent named 'operator'" in model.requests[0].messages[-1].text


async def test_a_router_that_breaks_fails_the_turn_and_says_so(talk: Conversation) -> None:
    class Broken(KnownRoutes):
        def route(self, request: str) -> Known:
            raise OSError("the weights are gone")

    events = await talk(ScriptedModel(), fast_route=with_router(Broken({}))).say(ASKED)

    assert isinstance(events[-1], TurnFailed)
    assert "the weights are gone" in events[-1].text
