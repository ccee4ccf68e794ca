"""The replies of the built-in model: as the orchestrator it delegates, as a specialist it calls tools."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import takewhile

from sestet.core.agent import ASSISTANT, REJECT_TASK, SHOW_RESULTS, TRANSFER, AgentSpec
from sestet.core.message import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from sestet.core.model import ModelReply, ModelRequest
from sestet.core.schema import JsonValue
from sestet.core.secret_text import refusal
from sestet.core.tool import Tool
from sestet.models.offline.answering import answers_to, candidates_for
from sestet.models.offline.conversation import WHAT_TO_KEEP, Abilities, Conversation
from sestet.models.offline.file_work import ONLY_A_PART, leaves_out_file, with_folder
from sestet.models.offline.line_work import place_of_addition
from sestet.models.offline.matching import ToolMatch, guess_tool, match_tool, names_file
from sestet.models.offline.parameters import FILE
from sestet.models.offline.plans import sketch_plan
from sestet.models.offline.references import Exchange, exchanges_of
from sestet.models.offline.specialists import next_step
from sestet.models.offline.statements import may_be_kept, says_something
from sestet.models.offline.tasks import Request, Task
from sestet.models.offline.understanding import Understanding
from sestet.models.offline.words import stems_of, trim_request, words_of
from sestet.models.offline.work import Work, work_of
from sestet.models.router import Router

#: Matches only at the beginning of a word; else a long word would be tried from each letter.
_STAYS_IN_JOURNAL = (
    "I remember nothing of it, but like each message it stays in this conversation, which 'sestet sessions "
    "delete' removes."
)
_SEVERAL_FILES = re.compile(
    rf"(?<![\w./~-]){FILE}(?:\s*(?:,|&|\band|\bwith)\s*(?:and\s+)?{FILE})+", re.IGNORECASE
)


class Replies:
    """Finds the reply to a request. Pure but for the clock: the same request gets the same reply."""

    def __init__(
        self,
        specs: Sequence[AgentSpec],
        tools: Mapping[str, Sequence[Tool]],
        router: Router,
        now: Callable[[], datetime],
    ) -> None:
        self._tools = tools
        self._router = router
        self._now = now
        self._abilities = Abilities(specs, tools)
        #: The last message with its past, and its tasks: one turn asks for them several times.
        self._last: tuple[object, Sequence[Task]] = (None, ())

    def to(self, request: ModelRequest) -> ModelReply:
        text, since = task_of(request.messages)
        said = [message.text for message in request.messages if isinstance(message, AssistantMessage)]
        conversation = Conversation(self._abilities, said)
        past = exchanges_of(request.messages)
        understanding = Understanding(self._abilities, self._router, self._now, conversation, past)
        if request.agent not in self._tools:
            results = [message for message in since if isinstance(message, ToolMessage)]
            may_delegate = any(tool.name == TRANSFER for tool in request.tools)
            step = next_delegation(self._tasks(understanding, text, past), results, may_delegate=may_delegate)
            return (
                ModelReply(step) if isinstance(step, str) else ModelReply(calls=(ToolCall(TRANSFER, step),))
            )
        if request.agent == ASSISTANT and (answer := understanding.direct_answer(text)):
            return ModelReply(answer)
        tools = tools_of(request)
        if not tools and not since:
            plans = self._abilities.plans(request.agent)
            return ModelReply(sketch_plan(text) if plans else conversation.only_thinking())
        return self._work(request.agent, work_of(text, since, tools), conversation)

    def _tasks(self, understanding: Understanding, text: str, past: Sequence[Exchange]) -> Sequence[Task]:
        if self._last[0] != (text, past):
            self._last = (text, past), understanding.tasks(text)
        return self._last[1]

    def _work(self, agent: str, work: Work, conversation: Conversation) -> ModelReply:
        """The next calls of a specialist, or its answer."""
        step = next_step(work)
        if step is None and [made.call.name for made in work.steps] in ([], ["fs_search"]):
            step = place_of_addition(self._calls(agent, work), work)
        if isinstance(step, str):
            return ModelReply(step)
        calls = (step,) if isinstance(step, ToolCall) else step or ()
        calls = tuple(with_folder(made, work.request.rstrip(" .!")) for made in calls)
        if refused := next((why for text in _stored(calls, work) if (why := refusal(text))), ""):
            return ModelReply(f"{refused[:1].upper()}{refused[1:]}. {_STAYS_IN_JOURNAL}")
        if not all(says_something(text) for text in _stored(calls, work)):
            return ModelReply(WHAT_TO_KEEP)
        if calls and leaves_out_file(calls, work):
            return ModelReply(ONLY_A_PART)
        if calls:
            return ModelReply(calls=calls)
        if work.steps:
            return ModelReply("\n\n".join(_told(step.result) for step in work.latest))
        if missing := self._abilities.missing(agent, work.request):
            return ModelReply(conversation.not_here(agent, missing))
        return ModelReply(conversation.not_understood(agent, work.request))

    def _calls(self, agent: str, work: Work) -> tuple[ToolCall, ...]:
        tools = list(work.tools.values())
        missing = self._abilities.missing(agent, work.request)
        if several := _changes_of_several(work.request, tools):
            return several
        match = match_tool(work.request, tools) or (None if missing else guess_tool(work.request, tools))
        if match is None or not may_be_kept(work.request, match) or not names_file(match, work.request):
            return ()
        return _calls(match, work.request)


def tools_of(request: ModelRequest) -> list[Tool]:
    """The tools of an agent, without the calls that the tree offers."""
    return [tool for tool in request.tools if tool.name not in (REJECT_TASK, SHOW_RESULTS)]


def _stored(calls: Sequence[ToolCall], work: Work) -> Iterator[str]:
    """The texts that the calls would keep."""
    for call in calls:
        tool = work.tools.get(call.name)
        if tool is not None and tool.effect == "store" and "forget" not in call.name:
            yield from map(str, call.arguments.values())


def task_of(messages: Sequence[Message]) -> tuple[str, list[Message]]:
    """The present request, and what came after it."""
    since = list(takewhile(lambda message: not isinstance(message, UserMessage), reversed(messages)))
    return messages[len(messages) - len(since) - 1].text, since[::-1]


def _calls(match: ToolMatch, text: str) -> tuple[ToolCall, ...]:
    """One call, or one for each file when the only argument is a file: "read a.md and b.md"."""
    only_file = match.tool.effect == "none" and set(match.arguments) == {"path"}
    if only_file and (listed := _SEVERAL_FILES.search(text)):
        return tuple(ToolCall(match.tool.name, {"path": file}) for file in re.findall(FILE, listed[0]))
    return (ToolCall(match.tool.name, match.arguments),)


def _changes_of_several(text: str, tools: Sequence[Tool]) -> tuple[ToolCall, ...]:
    """ "Delete a.txt and b.txt" is a call for each file; half of a request must not be done alone."""
    listed = _SEVERAL_FILES.search(text)
    files = re.findall(FILE, listed[0]) if listed else []
    if listed is None or any(file in text[: listed.start()] + text[listed.end() :] for file in files):
        return ()
    match = match_tool(f"{text[: listed.start()]}{files[0]}{text[listed.end() :]}", tools)
    if match is None or match.tool.effect != "local" or match.arguments.get("path") != files[0]:
        return ()
    folder = str(match.arguments.get("destination", "")).rstrip("/")
    # Several files go into a folder, never one after another to the same name.
    places = [{"destination": f"{folder}/{file.rpartition('/')[2]}"} if folder else {} for file in files]
    return tuple(
        ToolCall(match.tool.name, {**match.arguments, "path": file, **place})
        for file, place in zip(files, places, strict=True)
    )


#: Asks to keep something that the request only names: "remember the wifi code", "save it".
_KEEP = re.compile(
    r"(?P<deed>(?:remember|memorize|note|save|store|keep|add|record|write down)\b)(?:\s+down)?\s+"
    r"(?P<what>(?:the|its|their|it|them|that|this|what)\b.*)",
    re.IGNORECASE,
)
#: A sentence or a value says what to keep; a name alone does not.
_SAYS_IT = re.compile(r"[:\"“]|\d|\b(?:is|are|was|were|has|have|that \w+)\b", re.IGNORECASE)
_POINTS_BACK = re.compile(r"(?:it|them|that|this)\b|what\b.*\bsays?\b", re.IGNORECASE)
_WHERE_TO = re.compile(r"\s+(?P<where>(?:in|into|to|as|under)\s+.*)$", re.IGNORECASE)
_LONGEST_FINDING = 1_000

Transfer = dict[str, JsonValue]


def next_delegation(
    tasks: Sequence[Task],
    results: Sequence[ToolMessage],
    *,
    may_delegate: bool = True,
) -> Transfer | str:
    """The next delegation, or the answer when all tasks are done."""
    answers: list[str] = []
    left = list(results)
    for index, task in enumerate(tasks):
        if not task.requests:
            answers.append(task.answer)
            continue
        outcome = ""
        for asked in task.requests:
            if (request := _with_findings(asked.text, answers)) is None:
                outcome = f"I found nothing to go on with for “{task.text}”, so I left it."
            elif not left and not may_delegate:
                outcome = f"There was no round left for “{task.text}”."
            elif not left:
                return {
                    "agent_name": asked.agent,
                    "request": request,
                    "reply": len(tasks) == 1 and not task.is_lookup,
                }
            else:
                result = left.pop(0)
                if result.failed and not task.is_lookup:
                    rest = ", ".join(f"“{later.text}”" for later in tasks[index + 1 :])
                    told = (*answers, result.text)
                    return "\n\n".join((*told, f"So I did not go on with {rest}.") if rest else told)
                outcome = _outcome(task, asked, result)
            if outcome:
                break
        answers.append(outcome or task.answer)
    return "\n\n".join(answers)


def _told(result: ToolMessage) -> str:
    """A tool's result for the person; a clause of the runtime becomes a sentence."""
    clause = result.for_person.rstrip(".")
    return f"{clause[:1].upper()}{clause[1:]}." if clause else result.text


