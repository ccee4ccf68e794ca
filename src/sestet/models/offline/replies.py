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
from sestet.core.schema import JsonValue
from sestet.core.tool import Tool
from sestet.models.offline.conversation import WITHOUT_PAST, Abilities, Conversation, sketch_plan
from sestet.models.offline.matching import ToolMatch, find_tool, guess_tool, match_tool
from sestet.models.offline.parameters import FILE
from sestet.models.offline.words import clauses_of, is_question, stems_of, trim_request, words_of
from sestet.models.router import DIRECT, Part, Router

#: How like its examples a request must be to choose a tool that the router did not propose.
_MUCH_LIKE = 0.9
#: The router's confidence above which its word alone is enough.
_FAIR = 0.6
_CERTAIN = 0.9
_POSSIBLE = 0.15
#: Matches only at the beginning of a word; else a long word would be tried from each letter.
_SEVERAL_FILES = re.compile(
    rf"(?<![\w./~-]){FILE}(?:\s*(?:,|&|\band|\bwith)\s*(?:and\s+)?{FILE})+", re.IGNORECASE
)


class Replies:
    """Finds the reply to a request. Pure: the same request always gets the same reply."""

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
            return ModelReply("\n\n".join(map(_told, results)))
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
        if refers_to_past(text) and not self._foreseen(text):
            return ModelReply(WITHOUT_PAST)
        parts = self._parts(text, conversation)
        step = next_delegation(
            parts, results, conversation, may_delegate=any(t.name == TRANSFER for t in offered)
        )
        if isinstance(step, str):
            return ModelReply(step)
        return ModelReply(calls=(ToolCall(TRANSFER, step),))

    def _parts(self, text: str, conversation: Conversation) -> Sequence[Part]:
        """The parts of a request with their owners; several only if each is understood by itself."""
        _, *later = (clause.text for clause in clauses_of(text))
        if pointing := next(filter(points_back, later), ""):
            # "When do they close? Look it up" is one request, and its end names the owner.
            return (Part(text, self._foreseen(text) or self._owner(pointing)),)
        split = self._router.split(text)
        parts = [Part(part.text, self._foreseen(part.text) or part.agent) for part in split]
        if len(parts) > 1 and all(self._is_clear(part, conversation) for part in parts):
            return parts
        owner = self._owner(text)
        if conversation.recalled and is_question(text) and not find_tool(text, self._tools.get(owner, ())):
            # A remembered fact is a better answer than "I could not tell what to do".
            owner = DIRECT
        return (Part(text, owner) if owner != DIRECT or conversation.recalled else self._looked_up(text),)

    def _looked_up(self, text: str) -> Part:
        """A question without an owner, given to an agent that may have the answer on record."""
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
        """The owner: by an example that the request fits, by the router, or by likeness to examples."""
        if owner := self._foreseen(text):
            return owner
        route = self._router.route(text)
        if route.confidence >= _FAIR and route.agent != DIRECT:
            return route.agent
        if owner := self._likely_owner(text):
            return owner
        # The router is unsure: take its best agent that is here, if one of its tools fits.
        agent = next(name for name in route.scores if name in self._tools or name == DIRECT)
        return agent if find_tool(text, self._tools.get(agent, ())) else DIRECT

    def _foreseen(self, text: str) -> str:
        """The agent whose tool has an example that the request fits; empty: none."""
        matches = {name: match_tool(text, tools) for name, tools in self._tools.items()}
        strengths = {name: match.strength for name, match in matches.items() if match}
        return max(strengths, key=lambda name: strengths[name], default="")

    def _likely_owner(self, text: str) -> str:
        """The agent with the tool that the request is most like; empty: none is like enough."""
        match = guess_tool(text, [tool for tools in self._tools.values() for tool in tools])
        if match is None or match.strength < _MUCH_LIKE:
            return ""
        return next(name for name, tools in self._tools.items() if match.tool in tools)


def _task(messages: Sequence[Message]) -> tuple[str, list[ToolMessage]]:
    """The present request, and its results so far."""
    since = list(takewhile(lambda message: not isinstance(message, UserMessage), reversed(messages)))
    asked = messages[len(messages) - len(since) - 1].text
    return asked, [message for message in reversed(since) if isinstance(message, ToolMessage)]


