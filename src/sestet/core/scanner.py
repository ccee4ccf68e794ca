"""The scanner as other parts see it: it puts references in the places of secrets, in texts and in records."""

from collections.abc import Mapping
from typing import Protocol, TypeVar, cast

from sestet.core.record import Record, as_builtins, convert
from sestet.core.schema import JsonObject, JsonValue

_Record = TypeVar("_Record", bound=Record)


class TextScanner(Protocol):
    """Knows which texts must not be shown, kept or sent to a model."""

    @property
    def watches(self) -> bool:
        """Whether there is anything to find; if not, nothing has to be scanned."""
        ...

    def clean(self, text: str) -> str:
        """The text with a reference in the place of each secret; the same text if it holds none."""
        ...

    def look_again(self) -> None:
        """Take over the secrets that another process has stored since; called at the start of each turn."""
        ...


class NoScanner:
    """There is no vault, so there is nothing to find."""

    watches = False

    def clean(self, text: str) -> str:
        return text

    def look_again(self) -> None:
        pass


NO_SCANNER: TextScanner = NoScanner()


def clean_value(scanner: TextScanner, value: JsonValue) -> JsonValue:
    """A value of JSON with every text in it cleaned, names included."""
    if isinstance(value, str):
        return scanner.clean(value)
    if isinstance(value, list | tuple):
        return [clean_value(scanner, item) for item in value]
    if isinstance(value, Mapping):
        return clean_object(scanner, value)
    return value


def clean_object(scanner: TextScanner, values: JsonObject) -> dict[str, JsonValue]:
    return {scanner.clean(name): clean_value(scanner, value) for name, value in values.items()}


def clean_record(scanner: TextScanner, record: _Record) -> _Record:
    """The record with every text in it cleaned. A text that is one of a few choices is never a secret."""
    values = cast("JsonObject", as_builtins(record))
    return convert({name: clean_value(scanner, value) for name, value in values.items()}, type(record))


class HeldBackText:
    """Cleans a text that arrives in pieces: the end of it is held until no secret can reach into it."""

    def __init__(self, scanner: TextScanner) -> None:
        self._scanner = scanner
        self._held = ""

    def feed(self, piece: str) -> str:
        """The part of the text so far that may be shown now."""
        if not self._scanner.watches and not self._held:
            return piece
        self._held = self._scanner.clean(self._held + piece)
        shown, self._held = self._held[:-HELD_BACK], self._held[-HELD_BACK:]
        return shown

    def rest(self) -> str:
        """The text still held when it is complete."""
        shown, self._held = self._scanner.clean(self._held), ""
        return shown


#: Characters that are held back: a piece of a value that is recognised is not longer, however it is encoded.
HELD_BACK = 256
