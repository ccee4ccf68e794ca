"""Reads a command line as a shell does: every command in a list, a pipe, a loop or a substitution.

The reader knows the grammar of bash. Where it meets something that it does not know, it says so, and the
command line counts as unreadable; it never guesses.
"""

import re
from collections.abc import Callable

from sestet.core.record import Record
from sestet.services.commands.shell_words import Cursor, UnreadableError, Word, WordReader

#: A longer command line is not read.
_MOST_CHARACTERS = 20_000
_DEEPEST = 40
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^]\s]*\])?\+?=", re.ASCII)
_NAME = re.compile(r"[^\s|&;<>()$`'\"\\]+")
#: The variable of a loop; a shell's own variables, such as PATH, are in capitals.
_HARMLESS_VARIABLE = re.compile(r"[a-z_][a-z0-9_]*")
#: Tests of ``[[ … ]]`` that evaluate their operands.
_EVALUATING_TESTS = frozenset(("-v", "-R", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_REDIRECT = re.compile(r"(?:\d+|\{\w+\})?(<<<|<<-|<<|<&|<>|>>|>&|>\||&>>|&>|<(?!\()|>(?!\())", re.ASCII)
#: The shell joins the lines, and then reads one operator: ``$\`` and ``(`` on the next line.
_DIVIDED_OPERATOR = re.compile(r"[$(<>&|;{\[]\\\n")
_SEPARATOR = re.compile(r"&&|\|\||;|&(?!>)|\n")
_END_OF_WORD = frozenset(" \t\n|&;<>()")
_CLOSING = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}", "in"))
#: Commands that set a part of the shell's own state.
_DECLARING = frozenset(("export", "declare", "typeset", "readonly", "local", "unset", "alias"))
_NOWHERE = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr"))


class Part(Record):
    """One simple command of a command line."""

    #: As it is written.
    source: str
    #: The program; empty if it is known only when the command runs.
    name: str
    arguments: tuple[Word, ...] = ()
    #: Variables that are set for this command alone.
    assigns: bool = False
    #: The names of the commands before it in its pipe.
    reads_from: tuple[str, ...] = ()


class CommandLine(Record):
    parts: tuple[Part, ...]
    #: Files that the shell itself writes: ``> file``.
    written: tuple[Word, ...] = ()
    #: It sets variables, defines functions, or evaluates a value that may hold a command.
    changes_shell: bool = False
    #: Functions that run themselves twice: each of them fills the computer with processes.
    bombs: tuple[str, ...] = ()
    #: The grammar does not fit, so parts may be missing.
    unreadable: bool = False
    #: It opens files or descriptors itself: ``> file``, ``2>&1``, ``<< end``.
    redirects: bool = False


def read_command_line(text: str) -> CommandLine:
    """The parts of a command line, in the order in which they are written."""
    if len(text) > _MOST_CHARACTERS or "\0" in text or _DIVIDED_OPERATOR.search(text):
        return CommandLine((), unreadable=True)
    found, unreadable = _Found(), False
    try:
        reader = _Reader(Cursor(text), found)
        reader.read_list()
        reader.require_end()
    except (UnreadableError, RecursionError):
        unreadable = True
    parts = tuple(part for _, part in sorted(found.parts, key=lambda each: each[0]))
    facts = (tuple(found.written), found.changes_shell, tuple(found.bombs), unreadable, found.redirects)
    return CommandLine(parts, *facts)


def sole_command(text: str) -> Part | None:
    """The one simple command that a whole line is; None: it is more, or is known only when it runs."""
    line = read_command_line(text)
    if line.unreadable or line.redirects or line.changes_shell or len(line.parts) != 1:
        return None
    part = line.parts[0]
    is_known = part.name and not part.assigns and not any(word.expands for word in part.arguments)
    return part if is_known and part.source == text.strip(" \t\n") else None


class _Found:
    """What was found so far, also in substitutions."""

    def __init__(self) -> None:
        #: With their places in the text.
        self.parts: list[tuple[int, Part]] = []
        self.written: list[Word] = []
        self.changes_shell = False
        self.redirects = False
        self.bombs: list[str] = []
        #: How many commands the shell does not wait for.
        self.unawaited = 0
        self.depth = 0

    def note_change(self) -> None:
        self.changes_shell = True


class _Reader:
    """Reads commands from a cursor. A substitution inside of a word gets a reader of its own."""

    def __init__(self, cursor: Cursor, found: _Found, before: tuple[str, ...] = ()) -> None:
        self._cursor = cursor
        self._found = found
        #: The commands before the present one in its pipe.
        self._before = before
        self._words = WordReader(cursor, self._read_substitution, found.note_change)
        self._compounds: dict[str, Callable[[], object]] = {
            "{": lambda: self._read_until("}"),
            "if": self._read_if,
            "while": self._read_loop,
            "until": self._read_loop,
            "for": self._read_for,
            "select": self._read_for,
            "case": self._read_case,
            "[[": self._read_test,
            "function": self._read_function,
        }

    def read_list(self) -> None:
        """Commands up to the end, or to a word or bracket that closes the list."""
        while True:
            self._cursor.skip_blanks(lines=True)
            if self._cursor.at_end or self._cursor.peek() == ")" or self._next_word() in _CLOSING:
                return
            if self._cursor.looking_at(";;"):
                return
            self._read_pipe()
            self._cursor.skip_blanks()
            separator = self._cursor.take(_SEPARATOR) if not self._cursor.looking_at(";;") else ""
            if separator == "\n":
                self._words.read_heredocs()
            self._found.unawaited += separator == "&"
            if not separator:
                return

    def require_end(self) -> None:
        if self._cursor.heredocs or not self._cursor.at_end:
            raise UnreadableError

    def _read_substitution(self, cursor: Cursor, closing: str) -> None:
        """Read the commands inside of ``$(…)``, ```…``` or ``<(…)``."""
        self._found.depth += 1
        # Where a here-document begins that is announced outside or left open inside, depends on the shell.
        if self._found.depth > _DEEPEST or cursor.heredocs:
            raise UnreadableError
        _Reader(cursor, self._found, self._before).read_list()
        if cursor.heredocs:
            raise UnreadableError
        cursor.skip_blanks(lines=True)
        cursor.expect(closing)
        self._found.depth -= 1

    def _read_pipe(self) -> None:
        outer = self._before
        while self._next_word() in ("!", "time"):
            self._cursor.move(len(self._next_word()))
            self._cursor.skip_blanks()
        while True:
            known = len(self._found.parts)
            self._read_command()
            self._cursor.skip_blanks()
            if self._cursor.looking_at("||") or self._cursor.peek() != "|":
                break
            self._cursor.move(2 if self._cursor.looking_at("|&") else 1)
            self._cursor.skip_blanks(lines=True)
            names = (part.name for _, part in self._found.parts[known:])
            self._before = (*self._before, *filter(None, names))
        self._before = outer

    def _read_command(self) -> None:
        self._found.depth += 1
        if self._found.depth > _DEEPEST:
            raise UnreadableError
        word = self._next_word()
        if self._cursor.looking_at("(("):
            self._words.skip_arithmetic("((", "))")
            self._found.note_change()
        elif self._cursor.peek() == "(":
            self._cursor.move(1)
            self.read_list()
            self._cursor.expect(")")
        elif word in self._compounds:
            self._cursor.move(len(word))
            self._compounds[word]()
        elif word in _CLOSING:
            raise UnreadableError
        elif self._read_simple_or_function():
            self._found.depth -= 1
            return
        self._read_redirects()
        self._found.depth -= 1

    def _read_simple_or_function(self) -> bool:
        """Read a simple command; False: it was the definition of a function."""
        start, words, assigns = self._cursor.place, list[Word](), False
        end = start
        while True:
            self._cursor.skip_blanks()
            if self._read_redirect():
                end = self._cursor.place
                continue
            if self._cursor.peek() == "(" and len(words) == 1:
                self._define(words[0].text)
                return False
            if self._cursor.at_end or self._cursor.peek() in "\n|&;()":
                break
            if not words and (assigned := self._cursor.take(_ASSIGNMENT)):
                self._words.read_value(is_list=not assigned.endswith("]="))
                assigns = True
            else:
                begin, word = self._cursor.place, self._words.read()
                joined = "\\\n" in self._cursor.slice(begin, self._cursor.place)
                # The name of a variable may go on in the next line.
                if not words and joined and _ASSIGNMENT.match(word.text):
                    assigns = True
                else:
                    words.append(word)
            end = self._cursor.place
        if not words:
            if end == start:
                raise UnreadableError
            self._found.changes_shell |= assigns
            return True
        name = "" if words[0].expands else words[0].text
        self._found.changes_shell |= name in _DECLARING
        part = Part(self._cursor.slice(start, end), name, tuple(words[1:]), assigns, self._before)
        self._found.parts.append((self._cursor.origin + start, part))
        return True

    def _define(self, name: str) -> None:
        """A function: ``name() { … }``, from its brackets on."""
        self._cursor.expect("(")
        self._cursor.skip_blanks()
        self._cursor.expect(")")
        self._read_body(name)

    def _read_function(self) -> None:
        self._cursor.skip_blanks()
        name = self._cursor.take(_NAME)
        if not name:
            raise UnreadableError
        self._cursor.skip_blanks()
        if self._cursor.peek() == "(":
            self._define(name)
        else:
            self._read_body(name)

    def _read_body(self, name: str) -> None:
        self._found.note_change()
        known, unawaited = len(self._found.parts), self._found.unawaited
        self._cursor.skip_blanks(lines=True)
        self._read_command()
        calls = sum(part.name == name for _, part in self._found.parts[known:])
        if calls > 1 or (calls and self._found.unawaited > unawaited):
            self._found.bombs.append(name)

    def _read_if(self) -> None:
        self._read_until("then")
        while (word := self._read_until("elif", "else", "fi")) != "fi":
            if word == "elif":
                self._read_until("then")

    def _read_loop(self) -> None:
        self._read_until("do")
        self._read_until("done")

    def _read_for(self) -> None:
        self._cursor.skip_blanks()
        if self._cursor.looking_at("(("):
            self._words.skip_arithmetic("((", "))")
        else:
            name = self._cursor.take(_NAME)
            if not name:
                raise UnreadableError
            if not _HARMLESS_VARIABLE.fullmatch(name):
                self._found.note_change()
        self._cursor.skip_blanks(lines=True)
        if self._next_word() == "in":
            self._cursor.move(2)
            self._cursor.skip_blanks()
            while not self._cursor.at_end and self._cursor.peek() not in "\n;":
                self._words.read()
                self._cursor.skip_blanks()
        self._cursor.skip_blanks()
        if self._cursor.peek() == ";":
            self._cursor.move(1)
        self._cursor.skip_blanks(lines=True)
        if self._next_word() != "do":
            raise UnreadableError
        self._read_until("do")
        self._read_until("done")

    def _read_case(self) -> None:
        self._cursor.skip_blanks()
        self._words.read()
        self._cursor.skip_blanks(lines=True)
        if self._next_word() != "in":
            raise UnreadableError
        self._cursor.move(2)
        while True:
            self._cursor.skip_blanks(lines=True)
            if self._next_word() == "esac":
                self._cursor.move(4)
                return
            if self._cursor.peek() == "(":
                self._cursor.move(1)
            self._read_patterns()
            self.read_list()
            if not (self._cursor.take(re.compile(r";;&|;;|;&")) or self._next_word() == "esac"):
                raise UnreadableError

    def _read_patterns(self) -> None:
        while True:
            self._cursor.skip_blanks()
            self._words.read()
            self._cursor.skip_blanks()
            if self._cursor.peek() != "|":
                break
            self._cursor.move(1)
        self._cursor.expect(")")

    def _read_test(self) -> None:
        """``[[ … ]]``: only substitutions in it run anything, and tests that evaluate a value."""
        while True:
            before = self._cursor.place
            self._cursor.skip_blanks(lines=True)
            if "#" in self._cursor.slice(before, self._cursor.place):
                # It begins a comment, or stands in a pattern.
                raise UnreadableError
            if self._cursor.looking_at("]]"):
                self._cursor.move(2)
                return
            if self._cursor.at_end:
                raise UnreadableError
            substitutes = self._cursor.looking_at("<(") or self._cursor.looking_at(">(")
            if self._cursor.peek() in "()&|<>!" and not substitutes:
                self._cursor.move(1)
            elif self._words.read().text in _EVALUATING_TESTS:
                self._found.note_change()

    def _read_until(self, *closing: str) -> str:
        """Read a list and the word that closes it."""
        self.read_list()
        word = self._next_word()
        if word not in closing:
            raise UnreadableError
        self._cursor.move(len(word))
        return word

    def _read_redirects(self) -> None:
        self._cursor.skip_blanks()
        while self._read_redirect():
            self._cursor.skip_blanks()

    def _read_redirect(self) -> bool:
        operator = self._cursor.take(_REDIRECT)
        if not operator:
            return False
        self._found.redirects = True
        if operator.startswith("{"):
            # The number of the open file becomes the value of a variable.
            self._found.note_change()
            operator = operator.split("}")[1]
        operator = operator.lstrip("0123456789")
        self._cursor.skip_blanks()
        if operator in ("<<", "<<-"):
            self._words.expect_heredoc(tabs=operator == "<<-")
            return True
        target = self._words.read()
        is_descriptor = operator.endswith("&") and re.fullmatch(r"\d+-?|-", target.text)
        if ">" in operator and not is_descriptor and (target.expands or target.text not in _NOWHERE):
            self._found.written.append(target)
        return True

    def _next_word(self) -> str:
        """The next word if it is a plain one, such as a word of the grammar."""
        return self._cursor.plain_word(_END_OF_WORD)
