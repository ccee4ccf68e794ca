"""The effects of a turn and its calls in doubt, read from its events alone. Pure: no text is read here."""

from collections.abc import Iterable, Mapping, Sequence

from sestet.core.agent import TRANSFER
from sestet.core.event import DelegationFinished, Effects, Event, ToolCalled, ToolFinished, TurnResumed
from sestet.core.schema import JsonObject, JsonValue
from sestet.core.tool import Tool

#: For turns that only talked and read.
NOTHING = Effects()
#: Bounds for one call: targets that are shown, characters of each, values that are looked at.
_MOST_TARGETS, _LONGEST_TARGET, _MOST_VALUES = 8, 120, 64
#: The field of ``Effects`` for each kind of effect. Rows of our own database are changes too.
_TOLD = {"store": "changed", "local": "changed", "external": "sent", "money": "paid"}
#: The same for a request to a remote agent, by the end of its delegation.
_REMOTE = {"ok": "sent", "rejected": "sent", "empty": "sent", "failed": "failed"}


def effects_of(events: Iterable[Event]) -> Effects | None:
    """The effects of the calls in the events of one turn; None if an earlier version wrote an intent."""
    intents: dict[str, ToolCalled] = {}
    told: dict[str, str] = {}
    #: The calls that wait for a remote agent, by delegation.
    remote: dict[str, str] = {}
    for event in events:
        if isinstance(event, ToolCalled):
            if event.effect is None:
                return None
            if event.effect != "none":
                intents[event.call.id] = event
                told[event.call.id] = "in_doubt"
                if event.call.name == TRANSFER:
                    remote[event.delegation_id] = event.call.id
        elif not intents:
            continue
        elif isinstance(event, ToolFinished) and event.call.id in intents:
            told[event.call.id] = _told(intents[event.call.id], event)
            remote.pop(event.delegation_id, None)
        elif isinstance(event, DelegationFinished) and event.delegation_id in remote:
            told[remote[event.delegation_id]] = _REMOTE.get(event.outcome, "in_doubt")
        elif isinstance(event, TurnResumed):
            # A request that was cut off is not sent again, so its delegation can tell nothing more.
            remote.clear()
    return _gathered(intents, told) if intents else NOTHING


def _told(intent: ToolCalled, result: ToolFinished) -> str:
    """The field of ``Effects`` for a call; empty if it had no effect."""
    if result.outcome == "ok" and result.no_effect:
        return ""
    if result.outcome == "ok":
        return _TOLD[intent.effect or "money"]
    if result.outcome == "refused" and can_be_in_doubt(intent):
        # It was stopped before it began. A pure call is also refused after a crash, which tells nothing.
        return ""
    return "failed" if result.outcome == "error" else "in_doubt"


def _gathered(intents: dict[str, ToolCalled], told: dict[str, str]) -> Effects:
    found: dict[str, dict[str, None]] = {}
    for call_id, intent in intents.items():
        if not told[call_id]:
            continue
        names = intent.targets or (intent.call.name,)
        found.setdefault(told[call_id], {}).update(dict.fromkeys(names))
    return Effects(**{field: tuple(names) for field, names in found.items()})


def open_calls(events: Iterable[Event]) -> dict[str, ToolCalled]:
    """The calls without a result, by id. A request to a remote agent is answered by its delegation."""
    found: dict[str, ToolCalled] = {}
    for event in events:
        if isinstance(event, ToolCalled):
            found[event.call.id] = event
        elif isinstance(event, ToolFinished):
            found.pop(event.call.id, None)
        elif isinstance(event, DelegationFinished) and is_result(event):
            answered = event.delegation_id
            found = {
                call_id: intent
                for call_id, intent in found.items()
                if not (intent.call.name == TRANSFER and intent.delegation_id == answered)
            }
    return found


def is_result(event: DelegationFinished) -> bool:
    """Whether the delegation is over for good: a resumed turn does not make it again."""
    return event.outcome != "paused" and not event.ended_with_turn


def can_be_in_doubt(intent: ToolCalled) -> bool:
    """Whether the call may have changed something."""
    return intent.recovery != "pure"


def tool_name(intent: ToolCalled) -> str:
    """The name of the tool for people and policies: ``remote_`` and the agent's for a remote request."""
    return f"remote_{intent.author}" if intent.call.name == TRANSFER else intent.call.name


def shown_targets(tool: Tool, arguments: JsonObject) -> tuple[str, ...]:
    """What a call has its effect on, in short: its targets, or the tool's name with its first short text.

    A long value is left out and not cut: forgetting removes whole texts and would leave a part behind.
    """
    if tool.targets:
        return _short(
            [arguments[name] for name in tool.targets if name in arguments and name not in tool.sources]
        )
    first = next((value for value in arguments.values() if isinstance(value, str)), "")
    return (" ".join((tool.name, *_short([first]))),)


def _short(values: list[JsonValue]) -> tuple[str, ...]:
    """The first texts and numbers among the values and inside them."""
    found: list[str] = []
    left = values[::-1]
    for _ in range(_MOST_VALUES):
        if not left or len(found) == _MOST_TARGETS:
            break
        value = left.pop()
        if isinstance(value, Mapping):
            left += [*value.values()][:_MOST_VALUES][::-1]
        elif isinstance(value, Sequence) and not isinstance(value, str):
            left += value[:_MOST_VALUES][::-1]
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            text = str(value) if not isinstance(value, str) or len(value) <= _LONGEST_TARGET else ""
            if text := " ".join(text.split()):
                found.append(text)
    return tuple(found)
