"""The work with memory and knowledge: only facts that answer are told, and changes reach the right fact."""

import re
from collections.abc import Sequence

from sestet.core.message import Found, ToolCall
from sestet.models.offline.answering import (
    answers_to,
    asks_name_or_age,
    candidates_for,
    has_subject,
    is_about_person,
    lines_that_answer,
    search_words,
    with_names_told,
)
from sestet.models.offline.categories import read_asked_kind
from sestet.models.offline.corrections import answered_question, corrected_fact, read_correction
from sestet.models.offline.statements import is_statement
from sestet.models.offline.tasks import SHOW_DOCUMENT
from sestet.models.offline.words import trim_request
from sestet.models.offline.work import Flow, Next, Work, call, form

#: How the orchestrator words requests that take more than one call.
CORRECT = "correct what is remembered: {text}"
CORRECT_ABOUT = "correct what is remembered about {about}: {text}"
FORGET_ABOUT = "forget what you know about {what}"
FORGET_ALL = "forget all that is remembered"
_NOTHING_TO_FORGET = (
    "No fact that you told me is about “{what}”, so there is nothing to forget. `sestet knowledge forget` "
    "removes what you saved as knowledge."
)
_NOTHING_TO_CORRECT = (
    "I have nothing on record to correct with “{new}”. Say the whole sentence, as in “my dog is called Max”."
)
_NOT_ON_RECORD = "I have nothing on record about that. You can tell me now."
_MAY_BE_MEANT = "Nothing on record says just that. What you told me, which may or may not be it:"
#: Recalls all facts: other words for the same thing are found among them.
_EVERYTHING = "me"
_MOST_FACTS = 20
_ALL_FACTS = 50
_MOST_STEPS = 8
_MOST_PASSAGES = 5


def is_correction(request: str) -> bool:
    """Whether a request asks to correct a fact."""
    return any(form(words).match(request) for words in (CORRECT_ABOUT, CORRECT))


def _recall_all(work: Work) -> ToolCall:
    # The same call again and again would look like a loop.
    return call("memory_recall", query=_EVERYTHING, limit=_ALL_FACTS - len(work.made("memory_recall")))


def _has_all(work: Work) -> bool:
    """Whether the last step recalled all facts."""
    return work.last.call.arguments.get("query") == _EVERYTHING


def _forget_about(work: Work, found: re.Match[str]) -> Next:
    """Recall first: only a fact with its exact words can be forgotten."""
    what = found["what"].strip(" .?!\"'“”")
    if not work.steps:
        return call("memory_recall", query=what, limit=_MOST_FACTS)
    if work.last.call.name == "memory_forget":
        if work.last.result.failed or len(work.steps) > _MOST_STEPS:
            return None
        # A fact that was replaced counts again once the newer one is forgotten.
        return _recall_all(work)
    facts = answers_to(what, found_now := work.last.result.found)
    if not facts and len(found_now) == 1 and not _has_all(work):
        # Recalling is sure of one fact.
        facts = list(found_now)
    if not facts and not _has_all(work):
        return _recall_all(work)
    if not facts and (done := work.made("memory_forget")):
        return "\n".join(step.result.text for step in done)
    if not facts:
        return _NOTHING_TO_FORGET.format(what=what)
    if len(facts) > 1 and not work.made("memory_forget"):
        lines = (f"- {fact.name}: {fact.text}" for fact in facts)
        return "\n".join(("Several facts are about that; say which one, as in “forget that …”:", *lines))
    return _forget(facts[0])


def _forget(fact: Found) -> ToolCall:
    return call("memory_forget", memory=fact.name, words=fact.text)


def _forget_all(work: Work, _: re.Match[str]) -> Next:
    """All facts, each with its own question to the person, until none is left."""
    if not work.steps:
        return _recall_all(work)
    forgotten = work.made("memory_forget")
    if any(step.result.failed for step in forgotten):
        return None
    if work.last.call.name == "memory_forget":
        return _recall_all(work)
    if work.last.result.found and len(forgotten) < _ALL_FACTS:
        return tuple(map(_forget, work.last.result.found))
    count = len(forgotten)
    if not count:
        return "Nothing is on record about you, so there is nothing to forget."
    return f"Forgotten: all that was on record about you ({count} fact{'' if count == 1 else 's'})."


def after_forgetting(work: Work) -> Next:
    """No fact had these words: look for one that says the same."""
    # A call that the person denied is not tried in other words.
    has_erred = work.last.result.failed and not work.last.result.for_person
    if not has_erred or "memory_recall" not in work.tools or work.made("memory_recall"):
        return None
    return call("memory_recall", query=str(work.last.call.arguments.get("words", "")), limit=_MOST_FACTS)


def after_recalling(work: Work) -> Next:
    """Only facts that answer the question are told."""
    if failed := [step for step in work.made("memory_forget") if step.result.failed]:
        words = str(failed[0].call.arguments.get("words", ""))
        facts = answers_to(words, work.last.result.found)
        if not facts and not _has_all(work):
            return _recall_all(work)
        return _forget(facts[0]) if len(facts) == 1 else _NOTHING_TO_FORGET.format(what=words)
    return _only_answers(work, "You told me:", _NOT_ON_RECORD)


def after_looking_up(work: Work) -> Next:
    """Passages that the person asks for are told as they are, also those that are near only in meaning."""
    if not re.match(r"look up\b", trim_request(work.request), re.IGNORECASE):
        return None
    if work.last.call.name == "rag_retrieve":
        return _in_documents(work)
    told = _only_answers(work, "In the knowledge base:", "")
    is_nothing = told == "" or (told is None and not work.last.result.found)
    is_named = re.search(r"\bin (?:the|our|my|your) knowledge(?: base)?\b", work.request, re.IGNORECASE)
    if is_nothing and not is_named and "rag_retrieve" in work.tools:
        return call("rag_retrieve", query=_question(work), collections=["documents"], limit=_MOST_PASSAGES)
    return _NOT_ON_RECORD if told == "" else told


