"""Trials with a scripted model: its requests, how its first reply is read, and the end of a run."""

import asyncio
from pathlib import Path

import pytest

from sestet.agents import default_specs
from sestet.config import Settings
from sestet.core.agent import REJECT_TASK, SHOW_RESULTS, TRANSFER, AgentSpec
from sestet.core.errors import ModelError
from sestet.core.message import ToolCall, UserMessage
from sestet.core.model import ModelReply, Usage
from sestet.evals.attempts import call_with_model, route_with_model, route_with_router, split_with_router
from sestet.evals.figures import figures
from sestet.evals.runs import NO_CALL, OTHER, Result, load_run, open_run_log
from sestet.evals.sets import MultipartCase, RoutingCase, ToolCase, read_multipart_set, shipped_set
from sestet.evals.subjects import trial_tree
from sestet.evals.trial import carry_out, try_orchestrator, try_router, try_tools
from sestet.models.router import DIRECT, open_router
from sestet.models.scripted import ScriptedModel, ScriptItem
from tests.evals.samples import LEARNED

NAMES = [spec.name for spec in default_specs()]
ROOT = trial_tree(Settings(), default_specs())
ROUTER = open_router(default_specs(), with_encoder=False)
CASE = RoutingCase("what is the weather", "navigator", "plain")
READ = ToolCase("show me notes.txt", "operator", "fs_read", {"path": "notes.txt"})


def give(name: object) -> ToolCall:
    return ToolCall(TRANSFER, {"agent_name": name, "request": "r"})  # pyright: ignore[reportArgumentType] - a model may say anything


async def route(*script: ScriptItem, case: RoutingCase = CASE) -> Result:
    return await route_with_model(ROOT, lambda _: ScriptedModel(script))(case)


async def call(*script: ScriptItem) -> Result:
    return await call_with_model(ROOT, lambda _: ScriptedModel(script))(READ)


async def test_the_model_is_asked_as_the_orchestrator_of_a_turn() -> None:
    model = ScriptedModel([give("navigator")])
    await route_with_model(ROOT, lambda _: model)(CASE)
    (asked,) = model.requests
    assert (asked.agent, asked.instruction) == (ROOT.name, ROOT.instruction)
    assert asked.messages == (UserMessage("what is the weather"),)
    (transfer,) = asked.tools
    assert transfer.name == TRANSFER
    assert all(f"### {name}\n" in ROOT.instruction for name in NAMES), "specialists without tools as well"


async def test_the_specialist_is_asked_with_its_own_prompt_and_tools() -> None:
    model = ScriptedModel([ToolCall("fs_read", {"path": "notes.txt"})])
    await call_with_model(ROOT, lambda _: model)(READ)
    (asked,) = model.requests
    operator = ROOT.sub_agent("operator")
    assert operator is not None
    assert (asked.agent, asked.instruction) == ("operator", operator.instruction)
    assert [tool.name for tool in asked.tools] == [
        *(t.name for t in operator.tools or ()),
        SHOW_RESULTS,
        REJECT_TASK,
    ]


async def test_a_transfer_is_a_route_however_the_name_is_spelt() -> None:
    found = await route(ModelReply(calls=(give("Navigator "),), usage=Usage(100, 7, 5_000)))
    assert (found.given, found.right, found.kind) == ("navigator", True, "plain")
    assert found.usage == Usage(100, 7, 5_000)
    assert (found.sure, found.confidence) == (True, None)


async def test_text_without_a_call_is_a_direct_answer() -> None:
    assert (await route("It is sunny.")).given == DIRECT
    assert (await route("Hello!", case=RoutingCase("hi", DIRECT))).right


@pytest.mark.parametrize(
    ("calls", "detail"),
    [
        ([give("browser_agent")], "no such agent: 'browser_agent'"),
        ([give(7)], "no such agent: 7"),
        ([ToolCall("web_search", {})], "called 'web_search', which it does not have"),
        ([give("navigator"), give("vault")], "several at once: navigator, vault"),
        (
            [give("navigator"), give("nobody")],
            "several at once: navigator, no such agent: 'nobody'",
        ),
    ],
)
async def test_what_is_no_route_to_one_agent_is_wrong_with_its_reason(
    calls: list[ToolCall], detail: str
) -> None:
    found = await route(calls)
    assert (found.given, found.right, found.detail) == (OTHER, False, detail)


async def test_two_tasks_for_one_specialist_are_one_route() -> None:
    assert (await route([give("navigator"), give("navigator")])).right


async def test_the_first_call_of_a_specialist_counts() -> None:
    right = ToolCall("fs_read", {"path": "./notes.txt"[2:]})
    assert (await call([right, ToolCall("fs_list")])).right
    wrong = await call([ToolCall("fs_list"), right])
    assert (wrong.given, wrong.right, wrong.agent) == ("fs_list", False, "operator")
    arguments = await call(ToolCall("fs_read", {"path": "todo.txt"}))
    assert (arguments.given, arguments.right) == ("fs_read", False)
    assert arguments.detail == 'path: wanted "notes.txt", got "todo.txt"'
    torn = await call(ToolCall("fs_read", {}, malformed='{"path'))
    assert (torn.right, torn.detail) == (False, 'arguments that are not JSON: {"path')
    said = await call("Which file?")
    assert (said.given, said.detail) == (NO_CALL, "said: Which file?")


