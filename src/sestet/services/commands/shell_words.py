"""Reads the words of a command line: quotes, escapes, expansions and here-documents."""

import re
from collections.abc import Callable
from typing import TypeAlias

from sestet.core.record import Record

_GLOB = re.compile(r"[*?]|\[.*\]", re.DOTALL)
_BRACES = re.compile(r"\{.*(?:,|\.\.).*\}", re.DOTALL)
_PARAMETER = re.compile(r"\w+|[@*#?$!-]", re.ASCII)
#: An expansion that gives a value as it is, or a part of it. Others evaluate a value, which may run a command
#: that stands in it: ``${x@P}``, ``${!x}``, ``${y[x]}``.
_PLAIN_EXPANSION = re.compile(r"#?\w+\}|[@*#?$!-]\}|\w+(?::?[-+?]|[%#/^,])", re.ASCII)
#: Sums of plain numbers. A name in a sum is evaluated.
_PLAIN_SUM = re.compile(r"[\d\s+*/%()<>=!&|^~?:,-]*", re.ASCII)
_BLANKS = " \t"


class UnreadableError(Exception):
    """The text does not fit the grammar of the shell."""


class Word(Record):
    """One argument: its value without quotes, if it can be known before the command runs."""

    text: str
    #: The shell replaces a part of it first: a variable, a substitution, a pattern of file names.
    expands: bool = False


class HereDocument(Record):
    """A here-document that was announced; its text begins on the next line."""

    delimiter: str
    expands: bool
    #: Tabs before its lines count for nothing.
    tabs: bool


class Cursor:
    """A place in a text. ``origin``: where the text begins in the whole command line."""

    def __init__(self, text: str, origin: int = 0) -> None:
        self._text = text
        self.origin = origin
        self.place = 0
        #: The here-documents whose text begins on the next line.
        self.heredocs: list[HereDocument] = []

    @property
    def at_end(self) -> bool:
        return self.place >= len(self._text)

    def peek(self) -> str:
        """The next character; a zero character at the end, which no command line has."""
        return self._text[self.place] if not self.at_end else "\0"

    def looking_at(self, text: str) -> bool:
        return self._text.startswith(text, self.place)

    def next(self) -> str:
        """Take one character."""
        if self.at_end:
            raise UnreadableError
        self.place += 1
        return self._text[self.place - 1]

    def move(self, characters: int) -> None:
        self.place += characters

    def fits(self, pattern: "re.Pattern[str]") -> bool:
        """Whether a pattern fits here; takes nothing."""
        return pattern.match(self._text, self.place) is not None

    def take(self, pattern: "re.Pattern[str]") -> str:
        """Take what fits a pattern here; empty: nothing does."""
        found = pattern.match(self._text, self.place)
        if found is None:
            return ""
        self.place = found.end()
        return found[0]

    def take_until(self, text: str) -> str:
        """Take all up to a text, and the text itself."""
        end = self._text.find(text, self.place)
        if end < 0:
            raise UnreadableError
        taken, self.place = self._text[self.place : end], end + len(text)
        return taken

    def take_line(self) -> str:
        end = self._text.find("\n", self.place)
        end = len(self._text) if end < 0 else end
        line, self.place = self._text[self.place : end], end + 1
        return line

    def expect(self, text: str) -> None:
        if not self.looking_at(text):
            raise UnreadableError
        self.move(len(text))

    def slice(self, start: int, end: int) -> str:
        return self._text[start:end]

    def plain_word(self, end: frozenset[str]) -> str:
        """The characters up to the end of a word, without taking them."""
        place = self.place
        while place < len(self._text) and self._text[place] not in end:
            place += 1
        return self._text[self.place : place]

    def skip_blanks(self, *, lines: bool = False) -> None:
        """Pass over blanks, joined lines and comments; with ``lines`` also over ends of lines."""
        while not self.at_end:
            if self.peek() in _BLANKS or (lines and self.peek() == "\n"):
                if self.heredocs and self.peek() == "\n":
                    # The next line is no command but the text of a here-document.
                    raise UnreadableError
                self.move(1)
            elif self.looking_at("\\\n"):
                self.move(2)
            elif self.peek() == "#" and (not self.place or self._text[self.place - 1] in " \t\n;&|()"):
                while not self.at_end and self.peek() != "\n":
                    self.move(1)
            else:
                return


