"""A download and a sign-in with a small model: code leads the steps, and tells only what has happened."""

from collections.abc import Sequence

import pytest

from sestet.agents import default_specs
from sestet.core.agent import Agent
from sestet.core.message import AssistantMessage, Found, Message, ToolCall, ToolMessage, UserMessage
from sestet.core.model import ModelReply, ModelRequest, TextDelta
from sestet.core.schema import JsonObject, object_schema
from sestet.core.tool import Tool
from sestet.models.small.model import SmallModel
from sestet.runtime.delegation import REJECT_TOOL, transfer_tool
from tests.models.small.test_small_model import Writer

_TEXT: JsonObject = {"type": "string"}
NAMES = ("navigate", "download", "fill", "submit", "read")
TOOLS = (*(Tool(f"browser_{name}", "", object_schema({"url": _TEXT})) for name in NAMES), REJECT_TOOL)
URL = "http://127.0.0.1:8016/"
GET = f"open {URL} and download the report and summarise it"
SIGN_IN = f"sign in at {URL} as ada with the password vault:garden and tell me my fee"
LINES = (Found(URL, "Members' area"),)
FORM = (
    Found("e1", "Search", "searchbox"),
    Found("e2", "User name", "textbox"),
    Found("e3", "Password", "password"),
    Found("e4", "Show password", "button"),
    Found("e5", "Sign in with Example", "button"),
    Found("e7", "Language", "button"),
    Found("e6", "Sign in", "button"),
)
#: The first page of a site that asks for the name, and for the password on the next.
NAME_FORM = (
    Found("e1", "Search", "textbox"),
    Found("e2", "Search", "button"),
    Found("e3", "E-mail or phone", "textbox"),
    Found("e4", "Continue with Example", "button"),
    Found("e5", "Next", "button"),
    Found("e6", "Your e-mail for our news", "textbox"),
    Found("e7", "Subscribe", "button"),
)
SECOND_FORM = (Found("e8", "Password", "password"), Found("e9", "Sign in", "button"))
_Done = tuple[str, ToolMessage]


def done(
    tool: str, text: str = "", *found: Found, failed: bool = False, for_person: str = "", url: str = URL
) -> _Done:
    name = f"browser_{tool}"
    return name, ToolMessage(name, name, text, failed, for_person, (url,), found)


OPENED = done("navigate", "Sign in", *LINES, *FORM)
FILLED, SENT = done("fill", "Filled in."), done("submit", "Pressed 'Sign in' (button).")
ACCOUNT = done("read", "Your fee is 48 euros.", Found(URL, "Your fee is 48 euros."), url=f"{URL}account")


async def ask(text: str, *steps: _Done, model: Writer | None = None) -> tuple[str, ModelReply]:
    """What the navigator shows and replies after these steps."""
    messages: list[Message] = [UserMessage(text)]
    for number, (name, result) in enumerate(steps):
        call = ToolCall(name, {}, f"{name} {number}")
        messages += [AssistantMessage("", (call,)), result._replace(call_id=call.id)]
    return await reply_to(ModelRequest("navigator", "You navigate.", tuple(messages), TOOLS), model)


async def reply_to(request: ModelRequest, model: Writer | None = None) -> tuple[str, ModelReply]:
    small = SmallModel(model or Writer(), default_specs())
    *shown, reply = [item async for item in small.stream(request)]
    assert isinstance(reply, ModelReply)
    return "".join(item.text for item in shown if isinstance(item, TextDelta)), reply


def called(reply: ModelReply) -> Sequence[tuple[str, JsonObject]]:
    return [(call.name, call.arguments) for call in reply.calls]


async def test_a_page_is_opened_before_anything_else() -> None:
    for text in (GET, SIGN_IN):
        _, reply = await ask(text)

        assert called(reply) == [("browser_navigate", {"url": URL})]


@pytest.mark.parametrize(("text", "read"), [(GET, True), (GET.removesuffix(" and summarise it"), False)])
async def test_a_file_is_saved_and_read_only_if_something_is_to_be_told(text: str, read: bool) -> None:
    _, reply = await ask(text, done("navigate"))

    assert called(reply) == [("browser_download", {"target": "report", "read": read})]


async def test_the_model_tells_of_the_text_alone_and_code_what_was_saved() -> None:
    saved = done("download", "Saved it. Members: 84", Found(URL), for_person="Saved downloads/report.txt.")
    model = Writer('{"answer": "The club has 84 members."}')

    shown, reply = await ask(GET, done("navigate", "Since 1974."), saved, model=model)

    assert shown == reply.text == "Saved downloads/report.txt.\n\nThe club has 84 members."
    [request] = model.requests
    assert "Now do this with it: summarise it." in request.messages[-1].text
    assert "Members: 84" in request.messages[-1].text
    # The page before it is not what the summary is about.
    assert "1974" not in str(request.messages)