async def test_a_failure_that_lies_with_the_request_is_a_wrong_answer() -> None:
    found = await route(ModelError("filtered", "content_filter"))
    assert (found.given, found.detail) == (OTHER, "filtered")
    assert (await call(ModelError("too slow", "timeout"))).given == OTHER


async def test_any_other_failure_ends_the_run_and_the_next_goes_on(tmp_path: Path) -> None:
    requests, out = tmp_path / "mine.jsonl", tmp_path / "run.jsonl"
    lines = (f'{{"request": "r{number}", "agent": "vault"}}\n' for number in range(3))
    requests.write_text("".join(lines), encoding="utf-8")
    first = ScriptedModel([give("vault"), ModelError("no such key", "auth")])
    trial = try_orchestrator(ROOT, default_specs(), lambda _: first, requests)
    with pytest.raises(ModelError, match="no such key"), open_run_log(trial.info, out) as log:
        await carry_out(trial, log)
    assert len(load_run(out).results) == 1

    second = ScriptedModel([give("vault"), "no"])
    trial = try_orchestrator(ROOT, default_specs(), lambda _: second, requests)
    watched: list[tuple[int, int, str]] = []
    with open_run_log(trial.info, out) as log:
        await carry_out(trial, log, lambda done, total, name: watched.append((done, total, name)))
    assert watched == [(1, 3, "r1"), (2, 3, "r2")]
    assert [result.given for result in load_run(out).results] == ["vault", "vault", DIRECT]


async def test_a_trial_that_waits_for_nothing_can_be_stopped_too() -> None:
    trial = try_router(default_specs(), light=True)
    work = asyncio.create_task(carry_out(trial))
    await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work


async def test_ones_own_specialist_is_tried_by_its_examples() -> None:
    newcomer = AgentSpec("newcomer", "Looks after plants", examples=("water the roses",))
    specs = (*LEARNED, newcomer)
    root = trial_tree(Settings(), specs)
    shipped = len(shipped_set("routing").read_text(encoding="utf-8").splitlines())
    model = ScriptedModel(["direct"] * shipped + [give("newcomer")])
    run = await carry_out(try_orchestrator(root, specs, lambda _: model))
    assert "### newcomer" in model.requests[0].instruction
    assert (run.results[-1].request, run.results[-1].right) == ("water the roses", True)
    by_kind = figures(run)["by_kind"]
    assert isinstance(by_kind, dict)
    assert by_kind["example"]["n"] == 1


async def test_the_best_guess_of_the_router_counts_with_its_confidence() -> None:
    requests = ("list the files in src", "hm, well, that thing from the other day")
    for request, route in ((request, ROUTER.route(request)) for request in requests):
        found = await route_with_router(ROUTER)(RoutingCase(request, route.agent))
        assert (found.given, found.right) == (route.agent, True)
        assert (found.sure, found.confidence) == (route.sure, route.confidence)
        wrong = await route_with_router(ROUTER)(RoutingCase(request, "nobody"))
        assert (wrong.given, wrong.right) == (route.agent, False)


async def test_parts_are_right_when_their_owners_come_in_the_order_of_the_work() -> None:
    requests = [case.request for case in read_multipart_set(shipped_set("multipart"), NAMES)]
    owners = {request: tuple(part.agent for part in ROUTER.split(request)) for request in requests}
    several = next(request for request in requests if len(owners[request]) == 2)
    whole = next(request for request in requests if len(owners[request]) == 1)
    first, second = owners[several]

    attempt = split_with_router(ROUTER)
    found = await attempt(MultipartCase(several, (first, second)))
    assert (found.right, found.given, found.kind) == (True, f"{first} → {second}", "several parts")
    found = await attempt(MultipartCase(several, (second, first)))
    assert (found.right, found.expected) == (False, f"{second} → {first}")
    found = await attempt(MultipartCase(whole, owners[whole]))
    assert (found.right, found.given, found.kind) == (True, owners[whole][0], "one part")


async def test_the_embedded_router_says_what_it_is_and_how_long_it_took_to_load() -> None:
    subject = try_router(default_specs(), light=True).info.subject
    assert subject.name == "router"
    assert subject.variant
    assert subject.threshold is not None
    assert (subject.load_milliseconds or 0) > 0


async def test_every_case_of_the_shipped_set_for_tools_can_be_tried() -> None:
    trial = try_tools(ROOT, lambda _: ScriptedModel(["no"] * 1_000))
    (result, *_) = (await carry_out(trial)).results
    assert result.given == NO_CALL
