"""Resolves what only an earlier message says: "read it again", "undo that", "what did I ask you before?"."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from sestet.core.message import AssistantMessage, Found, Message, ToolMessage, UserMessage
from sestet.models.offline.answering import read_question
from sestet.models.offline.dates import is_near_day
from sestet.models.offline.patterns import patterns_of
from sestet.models.offline.words import is_question
from sestet.models.router.splitting import openings

_SAID = patterns_of("references")

_HE_OR_SHE = re.compile(r"\b(?:he|she|him|his|her|hers)\b", re.IGNORECASE)
_RELATIVE = re.compile(
    r"\b((?:my|our) (?:(?:little|big|older|younger|best|new|old) )?(?:sister|brother|mother|father|mum|mom"
    r"|dad|wife|husband|son|daughter|boss|friend|partner|girlfriend|boyfriend|fiancée?|uncle|aunt|cousin|nephew"
    r"|niece|grandma|grandpa|grandmother|grandfather|neighbou?r|doctor|dentist|teacher|coach|colleague|landlord"
    r"|flatmate|roommate|baby|kid|child|dog|cat|horse|pet))\b",
    re.IGNORECASE,
)
_A_NAME = re.compile(r"\b[A-Z][a-zà-ÿ]+\b(?!\s+(?:is|are)\s+a\b)")
_NO_NAMES = frozenset({"you", "i", "in", "my", "remembered", "already", "forgotten", "nothing", "your"})
CANNOT_REWRITE = (
    "I cannot reword, shorten or explain an answer: that takes a real model, and I only recognise requests "
    "by their words. `sestet setup` finds one."
)
_NOTHING_BEFORE = (
    "Nothing was said before this, so I cannot tell what you mean. Say all of it in one message."
)
_CHANGED = (
    "Below each answer stands what it changed, as “changed: …”. `sestet undo` shows the last changes of "
    "files, and takes them back."
)
#: Without a past, the operator knows what can be undone and which file is named, and a text is explained.
_NEED_A_PAST = ("undo", "pick", "rewrite", "add more")
_MOST_LISTED = 5
#: Stands for the file in the words of a reference.
_ITS_PLACE = "\0"
_LONGEST_QUOTE = 200


class Delegated(NamedTuple):
    """A request to a specialist, and what it found."""

    agent: str
    request: str
    found: tuple[Found, ...]


class Exchange(NamedTuple):
    """An earlier message, and its answer."""

    asked: str
    answer: str
    #: The requests to specialists, each with what was found.
    work: tuple["Delegated", ...] = ()
    #: What the specialist found that gave the answer itself.
    found: tuple[Found, ...] = ()


class Reference(NamedTuple):
    """How a message refers to earlier ones. ``kind`` names the part of the past that it needs."""

    kind: str
    what: str = ""
    #: The answer, if it needs no more than the past.
    answer: str = ""


def without_lead(request: str) -> str:
    """The request without a word that only turns to it: "actually delete it"."""
    return _SAID["lead"].sub("", request)


def naming(what: str, path: str) -> str:
    """The words of a reference to a file, with the name of the file."""
    return what.replace(_ITS_PLACE, f'"{path}"' if " " in path else path)


def exchanges_of(messages: Sequence[Message]) -> tuple[Exchange, ...]:
    """The exchanges before the present message, oldest first."""
    found: list[Exchange] = []
    starts = [at for at, message in enumerate(messages) if isinstance(message, UserMessage)]
    for start, end in pairwise(starts):
        texts = [
            message.text
            for message in messages[start:end]
            if isinstance(message, AssistantMessage) and message.text
        ]
        work = tuple(_delegated(messages[start:end]))
        last = messages[end - 1]
        known = last.found if isinstance(last, AssistantMessage) else ()
        found.append(Exchange(messages[start].text, texts[-1] if texts else "", work, known))
    return tuple(found)


def _delegated(messages: Sequence[Message]) -> Iterator[Delegated]:
    results = {message.call_id: message for message in messages if isinstance(message, ToolMessage)}
    calls = (call for message in messages if isinstance(message, AssistantMessage) for call in message.calls)
    for call in calls:
        if result := results.get(call.id):
            yield Delegated(
                str(call.arguments.get("agent_name")), str(call.arguments.get("request")), result.found
            )


def read_reference(request: str, past: Sequence[Exchange]) -> Reference | None:
    """How a message refers to what was said before; None for a message that stands alone."""
    return next(read_references(request, past), None)


def read_references(request: str, past: Sequence[Exchange]) -> Iterator[Reference]:
    """The ways in which a message may refer to what was said before, the likeliest first."""
    request = re.sub(r"\bwhat's\b", "what is", request.strip(), flags=re.IGNORECASE)
    if answer := _about_the_past(request, past):
        yield Reference("past", answer=answer)
    for kind, pattern in _KINDS:
        if (found := pattern.fullmatch(request)) and (past or kind not in _NEED_A_PAST):
            yield _reference(kind, found.groupdict(), past)
    if (found := _SAID["and"].fullmatch(request)) and past:
        yield Reference("day" if is_near_day(found["what"]) else "and", found["what"].strip(" ?.!"))


def _reference(kind: str, groups: Mapping[str, str | None], past: Sequence[Exchange]) -> Reference:
    if not past:
        return Reference(kind, answer=_NOTHING_BEFORE)
    if kind == "repeat":
        return Reference(kind, answer=past[-1].answer or _NOTHING_BEFORE)
    if kind == "rewrite":
        return Reference(kind, answer=CANNOT_REWRITE)
    if kind == "with it":
        return Reference(kind, f"{groups['before']}{_ITS_PLACE}{groups['after']}")
    if kind == "count it":
        return Reference(kind, f"how many {groups['what']} are in {_ITS_PLACE}")
    return Reference(kind, " ".join(value for value in groups.values() if value).strip(" ?.!"))


#: Tried in this order.
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("read it", _SAID["read_it"]),
    ("in it", _SAID["about_it"]),
    ("which", _SAID["which"]),
    ("pick", _SAID["pick"]),
    ("meant", _SAID["meant"]),
    ("also", _SAID["also"]),
    ("and asks", _SAID["and_asks"]),
    ("with it", _SAID["with_it"]),
    ("left", _SAID["left"]),
    ("add line", _SAID["add_line"]),
    ("add more", _SAID["add_more"]),
    ("count it", _SAID["count_it"]),
    ("forget it", _SAID["forget_it"]),
    ("keep it", _SAID["keep_it"]),
    ("undo", _SAID["undo"]),
    ("same for", _SAID["same_for"]),
    ("redo", _SAID["redo"]),
    ("repeat", _SAID["repeat"]),
    ("rewrite", _SAID["rewrite"]),
)


def _about_the_past(request: str, past: Sequence[Exchange]) -> str:
    """The answer to a question about the conversation itself; empty for any other."""
    said = [exchange.asked for exchange in past]
    if found := _SAID["asked_to"].fullmatch(request):
        with_deed = [
            text for text in said if re.search(rf"\b{re.escape(found['deed'])}", text, re.IGNORECASE)
        ]
        gone = " It is gone: nothing of it is on record now." if found["deed"].casefold() == "forget" else ""
        return f"You said: {_quote(with_deed[-1])}{gone}" if with_deed else ""
    if _SAID["changed"].fullmatch(request):
        return _CHANGED if said else "Nothing yet: this is your first message in this conversation."
    found = _SAID["asked"].fullmatch(request)
    if found is None:
        return ""
    if not said:
        return "Nothing yet: this is your first message in this conversation."
    when = f"{found['when'] or ''} {found['which'] or ''}"
    if re.search(r"first|start|beginning", when):
        return f"First you said: {_quote(said[0])}"
    if "second" in when and len(said) > 1:
        return f"Your second message was: {_quote(said[1])}"
    if re.search(r"so far|today|until|up to", when):
        lines = (f"- {_quote(text)}" for text in said[-_MOST_LISTED:])
        return "\n".join(("In this conversation you said:", *lines))
    earlier = f" Before that: {_quote(said[-2])}" if len(said) > 1 else ""
    return f"Just before this you said: {_quote(said[-1])}{earlier}"


def _quote(text: str) -> str:
    text = " ".join(text.split())
    return f"“{text[:_LONGEST_QUOTE]}…”" if len(text) > _LONGEST_QUOTE else f"“{text}”"


def with_name(question: str, past: Sequence[Exchange]) -> str:
    """The question with the name that "she" or "his" stands for, if the last message has one."""
    is_named = question.endswith(")") or _A_NAME.search(question[1:])
    if not past or not _HE_OR_SHE.search(question) or is_named:
        return question
    name = _named_in(past[-1])
    return f"{question} ({name})" if name else question


def with_named_subject(statement: str, past: Sequence[Exchange]) -> str:
    """ "She works at the zoo" with the one person that the last message or its answer names."""
    begins = re.match(r"(?:(?:he|she)(?P<is>'s)?|(?P<owner>his|her)(?= \w))\b(?!')", statement, re.IGNORECASE)
    name = _person_in(past) if past and begins else ""
    if not name or begins is None:
        return statement
    ending = " is" if begins["is"] else "'s" if begins["owner"] else ""
    return f"{name}{ending}{statement[begins.end() :]}"


def _person_in(past: Sequence[Exchange]) -> str:
    """The one whom the last message is about: a name, or "my sister" with her name if it was told before."""
    if name := _named_in(past[-1]):
        return name
    relatives = _RELATIVE.findall(past[-1].asked)
    if len({whom.casefold() for whom in relatives}) != 1:
        return ""
    called = re.compile(rf"\b(?i:{relatives[0]})(?: is)?(?: called| named)? ([A-Z][\w-]+)")
    told = (found[1] for one in reversed(past) if (found := called.search(one.asked)))
    return next(told, relatives[0])


def name_in(question: str) -> str:
    """The first name in a question; empty if it has none."""
    found = re.findall(r"(?<=\w )[A-Z][\w-]*(?: [A-Z][\w-]*)*", question)
    return next((name for name in found if name.casefold() not in _NO_NAMES), "")


def _named_in(exchange: Exchange) -> str:
    """The last name of a message, else the only name of its answer; a long answer names many."""
    asked, told = (
        [one for one in _A_NAME.findall(text) if one.casefold() not in openings() | _NO_NAMES]
        for text in (exchange.asked[1:], exchange.answer)
    )
    return asked[-1] if asked else told[0] if len(set(told)) == 1 else ""


def with_subject(question: str, past: Sequence[Exchange]) -> str:
    """ "How much does it cost?" with what the question before it was about."""
    last = past[-1].asked if past else ""
    if not is_question(last) or not re.search(r"\b(?:it|they|them|that|this)\b", question, re.IGNORECASE):
        return question
    return f"{question} ({' '.join(read_question(last).telling)})"


def substituted(question: str, what: str, words: Sequence[str]) -> str:
    """An earlier question about something else: "how old is Nora?" and "and Emil?" is "how old is Emil?"."""
    first = what.split()[0].casefold()
    same = next((word for word in words if word.casefold() == first), "")
    if same:
        # "and bed 7?" after a question about bed 4
        count = len(what.split())
        return re.sub(
            rf"\b{re.escape(same)}(?:\s+\S+){{{count - 1}}}", what, question, count=1, flags=re.IGNORECASE
        )
    if not words:
        return what
    # "The apple pie" is one thing: all telling words that stand together before the last one belong to it.
    run = re.escape(words[-1])
    for word in reversed(words[:-1]):
        if not re.search(rf"\b{re.escape(word)}\s+{run}\b", question, re.IGNORECASE):
            break
        run = rf"{re.escape(word)}\s+{run}"
    return re.sub(rf"(?:\b(?:the|an?)\s+)?\b{run}\b", what, question, count=1, flags=re.IGNORECASE)
