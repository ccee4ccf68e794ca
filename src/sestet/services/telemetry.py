"""Turns as spans of OpenTelemetry, with the names of its conventions for generative AI.

A reader of events: nothing else in Sestet knows of it. Only names and figures are sent, unless the owner
wants the content too.
"""

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context

from sestet.config import Settings
from sestet.core.event import (
    DelegationFinished,
    DelegationStarted,
    Event,
    ModelCalled,
    ModelRetried,
    ToolCalled,
    ToolFinished,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnPaused,
    TurnResumed,
    TurnStarted,
)
from sestet.core.model import Usage
from sestet.core.record import to_json

_log = logging.getLogger(__name__)
#: The exporter's own logger repeats each failure; one warning of ours is enough.
_EXPORTER_LOGS = ("opentelemetry.exporter.otlp.proto.http", "opentelemetry.sdk")
_PATH = "/v1/traces"
#: Seconds for one try to reach the collector.
_PATIENCE = 2.0
_SECONDS_TO_CLOSE = 3.0
#: The types of providers that the conventions call by another name.
_PROVIDERS = {"google": "gcp.gemini"}

Value: TypeAlias = str | int | float | bool | Sequence[str]
Operation: TypeAlias = Literal["invoke_agent", "chat", "execute_tool"]


class QuietExporter(SpanExporter):
    """Sends spans on. A collector that cannot be reached is told once, and costs nothing but its spans."""

    def __init__(self, endpoint: str) -> None:
        self._exporter = OTLPSpanExporter(f"{endpoint.rstrip('/')}{_PATH}", timeout=_PATIENCE)
        self._is_down = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        done = self._exporter.export(spans)
        if done is SpanExportResult.SUCCESS:
            self._is_down = False
        elif not self._is_down:
            self._is_down = True
            _log.warning("no spans can be sent to telemetry.otlpEndpoint; they are left out until it answers")
        return done

    def shutdown(self) -> None:
        self._exporter.shutdown()


class _TurnSpans:
    """The open spans of one turn."""

    def __init__(self, turn: Span) -> None:
        self.turn = turn
        #: By delegation id.
        self.agents: dict[str, Span] = {}
        #: By call id.
        self.calls: dict[str, Span] = {}

    def of(self, event: Event) -> Span:
        """The span of the agent that caused an event."""
        return self.agents.get(event.delegation_id, self.turn)

    def end(self, at: int) -> None:
        """End what is still open, children first."""
        for span in (*self.calls.values(), *self.agents.values(), self.turn):
            span.end(at)