def _calls(match: ToolMatch, text: str) -> tuple[ToolCall, ...]:
    """One call, or one for each file when the only argument is a file: "read a.md and b.md"."""
    only_file = match.tool.effect == "none" and set(match.arguments) == {"path"}
    if only_file and (listed := _SEVERAL_FILES.search(text)):
        return tuple(ToolCall(match.tool.name, {"path": file}) for file in re.findall(FILE, listed[0]))
    return (ToolCall(match.tool.name, match.arguments),)


def _recalled(messages: Sequence[Message], asked: str) -> list[str]:
    """The facts on record beside the message that share a word with it, a line for each."""
    texts = (message.text for message in messages if isinstance(message, MemoryMessage))
    lines = (line for text in texts for line in text.splitlines() if line.startswith("- "))
    return [line for line in lines if stems_of(asked) & stems_of(line)]


#: Asks to keep something that the request only names: "remember the wifi code", "save it".
_KEEP = re.compile(
    r"(?P<deed>(?:remember|memorize|note|save|store|keep|add|record|write down)\b)(?:\s+down)?\s+"
    r"(?P<what>(?:the|its|their|it|them|that|this|what)\b.*)",
    re.IGNORECASE,
)
#: A sentence or a value says what to keep; a name alone does not.
_SAYS_IT = re.compile(r"[:\"“]|\d|\b(?:is|are|was|were|has|have|that \w+)\b", re.IGNORECASE)
_POINTS_BACK = re.compile(r"(?:it|them|that|this)\b|what\b.*\bsays?\b", re.IGNORECASE)
_DO_IT = re.compile(r"\w+\s+(?:it|that|this|them)\b(?!\s+(?:is|i|my|we|the)\b)", re.IGNORECASE)
_MEANT_BEFORE = re.compile(
    r"(?:(?:do|try|read|open|show|list|search|send|delete|forget|explain|repeat)\s+(?:me\s+)?(?:it|that|this|them)"
    r"|what does it|(?:do\s+)?the same|(?:what|how) about)\b(?!\s+(?:is|i|my|we|the)\b)",
    re.IGNORECASE,
)
_WHERE_TO = re.compile(r"\s+(?P<where>(?:in|into|to|as|under)\s+.*)$", re.IGNORECASE)
_LONGEST_FINDING = 1_000

Transfer = dict[str, JsonValue]


def refers_to_past(text: str) -> bool:
    """Whether the request is one sentence about something that only an earlier message names."""
    clauses = list(clauses_of(trim_request(text)))
    return len(clauses) == 1 and _MEANT_BEFORE.match(clauses[0].text) is not None


def points_back(text: str) -> bool:
    """Whether a part says what to do with the part before: "look it up". "Remember it" is its own part."""
    request = trim_request(text)
    return _DO_IT.match(request) is not None and _KEEP.fullmatch(request) is None


def next_delegation(
    parts: Sequence[Part],
    results: Sequence[ToolMessage],
    conversation: Conversation,
    *,
    may_delegate: bool = True,
) -> Transfer | str:
    """The next delegation, or the answer when all parts are done."""
    answers: list[str] = []
    left = list(results)
    for index, part in enumerate(parts):
        if part.agent == DIRECT:
            answers.append(conversation.answer(part.text))
        elif not conversation.abilities.has(part.agent):
            answers.append(conversation.without_tools(part.agent))
        elif (request := _with_findings(part.text, answers)) is None:
            answers.append(f"I found nothing to go on with for “{part.text}”, so I left it.")
        elif not left and not may_delegate:
            answers.append(f"There was no round left for “{part.text}”.")
        elif not left:
            return {"agent_name": part.agent, "request": request, "reply": len(parts) == 1}
        else:
            result = left.pop(0)
            answers.append(result.text)
            if result.failed:
                rest = ", ".join(f"“{later.text}”" for later in parts[index + 1 :])
                return "\n\n".join((*answers, f"So I did not go on with {rest}.") if rest else answers)
    return "\n\n".join(answers)


def _told(result: ToolMessage) -> str:
    """A tool's result for the person; a clause of the runtime becomes a sentence."""
    clause = result.for_person.rstrip(".")
    return f"{clause[:1].upper()}{clause[1:]}." if clause else result.text


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
