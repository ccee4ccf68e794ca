"""Leads a small model: what the rules of the built-in model understand wholly, the rules decide.

A small model chooses wrong agents and tools, and tells of deeds that did not happen. It is left what only a
model can do: to think, to talk and to write.
"""

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from sestet.core.agent import ASSISTANT, DIRECT, TRANSFER
from sestet.core.message import AssistantMessage, Message, ToolCall, ToolMessage
from sestet.core.model import ModelReply, ModelRequest
from sestet.models.offline.answering import answers_to, candidates_for
from sestet.models.offline.conversation import Conversation, is_personal
from sestet.models.offline.direct import answer_exactly
from sestet.models.offline.languages import answer_in_language
from sestet.models.offline.limits import Limit, find_limit
from sestet.models.offline.matching import match_tool
from sestet.models.offline.parameters import FILE
from sestet.models.offline.references import Exchange, exchanges_of
from sestet.models.offline.replies import Replies, next_delegation, task_of, tools_of
from sestet.models.offline.specialists import next_step
from sestet.models.offline.statements import is_statement
from sestet.models.offline.tasks import Task
from sestet.models.offline.understanding import Understanding
from sestet.models.offline.words import is_question, trim_request
from sestet.models.offline.work import work_of

#: A reply of the rules; None: the model decides. "talk": the model answers from what it knows. "tell": it
#: answers from the results that are there.
Lead: TypeAlias = ModelReply | Literal["talk", "tell"] | None
_READ = "fs_read"
_MOST_FILES = 4
#: The router's share from which a message needs no specialist.
_IS_TALK = 0.9
#: The same for a request that the rules know as one for a text, a translation or an explanation.
_IS_WRITING = 0.5
#: A text for somebody is written and shown; sending it is the person's.
_WRITES = re.compile(r"(?:write|draft|compose|word|phrase)\b", re.IGNORECASE)
#: What to do with a file takes a model: "compare a.txt with b.txt", "read a.txt and tell me who paid".
_THINKS_ABOUT_FILE = re.compile(
    r"(?:compare|contrast|explain|translate|summari[sz]e|sum up|analy[sz]e|review|rate|proofread|improve)\b"
    r"|(?:read|open|look (?:at|into|in)|check|go through)\b.*\band (?:then )?(?:tell|say|find|answer)\b",
    re.IGNORECASE,
)


class LeadingReplies(Replies):
    """The replies of the built-in model, as far as they leave nothing to think about."""

    def lead(self, request: ModelRequest) -> Lead:
        """How the rules go on with a request."""
        text, since = task_of(request.messages)
        said = [message.text for message in request.messages if isinstance(message, AssistantMessage)]
        conversation = Conversation(self._abilities, said)
        past = exchanges_of(request.messages)
        talks = request.agent not in self._tools or request.agent == ASSISTANT
        if talks and (exact := answer_exactly(trim_request(text), past, self._now())):
            return ModelReply(exact)
        if request.agent in self._tools:
            return self._lead_specialist(request, conversation)
        return self._lead_orchestrator(request, conversation, past) if not _is_rest(since) else None

    def _lead_orchestrator(
        self, request: ModelRequest, conversation: Conversation, past: Sequence[Exchange]
    ) -> Lead:
        text, since = task_of(request.messages)
        results = [message for message in since if isinstance(message, ToolMessage)]
        may_delegate = any(tool.name == TRANSFER for tool in request.tools)
        limit = _limit_of(text)
        if files_to_think_about(text) and (reading := self._delegate_reading(text)):
            return reading if may_delegate and not results else None
        if limit and (limit.thinks or _WRITES.match(trim_request(text))):
            return "talk" if not results and self._seems_talk(text, _IS_WRITING) else None
        understanding = Understanding(self._abilities, self._router, self._now, conversation, past)
        tasks = self._tasks(understanding, text, past)
        if limit and not limit.agent and [task.answer for task in tasks] == [limit.line]:
            # It takes a tool that nobody has, so the model could only pretend.
            return ModelReply(limit.line)
        if not all(task.requests and task.is_clear for task in tasks):
            return "talk" if not results and self._seems_talk(text) else None
        if any(task.is_lookup and not is_question(task.text) for task in tasks):
            # A few words, perhaps in another language.
            return None
        if len(tasks) == 1 and self._is_talk(tasks[0], results):
            return "talk"
        step = next_delegation(tasks, results, may_delegate=may_delegate)
        return ModelReply(step) if isinstance(step, str) else ModelReply(calls=(ToolCall(TRANSFER, step),))

    def _delegate_reading(self, text: str) -> ModelReply | None:
        """Thinking about files begins with the agent that reads them."""
        reader = next(
            (agent for agent, tools in self._tools.items() if any(t.name == _READ for t in tools)), ""
        )
        if not reader:
            return None
        arguments = {"agent_name": reader, "request": text, "reply": True}
        return ModelReply(calls=(ToolCall(TRANSFER, arguments),))

    def _is_talk(self, task: Task, results: Sequence[ToolMessage]) -> bool:
        """Whether a question is one that a model may know the answer to, and nothing on record has it."""
        if not task.is_lookup or is_personal(task.text):
            return False
        if not results:
            return self._seems_talk(task.text)
        found = [found for result in results for found in result.found]
        return len(results) == len(task.requests) and not (
            answers_to(task.text, found) or candidates_for(task.text, found)
        )

    def _seems_talk(self, text: str, share: float = _IS_TALK) -> bool:
        # The router takes what it cannot read, such as another language, for talk.
        is_english = not answer_in_language(text)
        return is_english and self._router.route(text).scores.get(DIRECT, 0) >= share

    def _lead_specialist(self, request: ModelRequest, conversation: Conversation) -> Lead:
        """The calls of work that the rules would begin by themselves, and then its result as it is."""
        text, since = task_of(request.messages)
        tools = tools_of(request)
        files = files_to_think_about(text)
        if files and any(tool.name == _READ for tool in tools):
            reading = tuple(ToolCall(_READ, {"path": file}) for file in files)
            return "tell" if since else ModelReply(calls=reading)
        new = work_of(text, (), tools)
        begins = self._work(request.agent, new, conversation).calls if tools and not _thinks(text) else ()
        is_known = next_step(new) is not None or match_tool(text, tools) is not None
        if not begins or not (is_known or all(new.tools[call.name].effect == "none" for call in begins)):
            # What changes something is never guessed.
            return None
        return self._work(request.agent, work_of(text, since, tools), conversation)


def files_to_think_about(text: str) -> Sequence[str]:
    """The files that a model has to read for a request; none if the request is no work for a model."""
    if not _thinks(text) and not _THINKS_ABOUT_FILE.match(trim_request(text)):
        return ()
    return list(dict.fromkeys(re.findall(FILE, text)))[:_MOST_FILES]


def _thinks(text: str) -> bool:
    limit = _limit_of(text)
    return limit is not None and limit.thinks


def _is_rest(since: Sequence[Message]) -> bool:
    """Whether the runtime has asked again after a reply without calls."""
    return any(isinstance(message, AssistantMessage) and not message.calls for message in since)


def _limit_of(text: str) -> Limit | None:
    return find_limit(trim_request(text), is_statement=is_statement(text))
