"""Long lines at a terminal: help, mistakes and prompts break between words, and nothing is cut."""

import re

import pytest
from typer.core import TyperGroup

from scripts.generate_docs import iter_commands
from tests.cli.conftest import Call
from tests.cli.program import Home

GROUPS = [command.words for command in iter_commands() if isinstance(command.node, TyperGroup)]
#: Of the pseudo-terminal.
_WIDTH = 100


@pytest.mark.parametrize("words", GROUPS)
def test_the_help_of_a_group_has_the_whole_sentence_of_each_command(words: str, call: Call) -> None:
    shown = call(*words.split()[1:], "--help").out.partition("Commands:")[2]

    assert shown.strip()
    assert "..." not in shown


@pytest.mark.parametrize("words", ["sessions", "agents", "tools", "approvals"])
def test_a_group_that_lists_by_itself_says_so_when_list_is_asked_of_it(words: str, call: Call) -> None:
    done = call(words, "list")

    assert done.code == 2
    assert f"No such command 'list': 'sestet {words}' alone shows the list." in done.err


def test_a_long_mistake_on_the_command_line_breaks_between_words(home: Home) -> None:
    with home.terminal("knowledge", "save", "tea", "hot", "--category", "nourishment") as terminal:
        assert terminal.wait() == 2
        lines = terminal.raw.splitlines()

    assert max(map(len, lines)) <= _WIDTH
    whole = "'nourishment' is not one of 'fact', 'note', 'document', 'procedure'."
    assert whole in " ".join(lines)


@pytest.mark.parametrize("command", [("prompt",), ("route", "--light", "remember that I like tea")])
def test_a_prompt_at_a_terminal_breaks_between_words(home: Home, command: tuple[str, ...]) -> None:
    piped = home.run(*command).stdout
    with home.terminal(*command) as terminal:
        assert terminal.wait() == 0
        shown = re.sub(r"\x1b\[[\d;]*m", "", terminal.raw)

    assert max(map(len, shown.splitlines())) <= _WIDTH
    assert shown.split() == piped.split()
    assert max(map(len, piped.splitlines())) > _WIDTH
