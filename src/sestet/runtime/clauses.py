"""The parts of a person's message that say yes: no negation reaches them."""

import re
from collections.abc import Iterator

#: A sentence ends at a full stop or an empty line, but not after an abbreviation or before a list.
_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!\bMr\.)(?<!\bDr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bSt\.)(?<!\bProf\.)(?<!\b\w\.)(?<!\betc\.)\s+"
    r"|(?<!:)\n\s*\n"
)
#: "Don't forget to mail Bob" is not a negation.
_EXEMPT = re.compile(
    r"\b(?:(?:don't|do not|never) forget|not only|why (?:not|don't (?:you|we))|no later than|no problem)\b"
)
#: Stands right before a negation that does not reach the words before it: "mail Bob, not Carol".
_BOUNDARY = r"(?P<boundary>(?:[,(:;]|(?<!\S)(?:and|but|then))\s*(?:(?:and|but|please|do|then)\s+){0,3})?"
_NEGATION = re.compile(
    _BOUNDARY
    + r"(?<!\w)(?:not|no(?!\.)|never|none|nobody|nothing|nowhere|neither|nor|without|except|excluding|exclude"
    r"|avoid|skip|ignore|cannot|dont|doesnt|stop|forbid|forbidden|ban|block|refuse|instead of|rather than"
    r"|other than|apart from|(?:any|every|no)(?:one|body|thing)? but|all but|\w+n't"
    r"|nicht|kein\w*|nie|niemals|ohne|außer|pas|jamais|sans|sauf|nunca|sin|excepto|non|não|sem"
    r"|ikke|aldri|inte|aldrig|niet|geen|nooit|zonder)(?![\w-])"
)
_SCOPE_END = re.compile(r"(?<!\w)(?:but|instead|however|sondern|mais|pero)(?! (?:of|for))(?!\w)")


def positive_clauses(message: str) -> Iterator[tuple[str, bool]]:
    """The parts of a message that no negation reaches, and whether each begins a sentence.

    A negation reaches from the start of its clause to the end of the sentence, or to a word such as "but".
    """
    for sentence in _SENTENCE_END.split(message):
        lowered = _EXEMPT.sub(lambda match: "x" * len(match[0]), sentence.lower())
        # A few letters change their length in lower case; then the places would not agree.
        yield from _positive_parts(sentence, lowered if len(lowered) == len(sentence) else sentence)


def _positive_parts(sentence: str, lowered: str) -> Iterator[tuple[str, bool]]:
    start = 0
    while (negation := _NEGATION.search(lowered, start)) is not None:
        if negation["boundary"]:
            yield sentence[start : negation.start()], start == 0
        end = _SCOPE_END.search(lowered, negation.end())
        if end is None:
            return
        start = end.end()
    yield sentence[start:], start == 0
