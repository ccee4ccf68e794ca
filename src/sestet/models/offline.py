"""The small built-in model: no network, no weights. It knows requests by heart and says so."""

import re
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import cast

from sestet.core.agent import ASSISTANT, REJECT_TASK, TRANSFER, AgentSpec
from sestet.core.message import ToolCall, ToolMessage, UserMessage
from sestet.core.model import ModelItem, ModelReply, ModelRequest, TextDelta
from sestet.core.schema import JsonObject
from sestet.core.tool import Tool
from sestet.models.lexical import match_tool, route, trim_request

WHAT_I_AM = (
    "I am the small model built into Sestet: I recognise requests by their words and run the right "
    "specialist, but I cannot hold a real conversation. To set a real one (a vendor's, or a local server "
    "such as Ollama) put `agent.provider` and `agent.model` in `sestet.yaml`; `docs/models.md` shows how."
)
_HINT = "Say “help” to see what I can do."
_SMALL_TALK: tuple[tuple[str, str], ...] = (
    (
        r"(hi|hello|hey|hallo|good (morning|day|evening|afternoon)|greetings)( there| sestet)?",
        "Hello! {hint}",
    ),
    (r"(thanks|thank you|thx|cheers)( a lot| very much| so much)?", "You are welcome."),
    (r"(bye|goodbye|good night|see you|ciao)( later| soon)?", "Goodbye!"),
    (r"how are you( doing)?( today)?", "All is well here, thank you. {hint}"),
    (r"(who|what) are you|what is your name|are you (an? )?(ai|llm|bot|real|human)", "{what}"),
    (r"help|what can you do( for me)?|what do you do|commands", "{what}\n\n{help}"),
)


class OfflineModel:
    """Routes by the specs' words, and fills a tool's arguments from the examples that the tool declares."""

    name = "offline"

    def __init__(self, specs: Sequence[AgentSpec], tools: Mapping[str, Sequence[Tool]]) -> None:
        self._specs = specs
        self._tools = tools

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        reply = self._reply(request)
        if reply.text:
            yield TextDelta(reply.text)
        yield reply

    async def close(self) -> None:
        """There is nothing to let go of."""

    def _reply(self, request: ModelRequest) -> ModelReply:
        offered = {tool.name: tool for tool in request.tools}
        results = _results_at_end(request)
        if results:
            return ModelReply("\n\n".join(result.text for result in results))
        text = next(m.text for m in reversed(request.messages) if isinstance(m, UserMessage))
        if TRANSFER in offered:
            return self._orchestrate(text, offered[TRANSFER])
        return self._do(text, request, [tool for tool in request.tools if tool.name != REJECT_TASK])

    def _orchestrate(self, text: str, transfer: Tool) -> ModelReply:
        if answer := self._small_talk(text):
            return ModelReply(answer)
        properties = cast("Mapping[str, JsonObject]", transfer.parameters["properties"])
        names = cast("Sequence[str]", properties["agent_name"]["enum"])
        found = route(text, self._specs, self._tools)
        if found is None:
            return ModelReply(f"I did not understand that. {WHAT_I_AM}\n\n{self._help()}")
        if found.agent not in names:
            return ModelReply(
                f"That is work for the {found.agent}, who has no tools here, so I cannot do it."
            )
        return ModelReply(
            calls=(ToolCall(TRANSFER, {"agent_name": found.agent, "request": text, "reply": True}),)
        )

    def _do(self, text: str, request: ModelRequest, tools: Sequence[Tool]) -> ModelReply:
        if request.agent == ASSISTANT and (answer := self._small_talk(text)):
            return ModelReply(answer)
        if match := match_tool(text, tools):
            return ModelReply(calls=(ToolCall(match.tool.name, match.arguments),))
        if not tools:
            return ModelReply(f"This takes a real model: there is no tool for it, only thinking. {WHAT_I_AM}")
        return ModelReply(f"I could not tell what exactly to do. {_examples(tools)}")

    def _small_talk(self, text: str) -> str:
        # "Hello, who are you?" is a question, "hello" alone a greeting.
        said = (text.strip(" .!?,"), trim_request(text))
        for pattern, answer in _SMALL_TALK:
            if any(re.fullmatch(pattern, words, re.IGNORECASE) for words in said):
                return answer.format(what=WHAT_I_AM, help=self._help(), hint=_HINT)
        return ""

    def _help(self) -> str:
        return _examples(tool for tools in self._tools.values() for tool in tools)


def _results_at_end(request: ModelRequest) -> list[ToolMessage]:
    results: list[ToolMessage] = []
    for message in reversed(request.messages):
        if not isinstance(message, ToolMessage):
            break
        results.insert(0, message)
    return results


def _examples(tools: Iterable[Tool]) -> str:
    lines = [f"- {tool.examples[0].replace('{', '<').replace('}', '>')}" for tool in tools if tool.examples]
    return "You can say, for example:\n" + "\n".join(lines) if lines else ""