#: Reads the commands at a cursor up to a closing text.
ReadCommands: TypeAlias = Callable[[Cursor, str], None]


class WordReader:
    """Reads words at a cursor, and gives the commands of substitutions to ``read_commands``.

    It calls ``note_evaluation`` for an expansion that may run a command that stands in a value.
    """

    def __init__(
        self, cursor: Cursor, read_commands: ReadCommands, note_evaluation: Callable[[], None]
    ) -> None:
        self._cursor = cursor
        self._read_commands = read_commands
        self._note_evaluation = note_evaluation

    def read(self) -> Word:
        """One word; at least one character."""
        start, text, expands, plain = self._cursor.place, "", False, ""
        while not self._cursor.at_end:
            character = self._cursor.peek()
            if character in " \t\n|&;()":
                break
            if character in "<>":
                if not (self._cursor.looking_at("<(") or self._cursor.looking_at(">(")):
                    break
                self._cursor.move(2)
                self._read_commands(self._cursor, ")")
                piece, expands = "", True
            elif character in "'\"$`\\":
                piece, more = self._read_special(character)
                expands = expands or more
            else:
                piece = self._cursor.next()
                plain += piece
                expands = expands or (piece == "~" and self._cursor.place == start + 1)
            text += piece
        if self._cursor.place == start:
            raise UnreadableError
        expands = expands or any(pattern.search(plain) for pattern in (_GLOB, _BRACES))
        return Word(self._cursor.slice(start, self._cursor.place) if expands and not text else text, expands)

    def read_value(self, *, is_list: bool) -> None:
        """The value of an assignment: a word, a list in brackets, or nothing."""
        if is_list and self._cursor.peek() == "(":
            self._cursor.move(1)
            while True:
                self._cursor.skip_blanks(lines=True)
                if self._cursor.peek() == ")":
                    self._cursor.move(1)
                    return
                self.read()
        elif not self._cursor.at_end and self._cursor.peek() not in " \t\n|&;()<>":
            self.read()

    def expect_heredoc(self, *, tabs: bool) -> None:
        """The delimiter of a here-document, whose text begins on the next line."""
        start = self._cursor.place
        word = self.read()
        if word.expands:
            raise UnreadableError
        quoted = not set("'\"\\").isdisjoint(self._cursor.slice(start, self._cursor.place))
        self._cursor.heredocs.append(HereDocument(word.text, not quoted, tabs))

    def read_heredocs(self) -> None:
        """The texts of the here-documents that were announced on the line before."""
        waiting, self._cursor.heredocs = self._cursor.heredocs, []
        for announced in waiting:
            lines: list[str] = []
            start = self._cursor.place
            while True:
                if self._cursor.at_end:
                    raise UnreadableError
                line = self._cursor.take_line()
                if (line.lstrip("\t") if announced.tabs else line) == announced.delimiter:
                    break
                if announced.expands and line.endswith("\\"):
                    # It may be joined with the next line, which then ends nothing.
                    raise UnreadableError
                lines.append(line)
            if announced.expands:
                inner = Cursor("\n".join(lines), self._cursor.origin + start)
                WordReader(inner, self._read_commands, self._note_evaluation).skip_expansions()

    def skip_expansions(self) -> None:
        """Pass over a text in which only expansions mean something."""
        while not self._cursor.at_end:
            if self._cursor.peek() == "\\":
                self._cursor.move(2)
            elif self._cursor.peek() in "$`":
                self._read_special(self._cursor.peek(), quoted=True)
            else:
                self._cursor.move(1)

    def skip_arithmetic(self, opening: str, closing: str) -> None:
        """Pass over ``((…))``; substitutions in it run commands."""
        self._cursor.expect(opening)
        start, depth = self._cursor.place, 0
        while depth or not self._cursor.looking_at(closing):
            character = self._cursor.peek()
            if self._cursor.at_end:
                raise UnreadableError
            # Quotes hide nothing here.
            if character in "$`\\":
                self._read_special(character, quoted=True)
                continue
            depth += (character == "(") - (character == ")")
            self._cursor.move(1)
        if not _PLAIN_SUM.fullmatch(self._cursor.slice(start, self._cursor.place)):
            self._note_evaluation()
        self._cursor.move(len(closing))

    def _read_special(self, character: str, *, quoted: bool = False) -> tuple[str, bool]:
        """A quote, an escape or an expansion: its value, and whether it is known only later.

        ``quoted``: it stands between double quotes, or where the same rules hold.
        """
        self._cursor.move(1)
        match character:
            case "'":
                return self._cursor.take_until("'"), False
            case '"':
                return self._read_double_quotes()
            case "\\":
                following = "" if self._cursor.at_end else self._cursor.next()
                return ("" if following == "\n" else following), False
            case "`":
                return self._read_backquotes(), True
            case _:
                return self._read_dollar(quoted=quoted)

    def _read_double_quotes(self) -> tuple[str, bool]:
        text, expands = "", False
        while (character := self._cursor.peek()) != '"':
            if self._cursor.at_end:
                raise UnreadableError
            if character == "\\":
                self._cursor.move(1)
                following = self._cursor.next()
                text += "" if following == "\n" else following if following in '"\\$`' else f"\\{following}"
            elif character in "$`":
                piece, more = self._read_special(character, quoted=True)
                text, expands = text + piece, expands or more
            else:
                text += self._cursor.next()
        self._cursor.move(1)
        return text, expands

    def _read_backquotes(self) -> str:
        """An old substitution. A backslash in it hides a quote from the outer shell only."""
        start, text = self._cursor.place, ""
        while (character := self._cursor.next()) != "`":
            following = self._cursor.peek()
            text += self._cursor.next() if character == "\\" and following in "`\\$" else character
        inner = Cursor(text, self._cursor.origin + start)
        self._read_commands(inner, "")
        if not inner.at_end:
            raise UnreadableError
        return f"`{text}`"

    def _read_dollar(self, *, quoted: bool) -> tuple[str, bool]:
        start = self._cursor.place - 1
        if self._cursor.looking_at("["):
            # An old form of ``$((…))``.
            self._note_evaluation()
            return "$", True
        if quoted and self._cursor.peek() in "'\"":
            return "$", False
        if self._cursor.looking_at("'"):
            self._cursor.move(1)
            while (character := self._cursor.next()) != "'":
                self._cursor.move(character == "\\")
        elif self._cursor.looking_at('"'):
            self._cursor.move(1)
            return self._read_double_quotes()
        elif self._cursor.looking_at("(("):
            self._read_arithmetic_or_commands()
        elif self._cursor.looking_at("("):
            self._cursor.move(1)
            self._read_commands(self._cursor, ")")
        elif self._cursor.looking_at("{"):
            self._cursor.move(1)
            self._skip_parameter(quoted=quoted)
        elif not self._cursor.take(_PARAMETER):
            return "$", False
        return self._cursor.slice(start, self._cursor.place), True

    def _read_arithmetic_or_commands(self) -> None:
        """``$((1 + 2))``, or ``$( (ls) )`` written without its blank."""
        place = self._cursor.place
        try:
            self.skip_arithmetic("((", "))")
        except UnreadableError:
            self._cursor.place = place + 1
            self._read_commands(self._cursor, ")")

    def _skip_parameter(self, *, quoted: bool) -> None:
        """``${name…}`` from behind its bracket on; its default may hold substitutions."""
        if not self._cursor.fits(_PLAIN_EXPANSION):
            self._note_evaluation()
        while (character := self._cursor.peek()) != "}":
            # Between double quotes, the operator decides whether a single quote hides something.
            if self._cursor.at_end or (quoted and character == "'"):
                raise UnreadableError
            if character in "$`'\"\\":
                self._read_special(character, quoted=quoted)
            else:
                self._cursor.move(1)
        self._cursor.move(1)
