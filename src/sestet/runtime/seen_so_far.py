"""What the model of one agent has been shown in a turn, since its start or its last resume."""

from typing import Protocol

from sestet.core.message import Message


class ShownTurn(Protocol):
    """An earlier turn as messages."""

    @property
    def number(self) -> int: ...

    @property
    def messages(self) -> tuple[Message, ...]: ...


class SeenSoFar:
    """Remembers what was told, so that each call records only what is new."""

    __slots__ = ("answers", "asked", "called", "log_read", "messages", "replies", "routed", "told")

    def __init__(self) -> None:
        #: The texts of the answers that the journal has, by call.
        self.answers: dict[str, str] = {}
        #: The calls of delegations, by delegation.
        self.called: dict[str, str] = {}
        #: How many events of the turn were searched for answers.
        self.log_read = 0
        #: Code made the first call of the turn.
        self.routed = False
        self.start(None)

    def start(self, messages: list[Message] | None) -> None:
        """Tell the whole context anew, which is this list."""
        self.messages = messages
        #: How many messages were told, and how many replies among them.
        self.told = self.replies = 0
        #: The request was told.
        self.asked = False
