"""The events of a turn as events of AG-UI 1.0.

A delegation is a sub-agent, and everything that the specialist does carries its id. A question to the person
is an interrupt, which ends the run.
"""

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Any, ClassVar, NamedTuple, TypeAlias

from sestet.core.event import (
    AgentNudged,
    ApprovalDecided,
    ApprovalRequested,
    DelegationFinished,
    DelegationStarted,
    Event,
    MemoryRecalled,
    ModelCalled,
    ModelRetried,
    OutputStreamed,
    PriceUnknown,
    RequestRouted,
    TextStreamed,
    ToolCalled,
    ToolFinished,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnPaused,
    TurnSteered,
)
from sestet.core.message import ToolCall
from sestet.core.model import Usage
from sestet.core.record import as_builtins, to_json
from sestet.server.followed_turn import FollowedTurn, cut_off_text, open_questions
from sestet.services.sessions import event_values
from sestet.storage.journal import Journal
from sestet.storage.session_log import Placed

PROTOCOL_VERSION = "1.0"
#: Facts for which the protocol has no event of its own: CUSTOM, under their own name.
_CUSTOM = (
    AgentNudged,
    ApprovalDecided,
    MemoryRecalled,
    ModelRetried,
    OutputStreamed,
    PriceUnknown,
    RequestRouted,
    TurnSteered,
)
_RESPONSE_SCHEMA = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean"},
        "scope": {"type": "string", "enum": ["once", "session", "always"], "default": "once"},
    },
    "required": ["approved"],
}

Facts: TypeAlias = dict[str, Any]  # Any: JSON


class Run(NamedTuple):
    """The client's names for a run."""

    thread_id: str
    run_id: str
    parent_run_id: str | None = None


class _Message:
    """A text message that is open."""

    def __init__(self, message_id: str) -> None:
        self.id = message_id
        self.text = ""
        #: The model's reply is complete: the next piece is another message.
        self.is_whole = False


