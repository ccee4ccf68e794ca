"""Removes words from recorded events."""

import json
import re
from collections.abc import Callable, Mapping
from typing import cast

from sestet.core.event import AgentNudged, MemoryRecalled
from sestet.core.schema import JsonValue
from sestet.storage.database import Database

FORGOTTEN = "[forgotten]"
#: Fields whose values come from a list or from the runtime, so they hold no words of a person.
_KEPT = frozenset(
    {
        "name",
        "agent",
        "outcome",
        "id",
        "ids",
        "approval_id",
        "decision",
        "scope",
        "model",
        "waiting_for",
        "effect",
        "unsupported",
    }
)
_WORDLESS = (AgentNudged.kind,)
_BATCH = 2_000


class Redaction:
    """Rewrites recorded events. All other code only appends to the journal."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def blank_turn(self, turn_id: str) -> None:
        """Inside a transaction: remove all words of a turn and keep its events."""
        rows = self._database.execute("SELECT seq, kind, data FROM events WHERE turn_id = ?", (turn_id,))
        for seq, kind, data in rows:
            if kind not in _WORDLESS:
                self._rewrite(turn_id, seq, _changed(json.loads(data), _blank))
        self._database.execute(
            """UPDATE approvals SET arguments = '{}', pattern = '', reason = '', sources = '[]'
               WHERE turn_id = ?""",
            (turn_id,),
        )
        self._database.execute(
            """UPDATE sessions SET title = ?2 WHERE id =
               (SELECT session_id FROM turns WHERE id = ?1 AND number = 1)""",
            (turn_id, FORGOTTEN),
        )

    def blank_words(self, words: str) -> int:
        """Inside a transaction: replace some words everywhere; return the number of changed places."""
        pattern = _as_said(words)

        def without(text: str) -> str:
            return pattern.sub(FORGOTTEN, text)

        places = self._blank_events(without)
        for session_id, title in self._database.execute("SELECT id, title FROM sessions"):
            if (shown := without(title)) != title:
                self._database.execute("UPDATE sessions SET title = ? WHERE id = ?", (shown, session_id))
                places += 1
        for approval_id, *texts in self._database.execute(
            "SELECT id, arguments, pattern, reason FROM approvals"
        ):
            if (shown := [_in_json(text, without) for text in texts]) != texts:
                self._database.execute(
                    "UPDATE approvals SET arguments = ?, pattern = ?, reason = ? WHERE id = ?",
                    (*shown, approval_id),
                )
                places += 1
        return places

    def blank_recalled(self, ids: frozenset[str]) -> None:
        """Inside a transaction: remove rows from recorded prompts, since a turn may be resumed with them."""
        rows = self._database.execute(
            "SELECT turn_id, seq, data FROM events WHERE kind = ?", (MemoryRecalled.kind,)
        )
        for turn_id, seq, data in rows:
            values = cast("dict[str, JsonValue]", json.loads(data))
            if ids.isdisjoint(cast("list[str]", values["ids"])):
                continue
            lines = [
                f"- {line[2:].partition(' ')[0]} {FORGOTTEN}" if line[2:].partition(" ")[0] in ids else line
                for line in str(values["text"]).splitlines()
            ]
            self._rewrite(turn_id, seq, {**values, "text": "\n".join(lines)})

    def _blank_events(self, change: Callable[[str], str]) -> int:
        places, last = 0, ("", 0)
        while rows := self._database.execute(
            """SELECT turn_id, seq, kind, data FROM events WHERE (turn_id, seq) > (?, ?)
               ORDER BY turn_id, seq LIMIT ?""",
            (*last, _BATCH),
        ):
            for turn_id, seq, kind, data in rows:
                values = json.loads(data)
                if kind not in _WORDLESS and (changed := _changed(values, change)) != values:
                    self._rewrite(turn_id, seq, changed)
                    places += 1
            last = (rows[-1][0], rows[-1][1])
        return places

    def _rewrite(self, turn_id: str, seq: int, values: JsonValue) -> None:
        self._database.execute(
            "UPDATE events SET data = ? WHERE turn_id = ? AND seq = ?", (json.dumps(values), turn_id, seq)
        )


def _as_said(words: str) -> re.Pattern[str]:
    """A pattern for these words in any case and spacing, but not as a part of longer words.

    Scripts without case are often written without spaces too, so there a word has no visible end.
    """
    words = words.strip().rstrip(" .!?") or words
    before = r"(?<!\w)" if _has_bounds(words[0]) else ""
    after = r"(?!\w)" if _has_bounds(words[-1]) else ""
    said = r"\s+".join(map(re.escape, words.split()))
    return re.compile(f"{before}{said}{after}", re.IGNORECASE)


def _has_bounds(character: str) -> bool:
    return character.isdecimal() or character.lower() != character.upper()


def _blank(text: str) -> str:
    return FORGOTTEN if text else text


def _in_json(text: str, change: Callable[[str], str]) -> str:
    """Apply a change to a text, or to the strings inside it if it is JSON."""
    try:
        values = json.loads(text)
    except ValueError:
        return change(text)
    changed = _changed_all(values, change)
    return text if changed == values else json.dumps(changed)


def _changed(values: JsonValue, change: Callable[[str], str]) -> JsonValue:
    """The fields of an event with the change applied to its words."""
    if isinstance(values, Mapping):
        return {
            name: item
            if name in _KEPT
            else _changed_all(item, change)
            if name == "arguments"
            else _changed(item, change)
            for name, item in values.items()
        }
    if isinstance(values, list):
        return [_changed(item, change) for item in values]
    return change(values) if isinstance(values, str) else values


def _changed_all(value: JsonValue, change: Callable[[str], str]) -> JsonValue:
    """Apply the change to every string of a value and to its keys, which a model may have invented."""
    if isinstance(value, Mapping):
        return {change(name): _changed_all(item, change) for name, item in value.items()}
    if isinstance(value, list):
        return [_changed_all(item, change) for item in value]
    return change(value) if isinstance(value, str) else value
