"""A conversation at a terminal: the assistant, the session that is open, and where it is shown."""

from dataclasses import dataclass, field
from typing import Protocol

from rich.console import Console
from rich.text import Text

from sestet.app import App
from sestet.cli.show.clean import clean
from sestet.models.offline import OfflineModel
from sestet.storage.journal import TurnRow


class Person(Protocol):
    """Who sits at the terminal. ``None`` is their wish to leave what they were asked."""

    async def write(self) -> str | None:
        """A message or a command."""
        ...

    async def choose(self, prompt: str) -> str | None:
        """An answer to a question that has just been shown; nothing typed before it counts."""
        ...


@dataclass(slots=True)
class Talk:
    app: App
    console: Console
    session_id: str
    #: The unfinished turns as they were last numbered for the person.
    offered: list[TurnRow] = field(default_factory=list[TurnRow])

    @property
    def markdown(self) -> bool:
        """The built-in model repeats what tools returned, and a listing is no Markdown."""
        return not isinstance(self.app.model, OfflineModel)

    def note(self, text: str, style: str = "dim") -> None:
        """A remark of the program, apart from what agents say."""
        self.console.print(Text(clean(text), style=style))
