"""Turns become spans at a real receiver of OTLP over HTTP on loopback."""

import asyncio
import importlib
import logging
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import cast

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

import sestet
from sestet.core.errors import ConfigError, ModelError
from sestet.core.model import ModelItem, ModelRequest
from sestet.services.telemetry import QuietExporter

SECRET = "the parrot is called Max"


@sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
async def exec_clock(place: str) -> str:
    """Tell the time."""
    return f"noon in {place}"


@sestet.tool(risk="guarded", effect="external", targets=("to",), recovery="unsafe", reads=())
async def exec_send(to: str) -> str:
    """Send a note to somebody."""
    return f"sent to {to}"


class Receiver(ThreadingHTTPServer):
    """Keeps the spans that it gets."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spans: list[Span] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def named(self, name: str) -> Span:
        (found,) = [span for span in self.spans if span.name == name]
        return found

    def parent_of(self, span: Span) -> str:
        names = {each.span_id: each.name for each in self.spans}
        return names[span.parent_span_id] if span.parent_span_id else ""


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert self.path == "/v1/traces"
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in group.scope_spans:
                cast("Receiver", self.server).spans.extend(scope.spans)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = Receiver()
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def settings(endpoint: str, **more: object) -> dict[str, object]:
    return {
        "embedding": {"provider": "none"},
        "observationalMemory": {"enabled": False},
        "telemetry": {"otlpEndpoint": endpoint, **more},
    }


@asynccontextmanager
async def observed(
    home: Path, model: sestet.ScriptedModel, endpoint: str, **more: object
) -> AsyncGenerator[sestet.App]:
    """An assistant whose spans are sent when it closes."""
    async with sestet.open(
        settings(endpoint, **more), model=model, home=home, tools=[exec_clock, exec_send]
    ) as app:
        yield app


def transfer(agent: str, request: str) -> sestet.ToolCall:
    return sestet.ToolCall("transfer_to_agent", {"agent_name": agent, "request": request})


def values(span: Span) -> dict[str, object]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value") or "") for each in span.attributes}


CLOCK = {
    "orchestrator": [transfer("operator", SECRET), "It is noon."],
    "operator": [sestet.ToolCall("exec_clock", {"place": SECRET}), f"noon, {SECRET}"],
}


async def test_a_turn_its_delegation_its_calls_are_spans_below_each_other(
    tmp_path: Path, receiver: Receiver
) -> None:
    async with observed(tmp_path, sestet.ScriptedModel(CLOCK), receiver.address) as app:
        await app.ask("the time?", "s1")

    tree = sorted((span.name, receiver.parent_of(span)) for span in receiver.spans)
    assert tree == [
        ("chat scripted", "invoke_agent operator"),
        ("chat scripted", "invoke_agent operator"),
        ("chat scripted", "invoke_agent orchestrator"),
        ("chat scripted", "invoke_agent orchestrator"),
        ("execute_tool exec_clock", "invoke_agent operator"),
        ("invoke_agent operator", "invoke_agent orchestrator"),
        ("invoke_agent orchestrator", ""),
    ]
    assert len({span.trace_id for span in receiver.spans}) == 1
    turn, tool = (
        values(receiver.named("invoke_agent orchestrator")),
        receiver.named("execute_tool exec_clock"),
    )
    assert (turn["gen_ai.conversation.id"], turn["sestet.outcome"]) == ("s1", "finished")
    assert int(str(turn["gen_ai.usage.input_tokens"])) > 0
    assert values(tool)["gen_ai.tool.name"] == "exec_clock"
    assert all(span.start_time_unix_nano <= span.end_time_unix_nano for span in receiver.spans)


@pytest.mark.parametrize("content", [False, True])
async def test_words_are_sent_only_if_the_owner_wants_it(
    tmp_path: Path, receiver: Receiver, content: bool
) -> None:
    async with observed(tmp_path, sestet.ScriptedModel(CLOCK), receiver.address, content=content) as app:
        await app.ask(f"what is called Max? {SECRET}", "s1")

    sent = b"".join(span.SerializeToString() for span in receiver.spans)
    assert (SECRET.encode() in sent) is content
    assert ("gen_ai.input.messages" in values(receiver.named("invoke_agent orchestrator"))) is content


async def test_every_name_is_one_of_the_conventions(tmp_path: Path, receiver: Receiver) -> None:
    async with observed(tmp_path, sestet.ScriptedModel(CLOCK), receiver.address, content=True) as app:
        await app.ask("the time?", "s1")

    conventions = vars(
        importlib.import_module("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    )
    known = {value for name, value in conventions.items() if name.startswith("GEN_AI_")}
    used = {name for span in receiver.spans for name in values(span) if not name.startswith("sestet.")}
    assert used <= known
    operations = {values(span)["gen_ai.operation.name"] for span in receiver.spans}
    assert operations <= {each.value for each in conventions["GenAiOperationNameValues"]}


class MeetingModel(sestet.ScriptedModel):
    """Two specialists answer once both are asked."""

    def __init__(self, script: dict[str, list[object]]) -> None:
        super().__init__(script)
        self.barrier = asyncio.Barrier(2)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        if len(request.messages) == 1 and request.agent != "orchestrator":
            await self.barrier.wait()
        async for item in super().stream(request):
            yield item


async def test_calls_of_delegations_at_the_same_time_belong_to_their_own_agent(
    tmp_path: Path, receiver: Receiver
) -> None:
    both = [transfer("operator", "the time"), transfer("librarian", "a book")]
    model = MeetingModel(
        {
            "orchestrator": [both, "Done."],
            "operator": [sestet.ToolCall("exec_clock", {"place": "here"}), "noon"],
            "librarian": ["a book"],
        }
    )
    async with observed(tmp_path, model, receiver.address) as app:
        await app.ask("both", "s1")

    for span in receiver.spans:
        if span.name.startswith(("chat", "execute_tool")):
            assert receiver.parent_of(span) == f"invoke_agent {values(span)['gen_ai.agent.name']}"
    parents = [
        receiver.parent_of(receiver.named(f"invoke_agent {name}")) for name in ("operator", "librarian")
    ]
    assert parents == ["invoke_agent orchestrator"] * 2


async def test_failures_are_the_status_of_their_spans(tmp_path: Path, receiver: Receiver) -> None:
    script = {
        "orchestrator": [transfer("operator", "try"), ModelError(f"no, {SECRET}")],
        "operator": [sestet.ToolCall("exec_gone", {}), "[REJECT] no"],
    }
    async with observed(tmp_path, sestet.ScriptedModel(script), receiver.address) as app:
        await app.ask("try", "s1")

    failed = {span.name: values(span).get("error.type") for span in receiver.spans if span.status.code}
    assert failed == {
        "invoke_agent orchestrator": "failed",
        "invoke_agent operator": "rejected",
        "execute_tool exec_gone": "refused",
    }
    assert {span.status.code for span in receiver.spans} == {
        Status.STATUS_CODE_ERROR,
        Status.STATUS_CODE_UNSET,
    }
    assert SECRET.encode() not in b"".join(span.SerializeToString() for span in receiver.spans)


async def test_a_turn_that_goes_on_has_spans_for_its_rest(tmp_path: Path, receiver: Receiver) -> None:
    script = {
        "orchestrator": [transfer("operator", "send"), "Done."],
        "operator": [sestet.ToolCall("exec_send", {"to": "bob"}), "sent"],
    }
    async with observed(tmp_path, sestet.ScriptedModel(script), receiver.address) as app:
        events = [event async for event in app.run_turn("s1", "send a note")]
        (question,) = app.approvals.pending()
        app.decide(question.id, "approve")
        async for _ in app.resume_turn(events[0].stamp.turn_id):
            pass

    turns = [span for span in receiver.spans if span.name == "invoke_agent orchestrator"]
    assert [values(span)["sestet.outcome"] for span in turns] == ["paused", "finished"]
    assert len({values(span)["sestet.turn.id"] for span in turns}) == 1
    sent = receiver.named("execute_tool exec_send")
    assert (receiver.parent_of(sent), sent.status.code) == ("invoke_agent operator", Status.STATUS_CODE_UNSET)


class HangingModel(sestet.ScriptedModel):
    """Never answers."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        await asyncio.Event().wait()
        async for item in super().stream(request):
            yield item


