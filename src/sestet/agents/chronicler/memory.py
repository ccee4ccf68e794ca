"""Tools to remember, recall, update and forget facts about the person."""

import re
from collections.abc import Iterable, Sequence
from typing import Annotated

from sestet.agents._shared.text import given, not_yours, number_of, origin_of, refuse_secret
from sestet.core.errors import ToolError
from sestet.core.label import CLEAN, Label, Labelled, Origin, stored_label
from sestet.core.message import Found
from sestet.core.tool import CallInfo, tool
from sestet.core.words import day
from sestet.services.forgetting import Forgetting
from sestet.services.memory.corrections import holds, states_correction, wrong_value
from sestet.services.memory.fact_replacement import contradicts
from sestet.services.memory.questions import Question
from sestet.services.memory.recall import Kind, Recall
from sestet.services.memory.remembering import compared_with, given_slot, replaced_by, store_slots
from sestet.storage.memories import MemoryRow, MemoryStore

_FACT_LENGTH = 2_000
#: The number of stored facts that a new one is compared with: it may replace an old one in other words.
_COMPARED = 1_000
#: The number of similar facts among which one with the same words is looked for.
_SIMILAR = 20
_ID = "Its id, such as m3"
#: How an answer begins, by its language and kind.
_HEADS: dict[str, dict[Kind, str]] = {
    "en": {
        "facts": "You told me:",
        "yes": "Yes. You told me:",
        "no": "No. You told me:",
        "time": "You told me on {days}:",
        "history": "Before, you told me:",
    },
    "de": {
        "facts": "Du hast mir gesagt:",
        "yes": "Ja. Du hast mir gesagt:",
        "no": "Nein. Du hast mir gesagt:",
        "time": "Du hast mir gesagt ({days}):",
        "history": "Früher hast du mir gesagt:",
    },
}
_NOTHING = {
    "en": "I remember nothing about {query!r}. You can tell me now.",
    "de": "Dazu weiß ich nichts. Du kannst es mir jetzt sagen.",
}
_NOTED = {"en": "Noted:", "de": "Notiert:"}
_NOTHING_YET = {
    "en": "I do not remember anything yet. You can tell me now.",
    "de": "Ich weiß noch nichts über dich. Du kannst es mir jetzt sagen.",
}


