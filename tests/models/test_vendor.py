"""Vendors' models against a real server on loopback: requests, replies and failures."""

import asyncio
import logging
import re
import subprocess
import sys
import traceback
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import pytest
from pydantic_ai.exceptions import ModelConnectionError, ModelRateLimitError, ModelTimeoutError, UserError

from sestet.config.installation import install_command
from sestet.config.settings import AgentSettings, ProviderSettings, Secret, Settings
from sestet.core.errors import ConfigError, ModelError
from sestet.core.message import AssistantMessage, ToolCall, ToolMessage, UserMessage
from sestet.core.model import Model, ModelItem, ModelReply, ModelRequest, TextDelta, Usage
from sestet.models.provider import Endpoint, NamedModel
from sestet.models.vendor import VendorModel, vendor_model
from sestet.models.vendor.errors import explain
from sestet.models.vendor.wire import AnswerFilter
from tests.models.model_server import Answer, Event, ModelServer, refused, said, serve
from tests.models.openai_wire import call, finish, reasoning, refusal, text, usage

KEY = "sk-a-very-secret-key"
REQUEST = ModelRequest("operator", "Be brief.", (UserMessage("hello"),), ())


@asynccontextmanager
async def model_at(
    *answers: Answer, key: str = KEY, idle_timeout: float = 60.0
) -> AsyncGenerator[tuple[VendorModel, ModelServer], None]:
    async with serve(*answers) as server:
        settings = ProviderSettings(
            base_url=server.url,
            api_key=key,
            idle_seconds=idle_timeout,
            first_token_seconds=idle_timeout,
        )
        model = VendorModel("home", settings, "tiny")
        try:
            yield model, server
        finally:
            await model.close()


async def items_of(model: Model, request: ModelRequest = REQUEST) -> list[ModelItem]:
    return [item async for item in model.stream(request)]


async def items(*events: Event) -> list[ModelItem]:
    async with model_at(said(*events)) as (model, _):
        return await items_of(model)


async def reply(*events: Event) -> ModelReply:
    last = (await items(*events))[-1]
    assert isinstance(last, ModelReply)
    return last


async def sent(*messages: UserMessage | AssistantMessage | ToolMessage) -> list[dict[str, object]]:
    """The messages as they arrive at the server, without the instruction."""
    async with model_at(said(text("ok"), finish())) as (model, server):
        await items_of(model, REQUEST._replace(instruction="", messages=messages))
        return server.body["messages"]


async def error(answer: Answer, key: str = KEY, idle_timeout: float = 60.0) -> str:
    async with model_at(answer, key=key, idle_timeout=idle_timeout) as (model, server):
        with pytest.raises(ModelError) as caught:
            await items_of(model)
        assert len(server.received) == 1, "asking again is for whoever runs the turn to decide"
        return str(caught.value).replace(server.url, "URL")


# Reading replies


async def test_text_is_passed_on_before_the_server_has_said_the_rest() -> None:
    rest = asyncio.Event()
    async with model_at(said(text("Hel"), rest, text("lo"), finish())) as (model, _):
        stream = model.stream(REQUEST)
        assert await anext(stream) == TextDelta("Hel")
        rest.set()
        assert [item async for item in stream] == [TextDelta("lo"), ModelReply("Hello")]


async def test_the_usage_that_the_server_counts_is_in_the_reply() -> None:
    assert await items(text("Hi"), finish(), usage(11, 7)) == [
        TextDelta("Hi"),
        ModelReply("Hi", usage=Usage(11, 7)),
    ]


async def test_a_call_is_put_together_from_its_fragments() -> None:
    got = await items(
        call(0, id="c-1", name="fs_read"),
        call(0, '{"pa'),
        call(0, 'th": "a.txt", '),
        call(0, '"lines": 3}'),
        finish("tool_calls"),
    )
    assert got == [ModelReply(calls=(ToolCall("fs_read", {"path": "a.txt", "lines": 3}, "c-1"),))]


