"""The parts of a person's message that no negation reaches, and which of them only ask for information."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

#: A sentence ends at a full stop or an empty line, but not after an abbreviation or before a list.
_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!\bMr\.)(?<!\bDr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bSt\.)(?<!\bProf\.)(?<!\b\w\.)(?<!\betc\.)"
    r"(?<!\bInc\.)(?<!\binc\.)(?<!\bLtd\.)(?<!\bCorp\.)(?<!\bCo\.)(?<!\bJr\.)(?<!\bSr\.)(?<!\bvs\.)(?<!\bNo\.)\s+"
    r"|(?<!:)\n\s*\n(?!\s*(?:[-*\u2022]|\d{1,3}[.)])\s|\s*\S+(?:\n|$))"
)
#: A line that quotes somebody else, as mail programs write it.
_QUOTATION = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
#: "Don't forget to mail Bob" is not a negation.
_EXEMPT = re.compile(
    r"\b(?:(?:don't|do not|never) forget|not only|why (?:not|don't (?:you|we))|no later than|no problem)\b"
)
#: Stands right before a negation that does not reach the words before it: "mail Bob, not Carol".
_BOUNDARY = r"(?P<boundary>(?:[,(:;]|(?<!\S)(?:and|but|then))\s*(?:(?:and|but|please|do|then)\s+){0,3})?"
_NO = (
    r"not|no(?!\.)|never|none|nobody|nothing|nowhere|neither|nor|without|except|excepting|exclud\w+|avoid\w*"
    r"|(?:skip|stop)(?:s|p?ing|ped)?|ignor\w+|omit\w*|cannot|forb[ia]d\w*|ban(?:s|ned)?|block(?:s|ed|ing)?"
    r"|refus\w+|instead of"
    r"|rather than|other than|apart from|save for|(?:any|every|no)(?:one|body|thing)? but|all but"
    # People leave the apostrophe out, and write others in its place.
    r"|(?:do|does|did|wo|would|should|could|ca|must|need|is|are|was|were|have|has|had|ai|sha)n[^\w,.]{0,2}\u02bc?t"
    r"|\w+n't"
    r"|nicht|kein\w*|nie|niemals|ohne|außer|pas|jamais|sans|sauf|nunca|sin|excepto|non|não|sem"
    r"|ikke|aldri|inte|aldrig|niet|geen|nooit|zonder"
)
#: Says no without a word for it.
_WARNS = (
    r"hardly|scarcely|barely|rarely|seldom|beware|distrust\w*|mistrust\w*|off[- ]limits"
    r"|spammers?|as spam|scam\w*|phishing|fraud\w*|hostile|malicious|suspicious|warned|hate|as opposed to"
    r"|(?:stay|keep|steer)(?: well)? (?:away|clear)"
    r"|(?:leave|leaving|keep|keeping)(?: \S+){1,4}? out"
)
#: Says yes only after something that the person will say or see.
_WAITS = (
    r"wait for (?:me|my)|hold off|ask me (?:first|before)|let me (?:see|check|read|review|confirm|approve)"
    r"|(?:until|till|unless) (?:i|we|you)|(?:before|once|after|when|if) i(?:'ve| have)?"
    r" (?:ok|okay|say|said|confirm|approve|agree|check|give|tell)\w*"
)
_NEGATION = re.compile(rf"{_BOUNDARY}(?<!\w)(?:{_NO}|{_WARNS}|{_WAITS})(?![\w-])")
_WAITING = re.compile(_WAITS)
#: Not "everyone but", and not "never, however, mail him".
_SCOPE_END = re.compile(
    r"(?<!\w)(?:(?<!all )(?<!any )(?<!every )(?<!one )(?<!body )(?<!thing )(?<!none )but"
    r"|instead|(?<=[;-] )however|sondern|mais|pero)(?! (?:of|for))(?!\w)"
)
#: The words before a boundary are what the negation is about: "As for Bob, never …", "Bob: do not …".
_TOPIC = re.compile(r"\s*(?:\S+|(?:as for|regarding|concerning|about|re|with)\b.*)\s*", re.DOTALL)
_SAME_PERSON = re.compile(r"\b(?:him|her|them|he|she|they|there)\b")
_TAKEN_BACK = re.compile(
    r"\W*(?:no\b\W*(?:$|[,.!;]|wait|sorry|actually|do)|wait\b|nope\b|sorry, n|actually,? (?:n|do)"
    r"|scratch that|cancel that|forget (?:it|that)\b|(?:just )?kidding|joking)"
)
#: Where a question for information begins, and where a request in the form of a question does.
_QUESTION = re.compile(
    r"(?:^|[,;:\n(]|\s[-\u2013\u2014]|\band\b|\bbut\b|\bso\b)\s*(?:who|whom|whose|what|when|where|why|which|how|is|are|was|were|am"
    r"|do|does|did|has|have|had|should|shall|may|might|must|(?:can|could|would|will)(?! (?:you|we|u)\b))\b"
)
#: The same without a question mark.
_UNMARKED = re.compile(
    r"\s*(?:(?:who|whom|whose|why|is|are|was|were|does|did|has|do you|have you|any idea|know anything)\b"
    r"(?! to\b)"
    r"|\S+\?\s*\Z)"
)
#: An order that only wants something to be read, or a report of what the person has read.
_READS = re.compile(
    r"\W*(?:(?:ok|okay|now|then|and|also|please|first|again|hi|hello|hey|can you|could you|would you|will you"
    r"|i want you to)\W+){0,4}"
    r"(?:read|re-?read|check|look|open|summari[sz]e|explain|describe|list|find|search|compare|analy[sz]e|review"
    r"|translate|research|investigate|verify|watch|view|count|quote|fetch|visit|browse|see|inspect|examine"
    r"|(?:show|tell|give|get|remind) me"
    r"|i(?:'ve| have)?(?: just)? (?:got|received|found|saw|seen|read|heard))\b"
)
#: A verb for something else, in the place of a verb.
_ACTS = re.compile(
    r"(?:\b(?:and|or|then|to|please|also)|[,;:\n&]|\s[-\u2013\u2014])\s*(?:(?:then|also|please|and)\s+){0,2}"
    r"(?:e-?mail|send|tell(?! me)|write|forward|share|invite|message|text|reply|respond|answer|cc|copy|post"
    r"|publish|notify|inform|let|give(?! me)|pay|transfer|contact|ping|call|add|ask|schedule|book"
    r"|remind(?! me)|draft|submit|update|create|delete|remove|move|rename|save|store|put|append|replace|edit"
    r"|change|set|make|upload|download|run|execute|report|buy|order|cancel|reserve|register|fix|apply"
    r"|install|print|export|archive|close|fill|correct|sort|clean|clear|use|do|mail)\b"
)
_REQUEST = re.compile(r"\b(?:(?:can|could|would|will) (?:you|we|u)|please)\b")
_QUESTION_END = re.compile(r"\?[\"')\]\s]*\Z")


class Clause(NamedTuple):
    """A part of a message that no negation reaches."""

    text: str
    begins_sentence: bool
    #: It only asks for information: it names what to look for or to read, and nothing to act on.
    asks: bool = False


def positive_clauses(message: str) -> Iterator[Clause]:
    """The parts of a message that no negation reaches.

    A negation reaches from the start of its clause to the end of the sentence, or to a word such as "but".
    """
    sentences = _SENTENCE_END.split(_QUOTATION.sub("", message))
    for sentence, following in pairwise((*sentences, "")):
        lowered = _lowered(sentence)
        if _TAKEN_BACK.match(following[:100].lower()):
            continue
        lowered = _EXEMPT.sub(lambda match: "x" * len(match[0]), lowered)
        for start, end in _positive_parts(lowered):
            yield from _told_and_asked(sentence, lowered, start, end)


def whole_sentences(text: str, *, from_start: bool) -> str:
    """A cut text without the sentence that the cut went through: its last one, or its first one."""
    ends = [match.span() for match in _SENTENCE_END.finditer(text)]
    if not ends:
        return ""
    return text[: ends[-1][0]] if from_start else text[ends[0][1] :]


def _lowered(text: str) -> str:
    """In lower case, and of the same length: a few letters are two in lower case."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _positive_parts(lowered: str) -> Iterator[tuple[int, int]]:
    start = 0
    while (negation := _NEGATION.search(lowered, start)) is not None:
        end = _SCOPE_END.search(lowered, negation.end())
        if negation["boundary"]:
            after = lowered[negation.end("boundary") : end.start() if end else len(lowered)]
            if not _is_about(lowered[start : negation.start()], after):
                yield start, negation.start()
        if end is None:
            return
        start = end.end()
    yield start, len(lowered)