class Telemetry:
    """Makes spans from the events of every turn, and sends them in a thread of its own."""

    def __init__(self, settings: Settings, root: str) -> None:
        for name in _EXPORTER_LOGS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._root = root
        self._settings = settings
        self._content = settings.telemetry.content
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": "sestet"}), shutdown_on_exit=False
        )
        self._provider.add_span_processor(BatchSpanProcessor(QuietExporter(settings.telemetry.otlp_endpoint)))
        self._tracer = self._provider.get_tracer("sestet")
        #: By session, which has at most one turn at a time.
        self._turns: dict[str, _TurnSpans] = {}
        self._has_failed = False
        self._is_closed = False

    def read(self, event: Event) -> None:
        """Take one event of a turn. A failure here never reaches the turn."""
        try:
            self._read(event)
        except Exception:
            if not self._has_failed:
                self._has_failed = True
                _log.warning("a span could not be made", exc_info=True)

    def close(self) -> None:
        """Send what is left, for a short time at most."""
        if self._is_closed:
            return
        self._is_closed = True
        # The exporter waits between its tries, and its thread may hang on a collector that hangs.
        closing = threading.Thread(target=self._provider.shutdown, daemon=True)
        closing.start()
        closing.join(_SECONDS_TO_CLOSE)

    def _read(self, event: Event) -> None:
        session, at = event.stamp.session_id, _nanoseconds(event.stamp.at)
        if isinstance(event, TurnStarted | TurnResumed):
            if cut_off := self._turns.pop(session, None):
                cut_off.turn.set_status(Status(StatusCode.ERROR))
                cut_off.end(at)
            self._turns[session] = _TurnSpans(self._begin_turn(event, at))
            return
        spans = self._turns.get(session)
        if spans is None:
            return
        match event:
            case DelegationStarted():
                spans.agents[event.delegation_id] = self._begin_agent(
                    spans, event.delegation_id, event.agent, at
                )
                self._say(spans.agents[event.delegation_id], "gen_ai.input.messages", "user", event.request)
            case DelegationFinished():
                self._end_agent(spans, event, at)
            case ModelCalled():
                self._add_model_call(spans, event, at)
            case ModelRetried():
                spans.of(event).add_event("model_retried", {"error.type": event.failure}, at)
            case ToolCalled():
                spans.calls[event.call.id] = self._begin_call(spans, event, at)
            case ToolFinished():
                self._end_call(spans, event, at)
            case TurnFinished() | TurnFailed() | TurnCancelled() | TurnPaused():
                self._end_turn(spans, event, at)
                del self._turns[session]
            case _:
                pass

    def _begin_turn(self, event: TurnStarted | TurnResumed, at: int) -> Span:
        facts: dict[str, Value] = {
            "gen_ai.agent.name": self._root,
            "gen_ai.conversation.id": event.stamp.session_id,
            "sestet.turn.id": event.stamp.turn_id,
            "sestet.turn.resumed": isinstance(event, TurnResumed),
        }
        span = self._begin("invoke_agent", self._root, facts, at, None)
        if isinstance(event, TurnStarted):
            self._say(span, "gen_ai.input.messages", "user", event.text)
        return span

    def _begin_agent(self, spans: _TurnSpans, delegation_id: str, agent: str, at: int) -> Span:
        facts: dict[str, Value] = {"gen_ai.agent.name": agent, "sestet.delegation.id": delegation_id}
        return self._begin("invoke_agent", agent, facts, at, spans.turn)

    def _end_agent(self, spans: _TurnSpans, event: DelegationFinished, at: int) -> None:
        # A resumed turn does not repeat the beginning of its delegations.
        span = spans.agents.pop(event.delegation_id, None) or self._begin_agent(
            spans, event.delegation_id, event.agent, at
        )
        span.set_attributes({"sestet.outcome": event.outcome, **_usage(event.usage)})
        if event.outcome not in ("ok", "paused", "cancelled"):
            _fail(span, event.outcome)
        self._say(span, "gen_ai.output.messages", "assistant", event.text)
        span.end(at)

    def _add_model_call(self, spans: _TurnSpans, event: ModelCalled, at: int) -> None:
        facts: dict[str, Value] = {
            "gen_ai.provider.name": self._provider_of(event.author),
            "gen_ai.request.model": event.model,
            "gen_ai.response.model": event.model,
            "gen_ai.agent.name": event.author,
            "gen_ai.response.finish_reasons": ["tool_calls" if event.calls else "stop"],
            **_usage(event.usage),
        }
        began = at - round(event.milliseconds * 1e6)
        parent = self._parent(spans, event, began)
        span = self._begin("chat", event.model, facts, began, parent, SpanKind.CLIENT)
        self._say(span, "gen_ai.output.messages", "assistant", event.text)
        span.end(at)

    def _provider_of(self, agent: str) -> str:
        """The server of an agent's model, as the settings have it."""
        own = self._settings.agents.get(agent)
        name = (own and own.provider) or self._settings.agent.provider
        found = self._settings.providers.get(name)
        return _PROVIDERS.get(found.type, found.type) if found else name

    def _begin_call(self, spans: _TurnSpans, event: ToolCalled | ToolFinished, at: int) -> Span:
        facts: dict[str, Value] = {
            "gen_ai.tool.name": event.call.name,
            "gen_ai.tool.call.id": event.call.id,
            "gen_ai.tool.type": "function",
            "gen_ai.agent.name": event.author,
        }
        if self._content:
            facts["gen_ai.tool.call.arguments"] = to_json(event.call.arguments).decode()
        return self._begin("execute_tool", event.call.name, facts, at, self._parent(spans, event, at))

    def _end_call(self, spans: _TurnSpans, event: ToolFinished, at: int) -> None:
        # A refused call has no beginning.
        span = spans.calls.pop(event.call.id, None) or self._begin_call(spans, event, at)
        span.set_attribute("sestet.outcome", event.outcome)
        if event.outcome != "ok":
            _fail(span, event.outcome)
        if self._content:
            span.set_attribute("gen_ai.tool.call.result", event.text)
        span.end(at)

    def _end_turn(
        self, spans: _TurnSpans, event: TurnFinished | TurnFailed | TurnCancelled | TurnPaused, at: int
    ) -> None:
        span = spans.turn
        span.set_attribute("sestet.outcome", event.kind.removeprefix("turn_"))
        if not isinstance(event, TurnPaused):
            span.set_attributes(_usage(event.usage))
        if isinstance(event, TurnFailed):
            _fail(span, event.cause)
        if isinstance(event, TurnFinished | TurnFailed):
            self._say(span, "gen_ai.output.messages", "assistant", event.text)
        spans.end(at)

    def _parent(self, spans: _TurnSpans, event: Event, at: int) -> Span:
        """The span of the agent that works; a resumed turn does not repeat the beginning of a delegation."""
        place = event.delegation_id
        if place and place not in spans.agents:
            spans.agents[place] = self._begin_agent(spans, place, event.author, at)
        return spans.of(event)

    def _begin(
        self,
        operation: Operation,
        name: str,
        facts: Mapping[str, Value],
        at: int,
        parent: Span | None,
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> Span:
        return self._tracer.start_span(
            f"{operation} {name}",
            set_span_in_context(parent) if parent else None,
            kind,
            {"gen_ai.operation.name": operation, **facts},
            start_time=at,
        )

    def _say(self, span: Span, attribute: str, role: str, text: str) -> None:
        if self._content and text:
            message = {"role": role, "parts": [{"type": "text", "content": text}]}
            span.set_attribute(attribute, to_json([message]).decode())


def _fail(span: Span, why: str) -> None:
    # The words of a cause may hold content, so only its kind is sent.
    span.set_attribute("error.type", why)
    span.set_status(Status(StatusCode.ERROR))


def _usage(usage: Usage) -> dict[str, Value]:
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
    }


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)
