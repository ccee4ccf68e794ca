"""Rules that find facts in a text: few patterns, each of which is nearly always right."""

import re
from collections.abc import Iterator

from sestet.storage.extractions import Fact

_MOST_WORDS = 6
_LONGEST_SENTENCE = 200
_NAME = r"[^,:()\[\]\"“”]+?"

# Compiled on first use: most programs end before a text is read for facts.
#: A pattern for a whole sentence, and its predicate. ``{role}`` is taken from the sentence, ``<`` swaps
#: subject and object.
_PATTERNS = tuple(
    (f"(?i){pattern.replace('NAME', _NAME)}", predicate)
    for pattern, predicate in (
        (r"(?P<x>NAME) works (?:at|for) (?P<y>NAME)", "works_at"),
        (r"(?P<x>NAME) lives in (?P<y>NAME)", "lives_in"),
        (r"(?P<x>NAME) is located in (?P<y>NAME)", "located_in"),
        (r"(?P<x>NAME) depends on (?P<y>NAME)", "depends_on"),
        (r"(?P<x>NAME) (?:is|was) caused by (?P<y>NAME)", "caused_by"),
        (r"(?P<x>NAME) (?:is|was) (?:fixed|resolved|solved) by (?P<y>NAME)", "resolved_by"),
        (r"(?P<x>NAME) (?:contains|includes) (?P<y>NAME)", "contains"),
        (r"(?P<x>NAME) is (?:a )?part of (?P<y>NAME)", "<contains"),
        (r"(?P<x>NAME) belongs to (?P<y>NAME)", "<contains"),
        (r"(?P<x>NAME) is similar to (?P<y>NAME)", "similar_to"),
        (r"(?P<x>NAME) is related to (?P<y>NAME)", "related_to"),
        (r"(?P<x>NAME) follows (?P<y>NAME)", "follows"),
        (r"(?P<x>NAME) was learned from (?P<y>NAME)", "learned_from"),
        (r"(?P<x>NAME) is the (?P<role>[a-z]+(?: [a-z]+)?) of (?P<y>NAME)", "{role}_of"),
        (r"(?P<y>NAME)['\u2019]s (?P<role>[a-z]+(?: [a-z]+)?) is (?P<x>NAME)", "{role}_of"),
    )
)
# A dot inside 3.11 or example.com does not end a sentence.
_SENTENCE_END = r"[.!?](?=\s|$)|[;\n]"
_ARTICLE = r"(?i)^(?:the|a|an) (?=\S)"
#: A sentence with one of these words may mean something else than its pattern says.
_DOUBT = (
    r"(?i)\b(?:not|never|no|nobody|nothing|and|or|but|if|when|where|which|who|whom|whose|that|because|although"
    r"|while|since|until|maybe|perhaps|probably|might|may|could|would|should|can|will|nearly|almost|i|me|my"
    r"|mine|we|us|our|you|your|he|him|his|she|her|they|them|their|it|its|this|these|those|there|what|how"
    r"|why|one|some|any|each|every|everything|everybody|somebody|someone|something)\b|n['\u2019]t\b"
)
# In "the name of" or "the best of" the noun is not a role.
_NO_ROLE = (
    r"(?i)(?:name|best|worst|most|least|rest|end|start|result|case|kind|sort|type|same|first|last|only)\b"
    r"|\w+est$"
)
_LESSON = r"(?s)(?P<fix>.+?)(?: \(because (?P<cause>.+)\))?"
_LONGEST_LESSON = 120


def find_facts(text: str) -> Iterator[Fact]:
    """One fact for each sentence that is a fact as a whole."""
    for sentence in re.split(_SENTENCE_END, text):
        if fact := _read(" ".join(sentence.split())):
            yield fact


def find_lesson(trigger: str, text: str) -> Iterator[Fact]:
    """The facts in a lesson: its trigger is resolved by the fix and caused by the cause."""
    if not trigger or max(len(trigger), len(text)) > _LONGEST_LESSON:
        return
    if found := re.fullmatch(_LESSON, text.strip()):
        yield Fact(trigger, "resolved_by", found["fix"])
        if found["cause"]:
            yield Fact(trigger, "caused_by", found["cause"])


def _read(sentence: str) -> Fact | None:
    if len(sentence) > _LONGEST_SENTENCE or re.search(_DOUBT, sentence):
        return None
    facts = [fact for pattern, predicate in _PATTERNS if (fact := _match(sentence, pattern, predicate))]
    # With two matching patterns the meaning is not clear.
    return facts[0] if len(facts) == 1 else None


def _match(sentence: str, pattern: str, predicate: str) -> Fact | None:
    if not (found := re.fullmatch(pattern, sentence)):
        return None
    parts = found.groupdict()
    subject, object_ = re.sub(_ARTICLE, "", parts["x"]), re.sub(_ARTICLE, "", parts["y"])
    if not all(0 < len(name.split()) <= _MOST_WORDS for name in (subject, object_)):
        return None
    if role := parts.get("role"):
        if re.match(_NO_ROLE, role):
            return None
        predicate = predicate.format(role=role.casefold().replace(" ", "_"))
    if predicate.startswith("<"):
        return Fact(object_, predicate[1:], subject)
    return Fact(subject, predicate, object_)
