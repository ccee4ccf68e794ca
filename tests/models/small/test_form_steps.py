"""Forms and passages of pages with a small model: code leads every step, and the model none."""

import pytest

from sestet.core.agent import Agent
from sestet.core.message import (
    AssistantMessage,
    Found,
    MemoryMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from sestet.core.model import ModelReply, ModelRequest
from sestet.core.tool import Tool
from sestet.runtime.delegation import transfer_tool
from tests.models.small.test_page_steps import TOOLS, URL, called, done, reply_to

ALL_TOOLS = (*TOOLS, Tool("browser_find", "", TOOLS[0].parameters))
WORDS = "Name with {name}, City with {city} and Message with “Hello”, and send the form with the button Send"
FILL = f"open {URL} and fill in {WORDS.format(name='“Ada Lindner”', city='“Graz”')}"
LENT = f"open {URL} and fill in {WORDS.format(name='my name', city='my city')}"
ABOUT = f"what does {URL} say about shoes?"
FORM = (
    Found("e1", "Search", "searchbox"),
    Found("e2", "Go", "button"),
    Found("e3", "Name", "textbox"),
    Found("e4", "City (optional)", "textbox"),
    Found("e5", "Message", "textbox"),
    Found("e6", "Help", "button"),
    Found("e7", "Send", "button"),
)
OPENED = done("navigate", "", Found(URL, "Contact"), *FORM)
FILLED = done("fill", "Filled in.")
MEMORY = MemoryMessage("[Memory]\n- m1 (told 2026-11-18): My name is Ada Lindner and I live in Graz\n[End]")


async def ask(text: str, *steps: tuple[str, ToolMessage]) -> tuple[str, ModelReply]:
    """What the navigator shows and replies after these steps."""
    messages: list[Message] = [UserMessage(text)]
    for number, (name, result) in enumerate(steps):
        call = ToolCall(name, {"target": "e7 Send"} if name == "browser_submit" else {}, str(number))
        messages += [AssistantMessage("", (call,)), result._replace(call_id=call.id)]
    return await reply_to(ModelRequest("navigator", "You navigate.", tuple(messages), ALL_TOOLS))


async def delegate(text: str, *before: Message) -> tuple[str, ModelReply]:
    messages = (*before, UserMessage(text))
    transfer = transfer_tool([Agent("navigator")])
    return await reply_to(ModelRequest("orchestrator", "You route.", messages, (transfer,)))


async def test_values_of_the_memory_stand_in_the_request_to_the_agent_for_pages() -> None:
    _, reply = await delegate(LENT, MEMORY)

    [(_, arguments)] = called(reply)
    fields = "Name with “Ada Lindner”, City with “Graz”, Message with “Hello”"
    request = f"open {URL} and fill in {fields}, and send the form with the button Send"
    assert arguments == {"agent_name": "navigator", "request": request, "reply": True}


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ((), "nothing is on record about your name and your city"),
        ((MEMORY._replace(text="- m1: My name is Ada"),), "nothing is on record about your city"),
        (
            (MEMORY._replace(text=f"{MEMORY.text}\n- m2: My city is Linz"),),
            "several things are on record as your city: Graz; Linz",
        ),
    ],
    ids=["no memory", "one is missing", "two values"],
)
async def test_without_a_certain_value_nothing_is_filled_in(before: tuple[Message, ...], told: str) -> None:
    shown, reply = await delegate(LENT, *before)

    assert told in shown
    assert reply.calls == ()


async def test_a_value_that_was_never_said_is_not_typed_in() -> None:
    shown, reply = await ask(LENT, OPENED)

    assert "nothing is on record about your name and your city" in shown
    assert reply.calls == ()


async def test_the_fields_of_the_page_get_the_values() -> None:
    _, reply = await ask(FILL, OPENED)

    fields = {"e3 Name": "Ada Lindner", "e4 City (optional)": "Graz", "e5 Message": "Hello"}
    assert called(reply) == [("browser_fill", {"site": "127.0.0.1:8016", "fields": fields})]


