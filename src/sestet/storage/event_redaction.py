"""Removes words from the events of the journal, and from the titles of sessions."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from typing import Literal, NamedTuple, cast, get_args, get_origin, get_type_hints

from sestet.core.event import EVENTS, PIECES, TurnStarted
from sestet.core.schema import JsonValue
from sestet.storage.database import Database, from_json
from sestet.storage.forgetting_scan import ForgettingScan, PreparedEvent
from sestet.storage.forgotten_words import FORGOTTEN, ForgottenWords, blank, change_texts
from sestet.storage.journal import title_of

#: Fields whose values come from the runtime, so they hold no words of a person.
_KEPT = frozenset(
    {
        "name",
        "agent",
        "id",
        "ids",
        "approval_id",
        "model",
        "next_model",
        "waiting_for",
        "said_at",
        "prompt",
        "role",
    }
)


_TITLE = """UPDATE sessions SET title = ? WHERE id =
    (SELECT session_id FROM turns WHERE id = ? AND number = 1)"""


class _Recorded(NamedTuple):
    turn_id: str
    seq: int
    kind: str
    data: str


class EventRedaction:
    """Rewrites recorded events. All other code only appends to the journal."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def blank_turn(self, turn_id: str) -> None:
        """Inside a transaction: remove all words of a turn and keep its events."""
        rows = self._database.execute(
            "SELECT turn_id, seq, kind, data FROM events WHERE turn_id = ?", (turn_id,)
        )
        for event in map(_Recorded._make, rows):
            self._rewrite(event, _changed(event, blank))

    def prepare(self, words: ForgottenWords, scan: ForgettingScan) -> None:
        """Outside a transaction: work out how the found events read without the words."""
        for place in scan.with_words:
            for event in self._events((place,)):
                scan.prepared[place] = self._prepare(event, words)

    def _prepare(self, event: _Recorded, words: ForgottenWords) -> PreparedEvent | None:
        """An event without the words; None if it keeps all its texts."""
        changed = _changed(event, words.blanked)
        if changed == _values(event.data):
            return None
        return PreparedEvent(event.turn_id, event.seq, json.dumps(changed), _title_in(event.kind, changed))

    def blank_words(self, words: ForgottenWords, scan: ForgettingScan, but: Collection[str] = ()) -> set[str]:
        """Inside a transaction: replace some words in what was found; the ids of the turns that held them.

        ``but``: turns that are blank already. Most of the work is prepared, so that others wait less.
        """
        places = [place for place, turn_id in scan.with_words.items() if turn_id not in but]
        # An event changes only by a forgetting, and then everything is looked for again.
        ready = [scan.prepared[place] for place in places if place in scan.prepared]
        late = (place for place in places if place not in scan.prepared)
        changed = [
            event for event in (*ready, *(self._prepare(each, words) for each in self._events(late))) if event
        ]
        self._database.execute_many(
            "UPDATE events SET data = ? WHERE turn_id = ? AND seq = ?",
            ((event.data, event.turn_id, event.seq) for event in changed),
        )
        self._database.execute_many(
            _TITLE, ((event.title, event.turn_id) for event in changed if event.title is not None)
        )
        touched = {event.turn_id for event in changed}
        return touched | self._blank_streamed(words, scan.in_pieces)

    def blank_recalled(self, ids: frozenset[str], scan: ForgettingScan) -> set[str]:
        """Inside a transaction: remove rows from recorded prompts; the turns that were shown them."""
        touched: set[str] = set()
        shown = (place for place, listed in scan.recalled.items() if not ids.isdisjoint(listed))
        for event in self._events(shown):
            values = _values(event.data)
            lines = [
                f"- {line[2:].partition(' ')[0]} {FORGOTTEN}" if line[2:].partition(" ")[0] in ids else line
                for line in str(values["text"]).splitlines()
            ]
            self._rewrite(event, {**values, "text": "\n".join(lines)})
            touched.add(event.turn_id)
        return touched

    def blank_citing(self, scan: ForgettingScan) -> set[str]:
        """Inside a transaction: blank results of tools that show passages of the source; their turns."""
        touched: set[str] = set()
        for event in self._events(scan.citations):
            self._rewrite(event, {**_values(event.data), "text": FORGOTTEN, "found": []})
            touched.add(event.turn_id)
        return touched

    def unobserved_with_words(self, scan: ForgettingScan) -> set[str]:
        """The turns that hold the words and that the observer has not read yet."""
        rows = self._database.execute(
            """SELECT id FROM turns LEFT JOIN observed ON observed.session_id = turns.session_id
               WHERE id IN (SELECT value FROM json_each(?)) AND (turns.number > coalesce(observed.number, 0)
                   OR id IN (SELECT turn_id FROM passed_over))""",
            (json.dumps(sorted(set(scan.with_words.values()))),),
        )
        return {turn_id for (turn_id,) in rows}

    def _events(self, places: Iterable[int]) -> Iterator[_Recorded]:
        """The events at these places that still exist."""
        for place in places:
            rows = self._database.execute(
                "SELECT turn_id, seq, kind, data FROM events WHERE rowid = ?", (place,)
            )
            yield from map(_Recorded._make, rows)

    def _blank_streamed(self, words: ForgottenWords, turn_ids: Iterable[str]) -> set[str]:
        """A text that was cut off is stored in pieces, and the words may lie across two."""
        touched: set[str] = set()
        rows = self._database.execute(
            """SELECT kind, delegation_id, turn_id, seq, kind, data FROM events
               WHERE turn_id IN (SELECT value FROM json_each(?)) AND kind IN (?, ?)
               ORDER BY turn_id, kind, delegation_id, seq""",
            (json.dumps(sorted(turn_ids)), *(event.kind for event in PIECES)),
        )
        for (_, _, turn_id), group in groupby(rows, key=lambda row: row[:3]):
            pieces = [_Recorded(*row[2:]) for row in group]
            said = "".join(str(_values(piece.data)["text"]) for piece in pieces)
            if (left := words.blanked(said)) != said:
                for number, piece in enumerate(pieces):
                    self._rewrite(piece, {**_values(piece.data), "text": "" if number else left})
                touched.add(turn_id)
        return touched

    def _rewrite(self, event: _Recorded, values: JsonValue) -> None:
        self._database.execute(
            "UPDATE events SET data = ? WHERE turn_id = ? AND seq = ?",
            (json.dumps(values), event.turn_id, event.seq),
        )
        if (title := _title_in(event.kind, values)) is not None:
            self._database.execute(_TITLE, (title, event.turn_id))


