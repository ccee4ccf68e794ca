"""The person adds words while a turn runs: the orchestrator reads them at its next step."""

from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest

from sestet.core.errors import PersonError
from sestet.core.event import (
    ApprovalRequested,
    Event,
    ModelCalled,
    TurnFinished,
    TurnPaused,
    TurnSteered,
)
from sestet.core.message import ToolCall
from sestet.core.model import ModelItem, ModelRequest
from sestet.models.scripted import ScriptedModel, ScriptItem
from sestet.runtime.mentions import words_that_count
from sestet.runtime.prompts import say
from sestet.runtime.steering import NotSteerableError
from sestet.storage.database import Database
from sestet.storage.journal import Journal
from tests.runtime.conftest import SENT, Conversation, Talk
from tests.runtime.seen import require_rebuilt
from tests.runtime.test_resume import kinds_by_place, plant, rest_of
from tests.runtime.transcript import transcript, transfer

WORDS = "only the German ones"
ADDED = say("steered", text=WORDS)


class InterruptedModel(ScriptedModel):
    """Awaits ``meanwhile`` before each reply, with the request; the person may say something there."""

    def __init__(self, script: dict[str, list[ScriptItem]]) -> None:
        super().__init__(script)
        self.meanwhile: Callable[[ModelRequest], Awaitable[object]] | None = None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        if self.meanwhile is not None:
            await self.meanwhile(request)
        async for item in super().stream(request):
            yield item


class Steered:
    """A conversation in which the person adds words while an agent thinks for the n-th time."""

    def __init__(
        self, talk: Conversation, script: dict[str, list[ScriptItem]], *, multi_agent: bool = True
    ) -> None:
        self.model = InterruptedModel(script)
        self.talk: Talk = talk(self.model, multi_agent=multi_agent)

    def on(self, agent: str, *texts: str, time: int = 1, mine: bool = True, key: str = "") -> None:
        asked = 0

        async def add(request: ModelRequest) -> None:
            nonlocal asked
            asked += request.agent == agent
            if request.agent == agent and asked == time:
                for text in texts:
                    await self.steer(text, key, mine=mine)

        self.model.meanwhile = add

    async def steer(self, text: str, key: str = "", *, mine: bool = True) -> bool:
        turn_id = self.talk.runner.running.turn_of("s1")
        return turn_id is not None and await self.talk.runner.running.steer(turn_id, text, key, mine=mine)


def texts(request: ModelRequest) -> list[str]:
    return [message.text for message in request.messages]


async def test_words_added_during_a_reply_delegation_give_the_orchestrator_a_step(talk: Conversation) -> None:
    steered = Steered(
        talk, {"orchestrator": [transfer("operator", reply=True), "Two of them."], "operator": ["five books"]}
    )
    steered.on("operator", WORDS)
    events = await steered.talk.say("list the books")

    assert transcript(events) == [
        ("user", "says list the books"),
        ("orchestrator", "thinks → transfer_to_agent"),
        ("orchestrator", "delegates to operator: do it"),
        ("user", f"adds {WORDS}"),
        ("operator", "thinks → five books"),
        ("operator", "returns ok: five books"),
        ("orchestrator", "thinks → Two of them."),
        ("orchestrator", "answers Two of them."),
    ]
    assert texts(steered.model.requests[-1])[-2:] == ["five books", ADDED]


async def test_a_specialist_reads_its_request_alone(talk: Conversation) -> None:
    steered = Steered(
        talk,
        {
            "orchestrator": [transfer("operator"), transfer("operator", "once more"), "Done."],
            "operator": [ToolCall("fs_list"), "listed", "again"],
        },
    )
    steered.on("operator", WORDS)
    await steered.talk.say("list the books")

    seen = [
        text for request in steered.model.requests if request.agent == "operator" for text in texts(request)
    ]
    assert not any(WORDS in text for text in seen)
    assert sum(ADDED in texts(request) for request in steered.model.requests) == 2


async def test_words_added_while_the_answer_is_written_are_read_before_the_turn_ends(
    talk: Conversation,
) -> None:
    steered = Steered(talk, {"orchestrator": ["Five books.", "Two of them."]})
    steered.on("orchestrator", WORDS)
    events = await steered.talk.say("list the books")

    assert isinstance(end := events[-1], TurnFinished)
    assert end.text == "Two of them."
    assert texts(steered.model.requests[-1])[-2:] == ["Five books.", ADDED]
    assert [event.steered for event in events if isinstance(event, ModelCalled)] == [0, 1]


