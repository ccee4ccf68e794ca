"""Finds forgotten words in texts, in any case, spacing and grammatical person."""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping

from sestet.core.schema import JsonValue

FORGOTTEN = "[forgotten]"
#: What the person says of themselves, and how it is said back to them or about them.
_PERSONS = {
    "i": ("you", "the person", "the user"),
    "i'm": ("I am", "you're", "you are", "the person is", "the user is"),
    "i've": ("I have", "you've", "you have", "the person has", "the user has"),
    "am": ("are", "is"),
    "my": ("your", "the person's", "the user's"),
    "me": ("you", "the person", "the user"),
    "mine": ("yours",),
}


class ForgottenWords:
    """A saying to forget: "my code is 12" is also found as "your code is 12", but not in "my code is 123"."""

    def __init__(self, words: str) -> None:
        words = words.strip().rstrip(" .!?") or words
        composed, decomposed = (unicodedata.normalize(form, words) for form in ("NFC", "NFD"))
        forms = dict.fromkeys((words, composed, decomposed))
        self._pattern = re.compile("|".join(map(_expression, forms)), re.IGNORECASE)
        #: A pattern for SQL's LIKE that every text with the words fits, also as JSON, and few other texts.
        fixed = " ".join(word for word in composed.split() if word.casefold() not in _PERSONS)
        self.like = f"%{max(re.findall('[A-Za-z0-9]+', fixed), key=len, default='')}%"

    def are_in(self, text: str) -> bool:
        return self._pattern.search(text) is not None

    def are_all_of(self, text: str) -> bool:
        """Whether the text says nothing else."""
        return not self.blanked(text).replace(FORGOTTEN, "").strip(" .!?")

    def blanked(self, text: str) -> str:
        return self._pattern.sub(FORGOTTEN, text)


def _expression(words: str) -> str:
    # Scripts without case are often written without spaces too, so there a word has no visible end.
    before = r"(?<!\w)" if _has_bounds(words[:1]) else ""
    after = r"(?!\w)" if _has_bounds(words[-1:]) else ""
    return before + r"\s+".join(map(_in_any_person, words.split())) + after


def _in_any_person(word: str) -> str:
    said_back = _PERSONS.get(word.casefold(), ())
    return f"(?:{'|'.join(map(re.escape, (word, *said_back)))})"


def _has_bounds(character: str) -> bool:
    return character.isdecimal() or character.lower() != character.upper()


def blank(text: str) -> str:
    """A text without any of its words."""
    return FORGOTTEN if text else text


def change_texts(value: JsonValue, change: Callable[[str], str]) -> JsonValue:
    """Apply the change to every string of a value and to its keys, which a model may have invented."""
    if isinstance(value, Mapping):
        return {change(name): change_texts(item, change) for name, item in value.items()}
    if isinstance(value, list):
        return [change_texts(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


def change_stored(text: str, change: Callable[[str], str]) -> str:
    """Apply the change to a stored text, or to the strings inside it if it is JSON."""
    try:
        values = json.loads(text)
    except ValueError:
        return change(text)
    changed = change_texts(values, change)
    return text if changed == values else json.dumps(changed)
