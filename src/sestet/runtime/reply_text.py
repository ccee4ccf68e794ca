"""Reads the text of a model's reply: a rejection, or a hand-over that it announces but did not make."""

import re
import unicodedata
from typing import Literal, TypeAlias

_MARKER = "[reject]"
# Brackets that NFKC does not turn into the usual ones.
_BRACKETS = str.maketrans(
    {"\u3010": "[", "\u3011": "]", "\u3014": "[", "\u3015": "]", "\u27e6": "[", "\u27e7": "]"}
)
_OPENING_BRACKET = re.compile("[\\[\uff3b\u3010\u3014\u27e6]")
_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_SENTENCE_ENDS = ".!?\u2026\u3002\uff01\uff1f\uff61\u061f\u0964"
_CLAUSE_ENDS = ",;:)-\u2013\u2014\uff0c\u3001\uff1b\uff1a\uff09\u060c\u061b"
_QUOTES = "`\"'\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"
_MARKUP = "*_`~\\"
# Around the marker and its reason.
_DECORATION = f" \t{_LINE_ENDS}{_QUOTES}{_MARKUP}[]>#:-\u2013\u2014\u2022\u200b\u2060\ufeff\u00ad"
#: The opening of a reply is its first sentence, if that is not longer.
_LONGEST_OPENING = 200
_WORD = re.compile(r"[^\W_]")
_ENDS = f"{_LINE_ENDS}{_SENTENCE_ENDS}"
# From the head of a text to its first word after the end of a sentence or a line.
_SECOND_SENTENCE = re.compile(rf"[\W_]*[^\W_][^{_ENDS}]*[{_ENDS}][\W_]*[^\W_]")
# A promise, a verb of handing over, and the rest of that sentence.
_ANNOUNCED = (
    r"\b(?:i'll|i will|i'm|i am|i've|i have|let me)\b[^.!?\n]{0,30}?"
    r"\b(?:hand|pass|transfer|delegat|forward|rout|send|sent|ask|consult)\w*\b(?P<rest>[^.!?\n]*)"
)

#: Where a text stands after its last word: before a sentence or a line, before a clause, or inside one.
_Place: TypeAlias = Literal["sentence", "clause", "inside"]


def rejection(text: str) -> str | None:
    """The reason of a rejection, or None when the text is not one."""
    if _OPENING_BRACKET.search(text) is None:
        return None
    reader = RejectFilter()
    reader.feed(text)
    if reader.end is None:
        return None
    return text[reader.end :].strip(_DECORATION) or reader.before.strip(_DECORATION) or "it gave no reason"


def announces_transfer(text: str, agent_names: tuple[str, ...]) -> bool:
    """Whether the text claims a hand-over to an agent or a specialist."""
    known = {*(name.casefold() for name in agent_names), "specialist", "agent", "colleague"}
    plain = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    sentences = re.finditer(_ANNOUNCED, plain, re.IGNORECASE)
    return any(known.intersection(re.findall(r"[\w-]+", match["rest"].casefold())) for match in sentences)


