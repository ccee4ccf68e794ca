"""A small model: its prompts are short, and its calls are read from the text of its replies."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Literal, cast

from sestet.core.agent import DIRECT, REJECT_TASK, SHOW_RESULTS, TRANSFER, AgentSpec
from sestet.core.errors import ModelError
from sestet.core.message import AssistantMessage, MemoryMessage, Message, ToolMessage, UserMessage
from sestet.core.model import Model, ModelItem, ModelReply, ModelRequest, TextDelta, Usage
from sestet.core.record import replace
from sestet.core.schema import JsonObject
from sestet.core.tool import Tool
from sestet.models.offline.leading import Lead, LeadingReplies
from sestet.models.router import Router
from sestet.models.small.page_steps import PAGE_TOOL, Tell
from sestet.models.small.prompt import SmallPrompt, repeats_itself, reply_schema, sources_of, to_plain
from sestet.models.small.reply import AnswerStream, read_reply
from sestet.models.small.steps import Ask, code_made, complete, next_step

#: How often it may write a script that Python cannot read.
_TRIES = 2
#: Messages before the present one that it is shown when it only talks.
_SAID_BEFORE = 5
_PROMPTS = Path(__file__).parent / "prompts"
_log = logging.getLogger("sestet.models")


def _any_owner(request: str) -> Collection[str]:
    return ()


def _no_lead(request: ModelRequest) -> Lead:
    return None


def leading_rules(
    specs: Sequence[AgentSpec], tools: Mapping[str, Sequence[Tool]], open_router: Callable[[], Router]
) -> Callable[[ModelRequest], Lead]:
    """The rules of the built-in model, which load the router on the first request."""
    replies = cache(lambda: LeadingReplies(specs, tools, open_router(), datetime.now))
    return lambda request: replies().lead(request)


class SmallModel:
    """Wraps a model without reliable tool calls: it writes its calls as text.

    ``owners_of`` names the possible owners of a request without asking a model: agents, and ``direct`` for
    the orchestrator's own answer. An empty result means that any agent is possible.
    ``lead`` gives the replies that rules can give.
    """

    def __init__(
        self,
        model: Model,
        specs: Sequence[AgentSpec],
        owners_of: Callable[[str], Collection[str]] = _any_owner,
        lead: Callable[[ModelRequest], Lead] = _no_lead,
    ) -> None:
        self._model = model
        self._lead = lead
        self._owners_of = owners_of
        self._prompt = SmallPrompt(specs)
        self._page_agents = [spec.name for spec in specs if spec.owns(PAGE_TOOL)]
        #: Whether the server accepts a JSON Schema for replies.
        self._held = True

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        # A small model makes one call in a reply.
        request = request._replace(tools=tuple(tool for tool in request.tools if tool.name != SHOW_RESULTS))
        if all(tool.name == REJECT_TASK for tool in request.tools):
            # With no other tool, a small model would decline every request. Without tools, it answers freely.
            request = request._replace(tools=())
        try:
            async with aclosing(self._read(request)) as items:
                async for item in items:
                    yield item
            return
        except ModelError as error:
            if error.kind != "bad_request" or not request.tools or not self._held:
                raise
            # Whatever it did not like about the form, it can be asked for in words alone.
            _log.warning("%s takes no schema for its replies: %s", self.name, error)
            self._held = False
        async with aclosing(self._read(request)) as items:
            async for item in items:
                yield item

    async def _read(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        """The reply with its calls; its answer is streamed as it arrives."""
        step = next_step(request, self._page_agent(request))
        made = code_made(step)
        if step is None:
            # In a thread: the rules may load the router's weights.
            led = await asyncio.to_thread(self._lead, request)
            made = (led.text, led.calls) if isinstance(led, ModelReply) else None
            if isinstance(led, str):
                request = _without_tools(request, led)
        if made:
            text, calls = made
            if text:
                yield TextDelta(text)
            yield ModelReply(text, calls, free=True)
            return
        if isinstance(step, Ask | Tell):
            led = self._ask(request, step) if isinstance(step, Ask) else self._tell(request, step)
            async with aclosing(led) as items:
                async for item in items:
                    yield item
            return
        answer = AnswerStream()
        # In a thread: the router may load its weights.
        plain = await asyncio.to_thread(self.plain, request)
        async with aclosing(self._model.stream(plain)) as items:
            async for item in items:
                match item:
                    case TextDelta(text):
                        if piece := answer.feed(text) if request.tools else text:
                            yield TextDelta(piece)
                    case ModelReply() if request.tools:
                        text, calls = read_reply(item.text, request.tools, _data_in(request))
                        if not calls and (rest := answer.rest(text)):
                            yield TextDelta(rest)
                        yield item._replace(text=text, calls=calls)
                    case _:
                        yield item

    async def _ask(self, request: ModelRequest, ask: Ask) -> AsyncGenerator[ModelItem, None]:
        """The one call that the model may make now. If what it wrote cannot work, it writes it once more."""
        usage, objections = Usage(), list[Message]()
        for left in reversed(range(_TRIES)):
            async with aclosing(self._model.stream(self._narrow(request, ask, objections))) as items:
                async for item in items:
                    if not isinstance(item, ModelReply):
                        # A call is not shown while it is written.
                        if not isinstance(item, TextDelta):
                            yield item
                        continue
                    usage += item.usage
                    text, calls = read_reply(item.text, request.tools, _data_in(request))
                    if not left or not (objection := ask.objection(calls)):
                        yield item._replace(text=text, calls=complete(calls), usage=usage)
                        return
                    objections += [AssistantMessage(item.text), UserMessage(objection)]

    async def _tell(self, request: ModelRequest, tell: Tell) -> AsyncGenerator[ModelItem, None]:
        """What code says has happened, and below it the model's words about what was read."""
        done, answer = f"{tell.done}\n\n", AnswerStream()
        yield TextDelta(done)
        only_last = request._replace(messages=_without_earlier_results(request.messages))
        async with aclosing(self._model.stream(self._narrow(only_last, tell))) as items:
            async for item in items:
                match item:
                    case TextDelta(text):
                        if piece := answer.feed(text):
                            yield TextDelta(piece)
                    case ModelReply():
                        text, calls = read_reply(item.text, request.tools, _data_in(request))
                        if not calls and (rest := answer.rest(text)):
                            yield TextDelta(rest)
                        yield item._replace(text=done.strip() if calls else f"{done}{text}", calls=())
                    case _:
                        yield item

    def _narrow(
        self, request: ModelRequest, step: Ask | Tell, objections: Sequence[Message] = ()
    ) -> ModelRequest:
        """A request that one tool or an answer fits, below the usual instruction, which was read before."""
        *before, last = to_plain(request.messages)
        tools = (step.tool,) if isinstance(step, Ask) else ()
        return ModelRequest(
            request.agent,
            self._prompt.instruction(request.instruction, request.tools),
            (*before, UserMessage(f"{last.text}\n\n{step.hint}"), *objections),
            (),
            reply_schema(tools, may_answer=not tools) if self._held else None,
        )

    def _page_agent(self, request: ModelRequest) -> str:
        """The agent for web pages, if the orchestrator can delegate to it."""
        here = _agents(request.tools) if any(tool.name == TRANSFER for tool in request.tools) else ()
        return next((name for name in self._page_agents if name in here), "")

    def plain(self, request: ModelRequest) -> ModelRequest:
        """The request as the model sees it: texts only, and the schema of its reply."""
        if not request.tools:
            return request._replace(messages=to_plain(request.messages, past_in_brief=True))
        delegates = any(tool.name == TRANSFER for tool in request.tools)
        return ModelRequest(
            request.agent,
            self._prompt.instruction(request.instruction, request.tools),
            to_plain(request.messages, past_in_brief=delegates),
            (),
            self._schema(request, delegates) if self._held else None,
        )

    def _schema(self, request: ModelRequest, delegates: bool) -> JsonObject:
        """The schema of the reply. A small orchestrator may choose only among the possible owners."""
        last, tools, may_answer = request.messages[-1], request.tools, True
        if repeats_itself(request.messages):
            tools = ()
        if delegates and isinstance(last, UserMessage):
            owners = self._owners_of(last.text)
            here = [name for name in _agents(request.tools) if name in owners]
            if here:
                tools = tuple(_only(tool, here) for tool in request.tools)
                may_answer = DIRECT in owners
            elif DIRECT in owners:
                tools = ()
        return reply_schema(tools, sources_of(request.messages), may_answer=may_answer)

    async def close(self) -> None:
        await self._model.close()


