"""Understands German as far as memory goes: facts that are told, questions about them, and what to forget."""

from collections.abc import Collection, Sequence

from sestet.models.offline.languages import answer_in_language
from sestet.models.offline.memory_work import FORGET_ABOUT
from sestet.models.offline.patterns import patterns_of
from sestet.models.offline.tasks import Request, Task, ask

_LONGEST = 300
_SHORTEST = 3
_NOTHING = "Dazu habe ich nichts gespeichert; du kannst es mir jetzt sagen."


def task_in_language(text: str, before: Sequence[str], tools: Collection[str]) -> Task | None:
    """The task of a message that is not English; ``before``: the earlier messages."""
    answer = answer_in_language(text, before)
    task = _german_task(text, answer) if "chronicler" in tools else None
    return task or (Task(text, answer=answer) if answer else None)


def _german_task(text: str, cannot: str) -> Task | None:
    """The task of a German message for memory; None for any other message.

    ``cannot``: what is said if memory has no answer.
    """
    said = " ".join(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split()).strip()
    plain, patterns = said.rstrip(" .!"), patterns_of("german")
    if len(said) > _LONGEST or len(said.split()) < _SHORTEST:
        return None
    if found := patterns["forget"].fullmatch(plain):
        return ask("chronicler", text, FORGET_ABOUT.format(what=_in_order(found["what"])))
    if found := patterns["keep"].fullmatch(plain):
        return ask("chronicler", text, f"remember that {_in_order(found['fact'])}")
    if is_german_question(said):
        asked = Request("chronicler", f"do you remember {said}")
        return Task(said, (asked,), f"{_NOTHING} {cannot}".strip(), is_lookup=True)
    return ask("chronicler", text, f"remember that {plain}") if is_german_statement(said) else None


def is_german_statement(said: str) -> bool:
    """Whether a German sentence tells something that could be remembered."""
    patterns = patterns_of("german")
    if "?" in said or patterns["request"].match(said) or patterns["question"].match(said):
        return False
    is_german = len(patterns["german"].findall(said)) > 1 or patterns["surely"].search(said) is not None
    return is_german and patterns["statement"].match(said) is not None


def is_german_question(said: str) -> bool:
    patterns = patterns_of("german")
    asks = patterns["question"].match(said) or patterns["yes_no"].match(said)
    is_german = patterns["german"].search(said) is not None
    return asks is not None and is_german and patterns["elsewhere"].search(said) is None


def _in_order(clause: str) -> str:
    """A clause behind "dass" as a sentence: "ich keine Rosinen mag" is "ich mag keine Rosinen"."""
    found = patterns_of("german")["at_end"].match(clause.strip())
    verb = patterns_of("german")["verb"]
    if found is None or not verb.fullmatch(found["verb"]) or verb.match(found["rest"]):
        return clause.strip()
    return f"{found['subject']} {found['verb']} {found['rest']}"
