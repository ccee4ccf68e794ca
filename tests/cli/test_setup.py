"""``sestet setup``: what is found, what is tried, what is written; asked by scripts."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from sestet.config import load_settings
from sestet.config.installation import install_command
from sestet.models import provider
from sestet.models.files.catalogue import catalogue
from sestet.models.provider import LOCAL_PACKAGE
from sestet.setup import choices
from tests.cli.conftest import Call
from tests.cli.program import Home
from tests.models.local_servers import CHATTER, LISTED, LlamaCpp, LocalServer, Ollama, Served, Vllm, running

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY")


def is_installed(package: str) -> bool:
    """Everything but the engine of models in this process."""
    return package != LOCAL_PACKAGE


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests see no server and no key of the machine that they run on."""
    monkeypatch.setattr(choices, "usual_places", lambda: ())
    monkeypatch.setattr(choices, "is_installed", is_installed)
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


def ids(call: Call, *arguments: str) -> list[str]:
    return [choice["id"] for choice in json.loads(call("setup", "--json", *arguments).out)["choices"]]


def set_up(call: Call, *arguments: str) -> tuple[int | str | None, Any]:  # Any: JSON that a test looks into
    done = call("setup", "--json", *arguments)
    assert done.err == ""
    return done.code, json.loads(done.out)


def usual_file(home: Home) -> Path:
    return home.directory / ".config" / "sestet" / "sestet.yaml"


# What can be chosen


def test_the_built_in_model_can_always_be_chosen(call: Call) -> None:
    assert ids(call) == ["offline"]


