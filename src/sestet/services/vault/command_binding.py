"""Commands as destinations of a secret: the patterns that name them, and whether a command line fits one."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from sestet.core.errors import VaultError
from sestet.services.commands.command_line import sole_command

#: The descriptor from which a command reads its secret.
DESCRIPTOR = 3
_WILD = re.compile(r"[*?\[\]]")
#: A last word of a pattern that fits all further words of a command.
_REST = "*"


def command_pattern(text: str) -> str:
    """A pattern in one spelling: a program, then one word for each argument.

    The program stands as it is: an agent could write one that fits a wildcard, or one in the workspace.
    """
    words = text.split()
    if not words:
        raise VaultError("an empty pattern fits no command; name one, such as 'curl *'")
    program = words[0]
    if _WILD.search(program) or ("/" in program and not program.startswith("/")):
        raise VaultError(
            f"'{text}' must begin with a program of this computer, such as 'curl' or '/usr/bin/curl', "
            "without wildcards: an agent can change the files of the workspace"
        )
    return " ".join(words)


def words_for(name: str, patterns: Sequence[str], command: str) -> list[str]:
    """The words of a command line that may have the secret; anything else is a ``VaultError``."""
    part = sole_command(command)
    if part is None:
        raise VaultError(
            f"'{name}' goes to one plain command alone: no pipe, no list, no redirect, no variable or "
            "pattern that the shell would replace"
        )
    words = [part.name, *(word.text for word in part.arguments)]
    if not any(_fits(words, pattern.split(" ")) for pattern in patterns):
        allowed = ", ".join(f"'{pattern}'" for pattern in patterns) or "no command"
        raise VaultError(
            f"'{name}' may not go to this command: it is bound to {allowed}; "
            f"'sestet secrets bind {name} --to-command PATTERN' changes that"
        )
    return words


def _fits(words: Sequence[str], pattern: Sequence[str]) -> bool:
    """Word by word: a wildcard never reaches into the next argument, such as another address."""
    if words[0] != pattern[0]:
        return False
    if pattern[-1] == _REST and len(pattern) > 1:
        pattern = pattern[:-1]
        words = words[: len(pattern)]
    return len(words) == len(pattern) and all(map(fnmatchcase, words, pattern))
