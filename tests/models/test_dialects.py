"""Every vendor's model against a server on loopback that speaks its protocol: the same tests for all."""

import asyncio
import logging
import traceback
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager

import pytest

from sestet.config.settings import ProviderSettings
from sestet.core.errors import FailureKind, ModelError
from sestet.core.message import AssistantMessage, ToolCall, ToolMessage, UserMessage
from sestet.core.model import Model, ModelItem, ModelReply, ModelRequest, TextDelta, Usage
from sestet.models.vendor import VendorModel
from tests.models.dialects import COUNTS, DIALECTS, Call, Counts, Dialect, Part, Text, Thought
from tests.models.model_server import Answer, ModelServer, refused, serve

KEY = "sk-a-very-secret-key"
REQUEST = ModelRequest("operator", "Be brief.", (UserMessage("hello"),), ())
FAILURES = [(dialect, kind) for dialect in DIALECTS for kind in dialect.failures()]


@pytest.fixture(params=DIALECTS, ids=lambda dialect: dialect.type)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return request.param


@asynccontextmanager
async def model_at(
    dialect: Dialect, *answers: Answer, first: float = 60.0, idle: float = 60.0, call: float = 60.0
) -> AsyncGenerator[tuple[VendorModel, ModelServer], None]:
    async with serve(*answers) as server:
        settings = ProviderSettings(
            type=dialect.type,
            base_url=server.root + dialect.suffix,
            api_key=KEY,
            first_token_seconds=first,
            idle_seconds=idle,
            call_seconds=call,
        )
        model = VendorModel("home", settings, "tiny")
        try:
            yield model, server
        finally:
            await model.close()


async def items_of(model: Model, request: ModelRequest = REQUEST) -> list[ModelItem]:
    return [item async for item in model.stream(request)]


async def items(dialect: Dialect, *parts: Part, counts: Counts = COUNTS) -> list[ModelItem]:
    async with model_at(dialect, dialect.reply(*parts, counts=counts)) as (model, _):
        return await items_of(model)


async def failure(
    dialect: Dialect, answer: Answer, *, first: float = 60.0, idle: float = 60.0, call: float = 60.0
) -> ModelError:
    async with model_at(dialect, answer, first=first, idle=idle, call=call) as (model, server):
        with pytest.raises(ModelError) as caught:
            await items_of(model)
        assert len(server.received) == 1, "asking again has its own place"
        return caught.value


# Reading replies


async def test_text_is_passed_on_before_the_server_has_said_the_rest(dialect: Dialect) -> None:
    rest = asyncio.Event()
    answer = dialect.reply(Text(["Hel"]), rest, Text(["lo"]))
    async with model_at(dialect, answer) as (model, _):
        stream = model.stream(REQUEST)
        assert await anext(stream) == TextDelta("Hel")
        rest.set()
        assert [item async for item in stream] == [TextDelta("lo"), ModelReply("Hello", usage=Usage(20, 5))]


async def test_calls_are_put_together_from_their_fragments_and_kept_apart(dialect: Dialect) -> None:
    read = Call("c-1", "fs_read", ['{"pa', 'th": "a.txt", ', '"lines": 3}'])
    got = await items(dialect, read, Call("c-2", "fs_list", ['{"path": "é"}']))
    calls = (
        ToolCall("fs_read", {"path": "a.txt", "lines": 3}, "c-1"),
        ToolCall("fs_list", {"path": "é"}, "c-2"),
    )
    assert got == [ModelReply(calls=calls, usage=Usage(20, 5))]


async def test_a_reply_may_have_text_and_calls(dialect: Dialect) -> None:
    got = await items(dialect, Text(["One moment."]), Call("c-1", "fs_list", ["{}"]))
    calls = (ToolCall("fs_list", {}, "c-1"),)
    assert got == [TextDelta("One moment."), ModelReply("One moment.", calls, Usage(20, 5))]