def _outcome(task: Task, asked: Request, result: ToolMessage) -> str:
    """What a specialist's result says; empty if it does not answer the question."""
    if result.failed and task.is_lookup:
        return ""
    if asked.places:
        return (
            result.text
            if any(_is_of(one.name, place) for one in result.found for place in asked.places)
            else ""
        )
    if not task.is_lookup or asked.is_final or answers_to(asked.question or task.text, result.found):
        return result.text
    if asked.agent == "chronicler" and any(found.kind for found in result.found):
        # Memory has judged by itself that these facts answer.
        return result.text
    # Only the person's own facts are told as what may be meant.
    return result.text if asked.agent == "chronicler" and candidates_for(task.text, result.found) else ""


def _is_of(name: str, place: str) -> bool:
    """Whether a name is that of a file, or of something in a folder."""
    name, place = name.casefold(), place.casefold()
    return (
        name == place or (name.startswith(f"{place}/") and name != f"{place}/") or name.endswith(f"/{place}")
    )


def _with_findings(text: str, found: Sequence[str]) -> str | None:
    """The request with the finding that it refers to; None when no finding fits."""
    wanted = _KEEP.fullmatch(trim_request(text))
    if not found or wanted is None or _SAYS_IT.search(wanted["what"]):
        return text
    what, where = wanted["what"], ""
    if place := _WHERE_TO.search(what):
        what, where = what[: place.start()], f" {place['where']}"
    value = found[-1][:_LONGEST_FINDING] if _POINTS_BACK.match(what) else _line_about(what, found)
    return f"{wanted['deed']}{where} that {value}" if value else None


def _line_about(what: str, found: Sequence[str]) -> str:
    """The latest line of the findings that holds all words of a name."""
    names = stems_of(what)
    for text in reversed(found):
        for line in text.splitlines():
            if names and names <= {word.stem for word in words_of(line)}:
                return line.strip(" -*\t")
    return ""
