"""Reads a correction of a fact: what is true, and what was wrong."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from sestet.core.message import Found
from sestet.models.offline.answering import answers_to, read_question, shares_subject
from sestet.models.offline.parameters import NUMBER_WORDS
from sestet.models.offline.patterns import patterns_of
from sestet.models.offline.statements import tells_or_asks
from sestet.models.offline.words import is_question

_SAID = patterns_of("corrections")

_NUMBER = "|".join(NUMBER_WORDS)
#: Kinds of values, of which a fact usually has one.
_VALUES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
        r"\b\d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b",
        r"\b\d{1,2}(?:[:.]\d\d)? ?(?:am|pm)\b|\b\d{1,2}:\d\d\b",
        r"\b\d+(?:[.,]\d+)? ?(?:%|€|(?:m?g|kg|ml|l|cm|m|km|eur|euros?|pounds?|dollars?|minutes?|hours?|days?"
        r"|weeks?|months?|years?)\b)",
        rf"\b(?:\d+(?:[.,]\d+)?|{_NUMBER})\b",
    )
)
_SAME_SUBJECT = 0.6
_LONGEST = 300


class Correction(NamedTuple):
    """What is true now; ``old``: the words that were wrong, if they are named."""

    new: str
    old: str = ""
    #: The sentence of a value whose subject is a pronoun: "it's Max".
    said: str = ""

    @property
    def is_sentence(self) -> bool:
        """Whether ``new`` stands alone; else it takes the place of ``old`` in the fact."""
        is_long = len(self.new.split()) > 4 or re.match(
            r"(?:i|we|she|he|they) \w+ \w", self.new, re.IGNORECASE
        )
        return not self.said and (_SAID["verb"].search(self.new) is not None or bool(is_long))

    @property
    def has_pronoun(self) -> bool:
        """Whether its subject is only a pronoun, so that it says nothing without the fact before it."""
        return _SAID["pronoun"].match(_last_sentence(self.said or self.new)) is not None


def read_correction(text: str) -> Correction | None:
    """The correction in a message; None for any other message."""
    said = _SAID["its"].sub("it's", text.strip(" .!"))
    if len(said) > _LONGEST or said.endswith("?"):
        return None
    led = _SAID["led"].fullmatch(said)
    rest = led["rest"].strip(" .!") if led else said
    if (found := _SAID["with_not"].fullmatch(rest)) and _is_correction(found, led is not None):
        return Correction(found["new"].strip(" ,."), found["old"].strip(" ,."))
    # "He is 3 years old" tells something new of somebody, and corrects nothing.
    tells_more = led is None and re.match(r"(?:he|she)\b", rest, re.IGNORECASE)
    if not tells_more and (found := _SAID["meant_only"].fullmatch(rest)):
        return Correction(found["new"].strip(" ,."), said=rest if _SAID["pronoun_is"].match(rest) else "")
    if led and _SAID["place"].fullmatch(rest):
        return Correction(rest)
    if led and _SAID["verb"].search(rest):
        return Correction(rest)
    return Correction(rest) if _SAID["news"].search(rest) and _SAID["verb"].search(rest) else None


def _is_correction(found: re.Match[str], is_led: bool) -> bool:
    """ "My dog is called Max, not Rex" corrects; "I like tea, not because of the taste" does not."""
    if re.search(
        r"(?:\b(?:is|are|was|were|am|do|does|did|will|has|have|had|can|could)|n't|'s|'re|'m)$", found["new"]
    ):
        # "Ida is not vegan any more" says what is no longer true, and nothing in its place.
        return False
    is_name = len(found["old"].split()) <= 3 and not re.match(
        r"(?:because|that|to|only|if|when|very|so)\b", found["old"]
    )
    return is_name and (is_led or "," in found[0] or len(found["new"].split()) <= 3)


def corrected_fact(
    correction: Correction, facts: Sequence[Found], about: str = ""
) -> tuple[Found, str] | None:
    """The fact that a correction is about, and its new words; None if no fact is.

    ``about``: the last question or fact, for a correction that only says the right value, or names its
    subject by a pronoun.
    """
    if about and correction.has_pronoun and not correction.old:
        changed = _by_pronoun(_last_sentence(correction.said or correction.new), facts, about)
        if changed or not correction.said:
            return changed
    if about and not correction.old and not correction.is_sentence:
        for fact in answers_to(about, facts)[:1]:
            if changed := _with_value(fact.text, correction.new):
                return fact, changed
        answers = [fact for fact in answers_to(about, facts) if _SAID["value"].search(fact.text)]
        return (answers[0], _with_new_value(answers[0].text, correction.new)) if len(answers) == 1 else None
    if correction.old:
        old = re.compile(rf"(?<!\w){re.escape(correction.old)}(?!\w)", re.IGNORECASE)
        holding = [fact for fact in facts if old.search(fact.text)]
        if not correction.is_sentence and holding:
            return holding[0], _once(old.sub(lambda _: correction.new, holding[0].text))
        related = [fact for fact in holding if shares_subject(correction.new, fact.text)]
        if related:
            return related[0], correction.new
        return None
    if not correction.is_sentence:
        return None
    scored = [
        (shares_subject(_without_values(correction.new), _without_values(fact.text)), fact) for fact in facts
    ]
    best, fact = max(scored, key=lambda pair: pair[0], default=(0.0, Found("")))
    # A value of the same kind takes the place of the old one; two of them would leave open which.
    kinds = [kind for kind in _VALUES if kind.search(correction.new)]
    is_plain = not kinds or any(len(kind.findall(fact.text)) == 1 for kind in kinds)
    return (fact, correction.new) if best >= _SAME_SUBJECT and is_plain else None


def answered_question(question: str, value: str) -> str:
    """A question with its answer as a statement: "what is my size?" and "it's 43" is "my size is 43"."""
    found = _SAID["asked"].fullmatch(question.strip(" ?.!"))
    if found is None:
        return ""
    value = _SAID["pronoun_is"].sub("", re.sub(r"^its\b", "it's", _last_sentence(value))).strip()
    verb = found["verb"].strip().replace("'s", "is")
    return f"{found['subject'].strip()} {verb} {value}"


def _by_pronoun(sentence: str, facts: Sequence[Found], about: str) -> tuple[Found, str] | None:
    """The fact that was told last, with the subject that the pronoun stands for."""
    found = _SAID["pronoun"].match(sentence)
    scored = [(shares_subject(about, fact.text), fact) for fact in facts]
    best, fact = max(scored, key=lambda pair: pair[0], default=(0.0, Found("")))
    if best < _SAME_SUBJECT or found is None:
        return None
    if re.search(r"\b(?:called|named)\b", fact.text):
        # "My wife is called Lena", "her name is Lina"
        is_name = (found["owned"] or "").casefold() == "name"
        return (fact, _with_new_value(fact.text, found["rest"].strip())) if is_name else None
    for kind in _VALUES:
        if len(kind.findall(found["rest"])) == 1 == len(kind.findall(fact.text)):
            return fact, kind.sub(kind.findall(found["rest"])[0], fact.text)
    subject = _SAID["object"].match(fact.text) or _SAID["subject"].match(fact.text)
    if subject is None:
        return None
    owned = found["owned"] or ""
    if owned and not re.search(rf"\b{re.escape(owned)}\b", subject["subject"], re.IGNORECASE):
        return None
    verb = {"'s": " is", "'re": " are"}.get(found["verb"].casefold(), found["verb"])
    return fact, f"{subject['subject'].strip()} {verb.strip()} {found['rest'].strip()}"


def subject_told(asked: Sequence[str]) -> str:
    """The message that a correction without a subject is about: the last question, or the last fact told."""
    about = asked[-1] if asked else ""
    if not is_question(about):
        about = next((text for text in reversed(asked) if _names_subject(text)), about)
    told = read_correction(about)
    # "I live in Bergen, not Oslo", "no, in Trondheim": the second one is about Bergen.
    return told.new if told and told.is_sentence else about


def _names_subject(text: str) -> bool:
    """Whether a message tells a fact, or asks for one, and names its subject not only by a pronoun."""
    correction = read_correction(text)
    return tells_or_asks(text) and not (correction and correction.has_pronoun)


def _last_sentence(text: str) -> str:
    return re.split(r"[.!;]\s+", text.strip(" .!"))[-1]


def _with_new_value(fact: str, value: str) -> str:
    """The fact with another value behind its verb, which may bring a preposition: "under the sofa"."""
    changed = _SAID["value"].sub(rf"\1 {value}", fact)
    return re.sub(
        r"\b(?:on|at|in) (?=(?:in|on|at|under|behind|by|with|near|inside|beside|above|below|next to)\b)",
        "",
        changed,
    )


def _once(fact: str) -> str:
    """ "It's at 4pm, not 3pm" brings a preposition that the fact has already: "is at at 4pm"."""
    return re.sub(r"\b(in|on|at|to|for|by|from|with|the|an?) \1\b", r"\1", fact, flags=re.IGNORECASE)


def _with_value(fact: str, value: str) -> str:
    """The fact with another day, time or number in the place of its only one; empty if that is not so."""
    value = re.sub(r"^(?:on|at|in|for)\s+", "", value, flags=re.IGNORECASE)
    for kind in _VALUES:
        if kind.fullmatch(value) and len(kind.findall(fact)) == 1:
            return kind.sub(value, fact)
    return ""


def _without_values(text: str) -> str:
    """The words of a fact that name its subject, without numbers and dates."""
    telling = read_question(text).telling
    words = (word for word in telling if not word[0].isdigit() and word not in NUMBER_WORDS)
    months = re.compile(
        r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|.*day$|moved|postponed|changed|shifted"
    )
    return " ".join(word for word in words if not months.match(word))
