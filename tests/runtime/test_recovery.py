"""A crash between intent and result: the tool declares what happens next."""

from collections.abc import Awaitable, Callable
from typing import get_args

import pytest

from sestet.core.errors import ToolError
from sestet.core.event import ToolFinished
from sestet.core.message import ToolCall
from sestet.core.record import replace
from sestet.core.schema import JsonValue
from sestet.core.tool import CallInfo, Recovery, tool
from sestet.models.scripted import ScriptedModel
from sestet.storage.database import Database
from tests.runtime.conftest import Conversation, Talk

Crash = Callable[[Recovery, str], Awaitable[tuple[Talk, ToolFinished]]]

RAN: list[str] = []
PROBED: list[str] = []


async def find_out(call: CallInfo, /, key: str) -> JsonValue:
    """The fate of the call, which the test passes as an argument."""
    PROBED.append(call.key)
    if key == "broken":
        raise ToolError("nobody knows")
    return "it was done before" if key == "done" else None


@tool(risk="safe", effect="local", reads=(), probe=find_out)
async def fs_effect(call: CallInfo, /, key: str) -> str:
    """Leaves a trace."""
    RAN.append(call.key)
    return f"ran {key}"


@pytest.fixture
def crash(talk: Conversation, database: Database) -> Crash:
    """Cut a turn off right after the intent of a call of some recovery class, and resume it."""

    async def resume_after_intent(recovery: Recovery, key: str) -> tuple[Talk, ToolFinished]:
        kind = replace(fs_effect, recovery=recovery)
        first = talk(
            ScriptedModel([ToolCall("fs_effect", {"key": key}), "x"]), multi_agent=False, tools=(kind,)
        )
        begun = await first.begin("go")
        intent = next(event for event in begun if event.kind == "tool_called")
        database.execute("DELETE FROM events WHERE seq > ?", (intent.seq,))
        database.execute("UPDATE turns SET state = 'running'")
        RAN.clear()
        PROBED.clear()
        later = talk(ScriptedModel(["I looked."]), multi_agent=False, tools=(kind,))
        events = await later.resume(begun)
        await later.model.close()
        (finished,) = (event for event in events if isinstance(event, ToolFinished))
        return later, finished

    return resume_after_intent


@pytest.mark.parametrize("recovery", ["pure", "keyed"])
async def test_pure_and_keyed_tools_run_again_with_the_same_key(crash: Crash, recovery: Recovery) -> None:
    _, finished = await crash(recovery, "x")

    assert finished.outcome == "ok"
    assert [f"{finished.stamp.turn_id}/{finished.call.id}"] == RAN


async def test_a_probe_that_finds_the_effect_gives_its_result_and_nothing_runs(crash: Crash) -> None:
    _, finished = await crash("probe", "done")

    assert (finished.outcome, finished.text) == ("ok", "it was done before")
    assert len(PROBED) == 1
    assert RAN == []


async def test_a_probe_that_finds_nothing_lets_the_tool_run(crash: Crash) -> None:
    _, finished = await crash("probe", "nothing")

    assert (finished.outcome, finished.text) == ("ok", "ran nothing")
    assert len(RAN) == 1


@pytest.mark.parametrize(("recovery", "key"), [("unsafe", "x"), ("probe", "broken")])
async def test_whatever_else_is_in_doubt_and_never_repeated(
    crash: Crash, recovery: Recovery, key: str
) -> None:
    later, finished = await crash(recovery, key)

    assert finished.outcome == "in_doubt"
    assert RAN == []
    assert "not known whether it took effect" in later.model.requests[0].messages[-1].text


def test_every_recovery_class_is_tried_here() -> None:
    assert set(get_args(Recovery)) == {"pure", "keyed", "probe", "unsafe"}
