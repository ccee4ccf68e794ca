"""What was typed goes to its own site, and to a receiver that the person approves while a form is sent."""

from sestet.services.browser.typed import Typed
from sestet.services.browser.wire import Request


def test_another_receiver_gets_what_was_typed_only_while_the_form_is_sent() -> None:
    typed = Typed("app.example.com")
    sent = Request("https://api.example.com/take", "POST", "Document", has_body=True, redirected=False)

    with typed.sending_to("api.example.com"):
        assert typed.judge(sent) == ""
        assert typed.judge(Request("https://evil.example/", "POST", "Fetch", has_body=True, redirected=False))

    assert typed.judge(sent) == "what was filled in could go to 'api.example.com' with it"


def test_the_own_site_stays_a_receiver_after_a_form_was_sent_to_it() -> None:
    typed = Typed("app.example.com")
    sent = Request("https://app.example.com/take", "POST", "Document", has_body=True, redirected=False)

    with typed.sending_to("app.example.com"):
        pass

    assert typed.judge(sent) == ""