@pytest.mark.parametrize("text", [FILL, FILL.removesuffix(" with the button Send")], ids=["named", "unnamed"])
async def test_a_form_that_is_filled_in_is_sent_with_its_button(text: str) -> None:
    _, reply = await ask(text, OPENED, FILLED)

    assert called(reply) == [("browser_submit", {"site": "127.0.0.1:8016", "target": "e7 Send"})]


async def test_a_form_is_sent_only_if_the_request_says_so() -> None:
    shown, reply = await ask(f"open {URL} and fill in Name with Ada", OPENED, FILLED)

    assert shown == f"Filled in on {URL}, and not sent:\n\n- Name: Ada"
    assert reply.calls == ()


async def test_a_page_without_the_field_is_told_with_the_fields_that_it_has() -> None:
    shown, reply = await ask(f"open {URL} and fill in Street with Ring 1", OPENED)

    assert "has no field “Street”. Its fields are “Search”, “Name”, “City (optional)”, “Message”." in shown
    assert reply.calls == ()


@pytest.mark.parametrize("button", ["Post", "e"])
async def test_a_button_that_is_not_certain_is_not_pressed(button: str) -> None:
    shown, reply = await ask(FILL.removesuffix("Send") + button, OPENED, FILLED)

    assert f"is filled in, and was not sent: the page has no button “{button}”." in shown
    assert reply.calls == ()


async def test_after_sending_the_answer_has_the_fields_and_the_page() -> None:
    sent = done("submit", "Pressed 'Send' (button).")
    assert called((await ask(FILL, OPENED, FILLED, sent))[1]) == [("browser_read", {})]

    thanks = done("read", "", Found(URL, "Thank you, Ada."), url=f"{URL}send")
    shown, _ = await ask(FILL, OPENED, FILLED, sent, thanks)

    fields = "- Name: Ada Lindner\n- City: Graz\n- Message: Hello"
    assert shown.startswith(f"Pressed “Send” on 127.0.0.1:8016, with these fields:\n\n{fields}\n\n")
    assert shown.endswith(f"The page is now {URL}send:\n\n```\nThank you, Ada.\n```")


async def test_a_form_that_is_still_there_may_not_have_been_taken() -> None:
    again = done("read", "", Found(URL, "The city is unknown."), *FORM)

    shown, _ = await ask(FILL, OPENED, FILLED, done("submit", "Pressed."), again)

    assert (
        "The page still has this form, so it may not have been taken:\n\n```\nThe city is unknown." in shown
    )


@pytest.mark.parametrize("at", [1, 2], ids=["filling in", "sending"])
async def test_a_form_that_the_person_denies_ends_there(at: int) -> None:
    denied = done("submit" if at == 2 else "fill", "do not try again", failed=True, for_person="you said no")

    shown, reply = await ask(FILL, *(OPENED, FILLED)[:at], denied)

    assert (shown, reply.calls) == ("you said no", ())


PAGE = done(
    "navigate", "", Found(URL, "Garden club"), Found(URL, "A shoe is worn in the beds."), Found(URL, "End")
)


async def test_the_passages_about_a_topic_are_searched_on_the_page_and_shown() -> None:
    assert called((await ask(ABOUT, PAGE))[1]) == [("browser_find", {"text": "shoes"})]

    shown, reply = await ask(ABOUT, PAGE, done("find", "1 of 3", Found(URL, "Shoes: sturdy ones.")))

    assert shown == f"{URL} says about shoes:\n\n```\nShoes: sturdy ones.\n```"
    assert reply.calls == ()


async def test_a_topic_in_another_form_is_found_too() -> None:
    shown, _ = await ask(ABOUT, PAGE, done("find", "not on the page"))

    assert shown == f"{URL} says about shoes:\n\n```\nA shoe is worn in the beds.\n```"


async def test_a_page_that_says_nothing_of_it_is_told_so() -> None:
    shown, reply = await ask(ABOUT.replace("shoes", "the weather"), PAGE, done("find", "not on the page"))

    assert shown.startswith(
        f"{URL} says nothing about weather in these words. It begins:\n\n```\nGarden club"
    )
    assert reply.calls == ()
