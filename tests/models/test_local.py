"""A model in this process: its requests and replies, and that it never blocks the event loop."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from threading import Event

import pytest

from sestet.config import settings_from
from sestet.config.settings import LocalSettings
from sestet.core.errors import ConfigError, ModelError
from sestet.core.message import AssistantMessage, UserMessage
from sestet.core.model import ModelItem, ModelReply, ModelRequest, TextDelta, Usage
from sestet.core.schema import JsonObject
from sestet.models import choice
from sestet.models.llama import Engine, OnChunk
from sestet.models.local import LocalModel

REQUEST = ModelRequest(
    "operator", "Be brief.", (UserMessage("hi"), AssistantMessage("a"), UserMessage("b")), ()
)
USAGE: JsonObject = {
    "usage": {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 7}}
}


def chunk(text: str | None) -> JsonObject:
    return {"choices": [{"delta": {"content": text}}]}


class FakeEngine:
    """Gives chunks from a thread; ``gate`` holds it up after the first ones."""

    def __init__(self, chunks: Sequence[JsonObject], gate: Event | None = None) -> None:
        self.chunks = chunks
        self.gate = gate
        self.requests: list[JsonObject] = []
        self.stopped = Event()
        self.closed = False

    def answer(self, request: JsonObject, on_chunk: OnChunk) -> None:
        self.requests.append(request)
        for number, item in enumerate(self.chunks):
            if number == 1 and self.gate:
                self.gate.wait(20)
            if on_chunk(item):
                self.stopped.set()
                return

    def close(self) -> None:
        self.closed = True


Make = Callable[[Engine], LocalModel]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    file = tmp_path / "tiny.gguf"
    file.write_bytes(b"weights")
    return lambda engine: LocalModel("tiny", file, LocalSettings(), lambda file, settings: engine)


async def items_of(model: LocalModel, request: ModelRequest = REQUEST) -> list[ModelItem]:
    return [item async for item in model.stream(request)]


async def test_text_comes_piece_by_piece_and_usage_at_the_end(make: Make) -> None:
    engine = FakeEngine([chunk(None), {}, chunk("He"), chunk("llo"), USAGE])

    assert await items_of(make(engine)) == [
        TextDelta("He"),
        TextDelta("llo"),
        ModelReply("Hello", usage=Usage(9, 2, cached_tokens=7), free=True),
    ]


async def test_it_is_sent_the_instruction_first_and_held_to_the_schema(make: Make) -> None:
    engine = FakeEngine([])
    await items_of(make(engine), REQUEST._replace(schema={"type": "object"}))

    (request,) = engine.requests
    assert request["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "b"},
    ]
    assert request["json_schema"] == {"type": "object"}
    assert request["max_tokens"] == LocalSettings().reply_tokens


async def test_whoever_stops_listening_stops_the_work_and_the_loop_goes_on_meanwhile(make: Make) -> None:
    gate = Event()
    engine = FakeEngine([chunk("one"), chunk("two"), chunk("three")], gate)
    model = make(engine)
    async with aclosing(model.stream(REQUEST)) as items:
        assert await anext(items) == TextDelta("one")
        # The thread waits; this loop does not.
        await asyncio.sleep(0)
    gate.set()
    await model.close()

    assert engine.stopped.is_set()
    assert engine.closed


async def test_a_request_that_is_too_long_is_a_failure_of_that_kind(make: Make) -> None:
    error = {"type": "exceed_context_size_error", "code": 400, "message": "request (9 tokens) exceeds"}
    with pytest.raises(ModelError, match=r"exceeds.*local\.contextTokens") as caught:
        await items_of(make(FakeEngine([{"error": error}])))
    assert caught.value.kind == "context_too_long"


async def test_the_file_is_loaded_once_by_whoever_comes_first(tmp_path: Path) -> None:
    loaded: list[Path] = []
    file = tmp_path / "tiny.gguf"
    file.write_bytes(b"")

    def load(file: Path, settings: LocalSettings) -> Engine:
        loaded.append(file)
        return FakeEngine([chunk("x")])

    model = LocalModel("tiny", file, LocalSettings(), load)
    await asyncio.gather(*(items_of(model) for _ in range(5)))
    assert loaded == [file]


async def test_a_missing_file_or_package_is_said_with_the_way_out(tmp_path: Path) -> None:
    gone = LocalModel("qwen", tmp_path / "gone.gguf", LocalSettings())
    with pytest.raises(ModelError, match="sestet models pull qwen"):
        await items_of(gone)

    def load(file: Path, settings: LocalSettings) -> Engine:
        raise ImportError("no module named 'xllamacpp'")

    (tmp_path / "here.gguf").write_bytes(b"")
    with pytest.raises(ModelError, match=r"pip install '\.\[local\]' in the clone"):
        await items_of(LocalModel("here", tmp_path / "here.gguf", LocalSettings(), load))


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"model": "qwen2.5-coder-1.5b"}, "is not on this machine: sestet models pull qwen2.5-coder-1.5b"),
        ({"model": "qwen-coder-1.5b"}, "is not on this machine; did you mean 'qwen2.5-coder-1.5b'?"),
        ({}, "agent.model: is empty; choose one with: sestet models use qwen2.5-coder-1.5b"),
    ],
)
def test_a_model_that_is_not_here_is_a_mistake_in_the_settings(
    settings: dict[str, str], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESTET_HOME", str(tmp_path))
    with pytest.raises(ConfigError) as caught:
        choice.check_models(settings_from({"agent": {"provider": "local", **settings}}))
    assert problem in caught.value.problems[-1]


def test_a_missing_extra_is_a_mistake_in_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESTET_HOME", str(tmp_path))
    monkeypatch.setattr("sestet.models.provider.find_spec", dict[str, object]().get)
    with pytest.raises(ConfigError, match=r"pip install '\.\[local\]' in the clone"):
        choice.check_models(settings_from({"agent": {"provider": "local", "model": "smollm2-135m"}}))


@pytest.mark.parametrize(
    ("settings", "agent", "small"),
    [
        ({}, "", False),
        ({"agent": {"provider": "local", "model": "m"}}, "", True),
        ({"agents": {"vault": {"provider": "local", "model": "m"}}}, "", False),
        ({"agents": {"vault": {"provider": "local", "model": "m"}}}, "vault", True),
        ({"agent": {"provider": "big", "model": "m", "fallback": ["local/m"]}}, "", True),
        ({"agent": {"provider": "o", "model": "m"}, "providers": {"o": {"toolCalls": "text"}}}, "", True),
        ({"agent": {"provider": "o", "model": "m"}, "providers": {"o": {}}}, "", False),
        ({"agent": {"provider": "local", "model": "m"}, "providers": {"local": {}}}, "", False),
    ],
)
def test_which_agents_a_small_model_may_answer_for(
    settings: dict[str, object], agent: str, small: bool
) -> None:
    assert choice.is_small(settings_from(settings), agent) is small
