"""What a model was shown, rebuilt from the journal. After each test, ``talk`` compares all the bytes."""

from pathlib import Path

import sestet
from sestet.core.errors import ModelError
from sestet.core.event import ApprovalRequested, Event, ModelCalled, TurnFinished
from sestet.core.label import CLEAN, Origin
from sestet.core.message import ToolCall
from sestet.models.scripted import ScriptedModel
from sestet.runtime.limits import Limits
from sestet.runtime.seen_requests import SeenRequest, seen_request
from sestet.runtime.seen_sections import describe_seen
from sestet.storage.database import Database
from sestet.storage.event_redaction import EventRedaction
from sestet.storage.journal import Journal
from sestet.storage.memories import MemoryStore
from tests.runtime.conftest import Conversation, Talk
from tests.runtime.seen import require_rebuilt
from tests.runtime.transcript import transfer

TOO_LONG = ModelError("too long", "context_too_long")


def seen_in(talk: Talk, events: list[Event]) -> list[SeenRequest]:
    """What the models were shown in a turn; each of these requests was really sent."""
    calls = [event for event in events if isinstance(event, ModelCalled)]
    return [seen_request(talk.journal, call.stamp.turn_id, call.seq) for call in calls]


def sections(seen: SeenRequest) -> list[str]:
    return [section for section, _ in seen.messages]


def hidden(seen: SeenRequest) -> list[str]:
    return [each.name for each in seen.not_shown]


async def test_a_first_message_is_all_that_the_conversation_shows(talk: Conversation) -> None:
    talking = talk(ScriptedModel(["hello"]))
    (seen,) = seen_in(talking, await talking.say("hi"))

    assert (sections(seen), hidden(seen)) == (["request"], [])
    assert seen.messages[0].message.text == "hi"


async def test_a_specialist_is_shown_its_request_and_its_own_steps_alone(talk: Conversation) -> None:
    script = {
        "orchestrator": ["hello", transfer("operator", "list it"), "done"],
        "operator": [ToolCall("fs_list", {"path": "x"}), "listed"],
    }
    talking = talk(ScriptedModel(script))
    await talking.begin("hi")
    _, first, second, last = seen_in(talking, await talking.say("what is here?"))

    assert (sections(first), first.messages[0].message.text) == (["request"], "list it")
    assert sections(second) == ["request", "replies", "results"]
    assert hidden(second) == ["conversation", "message"]
    assert sections(last) == ["conversation", "conversation", "request", "replies", "results"]
    assert hidden(last) == ["specialists"]


async def test_parallel_specialists_are_not_shown_each_other(talk: Conversation) -> None:
    script = {
        "orchestrator": [[transfer("operator", "one"), transfer("librarian", "two")], "both"],
        "operator": [ToolCall("fs_list"), "a"],
        "librarian": [ToolCall("search_web", {"query": "q"}), "b"],
    }
    talking = talk(ScriptedModel(script))
    seen = seen_in(talking, await talking.say("do two things"))

    by_agent = {each.call.author: each for each in seen}
    assert sections(by_agent["librarian"]) == ["request", "replies", "results"]
    assert "specialists" in hidden(by_agent["librarian"])
    assert sections(by_agent["orchestrator"]) == ["request", "replies", "results", "results"]


async def test_reminders_and_refusals_are_shown_though_no_event_has_their_words(talk: Conversation) -> None:
    script = {
        "orchestrator": ["", ToolCall("fs_list"), transfer("operator", "go"), "done"],
        "operator": ["[REJECT] not mine"],
    }
    talking = talk(ScriptedModel(script))
    *_, last = seen_in(talking, await talking.say("hm"))

    assert sections(last) == ["request", "replies", "notes", *["replies", "results"] * 2]
    assert "rejected" in last.messages[-1].message.text


async def test_a_long_result_is_shown_as_it_was_clipped(talk: Conversation) -> None:
    script = {"orchestrator": [transfer("operator", reply=True)], "operator": [ToolCall("fs_big"), "big"]}
    talking = talk(ScriptedModel(script), limits=Limits(tool_output=100))
    *_, last = seen_in(talking, await talking.say("read it"))

    assert len(last.messages[-1].message.text) < 200
    assert "results" in hidden(last)


async def test_a_shortened_conversation_is_shown_as_the_model_got_it(talk: Conversation) -> None:
    talking = talk(ScriptedModel(["1", "2", "3", "4", TOO_LONG, "5"]))
    for text in ("a", "b", "c", "d"):
        await talking.begin(text)
    (seen,) = seen_in(talking, await talking.say("e"))

    shown = [message.text for section, message in seen.messages if section == "conversation"]
    assert shown == ["c", "3", "d", "4"]
    assert seen.not_shown[0].why.startswith("turns 1 to 2:")


