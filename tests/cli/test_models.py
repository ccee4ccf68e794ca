"""``sestet models``: what is shown and asked before anything is fetched, and what is written at the end."""

import json
from pathlib import Path

import pytest

from sestet.models.files import download
from sestet.models.files.catalogue import catalogue
from tests.cli.conftest import Call
from tests.cli.program import Home

NAME = "qwen2.5-coder-1.5b"


def put(home: Home, name: str = NAME) -> Path:
    """A file in the place of a model, which is not read before it is loaded."""
    file = Path(home.environment()["SESTET_HOME"]) / "models" / catalogue()[name].file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"weights")
    return file


def test_the_list_tells_size_memory_and_licence_and_what_is_here(call: Call, home: Home) -> None:
    put(home, "smollm2-135m").with_name("mine.gguf").write_bytes(b"x")

    lines = [line.split() for line in call("models", "list").out.splitlines()]
    assert [(line[0], line[1]) for line in lines] == [
        (NAME, "-"),
        ("qwen2.5-coder-0.5b", "-"),
        ("smollm2-135m", "here"),
        ("mine", "here"),
    ]
    first = json.loads(call("models", "list", "--json").out)[0]
    assert (first["license"], first["memory_megabytes"], first["here"]) == ("Apache-2.0", 1900, False)
    assert len(first["sha256"]) == 64


def test_at_a_terminal_the_list_has_every_word_about_a_model(home: Home) -> None:
    with home.terminal("models", "list") as terminal:
        assert terminal.wait() == 0
        shown = " ".join(terminal.raw.split())
    for entry in catalogue().values():
        assert entry.about.split()[-1] in shown
    assert "…" not in shown


def test_outside_of_a_terminal_nothing_is_fetched_without_yes(call: Call) -> None:
    done = call("models", "pull", NAME)

    assert done.code == 1
    assert "1.1 GB on disk, 1.9 GB of memory while it runs, licence Apache-2.0" in done.err
    assert "not a terminal: pass --yes" in done.err


def test_a_source_that_fails_is_said_with_its_reason(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "SOURCES", ())
    monkeypatch.setattr(download.pull, "__defaults__", ((),))
    done = call("models", "pull", NAME, "--yes")

    assert (done.code, done.out) == (1, "")
    assert f"sestet: '{NAME}' could not be fetched" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pull", "qwen-coder-1.5b"), f"did you mean '{NAME}'?"),
        (("use", "nothing-like-it"), "there is no model 'nothing-like-it'; see sestet models list"),
        (("use", NAME), f"is not here yet: sestet models pull {NAME}"),
        (("remove", NAME, "--yes"), "is not here; 'sestet models list' shows which are"),
        (("remove", NAME), "is not here; 'sestet models list' shows which are"),
        (("remove", "/etc/other.gguf", "--yes"), "is not among the models of Sestet"),
    ],
)
def test_what_cannot_be_done_is_said_with_the_way_out(
    call: Call, arguments: tuple[str, ...], message: str
) -> None:
    done = call("models", *arguments)

    assert done.code == 1
    assert message in done.err


def test_use_writes_the_settings_and_leaves_the_rest_as_it_was(call: Call, home: Home) -> None:
    put(home)
    settings = home.work / "sestet.yaml"
    settings.write_text("# mine\nagent:\n  provider: offline  # for now\n", encoding="utf-8")

    done = call("models", "use", NAME)

    assert done.code == 0
    assert settings.read_text(encoding="utf-8") == (
        f"# mine\nagent:\n  provider: local  # for now\n  model: {NAME}\n"
    )
    shown = {row["key"]: row["value"] for row in json.loads(call("config", "show", "--json").out)}
    assert (shown["agent.provider"], shown["agent.model"]) == ("local", NAME)


def test_an_environment_variable_that_says_otherwise_is_mentioned(
    call: Call, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home)
    monkeypatch.setenv("SESTET_AGENT__PROVIDER", "offline")

    assert "SESTET_AGENT__PROVIDER still sets another value" in call("models", "use", NAME).err


def test_a_model_that_was_removed_is_missed_by_name(call: Call, home: Home) -> None:
    put(home)
    call("models", "use", NAME)

    assert call("models", "remove", NAME, "--yes").out == f"{NAME}: deleted\n"
    done = call("ask", "hello")
    assert done.code == 2
    assert f"agent.model: the model '{NAME}' is not on this machine: sestet models pull {NAME}" in done.err


def test_a_provider_that_is_called_local_keeps_its_name(call: Call, home: Home) -> None:
    put(home)
    settings = "providers: {local: {baseUrl: 'http://127.0.0.1:1/v1'}}\n"
    (home.work / "sestet.yaml").write_text(settings, encoding="utf-8")

    assert "providers.local has that name already" in call("models", "use", NAME).err
    assert (home.work / "sestet.yaml").read_text(encoding="utf-8") == settings