async def test_calls_that_arrive_at_the_same_time_are_kept_apart() -> None:
    got = await reply(
        call(0, id="c-1", name="fs_read"),
        call(1, id="c-2", name="fs_list"),
        call(0, '{"path": '),
        call(1, "{}"),
        call(0, '"a.txt"}'),
        finish("tool_calls"),
    )
    assert got.calls == (ToolCall("fs_read", {"path": "a.txt"}, "c-1"), ToolCall("fs_list", {}, "c-2"))


async def test_a_reply_may_have_text_and_calls() -> None:
    got = await items(text("One moment."), call(0, "{}", id="c-1", name="fs_list"), finish("tool_calls"))
    assert got == [TextDelta("One moment."), ModelReply("One moment.", (ToolCall("fs_list", {}, "c-1"),))]


@pytest.mark.parametrize(
    "arguments", ['{"path": "a', "a.txt", '["a.txt"]', '"a.txt"', '{"lines": NaN}', "null"]
)
async def test_arguments_that_are_no_json_object_are_kept_as_they_came(arguments: str) -> None:
    got = await reply(call(0, arguments, id="c-1", name="fs_read"), finish("tool_calls"))
    assert got.calls == (ToolCall("fs_read", id="c-1", malformed=arguments),)


@pytest.mark.parametrize("arguments", ["", " ", "{}"])
async def test_a_call_without_arguments_has_none(arguments: str) -> None:
    got = await reply(call(0, arguments, id="c-1", name="fs_list"), finish("tool_calls"))
    assert got.calls == (ToolCall("fs_list", {}, "c-1"),)


async def test_a_thought_that_the_server_sets_apart_is_not_text() -> None:
    assert await items(reasoning("Hm, "), reasoning("easy."), text("Four."), finish()) == [
        TextDelta("Four."),
        ModelReply("Four."),
    ]


@pytest.mark.parametrize(
    ("pieces", "answer"),
    [
        (["<think>", "hm", "</think>", "\n\n", "Four."], "Four."),
        (["<think>hm</think>Four."], "Four."),
        (["\n<th", "ink>h", "m</thi", "nk>\n", "\nFo", "ur."], "Four."),
        (["<think>", "a < b </th ", "</think>Four."], "Four."),
        (["<think>", "\n", "</think>", "<think>hm</think>", "Four."], "Four."),
        (["<think>hm</think>\n<think>yes</think>\nFour."], "Four."),
        (["<think>never done"], ""),
        (["<think>", "hm", "</think>", "\n"], ""),
        (["  Four", "."], "  Four."),
        ([" ", "\n", "Four."], " \nFour."),
        ([" ", "\n"], " \n"),
        (["<thi"], "<thi"),
        (["<thinner> is no tag"], "<thinner> is no tag"),
        (["Models write ", "<think>", " first."], "Models write <think> first."),
    ],
)
async def test_a_thought_in_tags_is_not_text_wherever_the_pieces_are_cut(
    pieces: Sequence[str], answer: str
) -> None:
    *deltas, last = await items(*map(text, pieces), finish())
    assert last == ModelReply(answer)
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == answer


def test_blanks_before_an_answer_are_not_read_again_with_each_piece() -> None:
    answer = AnswerFilter()

    for _ in range(20_000):
        assert answer.feed(" ") == ""
        assert not any(isinstance(kept, str) and len(kept) > 10 for kept in vars(answer).values())

    assert answer.feed("Four.") == " " * 20_000 + "Four."


# Sending requests


async def test_malformed_arguments_go_back_inside_a_json_object_that_every_server_can_read() -> None:
    messages = await sent(
        UserMessage("x"), AssistantMessage("", (ToolCall("fs_read", id="c-1", malformed='{"p'),))
    )
    assert messages[1]["content"] is None
    assert messages[1]["tool_calls"] == [
        {
            "id": "c-1",
            "type": "function",
            "function": {"name": "fs_read", "arguments": '{"INVALID_JSON":"{\\"p"}'},
        }
    ]


async def test_a_reply_that_was_empty_is_left_out() -> None:
    assert [
        message["role"] for message in await sent(UserMessage("x"), AssistantMessage(""), UserMessage("y"))
    ] == [
        "user",
        "user",
    ]


async def test_a_server_on_this_machine_is_not_asked_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert await reply(text("ok"), finish()) == ModelReply("ok")


