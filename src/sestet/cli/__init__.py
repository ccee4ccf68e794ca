"""The command line: one file for each command, loaded when it is run; ``program.py`` has the table."""

import os
import sys
from io import TextIOWrapper

from sestet.cli.options import ExitCode
from sestet.cli.program import build_program, put_config_first
from sestet.cli.show.console import break_lines, width_of
from sestet.core.clean import clean
from sestet.core.errors import ConfigError, PersonError
from sestet.core.masking import mask_addresses

_INDENT = " " * len("sestet: ")
_NARROWEST = 20


def main() -> None:
    """Run the program; an error that is meant for the person is one message, never a stack trace."""
    _prepare_streams()
    try:
        build_program()(put_config_first(sys.argv[1:]), prog_name="sestet")
    except KeyboardInterrupt:
        # While the shell asks for completions: everywhere else the commands catch it.
        sys.exit(ExitCode.STOPPED)
    except PersonError as error:
        _complain(str(error))
        sys.exit(ExitCode.MISTAKE if isinstance(error, ConfigError) else ExitCode.FAILED)
    except OSError as error:
        # The disk is full or the directory is gone: that is no bug, so a stack trace would not help.
        _complain(f"the system says: {error}")
        # Python flushes its buffers when it exits, and would fail on the same error again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(ExitCode.FAILED)


def _prepare_streams() -> None:
    """Neither a stray byte in a pipe nor a closed or poor terminal may end a conversation."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream: object = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _complain(text: str) -> None:
    lines = clean(mask_addresses(text)).splitlines() or ["something is wrong"]
    if sys.stderr.isatty():
        width = max(width_of(sys.stderr) - len(_INDENT), _NARROWEST)
        lines = [part for line in lines for part in break_lines(line, width) or [""]]
    sys.stderr.write("\n".join([f"sestet: {lines[0]}", *(f"{_INDENT}{line}" for line in lines[1:])]) + "\n")
