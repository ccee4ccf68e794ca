"""Local model servers are recognised by their answers, and list their models."""

import socket
from collections.abc import Generator
from contextlib import contextmanager
from threading import Thread

import pytest

from sestet.models.servers import KINDS as SERVER_KINDS
from sestet.models.servers import (
    ServedModel,
    Server,
    ServerHttp,
    find_servers,
    is_own,
    look_at,
    usual_kind,
    usual_places,
)
from tests.models.local_servers import (
    KINDS,
    LlamaCpp,
    LmStudio,
    LocalServer,
    Ollama,
    Plain,
    Served,
    Vllm,
    running,
)


def found(server: LocalServer) -> Server:
    with running(server):
        seen = look_at(server.root)
    assert seen is not None
    return seen


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_server_is_recognised_by_what_it_says(kind: str) -> None:
    seen = found(KINDS[kind]([Served("tiny", loaded=True)]))
    assert (seen.kind.id, [model.name for model in seen.models]) == (kind, ["tiny"])


def test_an_address_may_be_written_as_a_provider_has_it() -> None:
    with running(Ollama([Served("tiny")])) as server:
        for address in (f"{server.root}/v1", f"{server.root}/v1/", f"{server.root}/"):
            seen = look_at(address)
            assert seen is not None
            assert seen.base_url == f"{server.root}/v1"


def test_the_usual_places_are_on_this_machine_and_of_every_kind_that_has_a_port() -> None:
    ports = [kind.port for kind in SERVER_KINDS if kind.port]
    assert sorted(usual_places()) == sorted(f"http://127.0.0.1:{port}" for port in ports)
    assert {11434, 8080, 1234, 8000} == set(ports)


def test_servers_are_found_in_the_order_of_their_places_and_silence_is_no_server() -> None:
    with running(Vllm([Served("a")])) as first, running(Ollama([Served("b")])) as second:
        with running(Ollama([])) as gone:
            pass
        places = (second.root, gone.root, first.root)
        assert [server.kind.name for server in find_servers(places)] == ["Ollama", "vLLM"]


# The facts that each kind tells


def test_ollama_tells_the_context_of_a_loaded_model_and_that_of_a_modelfile() -> None:
    models = [
        Served("loaded", 8_192, loaded=True),
        Served("fixed", tools=False),
        Served("resting"),
        Served("nomic-embed-text", embeds=True),
    ]
    assert found(Ollama(models, num_ctx={"fixed": 2_048, "loaded": 4_096})).models == (
        ServedModel("loaded", 8_192, True, True),
        ServedModel("fixed", 2_048, False),
        ServedModel("resting", None, True),
    )


def test_the_model_of_a_llama_cpp_server_reads_what_one_slot_reads() -> None:
    assert found(LlamaCpp([Served("qwen.gguf", 4_096)])).models == (
        ServedModel("qwen.gguf", 4_096, True, True),
    )


def test_a_llama_cpp_server_with_several_models_loads_none_because_it_is_asked() -> None:
    server = LlamaCpp([Served("a b.gguf", 4_096, loaded=True), Served("c.gguf")])
    assert found(server).models == (ServedModel("a b.gguf", 4_096, True, True), ServedModel("c.gguf"))
    asked = [path for path in server.paths if "model=" in path]
    assert asked == ["/props?model=a%20b.gguf&autoload=false", "/props?model=c.gguf&autoload=false"]


def test_lm_studio_tells_the_context_that_is_loaded_and_not_the_one_that_could_be() -> None:
    models = [Served("a", 4_096, loaded=True), Served("b", tools=False), Served("e", embeds=True)]
    assert found(LmStudio(models)).models == (
        ServedModel("a", 4_096, True, True),
        ServedModel("b", None, False),
    )


def test_vllm_tells_the_longest_text_of_each_model() -> None:
    assert found(Vllm([Served("a", 8_192)])).models == (ServedModel("a", 8_192, loaded=True),)


@pytest.mark.parametrize("kind", [Ollama, LlamaCpp, Vllm, Plain])
def test_models_that_make_vectors_are_left_out(kind: type[LocalServer]) -> None:
    names = ["qwen2.5:7b", "nomic-embed-text", "bge-m3", "all-minilm:l6", "jina-reranker-v2"]

    assert [model.name for model in found(kind([Served(name) for name in names])).models] == ["qwen2.5:7b"]


def test_a_server_with_a_key_opens_to_whoever_has_it() -> None:
    with running(LlamaCpp([Served("a")], key="sesame")) as server:
        assert look_at(server.root) is None
        assert look_at(server.root, "sesame") is not None


def test_the_latest_of_ollamas_models_is_meant_where_no_tag_stands() -> None:
    seen = found(Ollama([Served("qwen:latest"), Served("llama:3b")]))
    assert seen.find("qwen") == seen.models[0]
    assert seen.find("llama") is None


# Other programs at the address


@contextmanager
def listening(answer: bytes) -> Generator[str]:
    """A server that sends this to every client and hangs up; empty: it stays silent."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65_536)
                    if answer:
                        connection.sendall(answer)
                    else:
                        connection.recv(1)

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"220 mail.example ESMTP\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n<html>Welcome</html>",
        b"HTTP/1.1 200 OK\r\n\r\n[1, 2]",
        b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 100_000,
        b"HTTP/1.1 500 No\r\n\r\n{}",
        b'HTTP/1.1 200 OK\r\n\r\n{"data": 1, "models": {}, "version": [], "default_generation_settings": 3}',
    ],
)
def test_whatever_else_answers_is_no_model_server(answer: bytes) -> None:
    with listening(answer) as root:
        http = ServerHttp(root, seconds=0.2)
        assert [kind.look(http) for kind in SERVER_KINDS] == [None] * len(SERVER_KINDS)


@pytest.mark.parametrize("address", ["http://[::1", "nothing", "http://", "http://127.0.0.1:99999"])
def test_an_address_that_is_none_has_no_server(address: str) -> None:
    assert look_at(address) is None


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("http://127.0.0.1:11434/v1", True),
        ("http://localhost:1/v1", True),
        ("http://[::1]:8080", True),
        ("http://192.168.1.7:11434/v1", True),
        ("http://ollama:11434/v1", True),
        ("http://studio.local:1234/v1", True),
        ("http://127.0.0.1.example.org/v1", False),
        ("http://8.8.8.8/v1", False),
        ("https://openrouter.ai/api/v1", False),
        ("http://[::1", False),
        ("", False),
    ],
)
def test_only_this_machine_and_its_own_network_cost_nothing(address: str, own: bool) -> None:
    assert is_own(address) is own


def test_a_server_that_is_not_there_is_guessed_from_its_port() -> None:
    assert usual_kind("http://127.0.0.1:1234/v1").name == "LM Studio"
    assert usual_kind("http://127.0.0.1:5000/v1").port == 0
