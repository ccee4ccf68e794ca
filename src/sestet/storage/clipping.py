"""Events for readers that show them: a long text is cut, and its length is told.

A reader gets the whole event on demand.
"""

import json
import math

from sestet.core.event import Event
from sestet.core.record import as_builtins, to_json

#: Characters that a text of an event has at most.
LONGEST = 16_000


def clipped_event(head: dict[str, object], event: Event) -> bytes:
    """The head and the event's own facts as one JSON object.

    If a text was cut, the field ``clipped`` has its length, by its path such as ``call.arguments.text``.
    """
    own: dict[str, object] = as_builtins(event)
    del own["stamp"]
    lengths: dict[str, int] = {}
    values = head | {name: _clip(value, name, lengths) for name, value in own.items() if value is not None}
    if lengths:
        values["clipped"] = lengths
    try:
        return to_json(values)
    except UnicodeEncodeError:
        # msgspec refuses half characters (lone surrogates); json escapes them.
        return json.dumps(values).encode()


def _clip(value: object, path: str, lengths: dict[str, int]) -> object:
    match value:
        case str() if len(value) > LONGEST:
            lengths[path] = len(value)
            return value[:LONGEST]
        case float() if not math.isfinite(value):
            # Browsers read no JSON with NaN or infinity.
            return None
        case dict():
            return {str(key): _clip(each, f"{path}.{key}", lengths) for key, each in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - JSON
        case list() | tuple():
            return [_clip(each, f"{path}.{index}", lengths) for index, each in enumerate(value)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - JSON
        case _:
            return value
