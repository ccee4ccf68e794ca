"""Costs, settings, models, set-up and the doctor over HTTP."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import sestet
from sestet.server.serve import Address, listening
from tests.server.served import SETTINGS, Served, serving
from tests.server.test_sessions import talk


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home, a data directory and a working directory without anything of the person's."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("SESTET_HOME", str(tmp_path / "data"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


@asynccontextmanager
async def serving_with(home: Path, text: str) -> AsyncGenerator[tuple[Served, Path]]:
    """A server whose settings file has this text."""
    file = home / "config" / "sestet" / "sestet.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    async with (
        sestet.open(SETTINGS, model=sestet.ScriptedModel([]), home=home / "data") as app,
        listening(app, Address(port=0), file) as server,
    ):
        yield Served(app, server), file


async def test_costs_are_summed_by_agent_session_and_day(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!") as served, served.client(served.new_token("read")) as client:
        await talk(served, "s1", "hi")
        found = {
            by: (await client.get("/api/costs", params={"by": by, "days": "1"})).json()
            for by in ("agent", "session", "day", "month")
        }
        wrong = await client.get("/api/costs", params={"since": "2026-02-31"})

    assert {by: each["by"] for by, each in found.items()} == {by: by for by in found}
    assert wrong.status_code == 400


async def test_settings_are_shown_without_their_secrets(own_home: Path) -> None:
    text = "providers:\n  acme:\n    apiKey: very-secret-key\n"
    async with (
        serving_with(own_home, text) as (served, file),
        served.client(served.new_token("read")) as client,
    ):
        answer = await client.get("/api/settings")

    assert answer.json()["file"] == str(file)
    values = {each["key"]: each for each in answer.json()["settings"]}
    assert values["providers.acme.apiKey"]["source"] == str(file)
    assert "very-secret-key" not in answer.text


async def test_new_values_are_checked_and_written_and_comments_stay(own_home: Path) -> None:
    good = {"changes": [{"key": "limits.dollarsPerDay", "value": 3}]}
    bad = {"changes": [{"key": "limits.dollarsPerDay", "value": "many"}, {"key": "no.such", "value": 1}]}
    async with serving_with(own_home, "# mine\nlimits:\n  tokens: 5000 # few\n") as (served, file):
        async with served.client() as client:
            fine = (await client.post("/api/settings/validate", json=good)).json()
            problems = (await client.post("/api/settings/validate", json=bad)).json()["problems"]
            unknown = {"changes": bad["changes"][1:]}
            refused = await client.patch("/api/settings", json=unknown)
            assert file.read_text() == "# mine\nlimits:\n  tokens: 5000 # few\n"
            written = await client.patch("/api/settings", json=good)
        async with served.client(served.new_token("read")) as client:
            forbidden = await client.patch("/api/settings", json=good)

    assert fine == {"problems": []}
    assert len(problems) == 2
    assert (refused.status_code, written.status_code, forbidden.status_code) == (400, 200, 403)
    assert file.read_text() == "# mine\nlimits:\n  tokens: 5000 # few\n  dollarsPerDay: 3\n"


@pytest.mark.slow
async def test_the_built_in_model_is_tried_and_chosen(own_home: Path) -> None:
    # A model that answers already is not written again, so another one is set.
    other = "# mine\nagent:\n  provider: openai\n  model: gpt-4.1-mini\n"
    async with serving_with(own_home, other) as (served, file), served.client() as client:
        choices = (await client.get("/api/setup/choices")).json()["choices"]
        built_in = next(each for each in choices if each["place"] == "built in")
        tried = await client.post("/api/setup", json={"choice": built_in["id"]})
        unknown = await client.post("/api/setup", json={"choice": "no-such-thing"})

    assert (tried.status_code, tried.json()["ready"]) == (200, True), tried.text
    assert file.read_text().startswith("# mine\n")
    assert "provider: offline" in file.read_text()
    assert (unknown.status_code, "no-such-thing" in unknown.text) == (400, True)


@pytest.mark.slow
async def test_the_doctor_reports_every_check(own_home: Path) -> None:
    async with (
        serving_with(own_home, "# mine\n") as (served, file),
        served.client() as client,
    ):
        found = await client.post("/api/doctor", json={})
        models = (await client.get("/api/models")).json()

    checks = {each["name"]: each for each in found.json()["checks"]}
    assert found.status_code == 200
    assert checks["settings"]["detail"].startswith(str(file))
    assert models["files"]
    # A message is text alone.
    assert models["reads_images"] is False


async def test_a_server_whose_program_does_not_restart_it_says_so(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client() as client:
        refused = await client.post("/api/restart")

    assert refused.status_code == 409
    assert refused.json()["error"]["way_out"]