@tool(
    risk="safe",
    reads=(),
    effect="store",
    # The fact is its own key: a known fact is not stored again.
    recovery="keyed",
    examples=(
        "remember that {fact}",
        "please remember {fact}",
        "note that {fact}",
        "make a note that {fact}",
        "keep in mind that {fact}",
        "do not forget that {fact}",
        "don't forget that {fact}",
        "you should know that {fact}",
        "for your information, {fact}",
        "{fact}, remember it",
        "bear in mind that {fact}",
        "memorize that {fact}",
        "actually, {fact}",
        "correction: {fact}",
    ),
)
async def memory_remember(
    call: CallInfo,
    memories: MemoryStore,
    /,
    fact: Annotated[str, "One fact about the person, in their own words, such as 'I like tea'"],
    subject: Annotated[str, "Whose fact it is: me, or a name; with relation and value"] = "",
    relation: Annotated[str, "What it tells, in one or two words: home, phone number, rent"] = "",
    value: Annotated[str, "The value, in the words of the fact"] = "",
) -> Labelled:
    """Remember one fact about the person for all later conversations. Never passwords or other secrets.

    A fact that plainly contradicts an older one counts in its place.
    """
    fact = given(fact, "fact", _FACT_LENGTH)
    refuse_secret(fact)
    slot = given_slot(fact, subject, relation, value)
    candidates = {row.id: row for row in compared_with(memories, fact, slot)}
    counting = [row for row in candidates.values() if row.superseded_by is None]
    corrected = [row.id for row in counting if _corrects(call, fact, row, counting)]
    origin = _own(call) if corrected else origin_of(call, fact)
    same = [row for row in candidates.values() if _comparable(row.text) == _comparable(fact)]
    # The person's own words are stored even if the same words of somebody else are.
    known = next((row for row in same if row.label.untrusted <= origin.label.untrusted), None)
    if known is not None and known.turn_id != call.turn_id:
        told = f"Already remembered: {known.text} ({day(known.created_at)})"
        return Labelled(told, CLEAN, no_effect=True)
    if known is None:
        replaced = replaced_by(memories, fact, origin.label, [*candidates.values()], slot)
        replaced = [*replaced, *(row.id for row in same), *corrected]
        known = memories.add(fact, origin, call.agent, list(dict.fromkeys(replaced)))
        store_slots(memories, known, slot)
    kept = [row for row in candidates.values() if _is_kept(row, known) and contradicts(fact, row.text)]
    return _told(call, f"Remembered: {known.text}", memories.replaced_by(known.id), kept)


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "what do i like?",
        "what do i {query}",
        "what do you know about {query}",
        "what do you remember about {query}",
        "what do you remember",
        "do you remember {query}",
        "what did i tell you about {query}",
        "have i told you about {query}",
        "did i tell you {query}",
        "what is my {query}",
        "who is my {query}",
        "when is my {query}",
        "where is my {query}",
        "what was my {query}",
        "what is the name of my {query}",
        "what did i say about {query}",
    ),
)
async def memory_recall(
    call: CallInfo,
    recall: Recall,
    /,
    query: Annotated[str, "The question, or the words that the facts should hold"],
    limit: Annotated[int, "How many facts at most", {"minimum": 1, "maximum": 50}] = 5,
) -> Labelled:
    """Recall what the person told earlier, the best match first, each fact with its id and day."""
    query = given(query, "query", _FACT_LENGTH)
    # "Noor in March" of "what did I tell you about Noor in March?"
    is_part = query.casefold() in call.words.casefold()
    answer = await recall.answer(query, limit, call.words if is_part else "")
    found, language = answer.rows, "de" if Question(query).is_german else "en"
    if not found and (events := recall.events(query, call.agent, limit)):
        label = stored_label(f"memory_recall of {call.agent}", (event.label for event in events))
        lines = (
            f"- {each.text} (o{each.id}, {day(each.created_at)}{not_yours(each.label)})" for each in events
        )
        noted = tuple(Found(f"o{event.id}", event.text) for event in events)
        return Labelled("\n".join((_NOTED[language], *lines)), label, found=noted)
    if not found:
        anything = await recall.facts("", 1)
        nothing = _NOTHING[language] if anything else _NOTHING_YET[language]
        return Labelled(nothing.format(query=query, days=answer.days), CLEAN)
    label = stored_label(f"memory_recall of {call.agent}", (row.label for row in found))
    facts = tuple(Found(f"m{row.id}", row.text, answer.kind if answer.is_sure else "") for row in found)
    head = _HEADS[language][answer.kind].format(days=answer.days)
    return Labelled("\n".join((head, *map(_line, found))), label, found=facts)


@tool(
    risk="safe",
    reads=(),
    effect="store",
    # The new fact is its own key, as in memory_remember.
    recovery="keyed",
    examples=(
        "change memory {memory} to {fact}",
        "update memory {memory} to {fact}",
        "correct memory {memory}: {fact}",
        "replace memory {memory} by {fact}",
        "memory {memory} is out of date, now {fact}",
        "instead of memory {memory}, remember that {fact}",
        "memory {memory} is wrong: {fact}",
    ),
)
async def memory_update(
    call: CallInfo,
    memories: MemoryStore,
    /,
    memory: Annotated[str, _ID],
    fact: Annotated[str, "What is true now, as a whole sentence"],
) -> Labelled:
    """Replace a fact by what is true now. The older one is kept, marked as replaced, and not recalled."""
    fact = given(fact, "fact", _FACT_LENGTH)
    refuse_secret(fact)
    old = _require(memories, memory)
    is_own = _corrects(call, fact, old, memories.latest(_COMPARED))
    origin = _own(call) if is_own else origin_of(call, fact)
    if not is_own and not _may_replace(call, fact, origin.label, old):
        told = (row for row in memories.latest(_COMPARED) if row.turn_id == call.turn_id and row.text == fact)
        beside = next(told, None) or memories.add(fact, origin, call.agent)
        return _told(call, _updated(beside), (), [old])
    if old.superseded_by is not None:
        later = memories.get(old.superseded_by)
        if later is not None and later.turn_id == call.turn_id and later.text == fact:
            return _told(call, _updated(later), [old])
        raise ToolError(f"m{old.id} was replaced by m{old.superseded_by}; update that one")
    later = memories.add(fact, origin, call.agent, [old.id])
    store_slots(memories, later, None)
    return _told(call, _updated(later), [old])


