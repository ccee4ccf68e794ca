"""Settings from a file and the environment; every problem at once, each with its place."""

import os
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from sestet.config import Settings, as_mapping, data_directory, load_settings, settings_from, settings_schema
from sestet.config.load import session_bus
from sestet.config.settings import EmbeddingSettings, ProviderSettings, Secret
from sestet.config.trust import decide, open_workspace
from sestet.core.errors import ConfigError
from sestet.core.schema import find_problems


def load(directory: Path, text: str | None = None, **environ: str) -> Settings:
    if text is not None:
        (directory / "sestet.yaml").write_text(text, encoding="utf-8")
        accept(directory)
    environ = {"HOME": str(directory), "SESTET_HOME": str(beside(directory)), **environ}
    return load_settings(environ=environ, directory=directory).settings


def beside(directory: Path) -> Path:
    """A data directory; below the working directory it could not vouch for that one."""
    return directory.with_name(f"{directory.name}-data")


def accept(directory: Path, data: Path | None = None) -> None:
    """The person's yes to what lies in a folder."""
    data = data or beside(directory)
    workspace = open_workspace(directory, data)
    assert workspace
    decide(workspace, data, accepted=True)


def problems(directory: Path, text: str | None = None, **environ: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(directory, text, **environ)
    return [problem.replace(str(directory), "…") for problem in caught.value.problems]


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    settings = load(tmp_path)

    assert settings == Settings()
    assert settings.agent.multi_agent
    assert settings.graph.enabled
    assert settings.embedding.provider == "local"
    assert settings.observational_memory.enabled
    assert not settings.a2a.enabled


def test_keys_are_camel_case_in_the_file(tmp_path: Path) -> None:
    text = "agent: {multiAgent: false, maxDelegationRounds: 3}\na2a: {remoteAgents: [{name: w, url: 'http://w'}]}\n"

    settings = load(tmp_path, text)

    assert not settings.agent.multi_agent
    assert settings.agent.max_delegation_rounds == 3
    assert settings.a2a.remote_agents[0].name == "w"


def test_the_named_file_comes_before_the_working_directory_before_the_config_directory(
    tmp_path: Path,
) -> None:
    here, xdg, named = tmp_path / "here", tmp_path / "xdg", tmp_path / "named.yaml"
    (xdg / "sestet").mkdir(parents=True)
    here.mkdir()
    environ = {"XDG_CONFIG_HOME": str(xdg), "SESTET_HOME": str(tmp_path / "data")}
    found: list[Path | None] = []
    for file in (xdg / "sestet" / "sestet.yaml", here / "sestet.yaml"):
        file.write_text("graph: {enabled: false}\n", encoding="utf-8")
        if file.parent == here:
            accept(here, tmp_path / "data")
        found.append(load_settings(environ=environ, directory=here).file)
    named.write_text("", encoding="utf-8")
    found.append(load_settings(named, environ=environ, directory=here).file)

    assert found == [xdg / "sestet" / "sestet.yaml", here / "sestet.yaml", named]


def test_a_file_that_a_stranger_can_write_is_used_only_when_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "sestet.yaml"
    assert load(tmp_path, "limits: {seconds: 7}").limits.seconds == 7

    file.chmod(0o646)
    assert problems(tmp_path) == [
        "…/sestet.yaml: can be written by everybody, so it is not used unasked; "
        "if you trust it: --config …/sestet.yaml"
    ]
    assert load_settings(file, environ={}).settings.limits.seconds == 7

    file.chmod(0o664)
    if os.geteuid() == 0:
        os.chown(file, 12_345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    assert "belongs to another user" in problems(tmp_path)[0]


def test_variables_are_filled_in_and_read_as_the_type_of_the_key(tmp_path: Path) -> None:
    text = """
agent:
  systemPrompt: "Hi ${NAME}, $${literal} ${MISSING:-friend}"
  maxDelegationRounds: ${ROUNDS}
  multiAgent: ${MULTI:-false}
"""
    settings = load(tmp_path, text, NAME="Ada", ROUNDS="7")

    assert settings.agent.system_prompt == "Hi Ada, ${literal} friend"
    assert settings.agent.max_delegation_rounds == 7
    assert not settings.agent.multi_agent


def test_the_environment_overrides_the_file(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "agent: {multiAgent: true}\n",
        SESTET_AGENT__MULTIAGENT="false",
        SESTET_LIMITS__SECONDS="2.5",
        SESTET_PROVIDERS__OLLAMA__BASEURL="http://127.0.0.1:11434/v1",
    )

    assert not settings.agent.multi_agent
    assert settings.limits.seconds == 2.5
    assert settings.providers["ollama"].base_url == "http://127.0.0.1:11434/v1"


def test_every_problem_is_reported_at_once_with_file_key_and_nearest(tmp_path: Path) -> None:
    text = """
agent: {multiAgnt: true, maxDelegationRounds: 0, systemPrompt: "${NOT_SET}"}
multiAgent: false
graph: {enabled: maybe}
embedding: {provider: locl}
"""
    assert problems(tmp_path, text, SESTET_GRPH__ENABLED="1") == [
        "…/sestet.yaml: agent.systemPrompt: the environment variable 'NOT_SET' is not set",
        "environment: SESTET_GRPH__ENABLED: is not a setting; did you mean 'SESTET_GRAPH__ENABLED'?",
        "…/sestet.yaml: agent.multiAgnt: is not known; did you mean 'multiAgent'?",
        "…/sestet.yaml: agent.maxDelegationRounds: must be at least 1, got 0",
        "…/sestet.yaml: multiAgent: is not known here; did you mean 'agent.multiAgent'?",
        "…/sestet.yaml: graph.enabled: expected boolean, got 'maybe'",
        "…/sestet.yaml: embedding.provider: expected one of local, openai, none, got 'locl'; "
        "did you mean 'local'?",
    ]


def test_a_wrong_override_names_its_variable(tmp_path: Path) -> None:
    assert problems(tmp_path, None, SESTET_AGENT__MULTIAGENT="perhaps") == [
        "environment variable SESTET_AGENT__MULTIAGENT: agent.multiAgent: expected boolean, got 'perhaps'"
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("agent: [", "is not valid YAML: line"),
        ("agent: {}\nagent: {}\n", "is not valid YAML: line 2: found duplicate key"),
        ("agent: {model: 2026-13-45}\n", "is not valid YAML: month must be in 1..12"),
        ("agent: &all {model: *all}\n", "is not valid YAML: Circular reference detected"),
        ("agent: " + "[" * 5_000, "is nested too deeply"),
        ("a: !!omap [" + "{a: 1}," * 3 + "]\n", "is not valid YAML"),
        ('"\\UFFFFFFFF": 1\n', "is not valid YAML"),
        ("a: " + "x" * 1_000_001, "is larger than 1 MB"),
        ("- a\n- b\n", "must be a mapping of settings, got list; write it as agent: {provider: offline}"),
        ("agent: yes please\n", "agent: expected object, got 'yes please'"),
    ],
)
def test_a_file_that_is_no_settings_file_is_one_clear_problem(
    tmp_path: Path, text: str, problem: str
) -> None:
    (found,) = problems(tmp_path, text)

    assert problem in found


def test_an_empty_file_is_no_problem(tmp_path: Path) -> None:
    assert load(tmp_path, "# nothing yet\n") == Settings()


def test_a_named_file_that_does_not_exist_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        load_settings(tmp_path / "none.yaml", environ={})


def test_settings_survive_the_way_through_the_file_form() -> None:
    settings = settings_from({"agent": {"multiAgent": False}, "limits": {"modelCalls": 3}})

    assert settings_from(as_mapping(settings)) == settings
    assert not list(find_problems(settings_schema(), as_mapping(settings)))


@pytest.mark.parametrize(
    "written",
    [
        "providers: {o: {apiKey: 1234567890}}",
        "providers: {o: {apiKey: [1234567890]}}",
        "providers: {o: '1234567890'}",
        "providers: '1234567890'",
        "embedding: '1234567890'",
    ],
)
def test_a_secret_in_the_wrong_place_is_not_repeated_in_the_error(tmp_path: Path, written: str) -> None:
    (problem,) = problems(tmp_path, written)
    assert problem.partition(";")[0].endswith((", got int", ", got list", ", got str"))
    assert "1234567890" not in problem


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("limits: [5]", "write it as limits: {modelCalls: 40, toolCalls: 200, …}"),
        ("policy: {block: exec}", "write it as block: […, …]"),
        ("policy: {allow: [payment_send]}", "write it as {tool: …, target: …, …}"),
        ("a2a: {remoteAgents: {name: w}}", "write it as remoteAgents: [{name: …, url: …, …}, …]"),
        ("providers: [openai]", 'write it as providers: {NAME: {type: "openai", toolCalls: "native", …}}'),
        ("agent: {provider: [offline]}", 'write it as provider: "offline"'),
    ],
)
def test_a_value_of_the_wrong_shape_is_answered_with_the_right_one(
    tmp_path: Path, written: str, form: str
) -> None:
    (problem,) = problems(tmp_path, written)
    assert problem.endswith(form)