async def test_a_thought_is_not_text(dialect: Dialect) -> None:
    got = await items(dialect, Thought(["Hm, ", "easy."]), Text(["Fo", "ur."]))
    assert got == [TextDelta("Fo"), TextDelta("ur."), ModelReply("Four.", usage=Usage(20, 5))]


async def test_a_thought_before_a_call_is_not_text_either(dialect: Dialect) -> None:
    got = await items(dialect, Thought(["Look."]), Call("c-1", "fs_list", ["{}"]))
    assert got == [ModelReply(calls=(ToolCall("fs_list", {}, "c-1"),), usage=Usage(20, 5))]


async def test_tokens_that_the_vendor_had_kept_are_counted_within_the_input(dialect: Dialect) -> None:
    (_, reply) = await items(dialect, Text(["ok"]), counts=Counts(read=100, cached=80, written=7))
    assert reply == ModelReply("ok", usage=Usage(100, 7, 0, 80))


# Sending requests


async def test_the_key_is_sent_as_the_vendor_wants_it_to_the_vendors_path(dialect: Dialect) -> None:
    async with model_at(dialect, dialect.reply(Text(["ok"]))) as (model, server):
        await items_of(model)
    (received,) = server.received
    assert received.path == dialect.path
    assert received.headers[dialect.key_header] == dialect.key_prefix + KEY
    assert sum(KEY in value for value in (received.path, *received.headers.values())) == 1


