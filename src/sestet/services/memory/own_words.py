"""Decides whether a text is a whole statement of the person's message.

A model that obeys a page can choose any part of the message. So only whole sentences count, without a request
such as "remember that" before them. Where a part of a sentence counts, the words that are left out hold no
negation, condition or report.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

# Compiled on first use: most processes end before a fact is stored.
#: A word before a statement or a request that does not change it.
_POLITE = (
    r"(?:(?:please|also|and|then|so|ok|okay|well|oh|hi|hello|hey|sestet|thanks|thank you|by the way|btw|fyi"
    r"|for your information|for the record|actually|in fact|correction|sorry)\b[,:!]?\s+|[-*•]\s+)"
)
#: A request to keep what follows.
_REQUEST = (
    r"(?:(?:remember|memori[sz]e|note|make a note|keep in mind|bear in mind|do not forget|don't forget"
    r"|you should know|observe|record|log|write down)(?: this| the following| the fact| the event)?"
    r"(?: that\b|:)?"
    r"|(?:save|store|add|keep|put) (?:(?:(?:this|the|a) )?(?:knowledge|fact|note)"
    r"|(?:this )?(?:to|in|into) (?:(?:the|our|my|your) )?knowledge(?: base)?)(?: that\b|:)"
    r"|(?:change|update|correct|replace) memory m?\d+(?: to\b| by\b|:)"
    r"|memory m?\d+ is (?:wrong:|out of date, now)|instead of memory m?\d+,)\s+"
)
_TAIL = (
    r"(?:,? (?:please|thanks|thank you)|, (?:please )?(?:remember (?:it|that|this)|do not forget it"
    r"|don't forget it|keep (?:it|that) in mind|put it down as an event))"
)
_LEAD = rf"(?:{_POLITE}|{_REQUEST})"
#: A request may follow these inside a sentence.
_CONNECTOR = rf"(?:[,;]\s*|\n|\band )(?=(?:{_POLITE})*{_REQUEST})"
_END = r"(?<![.!?])[.!?]+[\"')\]”»]*(?=\s|$)|[\u3002\uff01\uff1f]+"
#: A dot after one of these, or after dots, ends no sentence for certain.
_PAUSE = (
    r"(?:\.\.|…|(?:^|[^\w'])(?:\w|dr|mr|mrs|ms|prof|st|no|nr|vs|etc|approx|ca|e\.g|i\.e|inc|ltd|jr|sr)\.)$"
)
#: Words that can change the meaning of other words of their sentence.
_DOUBT = (
    r"n't\b|\b(?:not|never|no|nor|none|nobody|nothing|neither|without|except\w*|exclud\w*|but|unless|if|whether"
    r"|when\w*|until|till|while|(?:al)?though|only|just|hardly|barely|scarcely|rarely|seldom|cannot|dont|doesnt"
    r"|didnt|isnt|arent|wasnt|wont|stop\w*|quit\w*|avoid\w*|refus\w*|den(?:y|ies|ied)|fail\w*|lack\w*|ceas\w*"
    r"|g[ai]v\w* up|ban(?:s|ned)?|forb[ia]d\w*|against|former\w*|used to|any ?more|longer|instead|rather"
    r"|false\w*|wrong\w*|untrue|lie[sd]?|lying|myths?|pretend\w*|imagin\w*|suppos\w*|assum\w*|wish\w*"
    r"|hop(?:e|es|ed|ing)|dream\w*|jok\w*|kidding|maybe|perhaps|probabl\w*|possibl\w*|might|may|could|would"
    r"|should|almost|nearly|opposite|contrary|sa(?:y|ys|id|ying)|t(?:ell|ells|old|elling)|ask(?:s|ed|ing)"
    r"|claim\w*|think\w*|thought|believ\w*|wr(?:ites|ote|itten)|quot\w*|report\w*|accord\w*|hear\w*"
    r"|stat(?:es|ed)|insist\w*|suggest\w*|forget\w*|ignor\w*)\b"
)
#: A sentence that begins like this takes the one before it back.
_RETRACTION = (
    r"\W*(?:not|no|nope|never|except|unless|only|if|or|but|wrong|false|untrue|just kidding|kidding|joking"
    r"|ignore|forget|scratch|strike|correction|actually|sorry|wait|rather|instead|said|says|that is|that's)\b"
)
#: The sentences after it are not the person's, or not meant.
_FRAME = r":(?=\s|$)|\b(?:pretend|imagine|suppose|assume|role-?play|opposite|joke)\b"
_SHORT = 3
#: Bounds of the work. A longer message was hardly typed, and a longer sentence is no statement to remember.
_LONGEST_MESSAGE = 20_000
_LONGEST_SENTENCE = 4_000
_MOST_EDGES = 40
_MOST_TRIED = 20


class _Sentence(NamedTuple):
    #: Where it begins in the message.
    at: int
    #: In lower case.
    text: str

    @property
    def is_question(self) -> bool:
        return "?" in self.text[-3:] or "\uff1f" in self.text[-3:]


def is_own_statement(text: str, message: str) -> bool:
    """Whether the text is a whole statement of the message, except for case, spacing and the last mark."""
    if len(message) > _LONGEST_MESSAGE:
        return False
    message = _tidy(message)
    wanted = [_plain(sentence.text) for sentence in _sentences(_tidy(text))]
    # A cheap check first: most texts that a model writes do not stand in the message at all.
    if not wanted or not wanted[0] or wanted[0] not in message.replace("\n", " "):
        return False
    sentences = list(_sentences(message))
    found = (
        number
        for number, sentence in enumerate(sentences)
        if wanted[0] in sentence.text.replace("\n", " ")
        and wanted[1:] == [_plain(s.text) for s in sentences[number + 1 : number + len(wanted)]]
        and _states(sentence.text, wanted[0], to_its_end=len(wanted) > 1)
    )
    return any(
        all(_is_told(message, sentences, number + offset) for offset in range(len(wanted)))
        for number in islice(found, _MOST_TRIED)
    )


def _tidy(text: str) -> str:
    """Lower case, single spaces and straight apostrophes; a line break stays one."""
    text = text.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return re.sub(r"\s+", lambda found: "\n" if "\n" in found[0] else " ", text.strip())


def _plain(text: str) -> str:
    """A statement on one line, without the marks at its end."""
    return text.replace("\n", " ").strip().rstrip(" .!\u3002\uff01")


def _sentences(message: str) -> Iterator[_Sentence]:
    start = 0
    for found in re.finditer(_END, message):
        if not re.search(_PAUSE, message[max(0, found.start() - 10) : found.end()]):
            yield _sentence(message, start, found.end())
            start = found.end()
    if message[start:].strip():
        yield _sentence(message, start, len(message))


def _sentence(message: str, start: int, end: int) -> _Sentence:
    text = message[start:end]
    return _Sentence(start + len(text) - len(text.lstrip()), text.strip())


def _is_told(message: str, sentences: Sequence[_Sentence], number: int) -> bool:
    """Whether the person states the sentence: no question, no quotation, and not taken back beside it."""
    before, sentence, after = sentences[:number], sentences[number], sentences[number + 1 :]
    beside = (*before[-1:], *after[:1])
    return not (
        sentence.is_question
        or _is_quoted(message, sentence.at)
        or any(re.search(_FRAME, re.sub(_REQUEST, "", other.text)) for other in before)
        or any(len(other.text.split()) <= _SHORT and re.search(_DOUBT, other.text) for other in beside)
        or any(re.match(_RETRACTION, other.text) for other in after[:1])
    )


def _is_quoted(message: str, position: int) -> bool:
    """Whether a quotation, bracket or code block is open at this place, or its line is a quotation."""
    line = message[message.rfind("\n", 0, position) + 1 : position + 1]
    if line.lstrip().startswith((">", "|")):
        return True
    depth = 0
    marks = {'"': 0, "`": 0, "'": 0}
    for found in re.finditer(r"[\"`“„«\u2018(\[{”»)\]}]|(?<!\w)'(?=\S)|(?<=\S)'(?!\w)", message[:position]):
        mark = found[0]
        if mark in marks:
            marks[mark] ^= 1
        else:
            depth = depth + 1 if mark in "“„«\u2018([{" else max(0, depth - 1)
    return depth > 0 or any(marks.values())


def _states(sentence: str, wanted: str, *, to_its_end: bool) -> bool:
    """Whether a sentence, or a part of it that stands alone, is the wanted statement."""
    if len(sentence) > _LONGEST_SENTENCE:
        return False
    #: Where the request before a statement begins, and the statement itself.
    starts = [(0, start) for start in _after_leads(sentence, 0)]
    for found in islice(re.finditer(_CONNECTOR, sentence), _MOST_EDGES):
        starts += [(found.end(), start) for start in _after_leads(sentence, found.end())[1:]]
    #: Where a statement ends, and where the words begin that are left out after it.
    ends = [(len(sentence), len(sentence))]
    if not to_its_end:
        tail = re.search(rf"{_TAIL}+[.!]*$", sentence)
        ends += [(tail.start(), len(sentence))] if tail else []
        ends += [(found.start(),) * 2 for found in islice(re.finditer(r"\n", sentence), _MOST_EDGES)]
    return any(
        _plain(sentence[start:end]) == wanted and not _changes(sentence[:left], sentence[right:])
        for left, start in starts
        for end, right in ends
        if start < end
    )


def _changes(before: str, after: str) -> bool:
    """Whether words that are left out around a statement can change what it says."""
    return bool(re.search(_DOUBT, f"{before}\n{after}") or re.search(_FRAME, re.sub(_REQUEST, "", before)))


def _after_leads(text: str, start: int) -> list[int]:
    """This place, and the place after each request or polite word that follows it."""
    found = [start]
    lead = re.compile(_LEAD)
    while len(found) < _MOST_EDGES and (match := lead.match(text, found[-1])):
        found.append(match.end())
    return found
