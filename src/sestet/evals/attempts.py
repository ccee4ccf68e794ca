"""Tries one case: where the router sends it, or what a model calls first."""

import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from itertools import groupby
from typing import NamedTuple, TypeAlias, cast

from sestet.core.agent import DIRECT, TRANSFER, Agent
from sestet.core.errors import FailureKind, ModelError
from sestet.core.message import ToolCall, UserMessage
from sestet.core.model import Model, ModelReply, ModelRequest, Usage
from sestet.core.schema import JsonObject, JsonValue, find_problems
from sestet.core.tool import Tool
from sestet.evals.runs import NO_CALL, OTHER, Result
from sestet.evals.sets import MultipartCase, RoutingCase, ToolCase
from sestet.models.router import Router
from sestet.runtime.delegation import offered_tools, transfer_tool

#: Failures of a single request; the run continues with the next one. Any other failure ends the run.
_OF_THE_REQUEST: frozenset[FailureKind] = frozenset({"content_filter", "context_too_long", "timeout"})
#: How much of a model's text is kept in a result.
_LONGEST_DETAIL = 500
_JOINT = " → "

ModelOf: TypeAlias = Callable[[str], Model]
TryRoute: TypeAlias = Callable[[RoutingCase], Awaitable[Result]]
TrySplit: TypeAlias = Callable[[MultipartCase], Awaitable[Result]]
TryTool: TypeAlias = Callable[[ToolCase], Awaitable[Result]]


def route_with_router(router: Router) -> TryRoute:
    """Tries cases on the router; its best guess counts, sure or not."""

    async def attempt(case: RoutingCase) -> Result:
        started = time.perf_counter()
        route = router.route(case.request)
        return Result(
            case.request,
            case.agent,
            route.agent,
            route.agent == case.agent,
            case.kind,
            milliseconds=_since(started),
            confidence=route.confidence,
            sure=route.sure,
        )

    return attempt


def split_with_router(router: Router) -> TrySplit:
    """Tries cases on the router: which parts it sees. "Sure" means that it would route it as one request."""

    async def attempt(case: MultipartCase) -> Result:
        started = time.perf_counter()
        parts = router.split(case.request)
        taken = _since(started)
        # Neighbouring parts of one owner count once.
        owners = tuple(agent for agent, _ in groupby(part.agent for part in parts))
        route = router.route(case.request)
        return Result(
            case.request,
            _JOINT.join(case.agents),
            _JOINT.join(owners),
            owners == case.agents,
            case.kind or ("several parts" if len(case.agents) > 1 else "one part"),
            milliseconds=taken,
            confidence=route.confidence,
            sure=route.sure,
        )

    return attempt


def route_with_model(root: Agent, model_of: ModelOf) -> TryRoute:
    """Tries cases on the orchestrator's model: the agent that its first reply delegates to."""
    transfer = transfer_tool(root.sub_agents)

    async def attempt(case: RoutingCase) -> Result:
        asked = await _ask(model_of(root.name), root, root, transfer, case.request)
        given, detail = _route_of(root, asked)
        return Result(
            case.request,
            case.agent,
            given,
            given == case.agent,
            case.kind,
            detail=detail,
            milliseconds=asked.milliseconds,
            usage=asked.reply.usage,
        )

    return attempt


def call_with_model(root: Agent, model_of: ModelOf) -> TryTool:
    """Tries cases on a specialist's model: the first call that it makes."""
    transfer = transfer_tool(root.sub_agents)

    async def attempt(case: ToolCase) -> Result:
        agent = root.sub_agent(case.agent)
        assert agent is not None
        asked = await _ask(model_of(agent.name), agent, root, transfer, case.request)
        given, detail = _call_of(agent, case, asked)
        return Result(
            case.request,
            case.tool,
            given,
            given == case.tool and not detail,
            case.kind,
            case.agent,
            detail,
            asked.milliseconds,
            usage=asked.reply.usage,
        )

    return attempt


class _Asked(NamedTuple):
    reply: ModelReply
    milliseconds: float
    #: Why the model gave no reply; empty when it did.
    failure: str = ""


