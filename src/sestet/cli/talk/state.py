"""A conversation at a terminal: the assistant, the session that is open, and where it is shown."""

from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from sestet.app import App
from sestet.cli.show.clean import clean
from sestet.models.offline import OfflineModel


@dataclass(slots=True)
class Talk:
    app: App
    console: Console
    session_id: str

    @property
    def markdown(self) -> bool:
        """The built-in model repeats what tools returned, and a listing is no Markdown."""
        return not isinstance(self.app.model, OfflineModel)

    def note(self, text: str, style: str = "dim") -> None:
        """A remark of the program, apart from what agents say."""
        self.console.print(Text(clean(text), style=style))