def test_models_that_run_here_come_before_keys_and_those_that_cannot_call_tools_last(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    models = [Served("dumb", tools=False), Served("resting"), Served("loaded", loaded=True)]
    with running(Ollama(models)) as server:
        found = ids(call, "--server", server.root)
    assert found == ["ollama/loaded", "ollama/resting", "ollama/dumb", "openai/gpt-4.1-mini", "offline"]


def test_a_model_in_this_process_is_a_choice_where_its_extra_is_and_is_fetched_first_if_it_has_to_be(
    home: Home, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def everything(package: str) -> bool:
        return True

    monkeypatch.setattr(choices, "is_installed", everything)
    name = next(iter(catalogue()))
    # What works comes before what would have to be fetched.
    assert ids(call) == ["offline", f"local/{name}"]
    assert "1.1 GB to fetch" in call("setup", "--list").out
    done = call("setup", "--choose", "local")
    assert (done.code, f"sestet models pull {name}" in done.err) == (1, True)
    file = home.data / "models" / catalogue()[name].file
    file.parent.mkdir(parents=True)
    file.write_bytes(b"GGUF")
    (file.parent / "mine.gguf").write_bytes(b"GGUF")
    assert ids(call) == [f"local/{name}", "local/mine", "offline"]


def test_two_servers_of_a_kind_are_told_apart(call: Call) -> None:
    with running(Vllm([Served("a")])) as first, running(Vllm([Served("b")])) as second:
        assert ids(call, "--server", first.root, "--server", second.root) == ["vllm/a", "vllm2/b", "offline"]


@pytest.mark.parametrize(
    ("variable", "provider"),
    [
        ("OPENAI_API_KEY", "openai"),
        ("ANTHROPIC_API_KEY", "anthropic"),
        ("GEMINI_API_KEY", "google"),
        ("GOOGLE_API_KEY", "google"),
        ("OPENROUTER_API_KEY", "openrouter"),
    ],
)
def test_a_key_in_the_environment_is_a_choice_and_its_value_is_not_shown(
    call: Call, monkeypatch: pytest.MonkeyPatch, variable: str, provider: str
) -> None:
    monkeypatch.setenv(variable, "sk-a-very-secret-key")
    done = call("setup", "--list")
    assert f"key in {variable}" in done.out
    assert "secret" not in done.out
    assert ids(call)[0].startswith(f"{provider}/")


def test_an_empty_key_is_none(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", " ")
    assert ids(call) == ["offline"]


def test_in_a_pipe_the_choices_are_shown_and_no_question_is_asked(home: Home, call: Call) -> None:
    done = call("setup")
    assert done.code == 2
    assert "offline" in done.out
    assert "--choose" in done.err
    assert not usual_file(home).exists()


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "http://[::1", "nowhere"])
def test_a_place_without_a_server_is_said_to_have_none(call: Call, address: str) -> None:
    done = call("setup", "--server", address, "--yes")
    assert done.code == 1
    assert f"no model server answers at {address}" in done.err


@pytest.mark.parametrize("wanted", ["7", "0", "olama/tiny", "nothing"])
def test_a_choice_that_is_none_is_refused(home: Home, call: Call, wanted: str) -> None:
    with running(Ollama([Served("tiny")])) as server:
        done = call("setup", "--server", server.root, "--choose", wanted)
    assert done.code == 1
    assert f"there is no choice '{wanted}'" in done.err
    assert not usual_file(home).exists()


# What is tried


@pytest.mark.parametrize("wanted", ["1", "ollama/tiny", "ollama"])
def test_a_model_that_lets_a_specialist_list_the_files_is_ready_and_written(
    home: Home, call: Call, wanted: str
) -> None:
    with running(Ollama([Served("tiny")])) as server:
        code, said = set_up(call, "--server", server.root, "--choose", wanted)
        used = server.paths.count("/v1/chat/completions")
    assert (code, said["ready"], said["choice"]) == (0, True, "ollama/tiny")
    assert (said["delegations"], said["tools"], said["model_calls"]) == (["operator"], ["fs_list"], 3)
    assert said["answer"].strip() == LISTED
    assert said["usage"] == {"input_tokens": 3_600, "output_tokens": 75}
    assert used == said["model_calls"]
    assert usual_file(home).read_text(encoding="utf-8") == (
        f"agent:\n  provider: ollama\n  model: tiny\nproviders:\n  ollama:\n    baseUrl: {server.root}/v1\n"
    )
    assert usual_file(home).stat().st_mode & 0o777 == 0o600
    # The turn was no conversation of the person's.
    assert not home.data.exists()


@pytest.mark.parametrize("option", [["--yes"], ["--choose", "offline"]])
def test_the_built_in_model_is_tried_like_any_other_and_written_only_in_the_place_of_another(
    home: Home, call: Call, option: list[str]
) -> None:
    code, said = set_up(call, *option)
    assert (code, said["tools"], said["dollars"]) == (0, ["fs_list"], 0)
    assert not usual_file(home).exists()
    assert not said["written"]
    assert "nothing was written" in call("setup", *option).out

    usual_file(home).parent.mkdir(parents=True, exist_ok=True)
    usual_file(home).write_text("agent: {provider: ollama, model: tiny}\nproviders: {ollama: {}}\n")
    assert set_up(call, "--choose", "offline")[1]["written"]
    assert load_settings(usual_file(home)).settings.agent.provider == "offline"


def test_people_are_told_what_happened(call: Call) -> None:
    with running(Ollama([Served("tiny")])) as server:
        done = call("setup", "--server", server.root, "--yes")
    assert done.err == "→ operator\noperator · fs_list\n"
    assert "ready: ollama/tiny asked operator, which called fs_list · 3 model calls · " in done.out
    assert "3,675 tokens · free" in done.out


@pytest.mark.parametrize(
    ("server", "fix"),
    [
        (Ollama([Served("tiny", 4_096)]), "'OLLAMA_CONTEXT_LENGTH=16384 ollama serve'"),
        (LlamaCpp([Served("tiny", 4_096)]), "'llama-server -c 16384'"),
        (Vllm([Served("tiny", 4_096)]), "'--max-model-len 16384'"),
    ],
)
def test_a_model_that_reads_too_little_is_ready_with_a_warning_and_its_fix(
    call: Call, server: LocalServer, fix: str
) -> None:
    with running(server):
        code, said = set_up(call, "--server", server.root, "--yes")
    assert (code, said["ready"], said["context"]) == (0, True, 4_096)
    assert "reads only 4,096 tokens" in said["warning"]
    assert fix in said["warning"]


def test_a_small_model_that_writes_its_calls_is_ready_with_calls_in_text(home: Home, call: Call) -> None:
    with running(LlamaCpp([Served("tiny", tools=False, writes=True)])) as server:
        code, said = set_up(call, "--server", server.root, "--yes")
        told = call("setup", "--server", server.root, "--yes", "--config", "other.yaml")
    assert (code, said["tool_calls"], said["tools"]) == (0, "text", ["fs_list"])
    assert load_settings(usual_file(home)).settings.providers["llamacpp"].tool_calls == "text"
    assert "did not list the files. Once more" in told.err
    assert "llamacpp/tiny with calls in text asked operator" in told.out


# What does not work


def test_a_model_that_calls_no_tools_is_not_ready_and_nothing_is_written(home: Home, call: Call) -> None:
    with running(Ollama([Served("tiny", tools=False)])) as server:
        code, said = set_up(call, "--server", server.root, "--yes")
        told = call("setup", "--server", server.root, "--yes")
    assert (code, said["ready"], said["answer"]) == (1, False, CHATTER)
    assert "does not call tools" in said["problem"]
    assert "ollama show NAME" in said["way_out"]
    assert f"{CHATTER}\nIt does not work. " in told.err
    assert not usual_file(home).exists()


def test_a_model_that_calls_another_tool_is_not_said_to_call_none(call: Call) -> None:
    with running(LlamaCpp([Served("tiny", lister="exec_list")])) as server:
        done = call("setup", "--server", server.root, "--yes")
    assert done.code == 1
    assert "It does not work. The specialist called exec_list, and did not find the file.\n" in done.err
    assert "no tool" not in done.err
    assert "does not call tools" not in done.err


def test_a_context_that_a_call_filled_is_the_first_suspect_when_tools_are_not_called(call: Call) -> None:
    # Each call of the server's has 1,200 tokens to read.
    with running(LlamaCpp([Served("tiny", 1_536, tools=False)])) as server:
        _, full = set_up(call, "--server", server.root, "--yes")
    assert ("llama-server -c 16384" in full["way_out"], full["warning"]) == (True, "")
    with running(LlamaCpp([Served("tiny", 8_192, tools=False)])) as server:
        _, roomy = set_up(call, "--server", server.root, "--yes")
    assert ("--jinja" in roomy["way_out"], "-c 16384" in roomy["warning"]) == (True, True)


def test_a_wrong_model_is_answered_with_those_that_are_there(call: Call) -> None:
    with running(Ollama([Served("tiny"), Served("small")])) as server:
        code, said = set_up(call, "--server", server.root, "--choose", "ollama", "--model", "large")
    assert (code, said["choice"]) == (1, "ollama/large")
    assert "does not know the model 'large'" in said["problem"]
    assert said["way_out"] == "Ollama has tiny, small"


def test_a_key_that_is_not_accepted_is_named_by_its_variable_and_kept_out_of_everything(
    home: Home, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-very-secret-key")
    with running(Vllm([Served("tiny")], key="another")) as server:
        monkeypatch.setenv("SESTET_PROVIDERS__OPENAI__BASEURL", f"{server.root}/v1")
        done = call("setup", "--choose", "openai")
    assert done.code == 1
    assert "does not accept the key in providers.openai.apiKey" in done.err
    assert "set OPENAI_API_KEY to a valid key" in done.err
    assert "secret" not in done.out + done.err
    assert not usual_file(home).exists()


def test_a_vendor_whose_package_is_missing_is_shown_with_the_command_that_brings_it(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_installed(package: str) -> bool:
        return package != "anthropic"

    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-1")
    for module in (choices, provider):
        monkeypatch.setattr(module, "is_installed", is_installed)
    assert f"needs {install_command('anthropic')}" in call("setup", "--list").out
    done = call("setup", "--choose", "anthropic")
    assert done.code == 1
    assert install_command("anthropic") in done.err


def test_an_environment_that_counts_for_more_is_said_to(
    home: Home, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESTET_AGENT__PROVIDER", "offline")
    with running(Ollama([Served("tiny")])) as server:
        done = call("setup", "--server", server.root, "--yes")
    assert done.code == 1
    assert "SESTET_AGENT__PROVIDER" in done.err
    assert not usual_file(home).exists()


# What is written


OLD = """\
# My settings.
agent:
  systemPrompt: Be brief.   # I mean it
  fallback: [offline]
# Where models are.
providers:
  home:
    baseUrl: {root}/v1
    retries: 0   # it is here or it is not
limits:
  modelCalls: 9
"""


def test_comments_and_other_settings_stay_and_a_provider_that_is_set_is_used(home: Home, call: Call) -> None:
    with running(Ollama([Served("tiny")])) as server:
        file = home.work / "sestet.yaml"
        file.write_text(OLD.format(root=server.root), encoding="utf-8")
        code, said = set_up(call, "--server", server.root, "--yes")
    assert (code, said["choice"], said["file"]) == (0, "home/tiny", str(file))
    text = file.read_text(encoding="utf-8")
    assert [line for line in OLD.format(root=server.root).splitlines() if line not in text.splitlines()] == []
    settings = load_settings(file).settings
    assert (settings.agent.provider, settings.agent.model) == ("home", "tiny")
    assert (settings.agent.fallback, settings.limits.model_calls) == (("offline",), 9)


def test_a_key_is_written_as_its_variable(home: Home, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-very-secret-key")
    with running(Vllm([Served("gpt-4.1-mini")], key="sk-a-very-secret-key")) as server:
        # For the test, the address of the vendor is this server, not the one in the file.
        monkeypatch.setenv("SESTET_PROVIDERS__OPENAI__BASEURL", f"{server.root}/v1")
        code, _ = set_up(call, "--choose", "openai")
    assert code == 0
    assert usual_file(home).read_text(encoding="utf-8") == (
        "agent:\n  provider: openai\n  model: gpt-4.1-mini\n"
        "providers:\n  openai:\n    apiKey: ${OPENAI_API_KEY}\n"
    )


def test_going_back_to_the_built_in_model_leaves_no_name_of_another(home: Home, call: Call) -> None:
    file = home.work / "sestet.yaml"
    file.write_text("agent: {provider: offline, model: tiny}\n", encoding="utf-8")
    assert set_up(call, "--yes")[0] == 0
    assert load_settings(file).settings.agent.model == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("agent: [", "is not valid YAML"),
        ("foo: 1\n", "foo: is not known"),
        ("providers: {x: {apiKey: '${NOT_SET}'}}\n", "the environment variable 'NOT_SET' is not set"),
    ],
)
def test_a_file_with_a_mistake_is_named_and_left_as_it_is(
    home: Home, call: Call, text: str, problem: str
) -> None:
    file = home.work / "sestet.yaml"
    file.write_text(text, encoding="utf-8")
    done = call("setup", "--yes")
    assert done.code == 1
    assert f"{file}: " in done.err
    assert problem in done.err
    assert file.read_text(encoding="utf-8") == text


def test_the_file_that_is_named_is_the_one_that_is_written(home: Home, call: Call) -> None:
    assert call("setup", "--yes", "--config", "mine.yaml").code == 0
    assert (home.work / "mine.yaml").read_text(encoding="utf-8") == "agent:\n  provider: offline\n"


# Keys and servers that a script names


KEY = "sk-a-very-secret-key"


def test_a_script_names_a_vendor_and_its_key_comes_from_the_environment(
    home: Home, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with running(Vllm([Served("tiny")], key=KEY)) as server:
        monkeypatch.setenv("SESTET_PROVIDERS__OPENAI__BASEURL", f"{server.root}/v1")
        code, said = set_up(call, "--vendor", "openai", "--model", "tiny")
    assert (code, said["choice"]) == (0, "openai/tiny")
    assert KEY not in usual_file(home).read_text(encoding="utf-8")


def test_a_key_on_stdin_goes_into_the_persons_own_settings(
    home: Home, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home.work / "sestet.yaml").write_text("agent: {provider: offline}\n", encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))
    with running(Vllm([Served("tiny")], key=KEY)) as server:
        done = call("setup", "--server", server.root, "--key-stdin", "--yes")
    assert done.code == 0
    assert f"written to {usual_file(home)}" in done.out
    assert KEY not in done.out + done.err
    assert usual_file(home).stat().st_mode & 0o777 == 0o600
    assert load_settings(usual_file(home)).settings.providers["vllm"].api_key == KEY


@pytest.mark.parametrize(
    ("arguments", "stdin", "words"),
    [
        (["--vendor", "openai"], "", "there is no key: set OPENAI_API_KEY, or pass it with --key-stdin"),
        (["--vendor", "closedai"], "", "there is no vendor 'closedai'; known are openai, anthropic"),
        (["--vendor", "openai", "--key-stdin"], "\n", "there is no key on stdin"),
        (["--vendor", "openai", "--key-stdin"], "${OPENAI_API_KEY}\n", "the name of a variable"),
        (["--vendor", "openai", "--key-stdin", "--config", "f.yaml"], f"{KEY}\n", "leave out --config"),
        (["--vendor", "openai", "--choose", "1"], "", "give --vendor, or --server and --choose"),
        (["--key-stdin"], "", "--key-stdin needs --vendor or --server"),
    ],
)
def test_a_key_or_a_vendor_that_is_missing_or_misplaced_is_explained(
    home: Home,
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    stdin: str,
    words: str,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
    done = call("setup", *arguments)
    assert done.code in (1, 2)
    assert words in done.err
    assert KEY not in done.out + done.err
    assert not usual_file(home).exists()


def test_a_server_that_wants_a_key_is_not_taken_for_none(call: Call) -> None:
    with running(Vllm([Served("tiny")], key=KEY)) as server:
        done = call("setup", "--server", server.root, "--yes")
    assert (done.code, "wants a key: pass a valid one with --key-stdin" in done.err) == (1, True)


def test_the_list_names_the_variables_in_which_keys_are_looked_for(call: Call) -> None:
    assert all(name in call("setup", "--list").err for name in KEYS)
    assert json.loads(call("setup", "--json").out)["variables"] == list(KEYS)