class RejectFilter:
    """Holds streamed text back while it may be a rejection, and shows nothing from its marker on.

    The marker counts at the head of a line, a sentence or a clause, whatever symbols stand before it, and not
    inside a sentence, where an answer may mention it. After the opening it counts only in capitals: a page
    may have a button "[Reject]". After the opening each character is read once, however small the pieces are.
    """

    def __init__(self, *, hold_opening: bool = False) -> None:
        self._hold_opening = hold_opening
        self._opening = _Opening()
        self._place: _Place = "sentence"
        #: The last character is a quotation mark.
        self._quoted = False
        #: Text that is not shown yet, and after it a text that may become the marker.
        self._held: list[str] = []
        self._candidate: list[str] = []
        #: How many characters of the marker the candidate has.
        self._matched = 0
        self._in_capitals = True
        #: Where the marker ends in the piece that completed it; None: there is none.
        self.end: int | None = None

    def feed(self, piece: str) -> str:
        """The part of the text so far that may be shown now."""
        is_plain = self._opening.is_over and not self._matched and self.end is None
        if is_plain and _OPENING_BRACKET.search(piece) is None:
            # Most pieces of most replies: nothing is held.
            self._follow(piece)
            return piece
        position = 0
        while self.end is None and position < len(piece):
            position = self._match(piece, position) if self._matched else self._read(piece, position)
        if self.end is not None or self._opening.is_held(whole=self._hold_opening):
            return ""
        return self._release()

    def rest(self) -> str:
        """The text still held back when the reply ends; nothing of a rejection."""
        if self._matched:
            self._give_up()
        return "" if self.end is not None else self._release()

    @property
    def before(self) -> str:
        """The text before the marker, as far as it was not shown."""
        return "".join(self._held)

    def _release(self) -> str:
        shown, self._held = "".join(self._held), []
        return shown

    def _read(self, piece: str, start: int) -> int:
        """Read ordinary text up to a bracket where a marker may begin; returns where to go on."""
        bracket = _OPENING_BRACKET.search(piece, start)
        end = bracket.start() if bracket else len(piece)
        text = piece[start:end]
        self._held.append(text)
        self._opening.read(text)
        self._follow(text)
        if bracket is None:
            return end
        if self._place == "inside" or (self._place == "clause" and self._quoted):
            self._held.append(piece[end])
        else:
            self._candidate.append(piece[end])
            self._matched, self._in_capitals = 1, True
        return end + 1

    def _follow(self, text: str) -> None:
        """Find out where the text stands now, from its end backwards."""
        self._quoted = text[-1:] in _QUOTES if text else self._quoted
        for character in reversed(text):
            if character in _LINE_ENDS or character in _SENTENCE_ENDS:
                self._place = "sentence"
                return
            if character in _CLAUSE_ENDS:
                self._place = "clause"
                return
            if character.isalnum() or character == "|":
                self._place = "inside"
                return

    def _match(self, piece: str, start: int) -> int:
        """Compare the text with the rest of the marker; returns where to go on."""
        for position in range(start, len(piece)):
            character = piece[position]
            if _is_ignored(character):
                continue
            folded = unicodedata.normalize("NFKC", character).translate(_BRACKETS)
            if not _MARKER.startswith(folded.casefold(), self._matched):
                self._candidate.append(piece[start:position])
                self._give_up()
                return position
            self._matched += len(folded)
            self._in_capitals = self._in_capitals and folded == folded.upper()
            if self._matched == len(_MARKER):
                return self._complete(piece, start, position + 1)
        self._candidate.append(piece[start:])
        return len(piece)

    def _complete(self, piece: str, start: int, end: int) -> int:
        if self._in_capitals or not self._opening.is_over:
            self.end = end
        else:
            self._candidate.append(piece[start:end])
            self._give_up()
        return end

    def _give_up(self) -> None:
        """The candidate is ordinary text."""
        self._held += self._candidate
        self._candidate = []
        letters = _MARKER[1 : self._matched]
        self._opening.read(letters)
        self._follow(letters)
        self._matched = 0


class _Opening:
    """The first sentence of a reply, within bounds."""

    def __init__(self) -> None:
        self.is_over = False
        self._text = ""

    def is_held(self, *, whole: bool) -> bool:
        """Whether it is held back: the whole of it, or only the symbols before its first word."""
        return not self.is_over and (whole or _WORD.search(self._text) is None)

    def read(self, text: str) -> None:
        if self.is_over:
            return
        self._text += text[: _LONGEST_OPENING + 1 - len(self._text)]
        is_long = len(self._text) > _LONGEST_OPENING
        self.is_over = is_long or _SECOND_SENTENCE.match(self._text) is not None


def _is_ignored(character: str) -> bool:
    """Whether a character inside the marker changes nothing: blanks, markup, and signs without width."""
    if character in _LINE_ENDS:
        return False
    return character.isspace() or character in _MARKUP or unicodedata.category(character) == "Cf"