def test_a_provider_that_does_not_exist_is_reported_with_the_other_problems(tmp_path: Path) -> None:
    text = """
agent: {provider: opnai, fallback: [offline, elsewhere/big]}
agents: {operator: {provider: openai}, librarian: {provider: nowhere}}
providers: {openai: {apiKey: k}}
graph: {enabled: maybe}
"""
    assert problems(tmp_path, text) == [
        "…/sestet.yaml: graph.enabled: expected boolean, got 'maybe'",
        "…/sestet.yaml: agent.provider: 'opnai' is not under providers; did you mean 'openai'?",
        "…/sestet.yaml: agents.librarian.provider: 'nowhere' is not under providers",
        "…/sestet.yaml: agent.fallback.1: 'elsewhere' is not under providers",
    ]


def test_no_provider_is_called_unknown_when_the_list_of_them_is_the_problem(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "agent: {provider: openai}\nproviders: [openai]\n")
    assert "providers: expected object" in problem


@pytest.mark.parametrize(
    ("variable", "guess"),
    [
        ("SESTET_AGENT_MODEL", "SESTET_AGENT__MODEL"),
        ("SESTET_LIMITS__DOLLAR", "SESTET_LIMITS__DOLLARS"),
        ("SESTET_MULTI_AGENT", ""),
        ("SESTET_FOO", ""),
        ("SESTET_PROVIDER", ""),
        ("SESTET_TOKEN", ""),
        ("SESTET_API_KEY", ""),
        ("SESTET_CONFIG", ""),
        ("SESTET_AGENT__LEVEL", ""),
    ],
)
def test_another_variable_is_suggested_only_for_a_typing_error(
    tmp_path: Path, variable: str, guess: str
) -> None:
    (problem,) = problems(tmp_path, None, **{variable: "1"})
    suggested = f"did you mean '{guess}'?" if guess else "unset it, or name one as in SESTET_AGENT__MODEL"
    assert problem.startswith(f"environment: {variable}: is not a setting; {suggested}")


