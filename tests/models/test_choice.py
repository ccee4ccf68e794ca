"""The models that the settings name: retries, the fallback list, and loading ahead."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import sestet
from sestet.config import settings_from
from sestet.config.installation import install_command
from sestet.core.errors import ConfigError
from sestet.core.event import Event, ModelCalled, ModelRetried, TurnFinished
from sestet.models.choice import check_models
from tests.models.model_server import ModelServer, refused, said, serve
from tests.models.openai_wire import finish, text


def provider(server: ModelServer, **more: object) -> Mapping[str, object]:
    return {"baseUrl": server.url, "retries": 0, **more}


async def turn(settings: Mapping[str, object], home: Path) -> list[Event]:
    async with sestet.open(settings, home=home) as app:
        return [event async for event in app.run_turn("s1", "hello")]


async def test_the_next_provider_answers_for_one_that_cannot(tmp_path: Path) -> None:
    async with serve(refused(503, "")) as down, serve(said(text("Hello."), finish())) as up:
        settings = {
            "agent": {"provider": "a", "model": "m", "fallback": ["b/family/n"]},
            "providers": {"a": provider(down), "b": provider(up)},
        }
        events = await turn(settings, tmp_path)

    (told,) = (event for event in events if isinstance(event, ModelRetried))
    assert (told.model, told.failure, told.next_model) == ("a/m", "transient", "b/family/n")
    assert [event.model for event in events if isinstance(event, ModelCalled)] == ["b/family/n"]
    assert isinstance(events[-1], TurnFinished)
    assert up.body["model"] == "family/n"


async def test_the_built_in_model_can_be_the_last_resort(tmp_path: Path) -> None:
    async with serve(refused(401, "")) as down:
        settings = {
            "agent": {"provider": "a", "model": "m", "fallback": ["offline"]},
            "providers": {"a": provider(down)},
        }
        events = await turn(settings, tmp_path)
    assert [event.model for event in events if isinstance(event, ModelCalled)] == ["offline"]


async def test_a_failure_for_the_moment_is_tried_again_as_often_as_the_provider_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sestet.models.retry._FIRST_WAIT", 0.0)
    async with serve(refused(500, ""), refused(500, ""), said(text("Hello."), finish())) as server:
        settings = {
            "agent": {"provider": "a", "model": "m"},
            "providers": {"a": provider(server, retries=2)},
        }
        events = await turn(settings, tmp_path)
    assert sum(isinstance(event, ModelRetried) for event in events) == 2
    assert isinstance(events[-1], TurnFinished)
    assert len(server.received) == 3


@pytest.mark.parametrize(
    ("settings", "problems"),
    [
        (
            {"agent": {"fallback": ["nobody/m", "a"]}, "providers": {"a": {"baseUrl": "http://127.0.0.1:1"}}},
            [
                "agent.fallback: 'nobody' is not under providers",
                "agent.fallback: is empty; write the name that the provider has for the model",
            ],
        ),
        (
            {"agents": {"vault": {"provider": "ollma", "model": "m"}}, "providers": {"ollama": {}}},
            ["agents.vault.provider: 'ollma' is not under providers; did you mean 'ollama'?"],
        ),
    ],
)
def test_every_model_that_cannot_be_is_named_with_its_setting(
    settings: Mapping[str, object], problems: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        check_models(settings_from(settings))
    assert caught.value.problems == problems


def test_a_protocol_whose_package_is_missing_is_a_mistake_in_the_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def is_installed(package: str) -> bool:
        return package != "google.genai"

    monkeypatch.setattr("sestet.models.provider.is_installed", is_installed)
    settings = {
        "agent": {"provider": "a", "model": "m"},
        "providers": {"a": {"type": "google", "apiKey": "k"}},
    }
    with pytest.raises(ConfigError) as caught:
        check_models(settings_from(settings))
    assert caught.value.problems == [
        f"providers.a.type: 'google' needs a package that is not installed: {install_command('google')}"
    ]


LOADED = """
import asyncio, sys, threading
import sestet

async def main():
    settings = {"agent": {"provider": "a", "model": "m"}, "providers": {"a": {"baseUrl": "http://127.0.0.1:1"}}}
    async with sestet.open(settings, home=sys.argv[1]) as app:
        print("pydantic_ai" in sys.modules)
        app.models.warm_up()
        [thread] = [thread for thread in threading.enumerate() if thread.name == "warm-up"]
        thread.join()
        print("pydantic_ai" in sys.modules)

asyncio.run(main())
"""


def test_the_vendor_is_loaded_ahead_when_a_conversation_begins_and_not_before(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True"]


async def test_without_a_vendor_there_is_nothing_to_load_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sestet.models.choice.Thread", pytest.fail)
    async with sestet.open({}, home=tmp_path) as app:
        app.models.warm_up()