async def test_the_model_can_make_no_call_when_it_is_to_tell() -> None:
    saved = done("download", "Saved it. Members: 84", Found(URL), for_person="Saved.")
    model = Writer('{"tool": "browser_submit", "arguments": {"url": "x"}}')

    _, reply = await ask(GET, done("navigate"), saved, model=model)

    assert (reply.text, reply.calls) == ("Saved.", ())
    assert "browser_" not in str(model.requests[0].schema)


async def test_without_a_text_code_tells_what_was_saved_and_the_model_nothing() -> None:
    saved = done("download", "Saved downloads/photo.png.\n(It is no text that can be shown.)")

    shown, reply = await ask(GET, done("navigate"), saved)

    assert shown == reply.text == "Saved downloads/photo.png.\n(It is no text that can be shown.)"


@pytest.mark.parametrize("tool", ["navigate", "download"])
async def test_a_download_that_failed_is_told_as_it_is(tool: str) -> None:
    before = [done("navigate")] if tool == "download" else []

    shown, reply = await ask(GET, *before, done(tool, "there is no link 'report'", failed=True))

    assert (shown, reply.calls) == ("there is no link 'report'", ())


async def test_a_sign_in_fills_the_password_as_a_reference_and_the_field_before_it() -> None:
    _, reply = await ask(SIGN_IN, OPENED)

    fields = {"e2 User name": "ada", "e3 Password": "vault:garden"}
    assert called(reply) == [("browser_fill", {"site": "127.0.0.1:8016", "fields": fields})]


async def test_a_sign_in_presses_the_button_that_sends_it() -> None:
    _, reply = await ask(SIGN_IN, OPENED, FILLED)

    assert called(reply) == [("browser_submit", {"site": "127.0.0.1:8016", "target": "e6 Sign in"})]


async def test_the_site_is_the_one_of_the_page_that_came() -> None:
    _, reply = await ask(SIGN_IN, done("navigate", "", *FORM, url="https://login.example.com/x"))

    [(_, arguments)] = called(reply)
    assert arguments["site"] == "login.example.com"


async def test_the_page_behind_a_sign_in_is_read_and_told() -> None:
    _, reply = await ask(SIGN_IN, OPENED, FILLED, SENT)
    assert called(reply) == [("browser_read", {})]

    shown, _ = await ask(
        SIGN_IN, OPENED, FILLED, SENT, ACCOUNT, model=Writer('{"answer": "Your fee is 48 euros."}')
    )

    sent = "The form was sent to 127.0.0.1:8016, and the page asks for no password any more. It is now"
    assert shown == f"{sent} {URL}account.\n\nYour fee is 48 euros."


NAMED = done("navigate", "Sign in", *LINES, *NAME_FORM)
ASKED = done("read", "Hello ada", Found(URL, "Hello ada"), *SECOND_FORM, url="http://127.0.0.1:8017/pw")


@pytest.mark.parametrize(
    ("steps", "tool", "arguments"),
    [
        ((NAMED,), "fill", {"site": "127.0.0.1:8016", "fields": {"e3 E-mail or phone": "ada"}}),
        ((NAMED, FILLED), "submit", {"site": "127.0.0.1:8016", "target": "e5 Next"}),
        ((NAMED, FILLED, SENT), "read", {}),
        (
            (NAMED, FILLED, SENT, ASKED),
            "fill",
            {"site": "127.0.0.1:8017", "fields": {"e8 Password": "vault:garden"}},
        ),
        (
            (NAMED, FILLED, SENT, ASKED, FILLED),
            "submit",
            {"site": "127.0.0.1:8017", "target": "e9 Sign in"},
        ),
        ((NAMED, FILLED, SENT, ASKED, FILLED, SENT), "read", {}),
    ],
    ids=["name", "next", "look", "password", "send", "look again"],
)
async def test_a_site_that_asks_for_the_name_first_gets_the_password_on_its_next_page(
    steps: tuple[_Done, ...], tool: str, arguments: JsonObject
) -> None:
    _, reply = await ask(SIGN_IN, *steps)

    assert called(reply) == [(f"browser_{tool}", arguments)]


async def test_a_sign_in_in_two_steps_ends_with_the_page_behind_it() -> None:
    steps = (NAMED, FILLED, SENT, ASKED, FILLED, SENT)

    shown, _ = await ask(SIGN_IN, *steps, ACCOUNT, model=Writer('{"answer": "48 euros."}'))
    assert shown.startswith(
        "The form was sent to 127.0.0.1:8017, and the page asks for no password any more."
    )
    assert shown.endswith("48 euros.")

    shown, _ = await ask(SIGN_IN, *steps, ASKED)
    assert shown.startswith("The form was sent to 127.0.0.1:8017, and the page still asks for a password")


async def test_a_name_that_the_site_does_not_know_is_no_sign_in() -> None:
    again = done("read", "", Found(URL, "We do not know ada."), *NAME_FORM)

    shown, reply = await ask(SIGN_IN, NAMED, FILLED, SENT, again)

    told = "The user name was sent to 127.0.0.1:8016, and the next page has no field for a password"
    assert shown.startswith(told)
    assert shown.endswith("```\nWe do not know ada.\n```")
    assert reply.calls == ()


