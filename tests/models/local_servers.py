"""Fake local model servers on loopback: each with the paths and the JSON of the real one.

Also as a program, to look at the screen: ``python -m tests.models.local_servers ollama 11434``.
"""

import json
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import parse_qs, urlsplit

from tests.models.openai_wire import call, finish, text, usage

Json: TypeAlias = Mapping[str, object]
LISTED = "There is one file here: green-tea.txt"
BEGINNING = "Well, it is like"
CHATTER = "I would love to help you with your files!"


class Served(NamedTuple):
    """A model of such a server."""

    name: str
    #: The context in tokens once it is loaded.
    context: int = 32_768
    #: Whether it calls tools; else it only chats.
    tools: bool = True
    loaded: bool = False
    embeds: bool = False
    #: Whether it writes calls as text when the request has a schema; see docs/models.md.
    writes: bool = False
    #: Whether it begins an answer and never ends it.
    hangs: bool = False
    #: The tool that it calls to list files.
    lister: str = "fs_list"


@dataclass
class LocalServer(ABC):
    """One server; the models answer in the same way for every kind."""

    models: list[Served]
    #: Empty: every client is served.
    key: str = ""
    port: int = 0
    paths: list[str] = field(default_factory=list[str])

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @abstractmethod
    def get(self, path: str, query: Mapping[str, Sequence[str]]) -> Json | None:
        """The answer to a question about the server; None: there is no such path."""

    def post(self, path: str, body: Mapping[str, Any]) -> Json | None:  # Any: JSON of a client
        return None

    def listed(self, owner: str) -> Json:
        data = [{"id": model.name, "object": "model", "owned_by": owner} for model in self.models]
        return {"object": "list", "data": data}

    def find(self, name: str) -> Served | None:
        return next((model for model in self.models if model.name == name), None)

    def answering(self, name: str) -> Served | None:
        """The model that a conversation is with; None: there is no such model."""
        return self.find(name)

    def load(self, name: str) -> None:
        self.models = [model._replace(loaded=model.loaded or model.name == name) for model in self.models]


@dataclass
class Ollama(LocalServer):
    """``/api/version``, ``/api/tags``, ``/api/show``, ``/api/ps``."""

    #: ``num_ctx`` of a Modelfile, by model.
    num_ctx: Mapping[str, int] = field(default_factory=dict[str, int])

    def get(self, path: str, query: Mapping[str, Sequence[str]]) -> Json | None:
        if path == "/api/version":
            return {"version": "0.12.6"}
        if path == "/api/tags":
            return {"models": [self._entry(model) for model in self.models]}
        if path == "/api/ps":
            running = [model for model in self.models if model.loaded]
            return {"models": [{**self._entry(each), "context_length": each.context} for each in running]}
        return self.listed("library") if path == "/v1/models" else None

    def post(self, path: str, body: Mapping[str, Any]) -> Json | None:  # Any: JSON of a client
        model = self.find(body["model"])
        if path != "/api/show" or model is None:
            return None
        abilities = ["embedding"] if model.embeds else ["completion", *(["tools"] if model.tools else [])]
        size = self.num_ctx.get(model.name)
        parameters = f'stop "<|im_end|>"\nnum_ctx                        {size}' if size else ""
        return {
            "details": {"family": "qwen2", "parameter_size": "7.6B"},
            "model_info": {"general.architecture": "qwen2", "qwen2.context_length": 131_072},
            "parameters": parameters,
            "capabilities": abilities,
        }

    def _entry(self, model: Served) -> dict[str, object]:
        return {"name": model.name, "model": model.name, "size": 4_683_087_332, "details": {"format": "gguf"}}


class LlamaCpp(LocalServer):
    """``/props``, for one model or, asked with its name, for one of several."""

    def answering(self, name: str) -> Served | None:
        return self.models[0] if len(self.models) == 1 else self.find(name)

    def get(self, path: str, query: Mapping[str, Sequence[str]]) -> Json | None:
        if path == "/v1/models":
            return self.listed("llamacpp")
        if path == "/api/tags":
            # llama.cpp imitates Ollama here, and must not be taken for it.
            return {"models": [{"name": model.name} for model in self.models]}
        if path != "/props":
            return None
        several = len(self.models) > 1
        model = self.find(query.get("model", [""])[0]) if several else self.models[0]
        if model is None or (several and not model.loaded):
            return {"role": "router", "default_generation_settings": {"n_ctx": 0}}
        return {
            "default_generation_settings": {"id": 0, "n_ctx": model.context, "params": {}},
            "total_slots": 1,
            "model_path": f"/models/{model.name}",
            "chat_template_caps": {"supports_tools": model.tools, "supports_tool_calls": model.tools},
        }


class LmStudio(LocalServer):
    """``/api/v0/models``; an unknown path is answered with 200 and an error."""

    def get(self, path: str, query: Mapping[str, Sequence[str]]) -> Json | None:
        if path == "/api/v0/models":
            return {"object": "list", "data": [self._entry(model) for model in self.models]}
        if path == "/v1/models":
            return self.listed("organization_owner")
        return {"error": f"Unexpected endpoint or method. (GET {path})"}

    def _entry(self, model: Served) -> dict[str, object]:
        loaded = {"loaded_context_length": model.context} if model.loaded else {}
        return {
            "id": model.name,
            "object": "model",
            "type": "embeddings" if model.embeds else "llm",
            "state": "loaded" if model.loaded else "not-loaded",
            "max_context_length": 131_072,
            "capabilities": ["tool_use"] if model.tools else [],
            **loaded,
        }


