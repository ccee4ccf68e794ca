"""Events as JSON: how the journal keeps them, and how it reads those of every version."""

import json
from typing import cast

from sestet.core.event import EVENTS, Event, Stamp, ToolFinished, TurnFailed, TurnStarted
from sestet.core.label import Label
from sestet.core.record import ValidationError, as_dict, convert, to_json
from sestet.storage.database import damaged

_KINDS: dict[str, type[Event]] = {event.kind: event for event in EVENTS}
#: The kinds of event that had no label in earlier versions, and the label that such a row gets: the worst.
_LABELLED_LATER = (TurnStarted.kind, ToolFinished.kind, TurnFailed.kind)
_UNLABELLED = Label(untrusted=True, private=True, sources=("an earlier version of Sestet",))


def encode(event: Event) -> str:
    """An event's own facts as JSON, without its stamp."""
    values = as_dict(event)
    del values["stamp"]
    text = _quickly(values)
    if text and "null" in text:
        # None is the default of every field that can be None.
        values = {name: value for name, value in values.items() if value is not None}
        text = _quickly(values)
    if text and "null" not in text:
        return text
    # msgspec refuses half characters (lone surrogates) and writes null for NaN and infinity, which no field
    # of an event takes back. json writes them in a way that it also reads.
    return json.dumps(values, default=as_dict)


def _quickly(values: dict[str, object]) -> str:
    """The values as msgspec writes them; empty if it cannot."""
    try:
        return to_json(values).decode()
    except UnicodeEncodeError:
        return ""


def decode(stamp: Stamp, kind: str, data: str) -> Event:
    """The event that ``encode`` wrote, in this version or an earlier one."""
    try:
        # Earlier versions wrote NaN and half characters, which only this reader accepts.
        values = cast("dict[str, object]", json.loads(data))
        values["stamp"] = stamp
        if kind in _LABELLED_LATER:
            values.setdefault("label", _UNLABELLED)
        return convert(values, _KINDS[kind])
    except (ValueError, TypeError, KeyError, RecursionError, ValidationError) as error:
        raise damaged(f"event {stamp.seq} of the turn {stamp.turn_id} cannot be read") from error