async def test_a_password_that_is_denied_on_the_second_page_tells_that_the_name_was_sent() -> None:
    denied = done("fill", "do not try again", failed=True, for_person="you said no")

    shown, reply = await ask(SIGN_IN, NAMED, FILLED, SENT, ASKED, denied)

    assert (shown, reply.calls) == ("Pressed 'Sign in' (button).\n\nyou said no", ())


@pytest.mark.parametrize(
    "controls",
    [NAME_FORM[5:], (NAME_FORM[0], NAME_FORM[4]), (NAME_FORM[2], NAME_FORM[3]), NAME_FORM[:3]],
    ids=["newsletter", "search", "another account", "no button"],
)
async def test_a_field_that_may_not_be_for_the_name_is_not_filled_in(controls: tuple[Found, ...]) -> None:
    shown, reply = await ask(SIGN_IN, done("navigate", "", *controls))

    assert "has no field for a password, so nothing was filled in" in shown
    assert reply.calls == ()


async def test_without_a_question_code_shows_the_page_behind_a_sign_in() -> None:
    request = SIGN_IN.removesuffix(" and tell me my fee")

    shown, _ = await ask(request, OPENED, FILLED, SENT, ACCOUNT)

    assert shown.endswith(f"It is now {URL}account:\n\n```\nYour fee is 48 euros.\n```")


async def test_a_page_that_still_asks_for_a_password_is_no_sign_in() -> None:
    again = done("read", "", Found(URL, "The password is wrong."), *FORM)

    shown, _ = await ask(SIGN_IN, OPENED, FILLED, SENT, again)

    assert "the sign-in did not work.\n\n```\nThe password is wrong.\n```" in shown


@pytest.mark.parametrize("at", [1, 2], ids=["filling in", "sending"])
async def test_a_sign_in_that_the_person_denies_ends_there(at: int) -> None:
    denied = done("submit" if at == 2 else "fill", "do not try again", failed=True, for_person="you said no")

    shown, reply = await ask(SIGN_IN, *(OPENED, FILLED)[:at], denied)

    assert (shown, reply.calls) == ("you said no", ())


async def test_a_form_that_was_sent_is_told_even_if_its_page_cannot_be_read() -> None:
    gone = done("read", "the browser has ended", failed=True)

    shown, _ = await ask(SIGN_IN, OPENED, FILLED, SENT, gone)

    read = "The page behind it could not be read: the browser has ended"
    assert shown == f"Pressed 'Sign in' (button).\n\n{read}"


@pytest.mark.parametrize(
    ("text", "found", "told"),
    [
        (f"sign in at {URL} as ada with the password hunter2", (), "a password comes from the vault alone"),
        (f"sign in at {URL} with vault:garden", FORM, "the form also asks for “User name”"),
        (f"sign in at {URL} with vault:garden", NAME_FORM, "the form also asks for “E-mail or phone”"),
        (SIGN_IN, FORM[:2], "has no field for a password, so nothing was filled in"),
    ],
)
async def test_a_sign_in_that_cannot_work_fills_in_nothing(
    text: str, found: tuple[Found, ...], told: str
) -> None:
    steps = [done("navigate", "", *found)] if found else []

    shown, reply = await ask(text, *steps)

    assert told in shown
    assert reply.calls == ()


async def test_a_form_without_a_button_is_not_sent() -> None:
    shown, reply = await ask(SIGN_IN, done("navigate", "", *FORM[:4]), FILLED)

    assert shown.endswith("It is filled in, and was not sent.")
    assert reply.calls == ()


async def test_the_orchestrator_passes_the_words_of_the_person_to_the_agent_for_pages() -> None:
    transfer = transfer_tool([Agent("vault"), Agent("navigator")])
    request = ModelRequest("orchestrator", "You route.", (UserMessage(SIGN_IN),), (transfer,))

    _, reply = await reply_to(request)

    [(_, arguments)] = called(reply)
    assert arguments == {"agent_name": "navigator", "request": SIGN_IN, "reply": True}


async def test_the_orchestrator_tells_why_the_agent_for_pages_failed() -> None:
    transfer = transfer_tool([Agent("navigator")])
    call = ToolCall(transfer.name, {}, "1")
    messages = (
        UserMessage(GET),
        AssistantMessage("", (call,)),
        ToolMessage("1", call.name, "timed out", failed=True),
    )

    shown, reply = await reply_to(ModelRequest("orchestrator", "You route.", messages, (transfer,)))

    assert (shown, reply.calls) == ("timed out", ())


async def test_without_an_agent_for_pages_the_model_decides() -> None:
    request = ModelRequest(
        "orchestrator", "You route.", (UserMessage(GET),), (transfer_tool([Agent("vault")]),)
    )

    _, reply = await reply_to(request, Writer('{"answer": "I cannot."}'))

    assert reply.text == "I cannot."