async def test_a_reader_that_leaves_ends_the_span_of_its_turn(tmp_path: Path, receiver: Receiver) -> None:
    async with observed(tmp_path, HangingModel(), receiver.address) as app:
        events = app.run_turn("s1", "the time?")
        async for _ in events:
            break
        await events.aclose()

    assert values(receiver.named("invoke_agent orchestrator"))["sestet.outcome"] == "cancelled"


async def test_a_collector_that_is_not_there_costs_one_warning_and_no_turn(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with caplog.at_level(logging.DEBUG):
        # Nothing listens on port 9.
        async with observed(tmp_path, sestet.ScriptedModel(["one", "two"]), "http://127.0.0.1:9") as app:
            assert (await app.ask("a", "s1")).text == "one"
            assert (await app.ask("b", "s1")).text == "two"

    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert warnings == ["no spans can be sent to telemetry.otlpEndpoint; they are left out until it answers"]


def test_only_the_first_failure_in_a_row_is_told(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    exporter = QuietExporter("http://127.0.0.1:9")
    for _ in range(2):
        exporter.export(())
    told = [record for record in caplog.records if record.name == "sestet.services.telemetry"]
    assert len(told) == 1


async def test_without_the_extra_the_setting_is_refused_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sestet.services.telemetry", None)
    with pytest.raises(ConfigError, match=r"telemetry\.otlpEndpoint needs the extra 'otel': .*install"):
        async with observed(tmp_path, sestet.ScriptedModel(), "http://127.0.0.1:9"):
            pass


async def test_without_an_address_the_packages_are_not_loaded(tmp_path: Path) -> None:
    loaded = sys.modules.pop("sestet.services.telemetry", None)
    try:
        async with observed(tmp_path, sestet.ScriptedModel(["one"]), "") as app:
            await app.ask("a", "s1")
        assert "sestet.services.telemetry" not in sys.modules
    finally:
        if loaded:
            sys.modules["sestet.services.telemetry"] = loaded