# Failures


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            refused(401, {"error": {"message": "Bad key.", "code": "invalid_api_key"}}),
            "'home' at URL does not accept the key in providers.home.apiKey (status 401): "
            "write a valid key there. It said: Bad key.",
        ),
        (
            refused(404, {"error": {"message": "No tiny.", "code": "model_not_found"}}),
            "'home' at URL does not know the model 'tiny' (status 404): check agent.model, "
            "and providers.home.baseUrl if the name is right. It said: No tiny.",
        ),
        (
            refused(429, {"error": {"message": "Slow down."}}, retry_after="7"),
            "'home' at URL has been asked too often (status 429): wait 7 seconds, then ask again. "
            "It said: Slow down.",
        ),
        (
            refused(429, {"error": {"message": "Tomorrow."}}, retry_after="3600"),
            "'home' at URL has been asked too often (status 429): wait 1 hour, then ask again. "
            "It said: Tomorrow.",
        ),
        (
            refused(429, {"error": {"message": "Pay.", "code": "insufficient_quota"}}),
            "'home' at URL says that the account has no credit left (status 429). It said: Pay.",
        ),
        (
            refused(400, {"error": {"message": "Too long.", "code": "context_length_exceeded"}}),
            "The conversation is too long for the model 'tiny' (status 400): lower agent.contextTokens. "
            "It said: Too long.",
        ),
        (
            refused(400, {"error": {"message": "No tools here."}}),
            "'home' at URL did not accept the request (status 400). It said: No tools here.",
        ),
        (refused(503, ""), "'home' at URL is not available at the moment (status 503): try again later."),
        (
            refused(500, "<html>\n" + "x" * 300),
            f"'home' at URL failed (status 500). It said: <html> {'x' * 193}…",
        ),
        (refused(418, {"code": 1}), "'home' at URL failed (status 418). It said: {\"code\": 1}"),
        (refused(418, {"message": "half \ud800"}), "'home' at URL failed (status 418). It said: half ?"),
        (
            refused(200, "<html>Welcome</html>", content_type="text/html"),
            "'home' at URL sent nothing that is a reply "
            "(Streamed response ended without content or tool calls): check providers.home.baseUrl.",
        ),
    ],
)
async def test_a_refusal_by_the_server_says_what_to_look_at(answer: Answer, sentence: str) -> None:
    assert await error(answer) == sentence


async def test_a_server_that_wants_a_key_says_which_setting_is_empty() -> None:
    assert await error(refused(401, {"error": {"message": "Key?"}}), key="") == (
        "'home' at URL wants a key, and providers.home.apiKey is empty (status 401): write "
        "'apiKey: ${HOME_API_KEY}' there and the key into the environment variable HOME_API_KEY. "
        "It said: Key?"
    )


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        (
            Secret(KEY, "sestet.yaml", "MY_KEY"),
            "does not accept the key in providers.home.apiKey, which is the environment variable MY_KEY "
            "(status 401): set MY_KEY to a valid key and start again.",
        ),
        (
            Secret(KEY, "sestet.yaml"),
            "does not accept the key in providers.home.apiKey of sestet.yaml (status 401): "
            "write a valid key there.",
        ),
    ],
)
async def test_a_key_that_is_not_accepted_is_named_by_where_it_came_from(key: Secret, sentence: str) -> None:
    assert await error(refused(401, ""), key=key) == f"'home' at URL {sentence}"


@pytest.mark.parametrize(
    "words",
    [
        "the request exceeds the available context size, try increasing it",
        "The number of tokens to keep is greater than the context length",
    ],
)
async def test_servers_of_ones_own_say_in_their_words_that_the_conversation_is_too_long(words: str) -> None:
    told = await error(refused(400, {"error": {"message": words, "code": 400}}))
    assert told.startswith("The conversation is too long for the model 'tiny'")


async def test_a_server_that_is_not_running_is_named_by_its_address() -> None:
    async with serve(said(finish())) as server:
        pass
    model = VendorModel("home", ProviderSettings(base_url=server.url.replace("//", "//me:pass@")), "tiny")
    with pytest.raises(ModelError) as caught:
        await items_of(model)
    assert str(caught.value) == (
        f"'home' at {server.url.replace('//', '//***@')} cannot be reached: is it running? "
        "The address is providers.home.baseUrl."
    )
    await model.close()


