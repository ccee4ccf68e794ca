"""The keyboard: the line on which the person writes, and no echo while a turn runs."""

import os
import sys
import termios
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import DummyHistory, FileHistory
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from sestet.cli.show.history import PROMPT

HISTORY_NAME = "history"
#: The place of the local flags in the list that termios gives.
_LOCAL_FLAGS = 3


class PromptLine:
    """Asks for a line or a choice; ``None`` means that the person wants to leave."""

    def __init__(self, directory: Path, words: Iterable[str]) -> None:
        self._leaving = False
        self._session: PromptSession[str] = PromptSession(
            FormattedText([("bold ansicyan", PROMPT)]),
            history=FileHistory(_private_file(directory / HISTORY_NAME)),
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
        try:
            return await self._session.prompt_async()
        except (EOFError, KeyboardInterrupt):
            return None

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
        return FormattedText([("ansibrightblack", "Ctrl-C again to leave")] if self._leaving else [])

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
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    during = [*before]
    # Else Ctrl-C would also discard output that is on its way to the screen.
    during[_LOCAL_FLAGS] = (during[_LOCAL_FLAGS] & ~termios.ECHO) | termios.NOFLSH
    termios.tcsetattr(descriptor, termios.TCSANOW, during)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, before)
