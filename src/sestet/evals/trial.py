"""A trial: a set of cases, the router or model that is tried, and how each case is tried."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from sestet.config import Settings
from sestet.core.agent import Agent, AgentSpec
from sestet.evals.attempts import (
    ModelOf,
    call_with_model,
    route_with_model,
    route_with_router,
    split_with_router,
)
from sestet.evals.newcomers import Newcomers
from sestet.evals.runs import Result, Run, RunInfo, RunLog, Subject
from sestet.evals.sets import (
    Case,
    Eval,
    MultipartCase,
    NewcomerCase,
    RoutingCase,
    ToolCase,
    cases_of_examples,
    digest,
    read_multipart_set,
    read_newcomer_set,
    read_routing_set,
    read_tool_set,
    shipped_set,
)
from sestet.evals.subjects import model_subject, open_embedded

_Case = TypeVar("_Case", bound=Case)


class Trial(NamedTuple, Generic[_Case]):
    info: RunInfo
    cases: Sequence[_Case]
    attempt: Callable[[_Case], Awaitable[Result]]


def try_router(
    specs: Sequence[AgentSpec], file: Path | None = None, *, light: bool = False
) -> Trial[RoutingCase]:
    """Which agent the embedded router chooses; without a file, for the shipped set."""
    cases = _routing_cases(specs, file)
    router, subject = open_embedded(specs, light)
    return Trial(_info("routing", subject, cases, file), cases, route_with_router(router))


def try_splitting(
    specs: Sequence[AgentSpec], file: Path | None = None, *, light: bool = False
) -> Trial[MultipartCase]:
    """Which parts the embedded router sees; without a file, for the shipped set."""
    cases = read_multipart_set(file or shipped_set("multipart"), [spec.name for spec in specs])
    router, subject = open_embedded(specs, light)
    return Trial(_info("multipart", subject, cases, file), cases, split_with_router(router))


def try_orchestrator(
    root: Agent, specs: Sequence[AgentSpec], model_of: ModelOf, file: Path | None = None
) -> Trial[RoutingCase]:
    """Which agent the orchestrator's model chooses; without a file, for the shipped set."""
    cases = _routing_cases(specs, file)
    subject = model_subject(root, [model_of(root.name).name])
    return Trial(_info("routing", subject, cases, file), cases, route_with_model(root, model_of))


def try_tools(root: Agent, model_of: ModelOf, file: Path | None = None) -> Trial[ToolCase]:
    """Which tool the specialists' models call first; without a file, for the shipped set."""
    tools = {agent.name: agent.tools or () for agent in root.sub_agents}
    cases = read_tool_set(file or shipped_set("tools"), tools)
    subject = model_subject(root, [model_of(case.agent).name for case in cases])
    return Trial(_info("tools", subject, cases, file), cases, call_with_model(root, model_of))


def try_newcomers(settings: Settings, newcomers: Newcomers, file: Path | None = None) -> Trial[NewcomerCase]:
    """What newcomers get to read; without a file, in the conversations that ship."""
    cases = read_newcomer_set(file or shipped_set("newcomer"))
    subject = Subject("/".join(filter(None, (settings.agent.provider, settings.agent.model))))
    return Trial(_info("newcomer", subject, cases, file), cases, newcomers.attempt)


async def carry_out(
    trial: Trial[_Case],
    log: RunLog | None = None,
    watch: Callable[[int, int, str], None] | None = None,
) -> Run:
    """Try the cases for which the log has no result yet, one after the other."""
    log = log or RunLog(Run(trial.info, ()))
    done = len(log.run.results)
    for number, case in enumerate(trial.cases[done:], done):
        if watch:
            watch(number, len(trial.cases), case.request)
        # The router never awaits; without this, Ctrl-C would not be seen before the end.
        await asyncio.sleep(0)
        log.add(await trial.attempt(case))
    return log.run


def _routing_cases(specs: Sequence[AgentSpec], file: Path | None) -> list[RoutingCase]:
    """The cases of a file, or the shipped ones plus the examples of specialists without cases."""
    cases = read_routing_set(file or shipped_set("routing"), [spec.name for spec in specs])
    return cases if file else [*cases, *cases_of_examples(specs, cases)]


def _info(name: Eval, subject: Subject, cases: Sequence[Case], file: Path | None) -> RunInfo:
    return RunInfo(name, subject, (file or shipped_set(name)).name, digest(cases), len(cases))