async def test_results_that_were_left_out_to_make_room_are_shown_as_left_out(talk: Conversation) -> None:
    long = "/".join(["long"] * 50)
    first, second, third = (ToolCall("browser_fetch", {"url": f"{name}.example/{long}"}) for name in "abc")
    script = {
        "orchestrator": [transfer("navigator", reply=True)],
        "navigator": [first, second, TOO_LONG, third, "done"],
    }
    talking = talk(ScriptedModel(script))
    *_, last = seen_in(talking, await talking.say("compare"))

    results = [message.text for section, message in last.messages if section == "results"]
    assert "mallory" not in results[0]
    assert "page b.example" in results[1]
    assert "page c.example" in results[2]


async def test_a_resumed_turn_is_shown_with_the_conversation_of_each_stretch(talk: Conversation) -> None:
    script = {
        "orchestrator": [transfer("operator", "write it"), "meanwhile", "written"],
        "operator": [ToolCall("fs_write", {"path": "a"}), "did it"],
    }
    talking = talk(ScriptedModel(script))
    paused = await talking.begin("write a")
    await talking.begin("something else")
    (asked,) = (event for event in paused if isinstance(event, ApprovalRequested))
    talking.approvals.decide(asked.approval_id, "approve", "once")
    rest = await talking.resume(paused)

    before, after = seen_in(talking, paused), seen_in(talking, rest)
    assert [sections(each) for each in before] == [["request"], ["request"]]
    assert [sections(each) for each in after] == [["request", "replies", "results"]] * 2


async def test_recalled_memories_are_a_section_of_their_own(tmp_path: Path) -> None:
    database = Database(tmp_path / "sestet.db")
    MemoryStore(database).add("I like green tea", Origin("yesterday", "t", CLEAN))
    database.close()
    model = ScriptedModel(["Sencha."])
    async with sestet.open({}, home=tmp_path, model=model) as app:
        events = [event async for event in app.run_turn("today", "Which tea should I buy?")]
        (seen,) = require_rebuilt(app.journal, model.requests)

    assert isinstance(events[-1], TurnFinished)
    assert sections(seen) == ["memory", "request"]
    assert describe_seen(seen).tokens["memory"] > 10


async def test_the_same_prompt_is_stored_once(talk: Conversation, database: Database) -> None:
    talking = talk(ScriptedModel(["1", "2"]))
    await talking.begin("a")
    await talk(talking.model).say("b")

    assert database.execute("SELECT count(*) FROM prompts").only() == (1,)


async def test_forgotten_words_are_gone_from_what_a_model_was_shown(
    talk: Conversation, database: Database
) -> None:
    script = {"orchestrator": [ToolCall("my code is 12"), "done"]}
    talking = talk(ScriptedModel(script))
    events = await talking.say("my code is 12")
    with database.transaction():
        EventRedaction(database).blank_turn(events[0].stamp.turn_id)
    last = seen_in(talking, events)[-1]

    assert sections(last) == ["request", "replies", "results"]
    assert "12" not in last.messages[0].message.text + last.messages[-1].message.text
    # Words that are gone cannot be compared.
    talking.model.requests.clear()
    database.execute("DELETE FROM events WHERE kind = 'model_called'")


async def test_the_tokens_of_each_section_are_estimated(talk: Conversation) -> None:
    script = {
        "orchestrator": [transfer("operator", "list", reply=True)],
        "operator": [ToolCall("fs_list"), "ok"],
    }
    talking = talk(ScriptedModel(script))
    *_, last = seen_in(talking, await talking.say("list"))
    facts = describe_seen(last)

    assert list(facts.tokens) == ["instruction", "tools", "request", "replies", "results"]
    assert facts.tokens["tools"] == -(-len(last.prompt.tools) // 4)
    assert sum(facts.tokens.values()) == sum(section.tokens for section in facts.sections)
    assert facts.sections[-1].tool == "fs_list"


async def test_a_secret_that_came_into_the_vault_later_is_hidden_in_both(
    talk: Conversation, database: Database
) -> None:
    class Scanner:
        watches = True
        secret = ""

        def clean(self, text: str) -> str:
            return text.replace(self.secret, "{{secret}}") if self.secret else text

        def look_again(self) -> None:
            pass

    scanner = Scanner()
    script = {
        "orchestrator": ["noted", transfer("operator", "send hunter2"), "sent"],
        "operator": [ToolCall("fs_list"), "ok"],
    }
    talking = talk(ScriptedModel(script), scanner=scanner)
    await talking.begin("the word is hunter2")
    scanner.secret = "hunter2"
    seen = seen_in(talking, await talking.say("use it"))

    assert [each.messages[0].message.text for each in seen[:2]] == [
        "the word is {{secret}}",
        "send {{secret}}",
    ]
    assert require_rebuilt(Journal(database), talking.model.requests)
