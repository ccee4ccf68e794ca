"""What the doctor says about the models that the settings name, of servers that speak as the real ones do."""

import json
from collections.abc import Mapping

import pytest

from sestet.doctor import servers as health
from sestet.models import servers
from tests.cli.conftest import Call
from tests.cli.program import Home
from tests.models.local_servers import KINDS, LlamaCpp, LmStudio, LocalServer, Ollama, Plain, Served, running

NAMES = ("model server", "model context", "tool calls")


def examine(
    home: Home, call: Call, server: LocalServer, *arguments: str, model: str = "tiny", key: str = ""
) -> dict[str, Mapping[str, str]]:
    """The checks of the model, by their names."""
    (home.work / "sestet.yaml").write_text(
        f"agent: {{provider: home, model: '{model}'}}\n"
        f"providers: {{home: {{baseUrl: '{server.root}/v1', apiKey: '{key}', retries: 0}}}}\n",
        encoding="utf-8",
    )
    checks = json.loads(call("doctor", "--json", *arguments).out)["checks"]
    return {check["name"]: check for check in checks if check["name"] in NAMES}


def statuses(found: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    return {name: check["status"] for name, check in found.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_of_ones_own_is_reached_has_the_model_reads_enough_and_calls_tools(
    home: Home, call: Call, kind: str
) -> None:
    with running(KINDS[kind]([Served("tiny", 32_768)])) as server:
        found = examine(home, call, server)
        assert server.paths.count("/v1/chat/completions") == 1
    assert statuses(found) == dict.fromkeys(NAMES, "ok")
    assert f"at {server.root} with 1 model" in found["model server"]["detail"]
    says = "does not say" if kind == "server" else "home/tiny reads 32,768 tokens"
    assert says in found["model context"]["detail"]
    assert found["tool calls"]["detail"] == "home/tiny calls tools"


@pytest.mark.parametrize(
    ("kind", "fix"),
    [
        ("ollama", "'OLLAMA_CONTEXT_LENGTH=16384 ollama serve'"),
        ("ollama", "'PARAMETER num_ctx 16384' in a Modelfile ('FROM tiny')"),
        ("llamacpp", "'llama-server -c 16384'"),
        ("lmstudio", "'lms load tiny --context-length 16384'"),
        ("vllm", "'--max-model-len 16384'"),
    ],
)
def test_too_small_a_context_is_a_warning_with_the_fix_for_that_server(
    home: Home, call: Call, kind: str, fix: str
) -> None:
    with running(KINDS[kind]([Served("tiny", 8_192)])) as server:
        check = examine(home, call, server)["model context"]
    assert (check["status"], fix in check["way_out"]) == ("warning", True)
    assert "reads 8,192 tokens, and work with tools needs 16,384" in check["detail"]


def test_sixteen_thousand_tokens_are_enough(home: Home, call: Call) -> None:
    with running(LmStudio([Served("tiny", 16_384)])) as server:
        assert examine(home, call, server)["model context"]["status"] == "ok"


@pytest.mark.parametrize(
    ("kind", "way_out"),
    [
        ("ollama", "ollama show NAME"),
        ("llamacpp", "--jinja"),
        ("lmstudio", "tool use"),
        ("vllm", "--enable-auto-tool-choice"),
        ("server", "can call tools"),
    ],
)
def test_a_model_that_does_not_call_its_tool_is_a_problem(
    home: Home, call: Call, kind: str, way_out: str
) -> None:
    with running(KINDS[kind]([Served("tiny", tools=False)])) as server:
        check = examine(home, call, server)["tool calls"]
    assert (check["status"], way_out in check["way_out"]) == ("problem", True)
    assert "answered without calling the tool" in check["detail"]


def test_a_model_that_is_not_there_is_a_problem_that_names_those_that_are(home: Home, call: Call) -> None:
    with running(Ollama([Served("small"), Served("large")])) as server:
        found = examine(home, call, server)
        assert "/v1/chat/completions" not in server.paths
    assert statuses(found) == {"model server": "problem"}
    assert "it has: small, large" in found["model server"]["detail"]
    assert "ollama pull tiny" in found["model server"]["way_out"]


def test_a_llama_cpp_server_does_not_look_at_the_name(home: Home, call: Call) -> None:
    with running(LlamaCpp([Served("/models/qwen.gguf")])) as server:
        found = examine(home, call, server)
    assert found["model server"]["status"] == "ok"


def test_a_server_that_does_not_run_is_a_problem_with_the_way_to_start_it(
    home: Home, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(Plain([])) as server:
        pass
    monkeypatch.setattr(servers, "KINDS", (servers.OLLAMA._replace(port=server.port),))
    found = examine(home, call, server)
    assert statuses(found) == {"model server": "problem"}
    assert f"answers at {server.root}/v1" in found["model server"]["detail"]
    assert "ollama serve" in found["model server"]["way_out"]


def test_no_command_is_named_for_a_server_of_an_unknown_kind(home: Home, call: Call) -> None:
    with running(Plain([])) as server:
        pass
    assert examine(home, call, server)["model server"]["way_out"].startswith("start it and let it load, or ")


def test_the_key_opens_a_server_that_wants_one_and_is_not_told(home: Home, call: Call) -> None:
    with running(LlamaCpp([Served("tiny")], key="sesame")) as server:
        assert examine(home, call, server, key="wrong")["model server"]["status"] == "problem"
        assert statuses(examine(home, call, server, key="sesame")) == dict.fromkeys(NAMES, "ok")
    assert "sesame" not in call("doctor").out


def test_a_password_in_the_address_is_not_told(home: Home, call: Call) -> None:
    with running(Plain([])) as server:
        pass
    (home.work / "sestet.yaml").write_text(
        "agent: {provider: home, model: tiny}\n"
        f"providers: {{home: {{baseUrl: 'http://me:sesame@127.0.0.1:{server.port}/v1'}}}}\n",
        encoding="utf-8",
    )
    said = call("doctor").out
    assert f"http://***@127.0.0.1:{server.port}/v1" in said
    assert "sesame" not in said


# Models of vendors, which charge for a call


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server on loopback counts as a vendor's."""

    def is_own(address: str) -> bool:
        return False

    monkeypatch.setattr(health, "is_own", is_own)


@pytest.mark.usefixtures("vendor")
def test_a_vendor_is_asked_only_on_demand(home: Home, call: Call) -> None:
    with running(Plain([Served("tiny")])) as server:
        found = examine(home, call, server)
        assert server.paths == []
        assert "'sestet doctor --probe' asks it" in found["tool calls"]["way_out"]
        asked = examine(home, call, server, "--probe")
        assert server.paths == ["/v1/chat/completions"]
    assert asked["tool calls"]["detail"] == "home/tiny calls tools"


@pytest.mark.usefixtures("vendor")
def test_a_vendor_that_refuses_is_quoted(home: Home, call: Call) -> None:
    with running(Plain([Served("tiny")], key="sesame")) as server:
        check = examine(home, call, server, "--probe", key="wrong")["tool calls"]
    assert check["status"] == "problem"
    assert "does not accept the key in providers.home.apiKey" in check["detail"]


# No model is set


def test_a_server_that_runs_beside_the_built_in_model_is_pointed_out(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(Ollama([Served("tiny"), Served("small")])) as server:
        monkeypatch.setattr(health, "usual_places", lambda: (server.root,))
        checks = json.loads(call("doctor", "--json").out)["checks"]
    (check,) = (check for check in checks if check["name"] == "model server")
    assert check["detail"] == f"Ollama at {server.root} with 2 models; not used"
    assert check["way_out"] == "'sestet setup' lets you use it"


def test_every_model_that_is_named_is_asked_once(home: Home, call: Call) -> None:
    with running(Ollama([Served("tiny"), Served("small", 2_048)])) as server:
        (home.work / "sestet.yaml").write_text(
            "agent: {provider: home, model: tiny, fallback: [home/small, home/tiny, offline]}\n"
            "agents: {planner: {model: small}}\n"
            f"providers: {{home: {{baseUrl: '{server.root}/v1'}}}}\n",
            encoding="utf-8",
        )
        checks = json.loads(call("doctor", "--json").out)["checks"]
    contexts = [check["detail"].split(",")[0] for check in checks if check["name"] == "model context"]
    assert contexts == ["home/tiny reads 32", "home/small reads 2"]