def _data_in(request: ModelRequest) -> Sequence[str]:
    """The texts that the model reads as data: results and memories."""
    return [m.text for m in request.messages if isinstance(m, ToolMessage | MemoryMessage)]


def _without_earlier_results(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The request and its last step: a small model mixes what stands in several results."""
    start = max((at for at, each in enumerate(messages) if isinstance(each, UserMessage)), default=0)
    return (*messages[: start + 1], *messages[max(start + 1, len(messages) - 2) :])


def _without_tools(request: ModelRequest, led: Literal["talk", "tell"]) -> ModelRequest:
    """The request for an answer alone, with a short instruction: a small model reads a long one slowly."""
    messages = request.messages
    if led == "talk":
        # It takes results without an answer for the answer.
        start = max((at for at, each in enumerate(messages) if isinstance(each, UserMessage)), default=0)
        messages = messages[max(0, start - _SAID_BEFORE) : start + 1]
    instruction = (_PROMPTS / f"{led}.md").read_text(encoding="utf-8").strip()
    return request._replace(instruction=instruction, messages=messages, tools=())


def _agents(tools: Sequence[Tool]) -> Sequence[str]:
    """The agents that the orchestrator can delegate to."""
    (transfer,) = (tool for tool in tools if tool.name == TRANSFER)
    properties = cast("Mapping[str, JsonObject]", transfer.parameters["properties"])
    return cast("Sequence[str]", properties["agent_name"]["enum"])


def _only(tool: Tool, agent_names: Sequence[str]) -> Tool:
    """The transfer tool with only these agents; other tools unchanged."""
    if tool.name != TRANSFER:
        return tool
    properties = cast("Mapping[str, JsonObject]", tool.parameters["properties"])
    named = {**properties["agent_name"], "enum": list(agent_names)}
    return replace(tool, parameters={**tool.parameters, "properties": {**properties, "agent_name": named}})