def _title_in(kind: str, values: JsonValue) -> str | None:
    """A title is the beginning of the first message, so it may hold a part of the words."""
    if kind != TurnStarted.kind:
        return None
    return title_of(str(cast("dict[str, JsonValue]", values)["text"]))


def _values(data: str) -> dict[str, JsonValue]:
    return from_json(data, "an event of the journal")


@cache
def _choices() -> dict[str, frozenset[str]]:
    """The fields of each kind of event that hold a choice from a list, which the journal checks."""
    return {
        event.kind: frozenset(name for name, hint in get_type_hints(event).items() if _is_choice(hint))
        for event in EVENTS
    }


def _is_choice(hint: object) -> bool:
    """``Literal[…]``, that or None, or a tuple of it."""
    inner = [each for each in get_args(hint) if each not in (type(None), ...)]
    return get_origin(hint) is Literal or (bool(inner) and all(map(_is_choice, inner)))


def _changed(event: _Recorded, change: Callable[[str], str]) -> JsonValue:
    """The fields of an event with the change applied to its words."""
    values, choices = _values(event.data), _choices()[event.kind]
    return {
        name: item if name in choices else _changed_in(name, item, change) for name, item in values.items()
    }


def _changed_in(name: str, value: JsonValue, change: Callable[[str], str]) -> JsonValue:
    if name in _KEPT:
        return value
    if name == "arguments":
        return change_texts(value, change)
    if isinstance(value, Mapping):
        return {inner: _changed_in(inner, item, change) for inner, item in value.items()}
    if isinstance(value, list):
        return [_changed_in("", item, change) for item in value]
    return change(value) if isinstance(value, str) else value
