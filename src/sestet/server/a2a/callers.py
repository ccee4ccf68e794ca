"""Who asks over A2A: the sessions of each caller, which nobody else can name, and how much each may use."""

import os
import time
from hashlib import sha256

from a2a.types import Message
from a2a.utils.errors import (
    ContentTypeNotSupportedError,
    InvalidParamsError,
    TaskNotFoundError,
    UnsupportedOperationError,
)

from sestet.core.record import Record
from sestet.services.sessions import CALLERS
from sestet.services.tokens import TokenRow
from sestet.storage.callers import CallerStore, CallerTurn

_DAY = 24 * 3600.0
_LONGEST_CONTEXT = 200


class CallerLimits(Record):
    """What one caller may use."""

    characters: int = 32_000
    conversations_a_day: int = 500
    tasks_in_conversation: int = 200
    #: Tasks that wait, run or are paused.
    open_tasks: int = 16


class Callers:
    def __init__(self, store: CallerStore, limits: CallerLimits) -> None:
        self._store = store
        self._limits = limits

    def turn(self, token: TokenRow, turn_id: str) -> CallerTurn:
        """A task of this caller; raise if there is none, also if it is somebody else's."""
        found = self._store.turn(token.id, turn_id) if turn_id else None
        if found is None:
            raise TaskNotFoundError
        return found

    def session_for(self, token: TokenRow, message: Message) -> str:
        """The caller's session for a message, a new one if need be; raise if the caller uses too much."""
        if message.task_id:
            self._refuse_more_words(token, message)
        context_id = message.context_id or _context_of(token, message.message_id)
        if len(context_id) > _LONGEST_CONTEXT:
            raise InvalidParamsError(f"a context id has at most {_LONGEST_CONTEXT} characters")
        limits, session_id = self._limits, self._store.session_of(token.id, context_id)
        if session_id and self._store.has_message(session_id, message.message_id):
            return session_id
        if self._store.open_turns(token.id) >= limits.open_tasks:
            raise UnsupportedOperationError(
                f"{limits.open_tasks} of your tasks are open; wait for one of them, or cancel it"
            )
        if session_id is None:
            return self._new_session(token, context_id)
        if self._store.turns_in(session_id) >= limits.tasks_in_conversation:
            raise UnsupportedOperationError(
                f"this context has had {limits.tasks_in_conversation} tasks; begin another context"
            )
        return session_id

    def text_of(self, message: Message) -> str:
        """The words of a message; raise if it has something else, or too many."""
        for part in message.parts:
            if not part.HasField("text"):
                raise ContentTypeNotSupportedError("only text can be read")
        text = "\n".join(part.text for part in message.parts)
        if not text.strip():
            raise InvalidParamsError("the message is empty")
        if len(text) > self._limits.characters:
            raise InvalidParamsError(
                f"the message has {len(text):,} characters, and the most is {self._limits.characters:,}"
            )
        return text

    def _refuse_more_words(self, token: TokenRow, message: Message) -> None:
        task = self.turn(token, message.task_id)
        if message.context_id and message.context_id != task.context_id:
            raise InvalidParamsError("the task belongs to another context")
        raise UnsupportedOperationError(
            "a task takes no further messages; send a new one with the context of the task alone"
        )

    def _new_session(self, token: TokenRow, context_id: str) -> str:
        now, most = time.time(), self._limits.conversations_a_day
        if self._store.sessions_since(token.id, now - _DAY) >= most:
            raise UnsupportedOperationError(f"you have begun {most} contexts within a day; use one of them")
        session_id = f"{CALLERS}{os.urandom(8).hex()}"
        self._store.add_session(session_id, token.id, context_id, now)
        return session_id


def _context_of(token: TokenRow, message_id: str) -> str:
    """The same message sent again without a context is in the same one, and so the same task."""
    return sha256(f"{token.id} {message_id}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