@tool(
    # It cannot be undone, so a person approves the exact words first.
    risk="guarded",
    caution="deleting a memory cannot be undone",
    standing="delete the memory {words}",
    # If no fact has these words, the error shows similar facts.
    reads=("untrusted", "private"),
    effect="store",
    # A second call finds no such fact and says so.
    recovery="keyed",
    examples=(
        "forget that {words}",
        "forget the fact that {words}",
        "you can forget that {words}",
        "stop remembering that {words}",
        "delete the memory that {words}",
        "remove from your memory that {words}",
        "forget memory {memory}: {words}",
        "erase the memory that {words}",
    ),
)
async def memory_forget(
    call: CallInfo,
    memories: MemoryStore,
    forgetting: Forgetting,
    /,
    words: Annotated[str, "The whole fact, word for word as it is remembered"],
    memory: Annotated[str, f"{_ID}; empty: the one with these words"] = "",
) -> Labelled:
    """Forget one fact for good. The conversation in which it was told is not changed by this."""
    words = given(words, "words", _FACT_LENGTH)
    candidates = [_require(memories, memory)] if memory else memories.find(words, _SIMILAR)
    row = next((row for row in candidates if _comparable(row.text) == _comparable(words)), None)
    if row is None:
        near = "; ".join(f"m{row.id}: {row.text}" for row in candidates[:3]) or "none"
        raise ToolError(f"no fact has exactly the words {words!r}. Similar facts: {near}")
    done = await forgetting.forget_soon(f"m{row.id}", asked_in=call.turn_id)
    with_it = [f"Forgotten with it: {', '.join(done.with_it)}"] if done.with_it else []
    again = [f"It had replaced {name}, which counts again" for name in done.counts_again]
    ended = [f"Ended, because it would bring the words back: {name}" for name in done.ended]
    label = stored_label(f"memory_forget of {call.agent}", [row.label])
    return Labelled("\n".join((f"Forgotten: {row.text}", *with_it, *again, *ended)), label)


def _require(memories: MemoryStore, wanted: str) -> MemoryRow:
    number = number_of(wanted, "m")
    row = memories.get(number) if number is not None else None
    if row is None:
        raise ToolError(f"there is no memory {wanted!r}; recall it first and use its id, such as m3")
    return row


def _line(row: MemoryRow) -> str:
    replaced = f", replaced by m{row.superseded_by}" if row.superseded_by is not None else ""
    return f"- {row.text} (m{row.id}, {day(row.created_at)}{replaced}{not_yours(row.label)})"


def _replaced_line(row: MemoryRow) -> str:
    return f"It replaces: {row.text} (m{row.id}, {day(row.created_at)})"


def _kept_line(row: MemoryRow) -> str:
    return f"It does not replace: {row.text} (m{row.id}, {day(row.created_at)}), which is in your own words"


def _is_kept(old: MemoryRow, new: MemoryRow) -> bool:
    """Whether the older fact stands because the new one is not in the person's own words."""
    return new.label.untrusted and not old.label.untrusted and old.superseded_by is None


def _may_replace(call: CallInfo, fact: str, label: Label, old: MemoryRow) -> bool:
    """Whether the person chose the fact to be replaced, and not a page, with their words in its place."""
    if old.label.untrusted or not call.label.untrusted:
        return True
    names_it = re.search(rf"(?<!\S)(?:memory m?|m){old.id}(?![\w/])", call.words, re.IGNORECASE)
    return not label.untrusted and (contradicts(fact, old.text) or names_it is not None)


def _corrects(call: CallInfo, fact: str, old: MemoryRow, known: Iterable[MemoryRow]) -> bool:
    """Whether the person's message alone says that the fact takes the place of an older one of theirs."""
    if old.label.untrusted:
        return False
    if states_correction(fact, old.text, call.words):
        return True
    # "It's at 4pm, not 3pm" names its subject only if one fact has the wrong words.
    wrong = wrong_value(fact, old.text, call.words)
    others = (row for row in known if row.superseded_by is None and row.id != old.id)
    return bool(wrong) and not any(holds(row.text, wrong) for row in others)


def _own(call: CallInfo) -> Origin:
    return call.origin._replace(label=Label(private=call.label.private))


def _updated(row: MemoryRow) -> str:
    return f"Remembered: {row.text} (m{row.id})"


def _told(
    call: CallInfo, done: str, replaced: Sequence[MemoryRow], kept: Sequence[MemoryRow] = ()
) -> Labelled:
    """The result with the replaced and the kept facts, whose labels count because their words are shown.

    The kept facts are what it found: they still say something else.
    """
    labels = [row.label for row in (*replaced, *kept)]
    label = stored_label(f"memory of {call.agent}", labels) if labels else CLEAN
    text = "\n".join((done, *map(_replaced_line, replaced), *map(_kept_line, kept)))
    return Labelled(text, label, found=tuple(Found(f"m{row.id}", row.text) for row in kept))


def _comparable(fact: str) -> str:
    return fact.casefold().rstrip(".!")
