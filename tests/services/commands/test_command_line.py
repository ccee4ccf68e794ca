"""A command line is read as a shell reads it."""

import pytest

from sestet.services.commands.command_line import read_command_line
from sestet.services.commands.shell_words import Word


def names(text: str) -> list[str]:
    return [part.name for part in read_command_line(text).parts]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ls -la", ["ls"]),
        ("cd src && ls; wc -l *.py | sort", ["cd", "ls", "wc", "sort"]),
        ("echo $(date) `id`", ["echo", "date", "id"]),
        ('echo "today is $(date)"', ["echo", "date"]),
        ("diff <(sort a) <(sort b)", ["diff", "sort", "sort"]),
        ("for f in *; do cat $f; done", ["cat"]),
        ("if grep -q x y; then rm y; else touch y; fi", ["grep", "rm", "touch"]),
        ("while read line; do echo $line; done < list", ["read", "echo"]),
        ("(cd /tmp; ls) & wait", ["cd", "ls", "wait"]),
        ("f() { rm x; }; f", ["rm", "f"]),
        ("cat <<EOF\n$(whoami)\nEOF", ["cat", "whoami"]),
        ("x=$(rm y)", ["rm"]),
        ("! true", ["true"]),
        ("ls\nrm x", ["ls", "rm"]),
        ("ls # rm x", ["ls"]),
        ("echo 'rm x; $(rm y)'", ["echo"]),
        ("case $x in a) rm a;; esac", ["rm"]),
        ("coproc cat", ["coproc"]),
    ],
)
def test_every_command_of_a_line_is_found(text: str, found: list[str]) -> None:
    assert names(text) == found


@pytest.mark.parametrize("text", ["rm", "\\rm", "'rm'", '"rm"', "r'm'", 'r"m"', "r\\m"])
def test_quotes_and_backslashes_do_not_hide_a_name(text: str) -> None:
    assert names(f"{text} x") == ["rm"]


@pytest.mark.parametrize("text", ["$x", "${x}y", "$(echo rm)", "`echo rm`", "r*", "$'rm'", '"$x"'])
def test_a_name_that_only_the_shell_knows_is_not_guessed(text: str) -> None:
    assert read_command_line(f"{text} x").parts[0].name == ""


def test_arguments_lose_their_quotes_and_tell_whether_the_shell_replaces_them() -> None:
    (part,) = read_command_line("""cp 'a b' "c \\"d\\"" e\\ f *.txt ~/g "$h" {i,j} k""").parts

    assert part.arguments == (
        Word("a b"),
        Word('c "d"'),
        Word("e f"),
        Word("*.txt", expands=True),
        Word("~/g", expands=True),
        Word("$h", expands=True),
        Word("{i,j}", expands=True),
        Word("k"),
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("ls > a", ["a"]),
        ("ls >> a 2> b", ["a", "b"]),
        ("ls &> a", ["a"]),
        ("ls >| a", ["a"]),
        ("cat > $x", ["$x"]),
        ("ls 2>&1 > /dev/null", []),
        ("sort < a", []),
        ("{ ls; } > a", ["a"]),
        ("for f in a; do echo; done > b", ["b"]),
        ("cat <<< text", []),
    ],
)
def test_files_that_the_shell_writes_are_found(text: str, written: list[str]) -> None:
    assert [word.text for word in read_command_line(text).written] == written


def test_the_commands_before_a_part_in_its_pipe_are_known() -> None:
    *_, last = read_command_line("curl x | (cd /tmp; tee a | sh)").parts
    assert (last.name, set(last.reads_from)) == ("sh", {"tee", "curl"})


@pytest.mark.parametrize("text", ["A=1 ls", "A=1", "export A=1", "unset A", "f() { ls; }"])
def test_variables_and_functions_change_the_shell(text: str) -> None:
    line = read_command_line(text)
    assert line.changes_shell or line.parts[0].assigns


@pytest.mark.parametrize("text", ["ls (", "echo `id", "if true", "x" * 30_000, "ls\0rm", "ls | | wc"])
def test_a_line_that_does_not_fit_the_grammar_is_called_unreadable(text: str) -> None:
    assert read_command_line(text).unreadable


def test_the_name_of_a_variable_may_go_on_in_the_next_line() -> None:
    assert names("x\\\n=1 mark") == ["mark"]


def test_a_test_with_a_substitution_runs_its_commands() -> None:
    assert names("[[ -n <(mark) ]]") == ["mark"]
