"""The replies of the built-in model: as the orchestrator it routes, as a specialist it calls a tool."""

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile

from sestet.core.agent import ASSISTANT, REJECT_TASK, TRANSFER, AgentSpec
from sestet.core.message import (
    AssistantMessage,
    MemoryMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from sestet.core.model import ModelReply, ModelRequest
from sestet.core.tool import Tool
from sestet.models.offline.conversation import WITHOUT_PAST, Abilities, Conversation, for_people
from sestet.models.offline.course import needs_past, next_step, points_back
from sestet.models.offline.matching import ToolMatch, find_tool, guess_tool, match_tool
from sestet.models.offline.parameters import FILE
from sestet.models.offline.planning import sketch_plan
from sestet.models.offline.words import clauses_of, is_question, stems_of, trim_request
from sestet.models.router import DIRECT, Part, Router

#: How like its examples a request has to be for a tool that the router did not think of.
_MUCH_LIKE = 0.9
#: From which confidence on the router is believed although nothing else speaks for it.
_FAIR = 0.6
_CERTAIN = 0.9
_POSSIBLE = 0.15
#: Only from the beginning of a word on: a long one would else be tried from each of its letters.
_SEVERAL_FILES = re.compile(
    rf"(?<![\w./~-]){FILE}(?:\s*(?:,|&|\band|\bwith)\s*(?:and\s+)?{FILE})+", re.IGNORECASE
)


class Replies:
    """Pure: the same request always gets the same reply."""

    def __init__(
        self, specs: Sequence[AgentSpec], tools: Mapping[str, Sequence[Tool]], router: Router
    ) -> None:
        self._tools = tools
        self._router = router
        self._abilities = Abilities(specs, tools)

    def to(self, request: ModelRequest) -> ModelReply:
        text, results = _task(request.messages)
        said = [message.text for message in request.messages if isinstance(message, AssistantMessage)]
        conversation = Conversation(self._abilities, said, _recalled(request.messages, text))
        if request.agent not in self._tools:
            return self._orchestrate(text, results, conversation, request.tools)
        if results:
            return ModelReply("\n\n".join(for_people(result) for result in results))
        if request.agent == ASSISTANT and (answer := conversation.small_talk(text)):
            return ModelReply(answer)
        tools = [tool for tool in request.tools if tool.name != REJECT_TASK]
        if not tools:
            plans = self._abilities.plans(request.agent)
            return ModelReply(sketch_plan(text) if plans else conversation.only_thinking())
        missing = conversation.abilities.missing(request.agent, text)
        match = match_tool(text, tools) or (None if missing else guess_tool(text, tools))
        if match is not None:
            return ModelReply(calls=_calls(match, text))
        if missing:
            return ModelReply(conversation.not_here(request.agent, missing))
        return ModelReply(conversation.not_understood(request.agent, text))

    def _orchestrate(
        self,
        text: str,
        results: Sequence[ToolMessage],
        conversation: Conversation,
        offered: Sequence[Tool],
    ) -> ModelReply:
        if answer := conversation.small_talk(text):
            return ModelReply(answer)
        if needs_past(text) and not self._foreseen(text):
            return ModelReply(WITHOUT_PAST)
        parts = self._parts(text, conversation)
        step = next_step(parts, results, conversation, may_delegate=any(t.name == TRANSFER for t in offered))
        if isinstance(step, str):
            return ModelReply(step)
        return ModelReply(calls=(ToolCall(TRANSFER, step),))

    def _parts(self, text: str, conversation: Conversation) -> Sequence[Part]:
        """Whose work it is: several parts only where each of them is understood by itself."""
        _, *later = (clause.text for clause in clauses_of(text))
        if pointing := next(filter(points_back, later), ""):
            # "When do they close? Look it up" is one request, and its end says whose.
            return (Part(text, self._foreseen(text) or self._owner(pointing)),)
        split = self._router.split(text)
        parts = [Part(part.text, self._foreseen(part.text) or part.agent) for part in split]
        if len(parts) > 1 and all(self._is_clear(part, conversation) for part in parts):
            return parts
        owner = self._owner(text)
        if conversation.recalled and is_question(text) and not find_tool(text, self._tools.get(owner, ())):
            # What was remembered is a better answer than that somebody does not understand.
            owner = DIRECT
        return (Part(text, owner) if owner != DIRECT or conversation.recalled else self._looked_up(text),)

    def _looked_up(self, text: str) -> Part:
        """A question that nobody can answer by itself may have its answer on record with somebody."""
        if is_question(text):
            request = f"look up {trim_request(text)}"
            for agent, share in self._router.route(text).scores.items():
                if share >= _POSSIBLE and match_tool(request, self._tools.get(agent, ())):
                    return Part(request, agent)
        return Part(text, DIRECT)

    def _is_clear(self, part: Part, conversation: Conversation) -> bool:
        if part.agent == DIRECT:
            return conversation.small_talk(part.text) != ""
        if part.agent not in self._tools:
            return self._router.route(part.text).confidence >= _CERTAIN
        tools = self._tools[part.agent]
        return not tools or find_tool(part.text, tools) is not None

    def _owner(self, text: str) -> str:
        """Who has to do it: by an example that foresees it, by the router, by what it is much like."""
        if owner := self._foreseen(text):
            return owner
        route = self._router.route(text)
        if route.confidence >= _FAIR and route.agent != DIRECT:
            return route.agent
        if owner := self._likely_owner(text):
            return owner
        # Where it is not sure, whoever is not here is not meant, nor is who would not understand it.
        agent = next(name for name in route.scores if name in self._tools or name == DIRECT)
        return agent if find_tool(text, self._tools.get(agent, ())) else DIRECT

    def _foreseen(self, text: str) -> str:
        """Whose tool has an example that the request fits; empty: nobody's."""
        matches = {name: match_tool(text, tools) for name, tools in self._tools.items()}
        strengths = {name: match.strength for name, match in matches.items() if match}
        return max(strengths, key=lambda name: strengths[name], default="")

    def _likely_owner(self, text: str) -> str:
        """Whose tool the request is much like, among all of them; empty: nobody's."""
        match = guess_tool(text, [tool for tools in self._tools.values() for tool in tools])
        if match is None or match.strength < _MUCH_LIKE:
            return ""
        return next(name for name, tools in self._tools.items() if match.tool in tools)


def _task(messages: Sequence[Message]) -> tuple[str, list[ToolMessage]]:
    """What is asked, and the results that there are so far."""
    since = list(takewhile(lambda message: not isinstance(message, UserMessage), reversed(messages)))
    asked = messages[len(messages) - len(since) - 1].text
    return asked, [message for message in reversed(since) if isinstance(message, ToolMessage)]


def _calls(match: ToolMatch, text: str) -> tuple[ToolCall, ...]:
    """One call, or one for each file where only files are named: "read a.md and b.md"."""
    only_file = match.tool.effect == "none" and set(match.arguments) == {"path"}
    if only_file and (listed := _SEVERAL_FILES.search(text)):
        return tuple(ToolCall(match.tool.name, {"path": file}) for file in re.findall(FILE, listed[0]))
    return (ToolCall(match.tool.name, match.arguments),)


def _recalled(messages: Sequence[Message], asked: str) -> list[str]:
    """The facts on record beside the message that share a word with it, a line for each."""
    texts = (message.text for message in messages if isinstance(message, MemoryMessage))
    lines = (line for text in texts for line in text.splitlines() if line.startswith("- "))
    return [line for line in lines if stems_of(asked) & stems_of(line)]