def _in_documents(work: Work) -> str:
    """The lines of ingested documents that answer a question."""
    passages = work.last.result.found
    lines = [
        Found(one.name, line.strip()) for one in passages for line in one.text.splitlines() if line.strip()
    ]
    answers = lines_that_answer(_question(work), lines)[:_MOST_PASSAGES]
    return "\n".join(("In your documents:", *map(_as_line, answers))) if answers else _NOT_ON_RECORD


def _as_line(line: Found) -> str:
    return f"- {line.text} ({line.name.rpartition('/')[2]})"


def _show_document(work: Work, found: re.Match[str]) -> Next:
    """A document by its name: of all passages, those that come from it."""
    name = found["name"].strip(" .?!\"'“”")
    if not work.steps:
        stem, _, _ = name.rpartition(".")
        return call("rag_retrieve", query=f"{name} {stem}", collections=["documents"], limit=_ALL_FACTS)
    of_it = [
        one for one in work.last.result.found if name.casefold() in one.name.rpartition("/")[2].casefold()
    ]
    if not of_it:
        return (
            f"There is no file and no document named “{name}”. “list the files” shows which files are here."
        )
    return "\n".join((f"From the document {of_it[0].name}:", *(one.text.strip() for one in reversed(of_it))))


def _question(work: Work) -> str:
    return re.sub(r"^(?:do you remember|look up)\s+", "", trim_request(work.request), flags=re.IGNORECASE)


def _only_answers(work: Work, head: str, nothing: str) -> Next:
    """The result without what does not answer the request; as it is if all of it does."""
    result = work.last.result
    if not has_subject(work.request):
        return None
    if (
        work.last.call.name == "memory_recall"
        and not _has_all(work)
        and any(one.kind for one in result.found)
    ):
        # Recalling judges by words, slots and meaning which facts answer.
        return result.text
    question = _question(work)
    kept = answers_to(question, result.found)
    # Facts about "Lena" may be far from a question about "my daughter".
    is_for_newest = asks_name_or_age(question) or with_names_told(question, result.found)
    if is_for_newest and work.last.call.name == "memory_recall" and not _has_all(work):
        return _recall_all(work)
    if not kept and len(work.steps) == 1:
        # Other words for the same things may find more.
        wider, is_for_all = search_words(question), is_about_person(question)
        is_for_all = is_for_all or read_asked_kind(question) is not None
        is_memory = work.last.call.name == "memory_recall"
        if is_memory and (wider != question or is_for_all):
            return _recall_all(work)
        if not is_memory and wider != question and not is_for_all:
            return call(work.last.call.name, query=wider, limit=_MOST_FACTS)
    if set(kept) == set(result.found):
        return None
    if not kept:
        maybe = candidates_for(question, result.found)
        return _as_candidates(maybe) if maybe else nothing
    return "\n".join(
        (
            head,
            *(f"- {one.text} ({one.name})" if one.text not in one.name else f"- {one.text}" for one in kept),
        )
    )


def _as_candidates(facts: Sequence[Found]) -> str:
    return "\n".join((_MAY_BE_MEANT, *(f"- {fact.text}" for fact in facts)))


def _correct(work: Work, found: re.Match[str]) -> Next:
    """A correction replaces the fact that it is about, and is remembered if there is none."""
    correction = read_correction(found["text"])
    if correction is None:
        return None
    about = found.groupdict().get("about") or ""
    if not work.steps:
        return call(
            "memory_recall", query=about or f"{correction.new} {correction.old}".strip(), limit=_MOST_FACTS
        )
    if work.last.call.name == "memory_update" and work.last.result.found:
        # The older fact stands, so the person is asked whether to forget it.
        return _forget(work.last.result.found[0])
    if work.last.call.name == "memory_forget" and not work.last.result.failed:
        updated = work.made("memory_update")[-1].call.arguments.get("fact")
        return f"Remembered: {updated}\n{work.last.result.text}"
    if work.last.call.name != "memory_recall":
        return None
    if changed := corrected_fact(correction, work.last.result.found, about):
        fact, words = changed
        return call("memory_update", memory=fact.name, fact=words)
    if not _has_all(work):
        return _recall_all(work)
    if correction.is_sentence and not correction.has_pronoun and is_statement(correction.new):
        return call("memory_remember", fact=correction.new)
    if not correction.is_sentence and (fact := answered_question(about, correction.new)):
        return call("memory_remember", fact=fact)
    return _NOTHING_TO_CORRECT.format(new=correction.new)


_CORRECTS = frozenset({"memory_recall", "memory_update", "memory_remember"})
_FORGETS = frozenset({"memory_recall", "memory_forget"})
_DOCUMENTS = frozenset({"rag_retrieve"})
#: Requests that take several calls: their words, the tools that they need, and the work.
FLOWS: tuple[tuple[re.Pattern[str], frozenset[str], Flow], ...] = (
    (form(FORGET_ALL), _FORGETS, _forget_all),
    (form(FORGET_ABOUT), _FORGETS, _forget_about),
    (form(SHOW_DOCUMENT), _DOCUMENTS, _show_document),
    (form(CORRECT_ABOUT), _CORRECTS, _correct),
    (form(CORRECT), _CORRECTS, _correct),
)
