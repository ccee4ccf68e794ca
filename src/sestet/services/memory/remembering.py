"""Finds the older facts that a new fact is compared with, and keeps the slots of facts up to date."""

from collections.abc import Sequence

from sestet.core.errors import ToolError
from sestet.core.label import Label
from sestet.services.memory.fact_replacement import find_replaced
from sestet.services.memory.phrases import is_single, name_of, relation_of
from sestet.services.memory.slots import read_slots
from sestet.storage.fact_slots import FactSlot
from sestet.storage.memories import MemoryRow, MemoryStore

#: How many facts without slots are read before one is stored or looked for.
_UNREAD_AT_ONCE = 200
_ABOUT = 50
_SIMILAR = 30
_LONGEST_SLOT = 80


def read_unread(memories: MemoryStore) -> None:
    """Read the slots of facts from before slots existed, or whose words have changed; a few at a time."""
    for memory_id, text in memories.slots.unread(_UNREAD_AT_ONCE):
        memories.slots.put(memory_id, slots_of(text))


def slots_of(fact: str, given: FactSlot | None = None) -> list[FactSlot]:
    """What is stored beside a fact: the slots that a model gave, and those that rules read."""
    read = [FactSlot(slot.subject, slot.relation, slot.value) for slot in read_slots(fact) if slot.relation]
    return [given, *read] if given else read


def store_slots(memories: MemoryStore, row: MemoryRow, given: FactSlot | None) -> None:
    """Store the slots of a new fact, with what the facts were about that it replaced.

    "I switched from ING to Triodos" says nothing of a bank, but takes the place of "my bank is ING".
    """
    slots = slots_of(row.text, given)
    about = {slot[:2] for slot in slots}
    for old in memories.replaced_by(row.id):
        inherited = [slot._replace(value="") for slot in memories.slots.of(old.id) if slot[:2] not in about]
        slots += inherited
    memories.slots.put(row.id, slots)


def given_slot(fact: str, subject: str, relation: str, value: str) -> FactSlot | None:
    """The slot that a model gave with a fact, in the form of the stored ones; None: it gave none."""
    parts = {"subject": subject.strip(), "relation": relation.strip(), "value": value.strip()}
    if not any(parts.values()):
        return None
    for name, text in parts.items():
        if not text:
            raise ToolError(f"{name} is empty: give subject, relation and value, or none of them")
        if len(text) > _LONGEST_SLOT or not text.isprintable():
            raise ToolError(f"{name} must be one line of at most {_LONGEST_SLOT} characters")
    if parts["value"].casefold() not in fact.casefold():
        raise ToolError(f"the value {parts['value']!r} is not in the fact: give it in the words of the fact")
    return FactSlot(name_of(parts["subject"]), relation_of(parts["relation"]), parts["value"])


def compared_with(memories: MemoryStore, fact: str, given: FactSlot | None) -> list[MemoryRow]:
    """The current facts that a new one may repeat or replace: about the same, or with the same words."""
    read_unread(memories)
    told = read_slots(fact)
    pairs = [(slot.subject, slot.relation) for slot in slots_of(fact, given)]
    rows = {row.id: row for row in memories.find(fact, _SIMILAR)}
    ended = " ".join(slot.ended for slot in told)
    for row in memories.find(ended, _SIMILAR) if ended.strip() else ():
        rows[row.id] = row
    for memory_id in memories.slots.about(pairs, _ABOUT):
        if memory_id not in rows and (row := memories.get(memory_id)) is not None:
            rows[memory_id] = row
    return [row for row in rows.values() if row.superseded_by is None]


def replaced_by(
    memories: MemoryStore, fact: str, label: Label, known: Sequence[MemoryRow], given: FactSlot | None
) -> list[int]:
    """The ids of the facts that a new one replaces."""
    replaced = find_replaced(fact, label, ((row.id, row.text, row.label) for row in known))
    if given is None or not is_single(given.relation):
        return replaced
    same = [
        row.id
        for row in known
        if row.label.untrusted >= label.untrusted
        and any(_has_another_value(given, slot) for slot in memories.slots.of(row.id))
    ]
    return list(dict.fromkeys((*replaced, *same)))


def _has_another_value(new: FactSlot, old: FactSlot) -> bool:
    return new[:2] == old[:2] and new.value.casefold() != old.value.casefold()