async def test_nothing_is_taken_from_the_environment(
    dialect: Dialect, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    for variable in (*keys, "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(variable, "from-the-environment")
    for variable in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(variable, "X-Password: from-the-environment")
    for variable in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.setenv(variable, "http://127.0.0.1:1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    async with serve(dialect.reply(Text(["ok"]))) as server:
        settings = ProviderSettings(type=dialect.type, base_url=server.root + dialect.suffix)
        model = VendorModel("home", settings, "tiny")
        await items_of(model)
        await model.close()
    (received,) = server.received
    assert "from-the-environment" not in str(received)


async def test_what_was_said_and_done_goes_back_in_a_form_that_the_vendor_accepts(dialect: Dialect) -> None:
    """The vendor's own forms are on record in the tests of each; here nothing may get lost."""
    messages = (
        UserMessage("read both"),
        AssistantMessage("Reading.", (ToolCall("fs_read", {"path": "alpha"}, "c-1"),)),
        ToolMessage("c-1", "fs_read", "beta"),
        AssistantMessage("", (ToolCall("fs_read", id="c-2", malformed='{"gamma'),)),
        ToolMessage("c-2", "fs_read", "delta", failed=True),
        AssistantMessage("epsilon"),
        UserMessage("zeta"),
    )
    async with model_at(dialect, dialect.reply(Text(["ok"]))) as (model, server):
        await items_of(model, REQUEST._replace(messages=messages))
    words = ("Be brief.", "read both", "Reading.", "alpha", "beta", "gamma", "delta", "epsilon", "zeta")
    assert [word for word in words if word not in str(server.body)] == []


# Failures


@pytest.mark.parametrize(
    ("dialect", "kind"), FAILURES, ids=[f"{dialect.type}-{kind}" for dialect, kind in FAILURES]
)
async def test_each_way_to_refuse_has_its_kind(dialect: Dialect, kind: FailureKind) -> None:
    error = await failure(dialect, dialect.failures()[kind])
    assert error.kind == kind
    assert error.retry_after == (7.0 if kind == "rate_limit" else None)
    assert "'home' at http" in str(error) or "'tiny'" in str(error)
    assert "It said: " in str(error)
    assert "{" not in str(error).replace("${", "")


@pytest.mark.parametrize("status", [500, 502, 504])
async def test_a_fault_of_the_server_is_for_the_moment(dialect: Dialect, status: int) -> None:
    assert (await failure(dialect, refused(status, "<html>Bad gateway</html>"))).kind == "transient"


async def test_a_filter_that_stops_the_reply_has_its_kind(dialect: Dialect) -> None:
    assert (await failure(dialect, dialect.filtered())).kind == "content_filter"


async def test_a_reply_that_breaks_off_is_for_the_moment(dialect: Dialect) -> None:
    assert (await failure(dialect, dialect.reply(Text(["Hel"]), ending="drop"))).kind == "transient"


async def test_a_server_that_is_not_there_is_for_the_moment(dialect: Dialect) -> None:
    async with serve(Answer()) as server:
        pass
    settings = ProviderSettings(type=dialect.type, base_url=server.root + dialect.suffix)
    model = VendorModel("home", settings, "tiny")
    with pytest.raises(ModelError, match="cannot be reached") as caught:
        await items_of(model)
    assert caught.value.kind == "transient"
    await model.close()


async def test_the_three_time_limits_are_told_apart(dialect: Dialect) -> None:
    silent = dialect.reply(asyncio.Event(), ending="hang")
    begun = dialect.reply(Text(["Hel"]), ending="hang")
    cases = [
        (await failure(dialect, silent, first=0.1), "firstTokenSeconds"),
        (await failure(dialect, begun, idle=0.1), "idleSeconds"),
        (await failure(dialect, begun, call=0.3), "callSeconds"),
    ]
    for error, setting in cases:
        assert error.kind == "timeout"
        assert f"(providers.home.{setting})" in str(error)


@pytest.mark.parametrize("status", [400, 401, 403, 429, 500])
async def test_the_key_is_neither_in_an_error_nor_in_a_log(
    dialect: Dialect, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    words = f"{'x' * 190}{KEY} is not welcome"
    echo = {"message": words, "error": {"message": words, "type": "x", "code": status, "status": "X"}}
    async with model_at(dialect, refused(status, echo)) as (model, _):
        with pytest.raises(ModelError) as caught:
            await items_of(model)
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert "xxx***" in told
    assert KEY[:10] not in told
    assert KEY[:10] not in caplog.text
    assert caught.value.__cause__ is caught.value.__context__ is None


# Connections


async def test_cancelling_whoever_reads_the_stream_hangs_up(dialect: Dialect) -> None:
    begun = asyncio.Event()

    async def read(model: VendorModel) -> None:
        async for _ in model.stream(REQUEST):
            begun.set()

    async with model_at(dialect, dialect.reply(Text(["Hel"]), ending="hang")) as (model, server):
        reader = asyncio.create_task(read(model))
        async with asyncio.timeout(5):
            await begun.wait()
            reader.cancel()
            await server.abandoned.wait()
        with pytest.raises(asyncio.CancelledError):
            await reader


async def test_closing_the_stream_early_hangs_up(dialect: Dialect) -> None:
    async with model_at(dialect, dialect.reply(Text(["Hel"]), ending="hang")) as (model, server):
        async with aclosing(model.stream(REQUEST)) as stream:
            assert await anext(stream) == TextDelta("Hel")
        async with asyncio.timeout(5):
            await server.abandoned.wait()


async def test_twenty_calls_at_the_same_time_do_not_get_into_each_others_replies(dialect: Dialect) -> None:
    # None of them ends before all of them have begun.
    begun = asyncio.Barrier(20)

    async def read(model: VendorModel) -> list[ModelItem]:
        stream = model.stream(REQUEST)
        first = await anext(stream)
        await begun.wait()
        return [first, *[item async for item in stream]]

    answers = [dialect.reply(Text([f"{number}"])) for number in range(20)]
    async with model_at(dialect, *answers) as (model, _), asyncio.timeout(20):
        replies = await asyncio.gather(*(read(model) for _ in answers))
    texts = [item.text for got in replies for item in got if isinstance(item, ModelReply)]
    assert sorted(map(int, texts)) == list(range(20))