def test_a_password_in_an_address_is_masked_when_settings_are_shown() -> None:
    address = "http://me:hidden@127.0.0.1:9/v1?at=@home"
    shown = as_mapping(settings_from({"providers": {"o": {"baseUrl": address}}, "search": {"url": address}}))
    assert "hidden" not in str(shown)
    assert str(shown).count("'http://***@127.0.0.1:9/v1?at=@home'") == 2


def test_a_key_is_not_in_what_python_shows_of_settings_wherever_they_came_from(tmp_path: Path) -> None:
    given = settings_from({"providers": {"o": {"apiKey": "sk-hidden"}}, "embedding": {"apiKey": "sk-hidden"}})
    by_section = load(tmp_path, SESTET_PROVIDERS='{"o": {"apiKey": "sk-hidden"}}')

    assert given.providers["o"].api_key == by_section.providers["o"].api_key == "sk-hidden"
    assert "sk-hidden" not in repr(given) + repr(by_section)


def test_a_key_is_hidden_in_settings_that_a_program_makes_itself() -> None:
    provider, embedding = ProviderSettings(api_key="sk-hidden"), EmbeddingSettings(api_key="sk-hidden")

    assert "sk-hidden" not in repr(provider) + repr(embedding)
    assert "sk-hidden" not in str(as_mapping(Settings(providers={"o": provider}, embedding=embedding)))


def test_secrets_are_masked_when_settings_are_shown() -> None:
    settings = settings_from({"providers": {"o": {"apiKey": "sk-secret", "baseUrl": "http://x"}}})

    assert "sk-secret" not in str(as_mapping(settings))


