"""The navigator in whole turns, with a real Chromium and sites on loopback: what is asked, sent and kept."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar, TypeAlias, cast

import pytest

import sestet
from sestet.agents import default_specs
from sestet.core.event import ApprovalRequested, Effects, Event, ToolFinished, TurnFinished
from sestet.core.label import CLEAN, Origin
from sestet.core.model import Model
from sestet.models.scripted import ScriptedModel, ScriptItem
from sestet.models.small.model import SmallModel
from sestet.services.browser.program import has_chromium
from sestet.services.vault.vault import Vault
from sestet.storage.approvals import Decision
from sestet.storage.database import Database
from sestet.storage.memories import MemoryStore
from tests.runtime.transcript import transfer
from tests.services.vault.cheap import CHEAP, PASSPHRASE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not has_chromium(), reason="Chromium is not installed"),
]
PASSWORD = "correct-horse-battery-7731"
PAGES = {
    "/": "<title>Shop</title><h1>Shop</h1><p>Shoes can be returned within 30 days.</p>"
    "<a href=/prices.csv download>Prices</a>",
    "/contact": "<title>Contact</title><form method=post action=/send><label>Name <input name=name></label>"
    "<label>Message <textarea name=message></textarea></label><button>Send</button></form>",
    "/login": "<title>Sign in</title><form method=post action=/session><label>User <input name=user></label>"
    "<label>Password <input type=password name=password></label><button>Sign in</button></form>",
    "/enter": "<title>Sign in</title><form method=post action=/who><label>E-mail <input name=mail></label>"
    "<button>Next</button></form>",
}
#: What the shop answers to a form; to any other, it shows what it got.
ANSWERS = {
    "/send": "<title>Thanks</title><p>Thank you, Ada.",
    "/who": "<p>Welcome back</p><form method=post action=/session><label>Password "
    "<input type=password name=password></label><button>Sign in</button></form>",
}


StorePassword: TypeAlias = Callable[[str, str], None]


class Shop(BaseHTTPRequestHandler):
    """A small shop that remembers what it was sent."""

    received: ClassVar[list[tuple[str, str]]] = []

    def do_GET(self) -> None:
        if self.path == "/prices.csv":
            self._answer("shoes;30\nhats;12\n", "text/csv")
        elif self.path in PAGES:
            self._answer(PAGES[self.path])
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.received.append((self.path, body))
        self._answer(ANSWERS.get(self.path, f"<p>Hello {body}"))

    def _answer(self, text: str, kind: str = "text/html; charset=utf-8") -> None:
        content = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def shop() -> Iterator[str]:
    Shop.received.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class Assistant:
    def __init__(self, home: Path, host: str) -> None:
        self.home = home
        self.host = host
        #: The same server by another name, which is another site.
        self.other = host.replace("127.0.0.1", "localhost")
        self.seen = ""

    async def turn(self, message: str, *script: ScriptItem, decision: Decision = "approve") -> list[Event]:
        """The events of a turn of the navigator; the person answers its questions."""
        model = ScriptedModel([transfer("navigator", message, reply=True), *script])
        return await self._turn(message, model, model, decision)

    async def small_turn(self, message: str, *script: str, decision: Decision = "approve") -> list[Event]:
        """The same with a small model, whose replies are texts. Code decides what it is asked at all."""
        model = ScriptedModel(script)
        return await self._turn(message, SmallModel(model, default_specs()), model, decision)

    async def _turn(
        self, message: str, model: Model, scripted: ScriptedModel, decision: Decision
    ) -> list[Event]:
        settings = {"browser": {"allow": [self.host, self.other]}}
        async with sestet.open(settings, model=model, home=self.home) as app:
            events = [event async for event in app.run_turn("s", message)]
            while questions := app.approvals.pending():
                app.decide(questions[0].id, decision)
                events += [event async for event in app.resume_turn(questions[0].turn_id)]
        self.seen = "\n".join(str(request) for request in scripted.requests)
        return events


@pytest.fixture
def assistant(tmp_path: Path, shop: str, monkeypatch: pytest.MonkeyPatch) -> Assistant:
    for name in ("home", "data", "work"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SESTET_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path / "work")
    return Assistant(tmp_path / "data", shop)


@pytest.fixture
def store_password(assistant: Assistant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StorePassword:
    """Stores the password in a vault that opens with a passphrase file."""
    passphrase = tmp_path / "passphrase"
    passphrase.write_bytes(PASSPHRASE)
    passphrase.chmod(0o600)
    monkeypatch.setenv("SESTET_PASSPHRASE_FILE", str(passphrase))

    def store(name: str, destination: str) -> None:
        vault = Vault(assistant.home / "sestet.vault")
        vault.create(PASSPHRASE, cost=CHEAP)
        vault.store(name, PASSWORD.encode(), [destination])
        vault.close()

    return store


def results(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.outcome, event.text) for event in events if isinstance(event, ToolFinished)]


def saved_file(path: str) -> tuple[str, bool]:
    """The text of a file of the workspace, and whether it can be run."""
    return Path(path).read_text(), bool(Path(path).stat().st_mode & 0o111)


def saved_files() -> list[Path]:
    return list(Path("downloads").glob("*"))


def questions(events: list[Event]) -> list[ApprovalRequested]:
    return [event for event in events if isinstance(event, ApprovalRequested)]


async def test_a_page_is_read_without_a_question(assistant: Assistant) -> None:
    url = f"http://{assistant.host}/"

    events = await assistant.turn(
        f"what does {url} say about shoes?", sestet.ToolCall("browser_navigate", {"url": url}), "30 days."
    )

    assert questions(events) == []
    [(outcome, text)] = results(events)
    assert outcome == "ok"
    assert "Shoes can be returned within 30 days." in text
    [finished] = [event for event in events if isinstance(event, ToolFinished)]
    assert finished.label.untrusted
    assert finished.label.sources == (f"the page {assistant.host}",)


async def test_a_form_is_filled_in_and_sent_after_one_question_that_shows_it(assistant: Assistant) -> None:
    host = assistant.host

    events = await assistant.turn(
        f"fill in the form on http://{host}/contact with my name Ada",
        sestet.ToolCall("browser_navigate", {"url": f"http://{host}/contact"}),
        sestet.ToolCall("browser_fill", {"site": host, "fields": {"Name": "Ada", "Message": "Where is it?"}}),
        sestet.ToolCall("browser_submit", {"site": host, "target": "Send"}),
        "Sent.",
    )

    [question] = questions(events)
    shown = [line.text for line in question.changes.lines] if question.changes else []
    assert shown[1:] == ["Name: Ada", "Message: Where is it?"]
    assert Shop.received == [("/send", "name=Ada&message=Where+is+it%3F")]
    assert "Thank you, Ada." in results(events)[-1][1]


@pytest.mark.parametrize("decision", ["approve", "deny"])
async def test_a_form_that_goes_to_another_site_asks_with_both_names(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch, decision: Decision
) -> None:
    host, other = assistant.host, assistant.other
    form = PAGES["/contact"].replace("action=/send", f"action=http://{other}/send")
    monkeypatch.setitem(PAGES, "/contact", form)

    events = await assistant.turn(
        f"fill in the form on http://{host}/contact with my name Ada",
        sestet.ToolCall("browser_navigate", {"url": f"http://{host}/contact"}),
        sestet.ToolCall("browser_fill", {"site": host, "fields": {"Name": "Ada"}}),
        sestet.ToolCall("browser_submit", {"site": other, "target": "Send"}),
        "Done.",
        decision=decision,
    )

    [question] = questions(events)
    assert question.reason.startswith(f"a page of {host} sends this to another site, {other}, in your name")
    assert Shop.received == ([("/send", "name=Ada&message=")] if decision == "approve" else [])


@pytest.mark.parametrize(
    ("fields", "shown"),
    [({"Name": "Ada"}, ["Name: Ada"]), ({"Name": ""}, ["no field is filled in"])],
    ids=["filled in", "left empty"],
)
async def test_the_question_before_sending_shows_what_would_be_sent(
    assistant: Assistant, fields: dict[str, str], shown: list[str]
) -> None:
    host = assistant.host

    events = await assistant.turn(
        f"fill in the form on http://{host}/contact and send it",
        sestet.ToolCall("browser_navigate", {"url": f"http://{host}/contact"}),
        sestet.ToolCall("browser_fill", {"site": host, "fields": fields}),
        sestet.ToolCall("browser_submit", {"site": host, "target": "Send"}),
        "Done.",
        decision="deny",
    )

    [question] = questions(events)
    assert question.changes is not None
    assert [line.text for line in question.changes.lines[1:]] == shown


async def test_nobody_is_asked_about_an_empty_form(assistant: Assistant) -> None:
    host = assistant.host

    events = await assistant.turn(
        f"send the form on http://{host}/contact",
        sestet.ToolCall("browser_navigate", {"url": f"http://{host}/contact"}),
        sestet.ToolCall("browser_submit", {"site": host, "target": "Send"}),
        "Done.",
    )

    assert questions(events) == []
    assert "no field of it was filled in" in results(events)[-1][1]
    assert Shop.received == []


async def test_a_form_that_the_person_denies_is_not_sent_nor_told_as_sent(assistant: Assistant) -> None:
    host = assistant.host

    events = await assistant.turn(
        f"fill in the form on http://{host}/contact",
        sestet.ToolCall("browser_navigate", {"url": f"http://{host}/contact"}),
        sestet.ToolCall("browser_fill", {"site": host, "fields": {"Name": "Ada"}}),
        sestet.ToolCall("browser_submit", {"site": host, "target": "Send"}),
        "I sent the form.",
        decision="deny",
    )

    assert Shop.received == []
    finished = events[-1]
    assert isinstance(finished, TurnFinished)
    assert finished.effects == Effects()
    assert finished.unsupported == ("sent",)


async def test_a_value_that_a_page_passes_on_while_it_is_filled_in_counts_as_sent(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = assistant.host
    eager = PAGES["/contact"].replace("<input name=name>", "<input oninput=\"fetch('/?' + value)\">")
    monkeypatch.setitem(PAGES, "/contact", eager)

    events = await assistant.turn(
        f"fill in my name Ada on http://{host}/contact",
        sestet.ToolCall("browser_navigate", {"url": f"http://{host}/contact"}),
        sestet.ToolCall("browser_fill", {"site": host, "fields": {"Name": "Ada"}}),
        "Filled in.",
    )

    finished = events[-1]
    assert isinstance(finished, TurnFinished)
    assert finished.effects == Effects(sent=(host,))


async def test_a_site_that_the_person_did_not_name_asks_before_something_is_filled_in(
    assistant: Assistant,
) -> None:
    host = assistant.host

    events = await assistant.turn(
        "open the shop's contact form and fill it in",
        sestet.ToolCall("browser_navigate", {"url": f"http://{host}/contact"}),
        sestet.ToolCall("browser_fill", {"site": host, "fields": {"Name": "Ada"}}),
        "Not filled in.",
        decision="deny",
    )

    [question] = questions(events)
    assert f"the page {host}" in question.sources


async def test_a_file_is_downloaded_into_the_workspace_and_cannot_be_run(assistant: Assistant) -> None:
    host = assistant.host

    events = await assistant.turn(
        f"download the prices from http://{host}/",
        sestet.ToolCall("browser_navigate", {"url": f"http://{host}/"}),
        sestet.ToolCall("browser_download", {"target": "Prices"}),
        "Saved.",
    )

    assert questions(events) == []
    assert saved_file("downloads/prices.csv") == ("shoes;30\nhats;12\n", False)


async def test_a_password_goes_from_the_vault_to_its_site_unseen(
    assistant: Assistant, store_password: StorePassword
) -> None:
    host = assistant.host
    store_password("shop", f"http://{host}")

    events = await assistant.turn(
        f"sign in at http://{host}/login as ada",
        sestet.ToolCall("browser_navigate", {"url": f"http://{host}/login"}),
        sestet.ToolCall("browser_fill", {"site": host, "fields": {"User": "ada", "Password": "vault:shop"}}),
        sestet.ToolCall("browser_submit", {"site": host, "target": "Sign in"}),
        "Signed in.",
    )

    assert Shop.received == [("/session", f"user=ada&password={PASSWORD}")]
    assert [outcome for outcome, _ in results(events)] == ["ok", "ok", "ok"]
    told = json.dumps(results(events)) + assistant.seen
    stored = b"".join(path.read_bytes() for path in assistant.home.rglob("*") if path.is_file())
    # The site shows the password on its page, and the scanner takes it out.
    assert PASSWORD not in told
    assert PASSWORD.encode() not in stored


async def test_a_secret_does_not_go_to_a_site_that_it_is_not_for(
    assistant: Assistant, store_password: StorePassword
) -> None:
    host = assistant.host
    store_password("bank", "https://bank.example")

    events = await assistant.turn(
        f"sign in at http://{host}/login",
        sestet.ToolCall("browser_navigate", {"url": f"http://{host}/login"}),
        sestet.ToolCall("browser_fill", {"site": host, "fields": {"Password": "vault:bank"}}),
        "It is not for this site.",
    )

    outcome, text = results(events)[-1]
    assert outcome == "error"
    assert "bank" in text
    assert PASSWORD not in text + assistant.seen


def answer(events: list[Event]) -> str:
    """What the person reads at the end of the turn."""
    finished = events[-1]
    assert isinstance(finished, TurnFinished)
    return finished.text


async def test_a_file_is_downloaded_and_summarised_in_one_turn(assistant: Assistant) -> None:
    url = f"http://{assistant.host}/"

    events = await assistant.turn(
        f"download the prices from {url} and summarise them",
        sestet.ToolCall("browser_navigate", {"url": url}),
        sestet.ToolCall("browser_download", {"target": "prices", "read": True}),
        "Shoes cost 30, and hats 12.",
    )

    _, (outcome, text) = results(events)
    assert (outcome, "shoes;30\nhats;12" in text) == ("ok", True)
    assert saved_file("downloads/prices.csv") == ("shoes;30\nhats;12\n", False)
    assert answer(events) == "Shoes cost 30, and hats 12."


async def test_a_small_model_only_summarises_the_file_that_code_downloads(assistant: Assistant) -> None:
    url = f"http://{assistant.host}/"

    events = await assistant.small_turn(
        f"open {url} and download the prices and summarise them", '{"answer": "Shoes cost 30."}'
    )

    assert saved_file("downloads/prices.csv") == ("shoes;30\nhats;12\n", False)
    assert "shoes;30" in assistant.seen
    saved = f"Saved downloads/prices.csv (17 B). From {url}prices.csv"
    assert answer(events) == f"{saved}\n\nShoes cost 30."


async def test_with_a_small_model_a_download_that_does_not_happen_is_not_told_as_done(
    assistant: Assistant,
) -> None:
    events = await assistant.small_turn(
        f"open http://{assistant.host}/ and download the catalogue and read it"
    )

    assert saved_files() == []
    assert answer(events) == "no link of the page fits 'catalogue'; its links are [e1 Prices]"


@pytest.mark.parametrize("decision", ["approve", "deny"])
async def test_a_small_model_signs_in_with_a_secret_if_the_person_approves(
    assistant: Assistant, store_password: StorePassword, decision: Decision
) -> None:
    host = assistant.host
    store_password("shop", f"http://{host}")

    events = await assistant.small_turn(
        f"sign in at http://{host}/login as ada with the password vault:shop", decision=decision
    )

    approved = decision == "approve"
    assert Shop.received == ([("/session", f"user=ada&password={PASSWORD}")] if approved else [])
    told = answer(events)
    assert ("the page asks for no password any more" in told) is approved
    assert PASSWORD not in told + assistant.seen
    question = questions(events)[-1]
    assert question.call.name == "browser_submit"
    shown = question.changes
    assert shown is not None
    assert [line.text for line in shown.lines[1:]] == ["User: ada", "Password: •••"]


async def test_a_small_model_signs_in_at_a_site_that_asks_for_the_name_first(
    assistant: Assistant, store_password: StorePassword
) -> None:
    host = assistant.host
    store_password("shop", f"http://{host}")

    events = await assistant.small_turn(
        f"sign in at http://{host}/enter as ada@example.org with the password vault:shop", decision="approve"
    )

    assert Shop.received == [("/who", "mail=ada%40example.org"), ("/session", f"password={PASSWORD}")]
    assert "the page asks for no password any more" in answer(events)
    assert PASSWORD not in answer(events) + assistant.seen
    shown = [each.changes for each in questions(events) if each.call.name == "browser_submit"]
    assert [[line.text for line in each.lines[1:]] for each in shown if each] == [
        ["E-mail: ada@example.org"],
        ["Password: •••"],
    ]


async def test_a_page_behind_a_sign_in_is_read_in_the_same_turn(
    assistant: Assistant, store_password: StorePassword
) -> None:
    host = assistant.host
    store_password("shop", f"http://{host}")

    events = await assistant.small_turn(
        f"log in to http://{host}/login as ada with vault:shop and tell me what the page says",
        '{"answer": "It says hello."}',
    )

    assert answer(events).endswith("\n\nIt says hello.")
    assert "Hello user=ada" in assistant.seen
    assert PASSWORD not in assistant.seen


async def test_a_small_model_fills_in_a_form_with_what_is_remembered(assistant: Assistant) -> None:
    host = assistant.host
    database = Database(assistant.home / "sestet.db")
    MemoryStore(database).add("My name is Ada Lindner and I live in Graz", Origin("s", "t", CLEAN))
    database.close()

    events = await assistant.small_turn(
        f"open http://{host}/contact and fill in Name with my name and Message with Hello, and send the form"
    )

    filling, sending = questions(events)
    assert "private content would leave this machine" in filling.reason
    assert list(cast("dict[str, str]", filling.call.arguments["fields"]).values()) == ["Ada Lindner", "Hello"]
    assert sending.changes is not None
    assert [line.text for line in sending.changes.lines[1:]] == ["Name: Ada Lindner", "Message: Hello"]
    assert Shop.received == [("/send", "name=Ada+Lindner&message=Hello")]
    assert "Thank you, Ada." in answer(events)
    # No step of it needs the model.
    assert assistant.seen == ""


async def test_a_small_model_shows_what_a_page_says_about_something(assistant: Assistant) -> None:
    url = f"http://{assistant.host}/"

    events = await assistant.small_turn(f"what does {url} say about shoes?")

    said = f"{url} says about shoes:\n\n```\nShoes can be returned within 30 days.\n```"
    assert answer(events) == said
    used = [event.call.name for event in events if isinstance(event, ToolFinished)]
    assert used == ["browser_navigate", "browser_find"]
    assert assistant.seen == ""
