"""A conversation at a terminal: the assistant, the open session, the console, and the person."""

from dataclasses import dataclass, field
from typing import Protocol

from rich.console import Console
from rich.text import Text

from sestet.app import App
from sestet.cli.show.history import print_recalled
from sestet.core.clean import clean
from sestet.models.offline import OfflineModel
from sestet.services.sessions import TurnRow, read_turns

_RECALLED_TURNS = 3


class Person(Protocol):
    """The person at the terminal. ``None`` means that they want to leave the question."""

    async def write(self) -> str | None:
        """A message or a command."""
        ...

    def take_back(self) -> None:
        """The person stopped a turn: what they typed meanwhile is not sent, and they may edit it."""
        ...

    async def choose(self, prompt: str) -> str | None:
        """An answer to a question that has just been shown; keys pressed before it do not count."""
        ...


@dataclass(slots=True)
class Talk:
    app: App
    console: Console
    session_id: str
    #: The unfinished turns as they were last numbered for the person.
    offered: list[TurnRow] = field(default_factory=list[TurnRow])

    @property
    def is_builtin(self) -> bool:
        """Whether the built-in model answers: it repeats what tools return, and a listing is no Markdown."""
        return isinstance(self.app.model, OfflineModel)

    def note(self, text: str, style: str = "dim") -> None:
        """A remark of the program, apart from the agents' answers."""
        self.console.print(Text(clean(text), style=style))

    def recall(self) -> None:
        """Show the last messages and answers of the session."""
        print_recalled(self.console, read_turns(self.app.journal, self.session_id, _RECALLED_TURNS))
