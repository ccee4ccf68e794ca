"""The library as an embedding program sees it."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

import sestet
from sestet.core.errors import ConfigError, DefinitionError, PersonError, ScriptError, StorageError
from sestet.core.event import Event, RequestRouted, ToolFinished, TurnFinished, TurnStarted
from sestet.core.record import replace
from sestet.core.tool import CallInfo
from sestet.models.router.router import Router
from sestet.services.files import Files
from tests.runtime.models import HangingModel


@sestet.tool(risk="safe", effect="none", reads=("untrusted",), recovery="pure")
async def weather_now(city: str) -> str:
    """The weather of a city, now."""
    return f"Sunny in {city}"


WEATHER = sestet.AgentSpec(
    name="meteorologist",
    description="Knows the weather",
    capabilities={"weather_": "weather reports"},
    instruction="You are the meteorologist.",
)


def delegation(agent_name: str) -> sestet.ToolCall:
    arguments = {"agent_name": agent_name, "request": "Oslo now", "reply": True}
    return sestet.ToolCall("transfer_to_agent", arguments)


async def test_an_added_tool_and_specialist_work_like_those_that_ship(tmp_path: Path) -> None:
    model = sestet.ScriptedModel(
        [delegation("meteorologist"), sestet.ToolCall("weather_now", {"city": "Oslo"}), "It is sunny."]
    )

    async with sestet.open({}, model=model, home=tmp_path, tools=[weather_now], specs=[WEATHER]) as app:
        events = [event async for event in app.run_turn("s1", "weather in Oslo?")]

    assert (
        "### meteorologist\n- Role: Knows the weather. Capabilities: weather reports" in app.root.instruction
    )
    assert [event.text for event in events if isinstance(event, ToolFinished)] == ["Sunny in Oslo"]
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].author == "meteorologist"


@sestet.tool(risk="guarded", effect="money", targets=("to",), recovery="unsafe")
async def payment_send(to: str) -> str:
    """Pay somebody."""
    return f"paid {to}"


async def test_what_is_asked_about_every_time_can_have_no_standing_answer(tmp_path: Path) -> None:
    model = sestet.ScriptedModel([delegation("vault"), sestet.ToolCall("payment_send", {"to": "alice"})])

    async with sestet.open({}, model=model, home=tmp_path, tools=[payment_send]) as app:
        _ = [event async for event in app.run_turn("s1", "pay alice")]
        (question,) = app.approvals.pending()
        for scope in ("session", "always"):
            with pytest.raises(PersonError, match="'payment_send' can only be approved once at a time"):
                app.decide(question.id, "approve", scope)

        assert app.approvals.grants() == []
        assert app.decide(question.id, "deny", "always").id == question.id


async def test_the_kind_of_an_event_tells_a_reader_and_the_type_checker_what_it_holds(tmp_path: Path) -> None:
    heard: list[str] = []

    async with sestet.open({}, model=sestet.ScriptedModel(["Hi."]), home=tmp_path) as app:
        async for event in app.run_turn("s1", "hello"):
            if event.kind == "turn_started":
                heard.append(event.text)
            if event.kind == "model_called":
                heard.append(event.model)
            if event.kind == "turn_finished":
                heard.append(event.text)

    assert heard == ["hello", "scripted", "Hi."]


async def test_an_added_tool_that_nobody_owns_is_loud(tmp_path: Path) -> None:
    async with sestet.open({}, model=sestet.ScriptedModel(), home=tmp_path, tools=[weather_now]) as app:
        assert [tool.name for tool in app.unmatched] == ["weather_now"]
        assert app.warnings == ("the tool 'weather_now' belongs to no agent, so no agent can call it",)
        assert "`weather_now`" in app.root.instruction


async def test_an_added_tool_cannot_take_the_name_of_one_that_ships(tmp_path: Path) -> None:
    @sestet.tool
    async def fs_read(path: str) -> str:
        """Pretends to read."""
        return path

    with pytest.raises(DefinitionError, match="tool 'fs_read' is defined twice"):
        async with sestet.open({}, home=tmp_path, tools=[fs_read]):
            pass


class Barometer:
    """A service of the embedding program."""


@sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
async def weather_pressure(barometer: Barometer, files: Files, /) -> str:
    """The pressure of the air, now."""
    return f"{type(barometer).__name__} {type(files).__name__}"


@sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
async def weather_logs(call: CallInfo, files: Files, /) -> str:
    """The logs of the weather."""
    return f"{type(files).__name__} for {call.agent}"


async def test_an_added_tool_is_given_the_services_that_the_assistant_has(tmp_path: Path) -> None:
    model = sestet.ScriptedModel([delegation("meteorologist"), sestet.ToolCall("weather_logs"), "Done."])

    async with sestet.open({}, model=model, home=tmp_path, tools=[weather_logs], specs=[WEATHER]) as app:
        events = [event async for event in app.run_turn("s1", "logs?")]

    assert [event.text for event in events if isinstance(event, ToolFinished)] == ["Files for meteorologist"]


async def test_an_added_tool_without_its_service_says_how_to_give_it(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=r"needs Barometer, .*weather_pressure\.bind\({Barometer: …}\)"):
        async with sestet.open({}, home=tmp_path, tools=[weather_pressure]):
            pass

    bound = weather_pressure.bind({Barometer: Barometer(), Files: Files(tmp_path)})
    assert bound is not None
    async with sestet.open({}, home=tmp_path, tools=[bound], specs=[WEATHER]) as app:
        assert not app.warnings


def test_a_text_in_place_of_several_is_not_taken_letter_by_letter() -> None:
    with pytest.raises(DefinitionError, match="agent 'gardener': examples must be a tuple of texts"):
        sestet.AgentSpec("gardener", examples="water it")  # pyright: ignore[reportArgumentType] - the mistake


class Mute:
    name = "mute"

    async def close(self) -> None: ...


class Silent(Mute):
    async def stream(self) -> None: ...


@pytest.mark.parametrize(
    ("wrong", "mistake"),
    [
        ({"tools": [weather_now.function]}, "is not a tool; '@sestet.tool' makes one"),
        ({"specs": ["gardener"]}, "'gardener' is not a spec"),
        ({"model": "gpt"}, "model: 'gpt' is not a model: it has no 'name'"),
        ({"model": Mute()}, "is not a model: it has no 'stream'"),
        ({"model": Silent}, "is not a model: it is a class"),
    ],
)
async def test_what_is_added_has_to_be_what_it_is_added_as(
    tmp_path: Path, wrong: Any, mistake: str
) -> None:  # Any: mistakes
    with pytest.raises(DefinitionError, match=mistake):
        async with sestet.open({}, home=tmp_path / "data", **wrong):
            pass

    assert not (tmp_path / "data").exists()


async def test_a_script_that_is_left_over_fails_when_the_assistant_closes(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="left over"):
        async with sestet.open({}, model=sestet.ScriptedModel(["never asked"]), home=tmp_path):
            pass


@pytest.mark.parametrize("name", ["vault", "Operator", "chron-icler"])
async def test_a_remote_agent_cannot_take_the_name_of_a_specialist(tmp_path: Path, name: str) -> None:
    settings = {"a2a": {"enabled": True, "remoteAgents": [{"name": name, "url": "http://127.0.0.1:9"}]}}

    with pytest.raises(ConfigError, match=f"'{name}' is the name of a specialist"):
        async with sestet.open(settings, home=tmp_path):
            pass

    assert not (tmp_path / "sestet.db").exists()


async def test_an_agent_can_have_a_model_of_its_own(tmp_path: Path) -> None:
    settings = {
        "agent": {"provider": "home", "model": "large"},
        "agents": {"operator": {"model": "small"}, "planner": {"provider": "offline"}},
        "providers": {"home": {"baseUrl": "http://127.0.0.1:9/v1"}},
    }

    async with sestet.open(settings, home=tmp_path) as app:
        names = [app.models.of(agent).name for agent in ("orchestrator", "operator", "planner", "librarian")]

    assert names == ["home/large", "home/small", "offline", "home/large"]


async def test_a_model_for_an_agent_that_does_not_exist_is_an_error_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 'operator'"):
        async with sestet.open({"agents": {"operater": {"model": "x"}}}, home=tmp_path):
            pass


async def test_turns_that_were_cut_off_are_offered_and_running_ones_are_not(tmp_path: Path) -> None:
    async with sestet.open({}, model=sestet.ScriptedModel(["hi"]), home=tmp_path) as app:
        events = app.run_turn("s1", "hello")
        first = await anext(events)
        while_running = app.unfinished_turns()
        # A killed process leaves the beginning of a turn, and no lock.
        app.journal.append(TurnStarted(replace(first.stamp, session_id="s2", turn_id="cut"), "hello"))
        offered = app.unfinished_turns()
        async for _ in events:
            pass

    assert while_running == []
    assert [row.id for row in offered] == ["cut"]


async def test_a_turn_whose_assistant_closes_is_an_error_for_its_reader_and_goes_on_later(
    tmp_path: Path,
) -> None:
    async def last_event(reader: AsyncGenerator[Event]) -> Event:
        return [event async for event in reader][-1]

    async with sestet.open(home=tmp_path, model=HangingModel([delegation("operator")])) as app:
        reader = app.run_turn("s1", "go")
        started = await anext(reader)
        waiting = asyncio.create_task(last_event(app.run_turn("s1", "and then?")))
        await asyncio.sleep(0)
    for end in (last_event(reader), waiting):
        with pytest.raises(StorageError, match="closed"):
            await asyncio.wait_for(end, 5)

    async with sestet.open(home=tmp_path, model=sestet.ScriptedModel(["done"])) as app:
        (row,) = app.unfinished_turns()
        assert row.id == started.stamp.turn_id
        end = await last_event(app.resume_turn(row.id))

    assert isinstance(end, TurnFinished)


async def test_a_turn_that_has_ended_can_be_read_to_its_end_after_its_assistant_has_closed(
    tmp_path: Path,
) -> None:
    async with sestet.open(home=tmp_path, model=sestet.ScriptedModel(["done"])) as app:
        reader = app.run_turn("s1", "go")
        await anext(reader)
        while app.journal.open_turns():  # noqa: ASYNC110 - nobody tells when it has ended but its reader
            await asyncio.sleep(0)

    assert isinstance([event async for event in reader][-1], TurnFinished)


async def test_a_provider_that_is_not_there_is_an_error_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"agent\.provider"):
        async with sestet.open({"agent": {"provider": "olama", "model": "x"}}, home=tmp_path / "data"):
            pass

    assert not (tmp_path / "data").exists()


async def test_a_flat_agent_holds_every_tool_and_none_is_called_ownerless(tmp_path: Path) -> None:
    settings = {"agent": {"multiAgent": False}}

    async with sestet.open(settings, model=sestet.ScriptedModel(), home=tmp_path, tools=[weather_now]) as app:
        assert weather_now in (app.root.tools or ())
        assert (app.unmatched, app.warnings) == ((), ())


async def test_with_a_fast_route_a_plain_request_needs_no_model_to_find_its_specialist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its threshold is measured elsewhere, and an agent that the router does not know makes it less sure.
    monkeypatch.setattr(Router, "threshold", 0.9)
    model = sestet.ScriptedModel({"operator": [sestet.ToolCall("fs_list"), "No files."]})

    async with sestet.open({"agent": {"fastRoute": "on"}}, model=model, home=tmp_path) as app:
        events = [event async for event in app.run_turn("s1", "list the files here")]

    assert [event.agent for event in events if isinstance(event, RequestRouted)] == ["operator"]
    assert [request.agent for request in model.requests] == ["operator", "operator"]


async def test_there_is_no_fast_route_unless_it_is_asked_for(tmp_path: Path) -> None:
    model = sestet.ScriptedModel({"orchestrator": ["Which ones?"]})

    async with sestet.open({}, model=model, home=tmp_path) as app:
        events = [event async for event in app.run_turn("s1", "list the files here")]

    assert not any(isinstance(event, RequestRouted) for event in events)


async def test_the_built_in_model_routes_by_itself(tmp_path: Path) -> None:
    async with sestet.open({"agent": {"fastRoute": "on"}}, home=tmp_path) as app:
        events = [event async for event in app.run_turn("s1", "list the files here")]

    assert not any(isinstance(event, RequestRouted) for event in events)


async def test_a_closed_assistant_says_that_it_is_closed(tmp_path: Path) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        pass

    with pytest.raises(StorageError, match="the assistant is closed"):
        await anext(app.run_turn("s1", "hello"))
    for use in (app.unfinished_turns, lambda: app.decide("q", "approve"), app.journal.sessions):
        with pytest.raises(StorageError, match="the assistant is closed"):
            use()


async def test_another_thread_is_told_to_open_an_assistant_of_its_own(tmp_path: Path) -> None:
    async def use() -> None:
        async for _ in app.run_turn("s1", "hello"):
            pass

    async with sestet.open({}, home=tmp_path) as app:
        with pytest.raises(StorageError, match="was opened in another thread"):
            await asyncio.to_thread(asyncio.run, use())


async def test_a_home_may_begin_with_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    async with sestet.open({}, home="~/data"):
        assert (tmp_path / "data" / "sestet.db").exists()