def test_a_user_without_a_home_needs_none_when_the_environment_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")  # what pathlib says of an unknown user

    monkeypatch.setattr(Path, "home", no_home)

    assert load_settings(environ={}, directory=tmp_path).settings == Settings()
    assert data_directory({"SESTET_HOME": "/data"}) == Path("/data")
    with pytest.raises(ConfigError, match="this user has no home directory; set HOME or XDG_DATA_HOME"):
        data_directory({})


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ("sestet.yaml", "settings: expected object, got str"),
        ({1: 2}, "settings: 1: is not known"),
    ],
)
def test_what_is_no_mapping_of_settings_is_one_clear_problem(
    values: Any,  # Any: the mistakes under test
    problem: str,
) -> None:
    with pytest.raises(ConfigError, match=problem):
        settings_from(values)


def test_any_mapping_can_be_settings() -> None:
    settings = settings_from(MappingProxyType({"limits": MappingProxyType({"modelCalls": 3})}))

    assert settings.limits.model_calls == 3


def test_data_lives_in_the_xdg_directory_unless_said_otherwise(tmp_path: Path) -> None:
    assert data_directory({"XDG_DATA_HOME": "/data"}) == Path("/data/sestet")
    assert data_directory({"XDG_DATA_HOME": "relative"}) == Path.home() / ".local/share/sestet"
    assert data_directory({"SESTET_HOME": str(tmp_path), "XDG_DATA_HOME": "/data"}) == tmp_path


@pytest.mark.parametrize(
    ("text", "environ", "origin"),
    [
        ("sk-1", {}, ("sestet.yaml", "")),
        ("${MY_KEY}", {"MY_KEY": "sk-1"}, ("sestet.yaml", "MY_KEY")),
        ("old", {"SESTET_PROVIDERS__HOME__APIKEY": "sk-1"}, ("", "SESTET_PROVIDERS__HOME__APIKEY")),
    ],
)
def test_a_key_knows_where_it_came_from_and_is_not_shown(
    tmp_path: Path, text: str, environ: dict[str, str], origin: tuple[str, str]
) -> None:
    settings = load(tmp_path, f"providers: {{home: {{apiKey: '{text}'}}}}\n", **environ)

    key = settings.providers["home"].api_key

    assert key == "sk-1"
    assert isinstance(key, Secret)
    assert (Path(key.file).name, key.variable) == origin
    assert "sk-1" not in repr(settings)


@pytest.mark.parametrize("text", ["[" * 2_000, "- " * 2_000, "a: &a {b: *a}\n" + "#" * 2_000])
def test_settings_that_are_nested_without_end_are_refused_at_once(tmp_path: Path, text: str) -> None:
    (found,) = problems(tmp_path, text)
    assert "nested too deeply" in found or "Circular" in found


BOMBS = {
    "lists": "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40)),
    "merged": "a0: &a0 {k: 1}\n"
    + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 40)),
    "keys": "a0: &a0 [x, x]\n" + "".join(f"? &a{n} [*a{n - 1}, *a{n - 1}]\n: 1\n" for n in range(1, 40)),
    "agents": "agents:\n  a: &s {" + ", ".join(f"k{n}: 1" for n in range(60)) + "}\n"
    + "".join(f"  b{n}: *s\n" for n in range(600)),
}  # fmt: skip


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_small_file_whose_aliases_explode_is_one_clear_problem(tmp_path: Path, bomb: str) -> None:
    assert len(BOMBS[bomb]) < 10_000

    (found,) = problems(tmp_path, BOMBS[bomb])

    assert "is too large: with its aliases written out, it has more than 5,000 values" in found


def test_of_many_problems_the_first_are_listed_and_the_others_counted(tmp_path: Path) -> None:
    found = problems(tmp_path, "agents:\n" + "".join(f"  a{n}: {{modl: x}}\n" for n in range(600)))

    assert len(found) == 51
    assert found[-1].endswith("550 more problems")


def test_an_anchor_that_stands_twice_is_no_problem(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    load(tmp_path, "agent: &a {model: x}\nlimits: &a {seconds: 5}\n")

    assert not recwarn.list


def test_the_session_bus_is_named_by_the_environment_or_lies_in_the_runtime_directory(tmp_path: Path) -> None:
    runtime = {"XDG_RUNTIME_DIR": str(tmp_path)}
    assert session_bus(runtime) == ""

    (tmp_path / "bus").touch()
    assert session_bus(runtime) == f"unix:path={tmp_path}/bus"
    assert session_bus(runtime | {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"}) == "unix:path=/x"
