"""Changing single settings in a file that a person wrote: everything else stays as it was written."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.config import load_settings
from sestet.config.edit import edit_settings, edited, file_to_edit
from sestet.config.load import put_value
from sestet.config.settings_text import parse_yaml
from sestet.config.trust import decide, open_workspace
from sestet.core.errors import ConfigError

WRITTEN = """\
# Mine. Do not touch!
agent:
  # who it is
  systemPrompt: 'You are "Al"'   # single quotes
  provider: offline     # for now

# What a turn may use
limits: {seconds: 60.0}
policy:
    block:
        - exec*
        - browser_*   # never
"""


def test_a_value_is_changed_and_every_other_character_stays() -> None:
    assert edited(WRITTEN, {("agent", "provider"): "local"}, "f") == WRITTEN.replace("offline", "local")


def test_a_new_setting_stands_at_the_end_of_its_section_above_the_comment_of_the_next() -> None:
    result = edited(WRITTEN, {("agent", "model"): "qwen"}, "f")

    assert result == WRITTEN.replace("# for now\n", "# for now\n  model: qwen\n")


def test_a_new_section_stands_at_the_end_of_the_file() -> None:
    result = edited(WRITTEN, {("providers", "ollama", "baseUrl"): "http://127.0.0.1:11434/v1"}, "f")

    assert result == WRITTEN + "providers:\n  ollama:\n    baseUrl: http://127.0.0.1:11434/v1\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "agent:\n  model: m\n"),
        ("# only a comment", "# only a comment\nagent:\n  model: m\n"),
        ("agent:\n", "agent:\n  model: m\n"),
        ("agent: # soon\n\n# below\n", "agent: # soon\n  model: m\n\n# below\n"),
        ("agent: {}\n", "agent: {model: m}\n"),
        ("agent: {provider: x}", "agent: {provider: x, model: m}"),
        ("agent:\n  model:\n  provider: x\n", "agent:\n  model: m\n  provider: x\n"),
        ("agent:\n  provider: x", "agent:\n  provider: x\n  model: m\n"),
        ("agent:\r\n  provider: x\r\n", "agent:\r\n  provider: x\r\n  model: m\r\n"),
        (
            "agent:\n  systemPrompt: |\n    a\nlimits: {}\n",
            "agent:\n  systemPrompt: |\n    a\n  model: m\nlimits: {}\n",
        ),
        ("agent:\n    fallback:\n    - a/b\n", "agent:\n    fallback:\n    - a/b\n    model: m\n"),
    ],
)
def test_sections_of_every_style(before: str, after: str) -> None:
    assert edited(before, {("agent", "model"): "m"}, "f") == after


def test_texts_that_yaml_would_read_as_something_else_are_quoted() -> None:
    texts = {"a": "yes", "b": "1.5", "c": "x: y", "d": "a #b", "e": "ünï", "f": ""}

    values = parse_yaml(
        edited("", {("agents", name, "model"): text for name, text in texts.items()}, "f"), "f"
    )

    assert values == {"agents": {name: {"model": text} for name, text in texts.items()}}


@given(st.text(min_size=1, max_size=40), st.sampled_from([WRITTEN, "", "agent: {}\n", "agent:\n"]))
def test_whatever_is_written_is_read_back_or_refused(value: str, before: str) -> None:
    try:
        result = edited(before, {("agent", "model"): value}, "f")
    except ConfigError:
        return

    expected = parse_yaml(before, "f")
    put_value(expected, ("agent", "model"), value)
    assert parse_yaml(result, "f") == expected


@pytest.mark.parametrize(
    "text",
    [
        "agent: none\n",
        "agent: [a]\n",
        "a: &x {b: 1}\nagent: *x\n",
        "agent:\n  model: x\n...\n---\n",
        "agent: &x\n  a: *x\n",
    ],
)
def test_what_cannot_be_edited_is_refused_with_the_way_out(text: str) -> None:
    with pytest.raises(ConfigError):
        edited(text, {("agent", "model"): "m", ("new", "one"): 1}, "f")


def test_a_value_that_is_no_setting_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    file = tmp_path / "sestet.yaml"
    with pytest.raises(ConfigError, match=r"agent\.maxDelegationRounds: expected integer"):
        edit_settings(file, {("agent", "maxDelegationRounds"): "many"})
    assert not file.exists()


def test_a_new_file_is_its_owners_alone_and_an_old_one_keeps_its_mode(tmp_path: Path) -> None:
    new, old = tmp_path / "config" / "new.yaml", tmp_path / "old.yaml"
    old.write_text("agent: {}\n", encoding="utf-8")
    old.chmod(0o644)
    link = tmp_path / "link.yaml"
    link.symlink_to(old)

    for file in (new, link):
        edit_settings(file, {("agent", "maxDelegationRounds"): 3})

    assert [stat.S_IMODE(file.stat().st_mode) for file in (new, old)] == [0o600, 0o644]
    assert link.is_symlink()
    assert [load_settings(file).settings.agent.max_delegation_rounds for file in (new, old)] == [3, 3]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config", "link.yaml", "old.yaml"]


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match="cannot be"):
        edit_settings(tmp_path / "taken" / "sestet.yaml", {("agent", "model"): "m"})


def test_the_file_to_edit_is_the_one_that_is_read_else_the_persons_own(tmp_path: Path) -> None:
    data = tmp_path.with_name(f"{tmp_path.name}-data")
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "xdg"), "SESTET_HOME": str(data)}
    own = tmp_path / "xdg" / "sestet" / "sestet.yaml"
    assert file_to_edit(environ=environ, directory=tmp_path) == own

    (tmp_path / "sestet.yaml").write_text("", encoding="utf-8")
    assert file_to_edit(environ=environ, directory=tmp_path) == own, "it was not accepted, so it is not read"

    workspace = open_workspace(tmp_path, data)
    assert workspace
    decide(workspace, data, accepted=True)
    assert file_to_edit(environ=environ, directory=tmp_path) == tmp_path / "sestet.yaml"
    assert file_to_edit(Path("named.yaml"), environ=dict(os.environ)) == Path("named.yaml")


KEY = {("providers", "openai", "apiKey"): "sk-hidden"}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path / "config"), "SESTET_HOME": str(tmp_path / "data")}


def test_a_key_makes_the_persons_own_settings_unreadable_for_others(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    own = tmp_path / "config" / "sestet" / "sestet.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("agent: {model: m}\n", encoding="utf-8")
    own.chmod(0o644)

    edit_settings(own, {("providers", "openai", "apiKey"): "${OPENAI_API_KEY}"}, environ=environ)
    assert stat.S_IMODE(own.stat().st_mode) == 0o644

    edit_settings(own, KEY, environ=environ)
    assert stat.S_IMODE(own.stat().st_mode) == 0o600
    assert load_settings(own, environ=environ).settings.providers["openai"].api_key == "sk-hidden"


@pytest.mark.parametrize("name", ["sestet.yaml", "other.yaml"])
def test_a_key_is_written_into_no_file_but_the_persons_own(
    tmp_path: Path, environ: dict[str, str], name: str
) -> None:
    with pytest.raises(ConfigError, match="a key is written only into your own settings") as caught:
        edit_settings(tmp_path / name, KEY, environ=environ)

    assert not (tmp_path / name).exists()
    assert "sk-hidden" not in str(caught.value)


def test_a_key_is_not_in_the_error_of_a_file_that_cannot_be_edited() -> None:
    with pytest.raises(ConfigError, match=r"providers\.openai\.apiKey: \(the key\)") as caught:
        edited("providers: &p {openai: &o {}}\nagents: {x: *o}\n", KEY, "f")

    assert "sk-hidden" not in str(caught.value)
