"""Every vendor's failures as they come in practice: in the middle of a stream, in headers, in a turn."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from email.utils import formatdate
from pathlib import Path
from time import time

import pytest

import sestet
from sestet.app import App
from sestet.config.settings import ProviderSettings, Secret
from sestet.config.vendors import VENDORS
from sestet.core.errors import FailureKind, ModelError
from sestet.core.event import Event, ModelRetried, TextStreamed, TurnCancelled, TurnFailed, TurnFinished
from sestet.core.message import UserMessage
from sestet.core.model import ModelItem, ModelReply, ModelRequest, Setback, TextDelta, Usage
from sestet.models.retry import Pacing, RetryingModel
from sestet.models.vendor import VendorModel
from tests.models.dialects import DIALECTS, Anthropic, Call, Dialect, Google, OpenAI, Text
from tests.models.model_server import Answer, ModelServer, refused, said, serve

KEY = "sk-a-very-secret-key"
REQUEST = ModelRequest("operator", "Be brief.", (UserMessage("hello"),), ())


@pytest.fixture(params=DIALECTS, ids=lambda dialect: dialect.type)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return request.param


async def items_of(
    dialect: Dialect, *answers: Answer, key: str = KEY, waits: list[float] | None = None
) -> list[ModelItem]:
    """The items of a call; with ``waits``, repeated after failures without a real clock."""

    async def wait(seconds: float) -> None:
        if waits is not None:
            waits.append(seconds)

    async with serve(*answers) as server:
        settings = ProviderSettings(dialect.type, server.root + dialect.suffix, key)
        model = VendorModel("home", settings, "tiny")
        pacing = Pacing(0 if waits is None else 3, wait, lambda: 0.0)
        try:
            return [item async for item in RetryingModel(model, pacing).stream(REQUEST)]
        finally:
            await model.close()


async def failure(dialect: Dialect, answer: Answer, key: str = KEY) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await items_of(dialect, answer, key=key)
    return caught.value


async def test_neither_key_nor_conversation_follows_a_redirect(dialect: Dialect) -> None:
    async with serve(dialect.reply(Text(["Hello"]))) as other:
        error = await failure(dialect, refused(307, "", location=f"{other.root}{dialect.path}"))

    assert not other.received
    assert (error.kind, error.retry_after) == ("other", None)
    assert "redirects to another address" in str(error)
    assert "providers.home.baseUrl" in str(error)


@pytest.mark.parametrize("nonsense", ["[1]", "3", "[" * 100_000], ids=["list", "number", "deep"])
async def test_an_event_that_no_vendor_would_send_is_for_the_moment(nonsense: str) -> None:
    for dialect in (OpenAI(), Google()):  # Anthropic's client passes over it
        items = await items_of(
            dialect, said(f"data: {nonsense}\n\n"), dialect.reply(Text(["Hello"])), waits=[]
        )

        assert [type(item) for item in items] == [Setback, TextDelta, ModelReply]
        assert isinstance(items[0], Setback)
        assert items[0].kind == "transient"


async def test_a_body_that_cannot_be_read_is_for_the_moment(dialect: Dialect) -> None:
    packed = Answer(status=200, body="not packed at all", headers={"Content-Encoding": "gzip"})

    assert (await failure(dialect, packed)).kind == "transient"


async def test_a_failure_whose_body_is_nested_too_deeply_is_known_by_its_status(dialect: Dialect) -> None:
    assert (await failure(dialect, refused(500, "[" * 100_000))).kind == "transient"


@pytest.mark.parametrize("dialect", [OpenAI(), Anthropic()], ids=["openai", "anthropic"])
async def test_arguments_that_are_nested_too_deeply_are_malformed(dialect: Dialect) -> None:
    deep = '{"query": ' + "[" * 100_000

    (reply,) = await items_of(dialect, dialect.reply(Call("c1", "memory_recall", [deep])))

    assert isinstance(reply, ModelReply)
    assert [call.malformed for call in reply.calls] == [deep]


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "http://proxy:port", "gopher://127.0.0.1:9"])
async def test_a_proxy_that_cannot_be_used_is_named_as_the_cause(
    dialect: Dialect, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)

    error = await failure(dialect, dialect.reply(Text(["Hello"])))

    assert "the proxy of the environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY) cannot be used" in str(error)


# A key that is not accepted


@pytest.mark.parametrize("status", [401, 403])
async def test_the_key_is_named_by_where_it_came_from_and_how_to_set_it(
    dialect: Dialect, status: int
) -> None:
    variable = f"MY_{dialect.type.upper()}_KEY"
    error = await failure(dialect, refused(status, ""), Secret(KEY, "sestet.yaml", variable))
    assert error.kind == "auth"
    assert f"providers.home.apiKey, which is the environment variable {variable} (status" in str(error)
    assert f"set {variable} to a valid key and start again" in str(error)


async def test_a_key_in_a_file_is_named_with_its_place_and_without_the_vendors_variable(
    dialect: Dialect,
) -> None:
    """The variable may hold the vendor's own key, which a server of another name must not get."""
    error = await failure(dialect, dialect.failures()["auth"], Secret(KEY, "sestet.yaml"))
    assert "providers.home.apiKey of sestet.yaml" in str(error)
    assert "write a valid key there" in str(error)
    assert VENDORS[dialect.type].variable not in str(error)


