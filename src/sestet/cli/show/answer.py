"""The end of a turn on the terminal: the answer, or why there is none."""

from typing import ClassVar

from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType, RenderResult
from rich.markdown import Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.text import Text

from sestet.cli.show.footer import usage_text
from sestet.core.clean import clean
from sestet.core.event import TurnCancelled, TurnFailed, TurnFinished
from sestet.core.words import duration
from sestet.services.turn_text import End, claim_warning, effects_text, last_words


def print_end(console: Console, end: End, *, markdown: bool, unfinished: str = "") -> None:
    """The last words of a turn. ``unfinished`` is the text that was streamed before it was stopped."""
    console.print()
    if isinstance(end, TurnFinished):
        print_answer(console, end.text, markdown=markdown)
        console.print()
        _print_foot(console, _facts(end))
        if warning := claim_warning(end):
            console.print(Text(warning, style="yellow"))
        return
    if unfinished.strip():
        console.print(Text(clean(unfinished).strip("\n"), style="dim"))
        console.print()
    style = "red" if isinstance(end, TurnFailed) else "yellow"
    console.print(Text(clean(last_words(end)), style=style))
    # An earlier version recorded neither time nor usage of a failed or stopped turn.
    if isinstance(end, TurnFailed | TurnCancelled) and end.milliseconds:
        console.print()
        _print_foot(console, _facts(end))
    elif effects := effects_text(end):
        _print_foot(console, effects)


def _print_foot(console: Console, text: str) -> None:
    """Indented, also where a narrow terminal wraps it."""
    console.print(Padding(Text(text, style="dim"), (0, 0, 0, 2), expand=False))


def print_answer(console: Console, text: str, *, markdown: bool) -> None:
    """An agent's answer, drawn as Markdown or as plain text."""
    if markdown:
        # Without hyperlinks the address stands beside its words: a link that hides its address is a trap.
        console.print(_Harmless(_Document(clean(text), code_theme="ansi_dark", hyperlinks=False)))
    else:
        console.print(Text(clean(text)))


def _facts(end: TurnFinished | TurnFailed | TurnCancelled) -> str:
    # A stopped turn is stamped with the person, who did no work in it.
    who = "" if isinstance(end, TurnCancelled) else end.author
    return " · ".join(filter(None, (who, _time(end.milliseconds), usage_text(end), effects_text(end))))


def _time(milliseconds: float) -> str:
    if milliseconds >= 60_000:
        return duration(milliseconds / 1000)
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds:.0f} ms"


class _LeftHeading(Heading):
    """An answer is no title page: its headings stand where its text stands."""

    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}


class _Document(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "heading_open": _LeftHeading}


class _Harmless:
    """Cleans the output of another renderable: Markdown turns ``&#8238;`` into the character itself."""

    def __init__(self, renderable: RenderableType) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._renderable, options):
            yield segment if segment.control else segment._replace(text=clean(segment.text))