async def test_a_single_agent_reads_added_words_at_its_next_step(talk: Conversation) -> None:
    steered = Steered(talk, {"assistant": [ToolCall("fs_list"), "Two."]}, multi_agent=False)
    steered.on("assistant", WORDS)
    await steered.talk.say("list the books")
    assert texts(steered.model.requests[-1])[-1] == ADDED


async def test_a_steered_turn_cut_off_at_any_event_goes_on_with_the_same_requests(
    talk: Conversation, database: Database
) -> None:
    script: dict[str, list[ScriptItem]] = {
        "orchestrator": [transfer("operator"), transfer("librarian", reply=True), "Two."],
        "operator": ["five books"],
        "librarian": [ToolCall("search_web", {"query": "q"}), "two"],
    }
    steered = Steered(talk, {agent: list(items) for agent, items in script.items()})
    steered.on("librarian", WORDS, "and their years")
    whole = await steered.talk.say("list the books")
    requests = steered.model.requests
    journal = Journal(database)
    stored = list(journal.events_of(whole[0].stamp.turn_id))
    added = max(at for at, event in enumerate(stored) if isinstance(event, TurnSteered))

    for cut in range(added + 1, len(stored)):
        survived = stored[:cut]
        turn_id = plant(journal, f"cut{cut}", survived)
        conversation = talk(ScriptedModel(rest_of(script, survived)))

        events = [event async for event in conversation.runner.resume_turn(turn_id)]
        await conversation.model.close()

        assert isinstance(end := events[-1], TurnFinished), cut
        assert end.text == "Two."
        assert kinds_by_place(list(journal.events_of(turn_id))) == kinds_by_place(stored), cut
        asked = conversation.model.requests
        assert [texts(request) for request in asked] == [
            texts(r) for r in requests[len(requests) - len(asked) :]
        ]


async def test_words_that_no_reply_has_read_are_read_after_a_crash(
    talk: Conversation, database: Database
) -> None:
    """They were written while the model thought, and its reply did not read them."""
    steered = Steered(talk, {"orchestrator": [transfer("operator"), "Two."], "operator": ["five books"]})
    steered.on("orchestrator", WORDS)
    whole = await steered.talk.say("list the books")
    journal = Journal(database)
    stored = list(journal.events_of(whole[0].stamp.turn_id))
    kinds = [event.kind for event in stored]
    survived = stored[: kinds.index("delegation_started")]
    assert kinds.index("turn_steered") < kinds.index("model_called") < len(survived)

    conversation = talk(ScriptedModel({"orchestrator": ["Two."], "operator": ["five books"]}))
    turn_id = plant(journal, "s2", survived)
    events = [event async for event in conversation.runner.resume_turn(turn_id)]
    await conversation.model.close()

    assert isinstance(events[-1], TurnFinished)
    assert [texts(request) for request in conversation.model.requests] == [
        texts(request) for request in steered.model.requests[1:]
    ]


MAILING: dict[str, list[ScriptItem]] = {
    "orchestrator": [transfer("navigator"), transfer("operator"), "Done."],
    "navigator": [ToolCall("browser_fetch", {"url": "http://a.example"}), "a page"],
    "operator": [ToolCall("exec_mail", {"to": "bob@work.example"}), "sent"],
}


async def mailing(talk: Conversation, said: str, *added: str, mine: bool = True) -> list[Event]:
    steered = Steered(talk, {agent: list(items) for agent, items in MAILING.items()})
    steered.on("navigator", *added, mine=mine)
    return await steered.talk.begin(said)


async def test_added_words_name_a_receiver_as_the_message_does(talk: Conversation) -> None:
    events = await mailing(talk, "read the page", "and mail it to bob@work.example")
    assert isinstance(events[-1], TurnFinished)
    assert SENT == ["bob@work.example"]


@pytest.mark.parametrize(
    ("said", "added", "mine"),
    [
        ("read the page", "and mail it to bob@work.example", False),
        ("read the page", "shorter please", True),
        ("read the page, and mail it to bob@work.example", "no, do not mail it", True),
    ],
)
async def test_words_that_are_not_the_persons_or_say_no_name_no_receiver(
    talk: Conversation, said: str, added: str, mine: bool
) -> None:
    events = await mailing(talk, said, added, mine=mine)
    assert isinstance(events[-1], TurnPaused)
    assert any(isinstance(event, ApprovalRequested) for event in events)
    assert SENT == []