class RunEvents:
    """Writes one run."""

    def __init__(self, run: Run, turn: FollowedTurn, journal: Journal, answered: Collection[str]) -> None:
        """``answered``: the questions that this run answers; a run before has shown their calls."""
        self._run = run
        self._turn = turn
        self._journal = journal
        self._answered = answered
        #: The calls that the client knows, in this run or from the one before.
        self._shown: set[str] = set()
        self._known: set[str] = set()
        #: By delegation, or empty for the root agent.
        self._messages: dict[str, _Message] = {}
        #: The delegations whose sub-agents are open.
        self._at_work: set[str] = set()
        #: The last text of each agent's finished message.
        self._said: dict[str, str] = {}
        #: The questions of each delegation in this run.
        self._questions: dict[str, list[str]] = {}
        self._usage: dict[str, Usage] = {}

    def begin(self) -> bytes:
        if self._answered:
            asked = self._journal.events_of(self._turn.turn_id)
            self._known = {
                self._call_id(event.call)
                for event in asked
                if isinstance(event, ApprovalRequested) and event.approval_id in self._answered
            }
        facts = {"protocolVersion": PROTOCOL_VERSION, **self._names()}
        if self._run.parent_run_id:
            facts["parentRunId"] = self._run.parent_run_id
        return _event("RUN_STARTED", facts)

    def write(self, placed: Placed) -> bytes:
        event = placed.event
        writer = self._WRITERS.get(type(event))
        return self._introduced(event) + writer(self, event) if writer else b""

    def cut_off(self) -> bytes:
        return _event("RUN_ERROR", {"message": cut_off_text(self._turn), "code": "unavailable"})

    def _names(self) -> Facts:
        return {"threadId": self._run.thread_id, "runId": self._run.run_id}

    # Sub-agents

    def _subagent(self, delegation: str) -> str:
        return f"{self._turn.turn_id}-{delegation}"

    def _introduced(self, event: Event) -> bytes:
        """Open the sub-agent of an event. A resumed turn does not repeat what started its delegations."""
        delegation = event.delegation_id
        if (
            not delegation
            or delegation in self._at_work
            or isinstance(event, DelegationStarted | ApprovalDecided)
        ):
            return b""
        name = event.agent if isinstance(event, DelegationFinished) else event.author
        return self._open_subagent(event, delegation, name)

    def _open_subagent(self, event: Event, delegation: str, name: str, **facts: object) -> bytes:
        self._at_work.add(delegation)
        return self._at(
            event, "SUBAGENT_STARTED", subagentRunId=self._subagent(delegation), name=name, **facts
        )

    def _delegated(self, event: DelegationStarted) -> bytes:
        request = {"request": event.request, "round": event.round}
        ended = self._end_message("")
        return ended + self._open_subagent(
            event, event.delegation_id, event.agent, metadata={"sestet": request}
        )

    def _returned(self, event: DelegationFinished) -> bytes:
        delegation = event.delegation_id
        ended = self._end_message(delegation, event.text if event.outcome == "ok" else "")
        self._at_work.discard(delegation)
        facts: Facts = {"subagentRunId": self._subagent(delegation)}
        if event.outcome == "ok":
            facts |= {"result": event.text, "outcome": {"type": "success"}}
        elif event.outcome == "paused":
            facts["outcome"] = {"type": "suspended", "interruptIds": self._questions.get(delegation, [])}
        else:
            told = event.for_person or event.cause or event.outcome
            return ended + self._at(event, "SUBAGENT_ERROR", message=told, code=event.outcome, **facts)
        return ended + self._at(event, "SUBAGENT_FINISHED", **facts)

    # Texts

    def _streamed(self, event: TextStreamed) -> bytes:
        place = event.delegation_id
        message, written = self._messages.get(place), b""
        if message is not None and message.is_whole:
            written, message = self._end_message(place), None
        if message is None:
            message = self._messages[place] = _Message(f"{self._turn.turn_id}-{event.seq}")
            facts = {"messageId": message.id, "role": "assistant", "name": event.author}
            written += self._at(event, "TEXT_MESSAGE_START", **facts, **self._tag(event))
        message.text += event.text
        facts = {"messageId": message.id, "delta": event.text}
        return written + self._at(event, "TEXT_MESSAGE_CONTENT", **facts, **self._tag(event))

    def _replied(self, event: ModelCalled) -> bytes:
        self._usage[event.model] = self._usage.get(event.model, Usage()) + event.usage
        if message := self._messages.get(event.delegation_id):
            message.is_whole = True
        return b""

    def _end_message(self, place: str, whole: str = "") -> bytes:
        """Close the open message of an agent. ``whole``: its text, of which pieces may have been missed."""
        message = self._messages.pop(place, None)
        if message is None:
            return b""
        facts: Facts = {"messageId": message.id}
        if place:
            facts["subagentRunId"] = self._subagent(place)
        rest = whole[len(message.text) :] if whole.startswith(message.text) else ""
        self._said[place] = message.text + rest
        written = _event("TEXT_MESSAGE_CONTENT", {**facts, "delta": rest}) if rest else b""
        return written + _event("TEXT_MESSAGE_END", facts)

    # Calls

    def _call_id(self, call: ToolCall) -> str:
        return f"{self._turn.turn_id}-{call.id}"

    def _show_call(self, event: Event, call: ToolCall) -> bytes:
        call_id = self._call_id(call)
        if call_id in self._shown:
            return b""
        self._shown.add(call_id)
        written = self._end_message(event.delegation_id)
        tag = {"toolCallId": call_id, **self._tag(event)}
        written += self._at(event, "TOOL_CALL_START", toolCallName=call.name, **tag)
        # The client has the arguments of a call that an earlier run showed, and would add these to them.
        if call_id not in self._known:
            arguments = call.malformed or to_json(call.arguments).decode()
            written += self._at(event, "TOOL_CALL_ARGS", delta=arguments, **tag)
        return written + self._at(event, "TOOL_CALL_END", **tag)

    def _asked(self, event: ApprovalRequested) -> bytes:
        self._questions.setdefault(event.delegation_id, []).append(event.approval_id)
        return self._show_call(event, event.call)

    def _called(self, event: ToolCalled) -> bytes:
        return self._show_call(event, event.call)

    def _answered_call(self, event: ToolFinished) -> bytes:
        shown = self._show_call(event, event.call)
        call_id = self._call_id(event.call)
        facts: Facts = {
            "messageId": f"{call_id}-result",
            "toolCallId": call_id,
            "role": "tool",
            "content": event.for_person or event.text,
            "metadata": {"sestet": {"outcome": event.outcome}},
        }
        return shown + self._at(event, "TOOL_CALL_RESULT", **facts, **self._tag(event))

    # Ends

    def _finished(self, event: TurnFinished) -> bytes:
        written = self._end_message("", event.text)
        if event.text not in self._said.values():
            # Code wrote the text, or every piece of it was missed.
            message = {"messageId": f"{self._turn.turn_id}-{event.seq}"}
            start = {**message, "role": "assistant", "name": event.author}
            written += self._at(event, "TEXT_MESSAGE_START", **start)
            written += self._at(event, "TEXT_MESSAGE_CONTENT", **message, delta=event.text)
            written += self._at(event, "TEXT_MESSAGE_END", **message)
        result = {"text": event.text, "author": event.author, **self._result(event)}
        return written + self._end(event, {"type": "success"}, result)

    def _paused(self, event: TurnPaused) -> bytes:
        interrupts = [self._interrupt(asked) for asked in open_questions(self._journal, event)]
        return self._end(event, {"type": "interrupt", "interrupts": interrupts}, self._result(event))

    def _interrupt(self, asked: ApprovalRequested) -> Facts:
        arguments = to_json(asked.call.arguments).decode()
        details = {"tool": asked.call.name, "arguments": asked.call.arguments, "sources": asked.sources}
        if asked.changes:
            details["changes"] = as_builtins(asked.changes)
        return {
            "id": asked.approval_id,
            "reason": "sestet.approval",
            "message": f"{asked.author} wants to call {asked.call.name} with {arguments}: {asked.reason}",
            "toolCallId": self._call_id(asked.call),
            "responseSchema": _RESPONSE_SCHEMA,
            "expiresAt": datetime.fromtimestamp(asked.expires_at, UTC).isoformat(),
            "metadata": {"sestet": details},
            **({"subagentRunId": self._subagent(asked.delegation_id)} if asked.delegation_id else {}),
        }

    def _cancelled(self, event: TurnCancelled) -> bytes:
        return self._end(event, {"type": "cancelled"}, self._result(event))

    def _failed(self, event: TurnFailed) -> bytes:
        facts = {"message": event.text, "code": event.cause, **self._used()}
        return self._close_all() + self._at(event, "RUN_ERROR", **facts)

    def _result(self, event: Event) -> Facts:
        effects = getattr(event, "effects", None)
        place = {"session": self._turn.session_id, "turn": self._turn.turn_id}
        return {**place, "effects": as_builtins(effects) if effects else None}

    def _end(self, event: Event, outcome: Facts, result: Facts) -> bytes:
        facts = {**self._names(), "outcome": outcome, "result": result, **self._used()}
        return self._close_all() + self._at(event, "RUN_FINISHED", **facts)

    def _close_all(self) -> bytes:
        """Close what the turn has left open, such as the delegations of a cancelled one."""
        written = b"".join(self._end_message(place) for place in list(self._messages))
        for delegation in sorted(self._at_work):
            facts = {
                "subagentRunId": self._subagent(delegation),
                "message": "the turn ended",
                "code": "cancelled",
            }
            written += _event("SUBAGENT_ERROR", facts)
        self._at_work.clear()
        return written

    def _used(self) -> Facts:
        """The tokens of this run; a run that goes on with a turn counts only its own."""
        return (
            {"usage": [_usage(model, usage) for model, usage in self._usage.items()]} if self._usage else {}
        )

    # Everything else

    def _custom(self, event: Event) -> bytes:
        return self._at(
            event, "CUSTOM", name=f"sestet.{event.kind}", value=event_values(event), **self._tag(event)
        )

    def _tag(self, event: Event) -> Facts:
        delegation = event.delegation_id
        return {"subagentRunId": self._subagent(delegation)} if delegation in self._at_work else {}

    def _at(self, event: Event, kind: str, **facts: object) -> bytes:
        return _event(kind, {"timestamp": int(event.stamp.at * 1000), **facts})

    #: How each kind of event is written; other kinds are not shown.
    _WRITERS: ClassVar[dict[type[Event], Callable[["RunEvents", Any], bytes]]] = {
        DelegationStarted: _delegated,
        DelegationFinished: _returned,
        TextStreamed: _streamed,
        ModelCalled: _replied,
        ApprovalRequested: _asked,
        ToolCalled: _called,
        ToolFinished: _answered_call,
        TurnFinished: _finished,
        TurnPaused: _paused,
        TurnCancelled: _cancelled,
        TurnFailed: _failed,
        **dict.fromkeys(_CUSTOM, _custom),
    }


def _usage(model: str, usage: Usage) -> Facts:
    return {
        "model": model,
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "totalTokens": usage.input_tokens + usage.output_tokens,
        "cachedInputTokens": usage.cached_tokens,
    }


def _event(kind: str, facts: Facts) -> bytes:
    return b"data: %s\n\n" % to_json({"type": kind, **facts})