@pytest.mark.parametrize(
    ("address", "question"),
    [
        ("", "are you online?"),
        ("https://vendor.invalid/v1", "are you online? The address is providers.home.baseUrl."),
        ("http://192.168.1.2/v1", "is it running? The address is providers.home.baseUrl."),
    ],
)
def test_a_server_elsewhere_that_cannot_be_reached_asks_whether_the_person_is_online(
    address: str, question: str
) -> None:
    endpoint = Endpoint("home", "tiny", ProviderSettings(base_url=address))
    failure = ModelConnectionError("tiny", "Connection error.", phase="connect")
    assert str(explain(endpoint, failure)) == f"{endpoint.server} cannot be reached: {question}"


def test_a_wait_that_is_no_time_is_a_while() -> None:
    endpoint = Endpoint("home", "tiny", ProviderSettings(base_url="http://far/v1"))
    for wait in (float("inf"), float("nan"), -1.0, 1e300):
        failure = ModelRateLimitError("tiny", "Slow down.", retry_after=wait)
        assert "wait a while, then ask again" in str(explain(endpoint, failure))


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            said(text("Hel"), ending="drop"),
            "The connection to 'home' at URL broke off before the reply was complete.",
        ),
        (
            said(text("Hel"), ending="end"),
            "'home' at URL did not finish its reply: Streamed response ended without a `finish_reason`.",
        ),
        (
            said(text("Hel"), ending="hang"),
            "'home' at URL sent nothing for 0.1 seconds (providers.home.idleSeconds).",
        ),
        (
            said(text("Hel"), 'data: {"error": {"message": "Out of memory.", "code": 500}}\n\n'),
            "'home' at URL failed (status 500). It said: Out of memory.",
        ),
        (
            said(text("Hel"), finish("content_filter")),
            "The model 'tiny' withheld its answer (content filter).",
        ),
    ],
)
async def test_a_reply_that_breaks_off_is_an_error_after_the_text_that_came(
    answer: Answer, sentence: str
) -> None:
    async with model_at(answer, idle_timeout=0.1) as (model, server):
        stream = model.stream(REQUEST)
        assert await anext(stream) == TextDelta("Hel")
        with pytest.raises(ModelError) as caught:
            await anext(stream)
    assert str(caught.value).replace(server.url, "URL") == sentence


async def test_a_server_that_never_begins_to_answer_runs_into_the_time_limit() -> None:
    assert await error(said(asyncio.Event()), idle_timeout=0.1) == (
        "'home' at URL did not begin its reply within 0.1 seconds (providers.home.firstTokenSeconds)."
    )


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (
            ModelTimeoutError("tiny", "late", phase="connect"),
            "'home' at http://far/v1 did not take the call within 10 seconds: is it running? "
            "The address is providers.home.baseUrl.",
        ),
        (UserError("No such mode."), "'home' at http://far/v1 could not be asked: No such mode."),
    ],
)
def test_failures_that_no_loopback_server_can_cause_have_a_sentence_too(
    failure: ModelTimeoutError | UserError, sentence: str
) -> None:
    endpoint = Endpoint("home", "tiny", ProviderSettings(base_url="http://far/v1"))
    assert str(explain(endpoint, failure)) == sentence


async def test_a_model_that_declines_is_quoted() -> None:
    assert await error(said(refusal("I can"), refusal("not."), finish())) == (
        "The model 'tiny' withheld its answer (content filter). It said: I cannot."
    )