async def test_a_key_that_is_missing_is_said_to_be(dialect: Dialect) -> None:
    error = await failure(dialect, dialect.failures()["auth"], "")
    assert (error.kind, "wants a key, and providers.home.apiKey is empty" in str(error)) == ("auth", True)


# A vendor that asks for a pause


async def test_another_call_is_made_when_the_vendor_said_and_its_answer_is_the_only_one(
    dialect: Dialect,
) -> None:
    waits: list[float] = []
    limited, answer = dialect.failures()["rate_limit"], dialect.reply(Text(["Hello"]))
    setback, *rest = await items_of(dialect, limited, answer, waits=waits)
    assert isinstance(setback, Setback)
    assert (setback.kind, waits) == ("rate_limit", [7.25])
    assert rest == [TextDelta("Hello"), ModelReply("Hello", usage=Usage(20, 5))]


@pytest.mark.parametrize("dialect", [OpenAI(), Anthropic()], ids=lambda dialect: dialect.type)
async def test_a_vendor_may_say_it_with_a_date(dialect: Dialect) -> None:
    limited = refused(429, {"error": {"message": "No."}}, retry_after=formatdate(time() + 30, usegmt=True))
    error = await failure(dialect, limited)
    assert error.kind == "rate_limit"
    assert error.retry_after is not None
    assert 0 < error.retry_after <= 30


# A failure in the middle of a stream


def broken(dialect: Dialect) -> Answer:
    """An answer that begins, and then tells of the vendor's trouble in place of its rest."""
    beginning = dialect.reply(Text(["Hel"]), ending="end").events
    trouble: Mapping[str, Mapping[str, object]] = {
        "openai": {"error": {"message": "Overloaded.", "code": 503}},
        "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded."}},
        "google": {"error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}},
    }
    named = "event: error\n" if dialect.type == "anthropic" else ""
    return said(*beginning, f"{named}data: {json.dumps(trouble[dialect.type])}\n\n", ending="end")


async def test_trouble_that_a_vendor_tells_of_in_a_stream_is_for_the_moment(dialect: Dialect) -> None:
    error = await failure(dialect, broken(dialect))
    assert (error.kind, "Overloaded" in str(error)) == ("transient", True)


@pytest.mark.parametrize("how", ["drop", "trouble"])
async def test_an_answer_that_broke_off_goes_on_where_it_was_and_nothing_is_doubled(
    dialect: Dialect, how: str
) -> None:
    first = broken(dialect) if how == "trouble" else dialect.reply(Text(["Hel"]), ending="drop")
    got = await items_of(dialect, first, dialect.reply(Text(["H", "ello", " there"])), waits=[])
    assert [item.text for item in got if isinstance(item, TextDelta)] == ["Hel", "lo", " there"]
    assert isinstance(got[-1], ModelReply)
    assert got[-1].text == "Hello there"


# A filter