def _is_about(before: str, negated: str) -> bool:
    """Whether a negation is about the words before it, although a comma or a bracket stands between."""
    return bool(
        _TOPIC.fullmatch(before)
        or _SAME_PERSON.search(negated)
        or _TAKEN_BACK.match(negated[:100])
        or _WAITING.match(negated)
    )


def _told_and_asked(sentence: str, lowered: str, start: int, end: int) -> Iterator[Clause]:
    """The clause as one, or in parts if it is a question, or ends in one."""
    if _READS.match(lowered, start, end):
        yield Clause(sentence[start:end], start == 0, asks=_ACTS.search(lowered, start, end) is None)
        return
    question = _QUESTION.search(lowered, start, end) if _QUESTION_END.search(lowered) else None
    question = question or _UNMARKED.match(lowered, start, end)
    if question is None:
        yield Clause(sentence[start:end], start == 0)
        return
    # "Should I mail Bob?" is no request, "What is new, and mail it to Bob?" is one.
    is_open = lowered[question.start() : question.end()].lstrip(" ,;:\n(-")[:2] in ("wh", "ho")
    request = (_ACTS if is_open else _REQUEST).search(lowered, question.end(), end)
    request = request or _REQUEST.search(lowered, question.end(), end)
    middle = request.start() if request else end
    yield Clause(sentence[start : question.start()], start == 0)
    yield Clause(sentence[question.start() : middle], begins_sentence=True, asks=True)
    yield Clause(sentence[middle:end], begins_sentence=True)


def says_no(text: str) -> bool:
    """Whether a text says no to something, or takes something back."""
    text = _EXEMPT.sub(" ", text.lower())
    return _NEGATION.search(text) is not None or _TAKEN_BACK.match(text) is not None
