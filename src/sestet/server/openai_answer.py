"""A turn as one growing answer, for clients that know nothing but text."""

from typing import Any

from sestet.core.event import (
    DelegationStarted,
    Event,
    ModelCalled,
    TextStreamed,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnPaused,
)
from sestet.core.model import Usage
from sestet.core.record import as_builtins, to_json
from sestet.server.followed_turn import open_questions
from sestet.server.openai_request import OpenAIError
from sestet.storage.journal import Journal

_BETWEEN = "\n\n"


class Answer:
    """Reads the events of a turn; ``text`` is what was told of them so far."""

    def __init__(self, journal: Journal) -> None:
        self.text = ""
        self.usage = Usage()
        #: Why there is no answer; None: the turn finished or waits for a decision.
        self.error: OpenAIError | None = None
        self.end: Event | None = None
        self._journal = journal
        #: Delegations whose text becomes the answer of the turn.
        self._replies: set[str] = set()
        #: Delegations since the last reply of the orchestrator's model.
        self._delegated: set[str] = set()
        #: The reply that is being told, and whether it is whole.
        self._reply = ""
        self._is_whole = False

    def add(self, event: Event) -> str:
        """The next piece of the answer; often empty."""
        piece = self._piece(event)
        self.text += piece
        return piece

    def _piece(self, event: Event) -> str:
        match event:
            case DelegationStarted():
                self._delegated.add(event.delegation_id)
                if event.reply:
                    self._replies.add(event.delegation_id)
            case TextStreamed() if self._is_of_answer(event):
                return self._told(event.text)
            case ModelCalled():
                self.usage += event.usage
                self._is_whole = True
                if not event.delegation_id:
                    self._delegated.clear()
            case TurnFinished():
                self.end = event
                return self._rest(event.text)
            case TurnPaused():
                self.end = event
                return self._rest(_questions(self._journal, event))
            case TurnFailed():
                self.end = event
                self.error = OpenAIError(event.text, "server_error", None, event.cause)
            case TurnCancelled():
                self.end = event
                self.error = OpenAIError("the turn was cancelled", "server_error", None, "cancelled")
            case _:
                pass
        return ""

    def _is_of_answer(self, event: TextStreamed) -> bool:
        # Two texts at once cannot be read.
        return not event.delegation_id or (event.delegation_id in self._replies and len(self._delegated) == 1)

    def _told(self, text: str) -> str:
        if self._is_whole:
            self._reply, self._is_whole = "", False
        between = _BETWEEN if self.text and not self._reply else ""
        self._reply += text
        return between + text

    def _rest(self, whole: str) -> str:
        """What is missing of the final text. Pieces that were folded before they were read are in it."""
        if self._reply and whole.startswith(self._reply):
            return whole[len(self._reply) :]
        return (_BETWEEN if self.text else "") + whole


def turn_facts(end: Event) -> dict[str, Any]:  # Any: JSON
    """What standard clients do not read: the session, the turn and its effects."""
    effects = getattr(end, "effects", None)
    return {
        "session": end.stamp.session_id,
        "turn": end.stamp.turn_id,
        "outcome": end.kind.removeprefix("turn_"),
        "author": end.author,
        "effects": as_builtins(effects) if effects else None,
        "approvals": list(end.waiting_for) if isinstance(end, TurnPaused) else [],
    }


def _questions(journal: Journal, paused: TurnPaused) -> str:
    lines = ["Sestet waits for your decision before it goes on:"]
    for asked in open_questions(journal, paused):
        arguments = to_json(asked.call.arguments).decode()
        approval = asked.approval_id
        lines += [
            f"- `{asked.call.name}` with {arguments}: {asked.reason}\n"
            f"  approve: `sestet approvals approve {approval}`, deny: `sestet approvals deny {approval}`\n"
            f'  or over HTTP: `POST /api/approvals/{approval}` with `{{"decision": "approve"}}` or `"deny"`'
        ]
    stamp = paused.stamp
    lines.append(f"The answer then follows in the session '{stamp.session_id}', turn '{stamp.turn_id}'.")
    return "\n".join(lines)