class Vllm(LocalServer):
    """``/v1/models`` with ``max_model_len``."""

    def get(self, path: str, query: Mapping[str, Sequence[str]]) -> Json | None:
        if path != "/v1/models":
            return None
        data = [
            {"id": model.name, "object": "model", "owned_by": "vllm", "max_model_len": model.context}
            for model in self.models
        ]
        return {"object": "list", "data": data}


class Plain(LocalServer):
    """Only the paths of OpenAI's protocol."""

    def get(self, path: str, query: Mapping[str, Sequence[str]]) -> Json | None:
        return self.listed("me") if path == "/v1/models" else None


KINDS: dict[str, type[LocalServer]] = {
    "ollama": Ollama,
    "llamacpp": LlamaCpp,
    "lmstudio": LmStudio,
    "vllm": Vllm,
    "server": Plain,
}


def said_to(model: Served, body: Mapping[str, Any]) -> list[Json]:  # Any: JSON of a client
    """A reply in the wire format: each agent does its task, as far as the model can."""
    tools = [tool["function"]["name"] for tool in body.get("tools") or ()]
    last: Mapping[str, Any] = body["messages"][-1]
    end = usage(1_200, 25)
    if model.writes and "response_format" in body:
        return [text(_written(str(body["response_format"]), last["content"])), finish(), end]
    if not model.tools or not tools:
        return [text(CHATTER), finish(), end]
    if last["role"] == "tool":
        return [*(text(f"{word} ") for word in LISTED.split()), finish(), end]
    name, arguments = tools[0], "{}"
    if "transfer_to_agent" in tools:
        request = {"agent_name": "operator", "request": _asked(last["content"]), "reply": True}
        name, arguments = "transfer_to_agent", json.dumps(request)
    elif model.lister in tools:
        name = model.lister
    half = len(arguments) // 2
    fragments = (arguments[:half], arguments[half:])
    return [
        call(0, id="c-1", name=name),
        *(call(0, piece) for piece in fragments),
        finish("tool_calls"),
        end,
    ]


def _asked(content: str) -> str:
    """What the person wrote, without the time of the message that stands before it."""
    return re.sub(r"^\[Sent [^]]*\]\s", "", content)


def _written(form: str, said: str) -> str:
    if "transfer_to_agent" in form:
        request = {"agent_name": "operator", "request": said, "reply": True}
        return json.dumps({"tool": "transfer_to_agent", "arguments": request})
    if LISTED.split()[-1] in said:
        return json.dumps({"answer": LISTED})
    return json.dumps({"tool": "fs_list", "arguments": {}})


class _Handler(BaseHTTPRequestHandler):
    served: LocalServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Silent: no test reads the log."""

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        self.served.paths.append(self.path)
        self._answer(self.served.get(address.path, parse_qs(address.query)))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.served.paths.append(self.path)
        if self.path == "/v1/chat/completions":
            self._converse(body)
        else:
            self._answer(self.served.post(self.path, body))

    def _answer(self, answer: Json | None, status: int = 200) -> None:
        if not self._is_welcome():
            answer, status = {"error": {"message": "Invalid API Key", "code": 401}}, 401
        elif answer is None:
            answer, status = {"error": {"message": "File Not Found", "code": 404}}, 404
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _is_welcome(self) -> bool:
        return not self.served.key or self.headers.get("Authorization") == f"Bearer {self.served.key}"

    def _converse(self, body: Mapping[str, Any]) -> None:  # Any: JSON of a client
        model = self.served.answering(body["model"])
        if model is None or not self._is_welcome():
            said = f"model '{body['model']}' not found"
            self._answer({"error": {"message": said, "type": "api_error", "code": None}}, 404)
            return
        self.served.load(model.name)
        events = "".join(f"data: {json.dumps(event)}\n\n" for event in said_to(model, body))
        if model.hangs:
            self._hang(f"data: {json.dumps(text(BEGINNING))}\n\n".encode())
            return
        data = f"{events}data: [DONE]\n\n".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _hang(self, beginning: bytes) -> None:
        """Until the client has hung up."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(beginning)
        self.connection.recv(1)
        self.served.paths.append("abandoned")


@contextmanager
def running(server: LocalServer, port: int = 0) -> Generator[LocalServer]:
    """The server on loopback, on a free port unless one is named."""

    class Handler(_Handler):
        served = server

    listener = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    listener.daemon_threads = True
    server.port = listener.server_address[1]
    thread = Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()


if __name__ == "__main__":
    models = [
        Served("qwen2.5:7b", 4_096),
        Served("llama3.2:3b", 32_768, loaded=True),
        Served("tinystories:1b", tools=False),
    ]
    with running(KINDS[sys.argv[1]](models), int(sys.argv[2])):
        input("Enter stops it. ")