@pytest.mark.parametrize(
    ("added", "counts"),
    [
        ((), "to bob"),
        (("in German",), "to bob\n\nin German"),
        (("don't forget the date",), "to bob\n\ndon't forget the date"),
        (("not to bob",), "not to bob"),
        (("no wait", "to carol"), "no wait\n\nto carol"),
    ],
)
def test_a_no_takes_the_words_before_it_back(added: tuple[str, ...], counts: str) -> None:
    assert words_that_count("to bob", "", added) == counts


async def test_text_of_others_makes_what_follows_untrusted(talk: Conversation) -> None:
    steered = Steered(talk, {"orchestrator": ["Five.", "Two."]})
    steered.on("orchestrator", WORDS, mine=False)
    events = await steered.talk.say("list the books")
    assert isinstance(end := events[-1], TurnFinished)
    assert end.label.untrusted


async def test_the_same_key_adds_words_once(talk: Conversation) -> None:
    steered = Steered(talk, {"orchestrator": ["Five.", "Two."]})
    steered.on("orchestrator", WORDS, WORDS, key="k")
    events = await steered.talk.say("list the books")
    assert [event.text for event in events if isinstance(event, TurnSteered)] == [WORDS]


async def test_a_turn_takes_a_limited_number_of_texts(talk: Conversation) -> None:
    steered = Steered(talk, {"orchestrator": ["Five.", "Two."]})
    refused: list[PersonError] = []

    async def add(request: ModelRequest) -> None:
        try:
            for number in range(21):
                await steered.steer(f"text {number}")
        except NotSteerableError as error:
            refused.append(error)
            steered.model.meanwhile = None

    steered.model.meanwhile = add
    events = await steered.talk.say("list the books")
    assert sum(isinstance(event, TurnSteered) for event in events) == 20
    assert [str(error) for error in refused] == ["20 texts were already added to this turn"]


async def test_a_turn_of_a_chosen_specialist_takes_no_words(talk: Conversation) -> None:
    steered = Steered(talk, {"operator": ["five books"]})
    refused: list[str] = []

    async def add(request: ModelRequest) -> None:
        with pytest.raises(NotSteerableError) as error:
            await steered.steer(WORDS)
        refused.append(str(error.value))

    steered.model.meanwhile = add
    events = await steered.talk.say("list the books", agent="operator")
    assert refused == ["'operator' answers this turn alone, and reads nothing but its request"]
    assert not any(isinstance(event, TurnSteered) for event in events)


async def test_a_turn_whose_end_is_recorded_takes_no_words(talk: Conversation) -> None:
    steered = Steered(talk, {"orchestrator": ["Five."]})
    async for event in steered.talk.runner.run_turn("s1", "list the books"):
        if isinstance(event, TurnFinished):
            with pytest.raises(NotSteerableError, match="has just ended"):
                await steered.steer(WORDS)
    assert not await steered.steer(WORDS)


async def test_empty_words_are_refused(talk: Conversation) -> None:
    steered = Steered(talk, {"orchestrator": ["Five."]})

    async def add(request: ModelRequest) -> None:
        with pytest.raises(PersonError, match="the text is empty"):
            await steered.steer(" ")

    steered.model.meanwhile = add
    await steered.talk.say("list the books")


@pytest.mark.parametrize("kept", [True, False])
async def test_the_next_turn_knows_the_added_words(talk: Conversation, kept: bool) -> None:
    """From memory, and from the journal."""
    steered = Steered(talk, {"orchestrator": ["Five.", "Two.", "You are welcome."]})
    steered.on("orchestrator", WORDS)
    await steered.talk.begin("list the books")
    conversation = steered.talk if kept else talk(steered.model)
    steered.model.meanwhile = None
    await conversation.say("thanks")

    assert texts(steered.model.requests[-1]) == [f"list the books\n\n{ADDED}", "Two.", "thanks"]


async def test_what_a_model_was_shown_of_added_words_is_rebuilt_from_the_journal(
    talk: Conversation, database: Database
) -> None:
    steered = Steered(
        talk,
        {
            "orchestrator": [transfer("operator", reply=True), "Two.", "You are welcome."],
            "operator": ["five"],
        },
    )
    steered.on("operator", WORDS)
    await steered.talk.begin("list the books")
    await steered.talk.say("thanks")

    require_rebuilt(Journal(database), steered.model.requests)
