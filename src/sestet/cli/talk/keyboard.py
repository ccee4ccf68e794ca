"""The keyboard: the line on which the person writes, and what they type while a turn runs."""

import os
import sys
import termios
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

import typer
from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import DummyHistory, FileHistory
from prompt_toolkit.input.typeahead import clear_typeahead, get_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.utils import is_dumb_terminal

from sestet.cli.show.history import PROMPT
from sestet.core.clean import clean

HISTORY_NAME = "history"
_AGAIN = "Ctrl-C again to leave"
#: The places of the local flags and the control characters in the list that termios gives.
_LOCAL_FLAGS, _CHARACTERS = 3, 6
_MOST_TYPED = 65_536


class _CleanHistory(FileHistory):
    """The lines of earlier conversations, without the vault's values."""

    def __init__(self, file: Path, clean: Callable[[str], str]) -> None:
        super().__init__(file)
        self._clean = clean

    def store_string(self, string: str) -> None:
        super().store_string(self._clean(string))


class PromptLine:
    """Asks for a line or a choice; ``None`` means that the person wants to leave."""

    def __init__(
        self, directory: Path, words: Iterable[str], clean: Callable[[str], str] = lambda text: text
    ) -> None:
        """``clean`` takes secrets out of a line before the file of the history gets it."""
        self._leaving = False
        #: What the person typed before they stopped a turn.
        self._typed = ""
        self._session: PromptSession[str] = PromptSession(
            FormattedText([("bold ansicyan", PROMPT)]),
            history=_CleanHistory(_private_file(directory / HISTORY_NAME), clean),
            completer=WordCompleter(list(words), sentence=True),
            complete_while_typing=False,
            auto_suggest=AutoSuggestFromHistory(),
            key_bindings=self._keys(),
            rprompt=self._hint,
        )
        self._choice: PromptSession[str] = PromptSession(history=DummyHistory())
        self._session.default_buffer.on_text_changed += self._stay

    async def write(self) -> str | None:
        self._leaving = False
        typed, self._typed = self._typed, ""
        if typed and is_dumb_terminal():
            # Such a terminal cannot show a line that is begun already.
            typer.echo(f"not sent: {typed}")
            typed = ""
        while True:
            try:
                return await self._session.prompt_async(default=typed)
            except EOFError:
                return None
            except KeyboardInterrupt:
                # A dumb terminal knows only its own Ctrl-C, and not the keys below.
                if self._leaving or not is_dumb_terminal():
                    return None
                self._leaving = True
                typer.echo(_AGAIN)
                typed = ""

    def take_back(self) -> None:
        """What was typed while a turn ran stands in the next line, to be edited, and is not sent."""
        keys = "".join(press.data for press in get_typeahead(self._session.app.input))
        self._typed = clean(keys + read_pending()).strip()

    async def choose(self, prompt: str) -> str | None:
        """Keys pressed before the question was shown do not answer it."""
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        clear_typeahead(self._choice.app.input)
        try:
            return await self._choice.prompt_async(
                FormattedText([("bold", prompt), ("bold ansiyellow", PROMPT)])
            )
        except (EOFError, KeyboardInterrupt):
            return None

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("c-c")
        def interrupt(event: KeyPressEvent) -> None:
            if self._leaving:
                self._leaving = False
                event.app.exit(exception=KeyboardInterrupt, style="class:aborting")
                return
            event.current_buffer.reset()
            self._leaving = True

        return keys

    def _hint(self) -> FormattedText:
        return FormattedText([("ansibrightblack", _AGAIN)] if self._leaving else [])

    def _stay(self, _: Buffer) -> None:
        self._leaving = False


def _private_file(path: Path) -> Path:
    """The history is private: only its owner can read it."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    path.chmod(0o600)
    return path


@contextmanager
def quiet_keyboard() -> Generator[None]:
    """Switch the echo off, so that neither ``^C`` nor typing ahead breaks the lines that are being drawn."""
    if not sys.stdin.isatty():
        yield
        return
    # Without NOFLSH, Ctrl-C would also discard output that is on its way to the screen.
    with _local_flags(off=termios.ECHO, on=termios.NOFLSH):
        yield


def read_pending() -> str:
    """What was typed and not read yet, also a line without its end."""
    if not sys.stdin.isatty():
        return ""
    with _local_flags(off=termios.ICANON | termios.ECHO):
        return os.read(sys.stdin.fileno(), _MOST_TYPED).decode(errors="ignore")


@contextmanager
def _local_flags(off: int, on: int = 0) -> Generator[None]:
    """The terminal with other local flags; a read outside of canonical mode does not wait."""
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    during = [*before]
    during[_LOCAL_FLAGS] = (during[_LOCAL_FLAGS] & ~off) | on
    during[_CHARACTERS] = [*before[_CHARACTERS]]
    if off & termios.ICANON:
        during[_CHARACTERS][termios.VMIN] = during[_CHARACTERS][termios.VTIME] = 0
    termios.tcsetattr(descriptor, termios.TCSANOW, during)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, before)