def filtered(code: str) -> Answer:
    return refused(400, {"error": {"message": "Filtered.", "type": "x", "code": code}})


@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        (OpenAI(), filtered("content_filter")),
        (OpenAI(), filtered("content_policy_violation")),
        (Google(), said({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, ending="end")),
    ],
    ids=["filter", "policy", "google"],
)
async def test_a_request_that_is_not_even_answered_has_the_kind_of_the_filter(
    dialect: Dialect, answer: Answer
) -> None:
    assert (await failure(dialect, answer)).kind == "content_filter"


# In a turn


@asynccontextmanager
async def app_at(
    dialect: Dialect, home: Path, *answers: Answer
) -> AsyncGenerator[tuple[App, ModelServer], None]:
    async with serve(*answers) as server:
        provider = {"type": dialect.type, "baseUrl": server.root + dialect.suffix, "apiKey": KEY}
        settings = {
            "agent": {"provider": "home", "model": "tiny"},
            "providers": {"home": provider},
            "observationalMemory": {"enabled": False},
        }
        async with sestet.open(settings, home=home) as app:
            yield app, server


def texts(events: Sequence[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextStreamed))


async def test_a_person_sees_an_answer_that_broke_off_once(
    dialect: Dialect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sestet.models.retry._FIRST_WAIT", 0.0)
    first, again = dialect.reply(Text(["Hel"]), ending="drop"), dialect.reply(Text(["Hello"]))
    async with app_at(dialect, tmp_path, first, again) as (app, _):
        events = [event async for event in app.run_turn("s", "hello")]
    assert [event.failure for event in events if isinstance(event, ModelRetried)] == ["transient"]
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].text == texts(events) == "Hello"


async def test_an_answer_that_begins_differently_is_not_put_beside_what_was_shown(
    dialect: Dialect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sestet.models.retry._FIRST_WAIT", 0.0)
    first, again = dialect.reply(Text(["Hel"]), ending="drop"), dialect.reply(Text(["Good day"]))
    async with app_at(dialect, tmp_path, first, again) as (app, _):
        events = [event async for event in app.run_turn("s", "hello")]
    assert texts(events) == "Hel"
    assert isinstance(events[-1], TurnFailed)
    assert "broke off in the middle of this answer" in events[-1].text


async def test_stopping_a_turn_closes_the_connection_to_the_vendor(dialect: Dialect, tmp_path: Path) -> None:
    async with app_at(dialect, tmp_path, dialect.reply(Text(["Hel"]), ending="hang")) as (app, server):
        events: list[Event] = []
        async with asyncio.timeout(20):
            async for event in app.run_turn("s", "hello"):
                events.append(event)
                if isinstance(event, TextStreamed):
                    app.cancel_turn("s")
            await server.abandoned.wait()
    assert isinstance(events[-1], TurnCancelled)


async def test_twenty_turns_at_the_same_time_each_get_their_own_answer(
    dialect: Dialect, tmp_path: Path
) -> None:
    answers = [dialect.reply(Text([f"{number}"])) for number in range(20)]

    async def turn(app: App, session: str) -> str:
        end = [event async for event in app.run_turn(session, "hello")][-1]
        assert isinstance(end, TurnFinished)
        return end.text

    async with app_at(dialect, tmp_path, *answers) as (app, server), asyncio.timeout(60):
        said_to_all = await asyncio.gather(*(turn(app, f"s{number}") for number in range(20)))
        assert len(server.received) == 20
    assert sorted(map(int, said_to_all)) == list(range(20))


FATAL: tuple[FailureKind, ...] = ("auth", "unknown_model", "bad_request", "context_too_long")


@pytest.mark.parametrize("kind", FATAL)
async def test_what_would_fail_again_ends_the_turn_after_one_call(
    dialect: Dialect, tmp_path: Path, kind: FailureKind
) -> None:
    async with app_at(dialect, tmp_path, dialect.failures()[kind]) as (app, server):
        end = [event async for event in app.run_turn("s", "hello")][-1]
        assert len(server.received) == 1
    assert isinstance(end, TurnFailed)
    assert KEY not in end.text
