"""The keyboard while a turn runs: what is typed meanwhile waits for the next prompt, unechoed."""

import sys
import termios
from collections.abc import Generator
from contextlib import contextmanager

_LOCAL_FLAGS = 3


@contextmanager
def quiet_keyboard() -> Generator[None]:
    """No echo, so that neither ``^C`` nor typing ahead breaks the lines that are being drawn."""
    if not sys.stdin.isatty():
        yield
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    during = [*before]
    # Ctrl-C would also throw away what is on its way to the screen.
    during[_LOCAL_FLAGS] = (during[_LOCAL_FLAGS] & ~termios.ECHO) | termios.NOFLSH
    termios.tcsetattr(descriptor, termios.TCSANOW, during)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, before)