async def _ask(model: Model, agent: Agent, root: Agent, transfer: Tool, text: str) -> _Asked:
    """The first reply of an agent, with the same prompt and tools as in a turn."""
    tools = offered_tools(agent, root, transfer)
    request = ModelRequest(agent.name, agent.instruction, (UserMessage(text),), tools)
    started = time.perf_counter()
    reply: ModelReply | None = None
    try:
        async with aclosing(model.stream(request)) as stream:
            async for item in stream:
                reply = item if isinstance(item, ModelReply) else reply
    except ModelError as error:
        if error.kind not in _OF_THE_REQUEST:
            raise
        return _Asked(ModelReply(usage=Usage()), _since(started), str(error))
    if reply is None:
        raise ModelError(f"'{model.name}' ended without a reply")
    return _Asked(reply, _since(started))


class _Given(NamedTuple):
    given: str
    detail: str = ""


def _route_of(root: Agent, asked: _Asked) -> _Given:
    if asked.failure:
        return _Given(OTHER, asked.failure)
    # Two delegations to one specialist are one route.
    targets = list(dict.fromkeys(_target(root, call) for call in asked.reply.calls))
    if not targets:
        return _Given(DIRECT)
    (first, *others) = targets
    if others:
        return _Given(
            OTHER, f"several at once: {', '.join(target.detail or target.given for target in targets)}"
        )
    return first


def _target(root: Agent, call: ToolCall) -> _Given:
    if call.name != TRANSFER:
        return _Given(OTHER, f"called '{call.name}', which it does not have")
    name = call.arguments.get("agent_name")
    agent = root.sub_agent(name) if isinstance(name, str) else None
    return _Given(agent.name) if agent else _Given(OTHER, f"no such agent: {name!r}")


def _call_of(agent: Agent, case: ToolCase, asked: _Asked) -> _Given:
    if asked.failure:
        return _Given(OTHER, asked.failure)
    if not asked.reply.calls:
        return _Given(NO_CALL, f"said: {asked.reply.text[:_LONGEST_DETAIL]}")
    call = asked.reply.calls[0]
    if call.name != case.tool:
        return _Given(call.name)
    if call.malformed:
        return _Given(call.name, f"arguments that are not JSON: {call.malformed[:_LONGEST_DETAIL]}")
    (tool,) = (tool for tool in agent.tools or () if tool.name == call.name)
    return _Given(call.name, "; ".join(argument_problems(tool, case.arguments, call.arguments)))


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def argument_problems(tool: Tool, wanted: JsonObject, given: JsonObject) -> Iterator[str]:
    """Every problem with the arguments of a call."""
    properties = cast("Mapping[str, JsonObject]", tool.parameters.get("properties", {}))
    for problem in find_problems(tool.parameters, dict(given)):
        yield f"{problem.where}: {problem.message}"
    for name, value in wanted.items():
        # An argument that is left out has its default.
        found = given.get(name, properties.get(name, {}).get("default"))
        if not _fits(value, found):
            yield f"{name}: wanted {_show(value)}, got {_show(found)}"
    for name in given.keys() - wanted.keys():
        if name in properties and not _fits(properties[name].get("default"), given[name]):
            yield f"{name}: not wanted, got {_show(given[name])}"


def _fits(wanted: JsonValue, given: JsonValue) -> bool:
    if isinstance(wanted, Mapping) and "contains" in wanted:
        parts = cast("Sequence[str]", wanted["contains"])
        return isinstance(given, str) and all(part.casefold() in given.casefold() for part in parts)
    if isinstance(wanted, str) and isinstance(given, str):
        return _bare(wanted) == _bare(given)
    # In Python, True == 1.
    return wanted == given and isinstance(wanted, bool) == isinstance(given, bool)


def _bare(text: str) -> str:
    """A text without upper case, outer white space, and a final slash or full stop."""
    bare = text.strip().casefold()
    # "." alone is a directory.
    return bare[:-1] if len(bare) > 1 and bare[-1] in "/." else bare


def _show(value: JsonValue) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)
