"""Understands a message: the tasks in it, each for a specialist or with a direct answer."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from sestet.core.tool import Tool
from sestet.models.offline.answering import has_subject, is_about_person
from sestet.models.offline.care import find_care
from sestet.models.offline.command_work import is_command_work
from sestet.models.offline.conversation import (
    NOT_KEPT,
    NOT_UNDERSTOOD,
    SORRY,
    WHAT_IS_MEANT,
    Abilities,
    Conversation,
    is_about_assistant,
    nothing_on_record,
)
from sestet.models.offline.corrections import answered_question, read_correction, subject_told
from sestet.models.offline.direct import answer_limits, answer_talk
from sestet.models.offline.earlier import Earlier
from sestet.models.offline.file_answers import ANSWER
from sestet.models.offline.german import task_in_language
from sestet.models.offline.limits import find_limit
from sestet.models.offline.matching import find_tool, lacks_number, match_tool, names_file
from sestet.models.offline.memory_work import CORRECT, CORRECT_ABOUT, FORGET_ALL
from sestet.models.offline.owners import find_owner
from sestet.models.offline.parameters import PATH
from sestet.models.offline.pastes import are_requests, lines_of, tasks_of_lines
from sestet.models.offline.patterns import patterns_of
from sestet.models.offline.phrasings import rephrase
from sestet.models.offline.plans import asks_for_plan
from sestet.models.offline.references import (
    CANNOT_REWRITE,
    Exchange,
    name_in,
    read_reference,
    read_references,
    with_name,
    with_named_subject,
    with_subject,
    without_lead,
)
from sestet.models.offline.retractions import asked_instead, restated
from sestet.models.offline.spelling import with_known_verbs
from sestet.models.offline.statements import (
    KEEPS,
    asks_at_end,
    begins_with_request,
    facts_to_keep,
    is_remark,
    is_request,
    is_statement,
    joints,
    may_be_kept,
    pieces_of,
    points_back,
    sentences_of,
    text_to_keep,
)
from sestet.models.offline.tasks import Request, Task, ask, document_of, folder_first, look_ups, with_known
from sestet.models.offline.words import as_one_request, asks, clauses_of, is_question, trim_request
from sestet.models.router import Router

_SAID = patterns_of("understanding")

#: "Return policy?" is a question; so is "gel protocol of last week" without a verb.
_FEW_WORDS, _SOME_WORDS = 4, 6
#: A longer message is one task, judged by its beginning.
_LONGEST = 1_000
_BEGINNING = 200


class Understanding:
    """Finds the tasks of a message by the words of the message and of those before it."""

    def __init__(
        self,
        abilities: Abilities,
        router: Router,
        now: Callable[[], datetime],
        conversation: Conversation,
        past: Sequence[Exchange] = (),
        known: dict[int, Sequence[Task]] | None = None,
    ) -> None:
        """``known``: the tasks of earlier messages by their number, as far as they are needed."""
        self._context = (abilities, router, now, conversation)
        self._abilities = abilities
        self._tools: Mapping[str, Sequence[Tool]] = abilities.tools
        self._router = router
        self._now = now
        self._conversation = conversation
        self._past = past
        self._known: dict[int, Sequence[Task]] = {} if known is None else known
        #: References that are resolved: "what about bed 5" must not lead to itself.
        self._resolving: set[str] = set()

    def tasks(self, text: str) -> Sequence[Task]:
        """The parts of a message in their order. Somebody in danger or in grief comes before them."""
        care = find_care(text)
        if care is None:
            return self._requested(text)
        met = () if care.alone else self._requested(text)
        return (Task(text, answer=care.answer), *(task for task in met if task.requests))

    def _requested(self, text: str) -> Sequence[Task]:
        text = as_one_request(text)
        if len(text) > _LONGEST:
            return (self._long(text),)
        if task := task_in_language(text, [exchange.asked for exchange in self._past], self._tools):
            return (task,)
        text = with_known_verbs(text)
        if (kept := text_to_keep(text)) and "\n" in kept:
            # "Remember this" below a text that was pasted keeps it as one fact.
            return (ask("chronicler", text, f"remember that {kept}"),)
        text = kept or asked_instead(text) or restated(text) or text
        if commanding := self._commanding(text):
            return (commanding,)
        text = self._conversation.without_small_talk(text)
        if pasted := self._pasted(text):
            return pasted
        if pointing := self._pointing(text):
            return (pointing,)
        whole = self.task(text) if not self._has_parts(text) else None
        return (whole,) if whole else self._parts(text) or (self.task(text),)

    def _pasted(self, text: str) -> Sequence[Task]:
        """The tasks of several lines, or of several facts; none for a message that is one text."""
        lines = lines_of(text)
        if "chronicler" in self._tools and (facts := facts_to_keep(text)):
            return [ask("chronicler", fact, f"remember that {fact}") for fact in facts]
        found = _SAID["anything"].fullmatch(text.strip())
        if found and (task := self._asked(f"{found['about'].strip()}?")):
            return (task,)
        if len(lines) > 1 and (reference := read_reference(trim_request(lines[-1]), self._past)):
            # "What does it mean?" below an error message
            return (Task(text, answer=reference.answer or CANNOT_REWRITE),)
        if are_requests(lines):
            return tasks_of_lines(lines, self.tasks, self.direct_answer)
        sentences = sentences_of(text)
        if len(sentences) > 1 and all(map(is_statement, sentences)) and not read_correction(text):
            return [self.task(sentence) for sentence in sentences]
        return ()

    def _long(self, text: str) -> Task:
        """A long text as one task, by few patterns: many would take too long."""
        if foreseen := self._foreseen(text):
            return foreseen
        beginning = self._told(text[:_BEGINNING])
        return ask("chronicler", text, f"remember that {text}") if beginning else self._routed(text)

    def task(self, text: str) -> Task:
        """A message as one task."""
        return next(task for find in self._ways() if (task := find(text)) is not None)

    def direct_answer(self, text: str) -> str:
        """The answer to small talk, a sum, or a question about the date; empty for any other message."""
        return answer_talk(text, self._conversation, self._past, self._now())

    def _ways(self) -> Sequence[Callable[[str], Task | None]]:
        """How a message may be understood, in the order in which it is tried."""
        return (
            self._commanding,
            self._answered_directly,
            self._referring,
            self._correcting,
            self._answering,
            self._foreseen,
            self._planning,
            self._naming_a_place,
            self._beyond,
            self._rephrased,
            self._naming_a_path,
            self._told,
            self._asked,
            self._routed,
        )

    def _commanding(self, text: str) -> Task | None:
        return ask("operator", text) if is_command_work(text) and "operator" in self._tools else None

    def _answered_directly(self, text: str) -> Task | None:
        said = trim_request(text)
        if self._past and _SAID["forget_it"].fullmatch(said) and self._was_about_memory():
            return None
        if self._past and _SAID["bare_time"].fullmatch(said) and is_request(self._past[-1].asked):
            # "What time?" after "where is my exam?" is about the exam.
            return self._referring(text)
        answer = answer_limits(text) or self.direct_answer(text)
        if not answer and _SAID["forget_all"].fullmatch(trim_request(text)):
            return ask("chronicler", text, FORGET_ALL) if "chronicler" in self._tools else None
        return Task(text, answer=answer) if answer else None

    def _was_about_memory(self) -> bool:
        """Whether the last message told a fact or was answered with one, so that "forget it" means it."""
        task, answer = self.tasks_of(len(self._past) - 1)[-1], self._past[-1].answer
        is_memory = task.requests[:1] and task.requests[0].agent == "chronicler"
        return bool(is_memory and answer and answer != task.answer)

    def _correcting(self, text: str) -> Task | None:
        request = trim_request(text)
        changes = self._past and _SAID["change_it"].match(request) and self._was_about_memory()
        is_other = not changes and (is_question(text) or begins_with_request(request))
        if "chronicler" not in self._tools or is_other:
            return None
        # "She moved to Lisbon" is about the one who was named before.
        text = request if changes else with_named_subject(text, self._past)
        correction = read_correction(text)
        if correction is None:
            return None
        asked = (with_known_verbs(exchange.asked) for exchange in self._past)
        about = subject_told([text for text in asked if not self.direct_answer(text)])
        if about and not correction.old and (correction.has_pronoun or not correction.is_sentence):
            of = trim_request(about).replace(":", " ")
            return ask("chronicler", text, CORRECT_ABOUT.format(about=of, text=text.strip()))
        return ask("chronicler", text, CORRECT.format(text=text.strip()))

    def _answering(self, text: str) -> Task | None:
        """A value alone, after a question that nothing on record answered: "what is my shoe size?", "43"."""
        last = self._past[-1] if self._past else Exchange("", "")
        question, value = trim_request(with_known_verbs(last.asked)), text.strip(" .!")
        is_value = len(value.split()) <= _FEW_WORDS and not is_request(value) and "?" not in text
        if not is_value or "chronicler" not in self._tools or last.answer != nothing_on_record(question):
            return None
        fact = answered_question(question, value)
        return ask("chronicler", text, f"remember that {fact}") if fact else None

    def _foreseen(self, text: str) -> Task | None:
        """A request that fits an example of a tool."""
        matches = {name: match_tool(text, tools) for name, tools in self._tools.items()}
        strengths = {
            name: match.strength
            for name, match in matches.items()
            if match and names_file(match, text) and may_be_kept(text, match)
        }
        owned = (tool for tools in self._tools.values() for tool in tools)
        if not strengths and (why := lacks_number(text, owned)):
            return Task(text, answer=why)
        if not strengths or (_SAID["of_mine"].match(trim_request(text)) and not is_about_person(text)):
            return None
        return ask(max(strengths, key=lambda name: strengths[name]), text)

    def _planning(self, text: str) -> Task | None:
        planner = next((name for name in self._tools if self._abilities.plans(name)), "")
        return ask(planner, text) if planner and asks_for_plan(trim_request(text)) else None

    def _naming_a_place(self, text: str) -> Task | None:
        """A request that names where to look or what to change: the graph, a lesson, memory m3."""
        return self._routed_if_clear(text) if _SAID["place"].search(text) else None

    def _naming_a_path(self, text: str) -> Task | None:
        return self._routed_if_clear(text) if re.search(PATH, text) and not is_statement(text) else None

    def _routed_if_clear(self, text: str) -> Task | None:
        task = self._routed(text)
        return task if task.requests and task.is_clear else None

    def _beyond(self, text: str) -> Task | None:
        """A request that cannot be met, or only by a specialist that may be missing."""
        if _SAID["complains"].search(text):
            return Task(text, answer=SORRY)
        is_noun = "?" in text and not asks(text.strip()) and len(text.split()) <= _FEW_WORDS
        limit = find_limit(trim_request(text), is_statement=is_noun or is_statement(text))
        if limit is None:
            return None
        if any(limit.needs in tool.name for tool in self._tools.get(limit.agent, ())):
            is_clear = find_tool(text, self._tools[limit.agent]) is not None
            return ask(limit.agent, text)._replace(is_clear=is_clear)
        return Task(text, answer=limit.line or self._conversation.without_tools(limit.agent))

    def _rephrased(self, text: str) -> Task | None:
        found = rephrase(trim_request(text), self._tools)
        if found and found.document and "librarian" in self._tools:
            return document_of(found.document)
        if found and found.folder and "operator" in self._tools:
            return folder_first(found.folder, Request(found.agent, found.request, is_final=True))
        if found and found.is_lookup:
            return self._lookup(found.subject, Request(found.agent, found.request, is_final=True))
        return ask(found.agent, text, found.request) if found else None

    def _told(self, text: str) -> Task | None:
        if "chronicler" not in self._tools or not is_statement(text) or asks_at_end(text):
            return None
        if any(_SAID["keeps_nothing_more"].search(exchange.asked) for exchange in self._past):
            return Task(text, answer=NOT_KEPT)
        told = with_named_subject(trim_request(text), self._past)
        return ask("chronicler", text, f"remember that {told}")

    def _asked(self, text: str) -> Task | None:
        """A question, or a few words such as "gel protocol": stored facts may have the answer."""
        said = _SAID["looks_up"].sub("", trim_request(text))
        is_noun = "?" in text and not asks(text.strip()) and len(said.split()) <= _FEW_WORDS
        is_long = "?" not in text and len(said.split()) > _SOME_WORDS
        if not is_noun and not is_question(said) and (is_long or begins_with_request(said)):
            return None
        said = with_subject(said, self._past) if not has_subject(said) else said
        question = with_name(said, self._past)
        if not has_subject(question) and not _SAID["asks_of_me"].search(question):
            return Task(text, answer=WHAT_IS_MEANT) if is_question(text) else None
        if is_about_assistant(question):
            return Task(text, answer=nothing_on_record(question))
        is_asked = asks(said) or "?" in text
        request = ANSWER.format(question=f"{question.strip(' ?')}?" if is_asked else question)
        return self._lookup(question, Request("operator", request, is_final=True))

    def _lookup(self, question: str, last: Request) -> Task | None:
        """A question for memory, for knowledge, and at last for the files."""
        requests = (*look_ups(question, name_in(question)), last)
        there = tuple(request for request in requests if request.agent in self._tools)
        return Task(question, there, nothing_on_record(question), is_lookup=True) if there else None

    def _routed(self, text: str) -> Task:
        """The owner by the router, or by likeness to examples; else an honest answer."""
        owner = find_owner(text, self._router, self._tools)
        if owner not in self._tools:
            # Which work it is for whom is only a guess here, and no answer to the person.
            return Task(text, answer=NOT_UNDERSTOOD, is_clear=False)
        match = find_tool(text, self._tools[owner])
        if match is not None and not (may_be_kept(text, match) and names_file(match, text)):
            return Task(text, answer=NOT_UNDERSTOOD, is_clear=False)
        return ask(owner, text)._replace(is_clear=match is not None)

    def _has_parts(self, text: str) -> bool:
        _, *later = (clause.text for clause in clauses_of(text))
        # "I passed my test! Put it down as an event" is one request.
        return not any(map(points_back, later)) and any(True for _ in joints(text))

    def _parts(self, text: str) -> Sequence[Task]:
        """The parts, if each of them is understood by itself; none: the message is one request."""
        said = pieces_of(text)
        # A greeting or a thank-you beside a request needs no answer of its own.
        *before, last = said
        telling = [piece for piece in before if not self._conversation.small_talk(piece)]
        if is_question(last) or not self._conversation.small_talk(last):
            telling.append(last)
        telling = telling or said
        tasks = [self._after(telling[:at]).task(piece) for at, piece in enumerate(telling)]
        states = is_statement(said[0])
        are_clear = all(
            task.is_clear and not (task.answer and not task.requests and states) for task in tasks
        )
        # "Remember to call mum and buy milk" is one request, since buying is no task here.
        keeps = len(said) > 1 and KEEPS.match(trim_request(said[0]))
        limits = [task for task in tasks[1:] if not task.requests and not self.direct_answer(task.text)]
        if len(said) > 1 and are_clear and not (keeps and limits):
            return tasks
        # "I'm a nurse. What can you do?" asks only at its end.
        ends_remarks = len(tasks) > 1 and not keeps and all(map(is_remark, telling[:-1]))
        return tasks[-1:] if ends_remarks and tasks[-1].is_clear and is_request(telling[-1]) else ()

    def _after(self, said: Sequence[str]) -> "Understanding":
        """As if parts of this message had been said before: "write a.txt with tea and then read it"."""
        if not said:
            return self
        past = (*self._past, *(Exchange(part, "") for part in said))
        return Understanding(*self._context, past, dict(self._known))

    def _pointing(self, text: str) -> Task | None:
        """A question with where to look it up is one request, and its end names the owner."""
        first, *later = (clause.text for clause in clauses_of(text))
        pointing = next(filter(points_back, later), "")
        if not pointing or not is_question(first):
            return None
        if foreseen := self._foreseen(text):
            return foreseen
        routed = self._routed(pointing)
        return ask(routed.requests[0].agent, text) if routed.requests else routed

    def _referring(self, text: str) -> Task | None:
        """A message about earlier ones, with what these say."""
        if text in self._resolving:
            return None
        self._resolving.add(text)
        earlier = Earlier(self._past, self._tools, self.tasks_of, self.direct_answer)
        request = trim_request(text)
        for said in dict.fromkeys((request, text.strip(" .!?"), without_lead(request))):
            for reference in read_references(said, self._past):
                found = (
                    Task(text, answer=reference.answer) if reference.answer else earlier.resolve(reference)
                )
                if found is not None:
                    task = self._resolved(text, found) if isinstance(found, str) else found
                    return with_known(reference.what, task) if reference.kind == "and" else task
                if reference.kind != "pick":
                    return None
        return None

    def _resolved(self, text: str, found: str) -> Task:
        """The task of a reference in words that stand alone; a later reference needs these of a question."""
        task = self.task(found)
        return task if task.is_lookup else task._replace(text=text)

    def tasks_of(self, number: int) -> Sequence[Task]:
        """The tasks of an earlier message, by what was said before it."""
        if number not in self._known:
            earlier = Understanding(*self._context, self._past[:number], self._known)
            self._known[number] = earlier.tasks(self._past[number].asked)
        return self._known[number]