@pytest.mark.parametrize("status", [200, 400, 401, 429, 500])
async def test_the_key_is_neither_in_an_error_nor_in_a_log(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = {"error": {"message": f"{'x' * 190}{KEY} is not welcome", "code": 400}}
    answer = refused(status, echo) if status != 200 else said(f"data: {echo}\n\n".replace("'", '"'))
    async with model_at(answer) as (model, _):
        with pytest.raises(ModelError) as caught:
            await items_of(model)
    told = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert "xxx***" in told
    assert KEY[:10] not in told
    assert caught.value.__cause__ is caught.value.__context__ is None


# Connections


async def test_calls_one_after_the_other_use_one_connection_until_the_model_is_closed() -> None:
    async with model_at(said(text("ok"), finish())) as (model, server):
        for _ in range(3):
            await items_of(model)
        assert (len(server.received), server.connections) == (3, 1)
        await model.close()
        async with asyncio.timeout(5):
            await server.alone()


async def test_a_model_that_was_closed_can_be_asked_again() -> None:
    async with model_at(said(text("ok"), finish())) as (model, server):
        await items_of(model)
        await model.close()
        assert (await items_of(model))[-1] == ModelReply("ok")
        assert server.connections == 2


# Settings and packages


def test_a_model_is_named_by_its_provider_and_itself() -> None:
    assert VendorModel("home", ProviderSettings(), "tiny").name == "home/tiny"


def test_the_vendors_package_is_not_loaded_before_it_is_needed() -> None:
    code = """
import sys
from sestet.config.settings import ProviderSettings
from sestet.models.vendor import VendorModel
VendorModel("home", ProviderSettings(), "tiny")
print([name for name in ("pydantic_ai", "pydantic", "openai", "httpx2") if name in sys.modules])
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


async def test_a_missing_package_is_named_with_the_command_that_brings_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    command = re.escape(install_command("anthropic"))
    with pytest.raises(ModelError, match=rf"^The model 'home/tiny' needs a package .*: {command}$"):
        await items_of(VendorModel("home", ProviderSettings(type="anthropic"), "tiny"))


def settings_of(provider: str, model: str = "tiny", **providers: ProviderSettings) -> Settings:
    return Settings(agent=AgentSettings(provider=provider, model=model), providers=providers)


def named_model(settings: Settings) -> VendorModel:
    agent = settings.agent
    return vendor_model(
        settings, NamedModel(agent.provider, agent.model.strip(), "agent.provider", "agent.model")
    )


def test_the_settings_name_the_model() -> None:
    ollama = ProviderSettings(base_url="http://127.0.0.1:11434/v1")
    assert named_model(settings_of("ollama", ollama=ollama)).name == "ollama/tiny"


@pytest.mark.parametrize(
    ("settings", "problems"),
    [
        (
            settings_of("olama", ollama=ProviderSettings()),
            ["agent.provider: 'olama' is not under providers; did you mean 'ollama'?"],
        ),
        (settings_of("offlin"), ["agent.provider: 'offlin' is not under providers; did you mean 'offline'?"]),
        (
            settings_of("openai", " "),
            [
                "agent.provider: 'openai' is not under providers",
                "agent.model: is empty; write the name that the provider has for the model",
            ],
        ),
        (
            settings_of("home", home=ProviderSettings(base_url="localhost:11434/v1")),
            [
                "providers.home.baseUrl: 'localhost:11434/v1' is not an address; "
                "write it as http://127.0.0.1:11434/v1"
            ],
        ),
        (
            settings_of("home", home=ProviderSettings(base_url="ftp://[::1]/v1")),
            [
                "providers.home.baseUrl: 'ftp://[::1]/v1' is not an address; write it as http://127.0.0.1:11434/v1"
            ],
        ),
        (
            settings_of("home", home=ProviderSettings(base_url="http://[::1/v1")),
            [
                "providers.home.baseUrl: 'http://[::1/v1' is not an address; write it as http://127.0.0.1:11434/v1"
            ],
        ),
        (
            settings_of("openai", openai=ProviderSettings()),
            [
                "providers.openai.apiKey: is empty, and the vendor's own address (no baseUrl) needs a key; "
                "write 'apiKey: ${OPENAI_API_KEY}' and the key into that environment variable"
            ],
        ),
        (
            settings_of("openai", openai=ProviderSettings(api_key="sk-1\n")),
            ["providers.openai.apiKey: has characters that no key has; was more than the key copied?"],
        ),
    ],
)
def test_settings_that_name_no_model_are_refused_by_key(settings: Settings, problems: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        named_model(settings)
    assert caught.value.problems == problems
