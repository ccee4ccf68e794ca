"""The questions of ``sestet setup``: a line, a hidden line, and one of many names."""

from collections.abc import Mapping, Sequence

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import DummyHistory
from rich.console import Console
from rich.text import Text

from sestet.cli.show.console import print_table
from sestet.cli.show.history import PROMPT
from sestet.core.clean import clean

BACK = "0"
_NEXT, _PREVIOUS = "+", "-"
#: The lines of a page of names, and the lines that the screen needs beside them.
_MOST_ROWS, _LEAST_ROWS, _OTHER_ROWS = 20, 5, 10


class LeftError(Exception):
    """The person pressed Ctrl-C or Ctrl-D: they want to leave."""


def ask(question: str, *, hidden: bool = False) -> str:
    """What the person writes; ``hidden`` shows a star for each character."""
    # Without a history: an answer may be a key.
    session: PromptSession[str] = PromptSession(history=DummyHistory())
    prompt = FormattedText([("", question), ("bold ansicyan", PROMPT)])
    try:
        return session.prompt(prompt, is_password=hidden).strip()
    except (EOFError, KeyboardInterrupt):
        raise LeftError from None


def note(console: Console, text: str, style: str = "dim") -> None:
    console.print(Text(clean(text), style=style))


def pick(
    console: Console,
    what: str,
    names: Sequence[str],
    default: str = "",
    notes: Mapping[str, str] | None = None,
    *,
    others: bool = True,
) -> str:
    """One of the names, or another one that the person writes; empty: they go back.

    ``default`` is what Enter takes; ``notes`` stand beside the names; ``others``: another name is possible.
    """
    shown, start, usual = list(names), 0, default
    while True:
        size = min(_MOST_ROWS, max(_LEAST_ROWS, console.height - _OTHER_ROWS))
        _print_page(console, what, shown[start : start + size], notes or {}, (start, len(shown)))
        note(console, _hint(len(shown), size))
        said = ask(f"Which? Enter: {default} " if default else "Which? ") or default
        if said == BACK:
            if len(shown) == len(names):
                return ""
            shown, start, default = list(names), 0, usual
        elif said in (_NEXT, _PREVIOUS):
            step = size if said == _NEXT else -size
            start = start + step if 0 <= start + step < len(shown) else start
        elif said.isdecimal() and 1 <= int(said) <= len(shown):
            return shown[int(said) - 1]
        elif said in names or (said and said == default):
            return said
        elif same := [name for name in names if name.casefold() == said.casefold()]:
            return same[0]
        elif found := _filtered(names, said):
            shown, start, default = found, 0, found[0]
        elif said and others and not names:
            # The vendor did not list its models, so there is nothing to compare the name with.
            return said
        elif said and not others:
            note(console, f"'{said}' is not in this list.", "yellow")
        elif said:
            note(console, f"No name has '{said}' in it. Press Enter to try it all the same.", "yellow")
            default = said


def _filtered(names: Sequence[str], said: str) -> list[str]:
    words = said.lower().split()
    return [name for name in names if all(word in name.lower() for word in words)] if words else []


def _print_page(
    console: Console, what: str, page: Sequence[str], notes: Mapping[str, str], place: tuple[int, int]
) -> None:
    """The names of one page; ``place`` is the number of names before them, and of all."""
    before, total = place
    part = f" ({before + 1} to {before + len(page)} of {total})" if len(page) < total else ""
    note(console, f"\n{what}{part}\n", "bold")
    cells = [
        (Text(f"{number:>3}", style="bold cyan"), Text(clean(name)), Text(notes.get(name, ""), style="dim"))
        for number, name in enumerate(page, before + 1)
    ]
    print_table(console, cells)
    if cells:
        console.print()


def _hint(number: int, size: int) -> str:
    if not number:
        return f"The list is not known: write the name of one. {BACK} goes back."
    pages = f"{_NEXT} {_PREVIOUS} turn the page; " if number > size else ""
    return f"Number, name, or part of a name to look for; {pages}{BACK} goes back."
