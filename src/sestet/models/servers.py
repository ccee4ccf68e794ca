"""Model servers on the person's own machine: which kind runs at an address, and what it offers."""

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import ip_address
from typing import NamedTuple, TypeAlias, cast
from urllib.parse import quote, urlsplit

from sestet.models.provider import is_address

Members: TypeAlias = Mapping[str, object]

#: A running server answers at once, even while it runs a model.
_SECONDS = 3.0
_CONNECT_SECONDS = 1.0
_MOST_BYTES = 4_000_000
_PIECE_BYTES = 65_536


class ServerHttp:
    """Short questions to one server, without a proxy. Any answer but a JSON object is None."""

    def __init__(self, root: str, key: str = "", seconds: float = _SECONDS) -> None:
        self._address = urlsplit(root)
        self._headers = {"Accept": "application/json", "User-Agent": "sestet", "Connection": "close"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._seconds = seconds

    def is_open(self) -> bool:
        """Whether a server accepts connections there."""
        connection = self._connect(_CONNECT_SECONDS)
        try:
            connection.connect()
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()
        return True

    def get(self, path: str) -> Members | None:
        return self._ask("GET", path, None)

    def post(self, path: str, body: Members) -> Members | None:
        return self._ask("POST", path, json.dumps(body).encode())

    def _ask(self, method: str, path: str, body: bytes | None) -> Members | None:
        headers = {**self._headers, "Content-Type": "application/json"} if body else self._headers
        connection = self._connect(self._seconds)
        deadline = time.monotonic() + self._seconds
        try:
            connection.request(method, f"{self._address.path}{path}", body, headers)
            response = connection.getresponse()
            content = b""
            # In pieces, so that a server that sends slowly runs into the deadline.
            while response.status == 200 and (piece := response.read1(_PIECE_BYTES)):
                content += piece
                if len(content) > _MOST_BYTES or time.monotonic() > deadline:
                    return None
            answer: object = json.loads(content)
        except (OSError, HTTPException, ValueError, RecursionError):
            return None
        finally:
            connection.close()
        return cast("Members", answer) if isinstance(answer, dict) else None

    def _connect(self, seconds: float) -> HTTPConnection:
        host, port = self._address.hostname or "", self._address.port
        secure = self._address.scheme == "https"
        return (HTTPSConnection if secure else HTTPConnection)(host, port, timeout=seconds)


def member(value: object, name: str) -> object:
    """A member of a value that may be an object; else None."""
    return cast("Members", value).get(name) if isinstance(value, Mapping) else None


def items(value: object, name: str) -> list[Members]:
    """The objects in a member that may be a list; else none."""
    found = member(value, name)
    entries = cast("list[object]", found) if isinstance(found, list) else []
    return [cast("Members", entry) for entry in entries if isinstance(entry, dict)]


def number(value: object, name: str) -> int | None:
    """A member that may be a positive integer; else None."""
    found = member(value, name)
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else None


#: A specialist's prompt, tools and a few results need about this many tokens.
ENOUGH_CONTEXT = 16_384
#: Parts of the names of models that make or read pictures, sounds and vectors, and hold no conversation.
_NO_CONVERSATION = (
    r"embed|whisper|\btts\b|dall-e|image|imagen|audio|realtime|transcri|moderation|\bveo\b|sora|lyria"
    r"|babbage|davinci|\baqa\b|\bbge\b|\be5\b|\bgte\b|minilm|rerank"
)
_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d+)", re.MULTILINE)
#: With more models than that, the person has to name one.
_MOST_MODELS = 50


class ServedModel(NamedTuple):
    """A model that a server offers, with the facts that the server tells."""

    name: str
    #: The context in tokens with which it is served; None: the server does not say.
    context: int | None = None
    #: Whether it can call tools; None: the server does not say.
    tools: bool | None = None
    loaded: bool = False


_Look: TypeAlias = Callable[[ServerHttp], "tuple[ServedModel, ...] | None"]


class ServerKind(NamedTuple):
    """A kind of server: how it is recognised, and how to fix the usual problems."""

    id: str
    name: str
    port: int
    #: Its models; None when the server is of another kind.
    look: _Look
    #: The command that starts it; empty if we do not know it.
    start: str
    #: How to download a model. ``{model}`` is the model's name here and below.
    fetch: str
    #: How to give a model 16k tokens of context.
    more_context: str
    #: How to make tool calls work.
    tool_calls: str


class Server(NamedTuple):
    kind: ServerKind
    #: ``http://127.0.0.1:11434``
    root: str
    models: tuple[ServedModel, ...]
    #: Where its protocol begins, if not at ``/v1`` below the root.
    base: str = ""

    @property
    def base_url(self) -> str:
        """The address for a provider's ``baseUrl``."""
        return self.base or f"{self.root}/v1"

    def find(self, name: str) -> ServedModel | None:
        """The model with this name; Ollama's ``:latest`` may be left out."""
        if self.kind is LLAMA_CPP and len(self.models) == 1:
            # llama.cpp serves one model and ignores the name.
            return self.models[0]
        return next((model for model in self.models if model.name in (name, f"{name}:latest")), None)

    def context_of(self, name: str) -> int | None:
        """The model's context in tokens, where the server tells it."""
        model = self.find(name)
        return model.context if model else None

    def lacks_context(self, name: str) -> bool:
        """Whether the model's context is known to be too small for work with tools."""
        return (self.context_of(name) or ENOUGH_CONTEXT) < ENOUGH_CONTEXT

    def more_context(self, name: str) -> str:
        """How to give the model more context."""
        return self.kind.more_context.format(model=name)


def _look_at_ollama(http: ServerHttp) -> tuple[ServedModel, ...] | None:
    # llama.cpp answers some of Ollama's paths, but not this one.
    if not isinstance(member(http.get("/api/version"), "version"), str):
        return None
    running = {
        str(entry.get("name")): number(entry, "context_length")
        for entry in items(http.get("/api/ps"), "models")
    }
    found: list[ServedModel] = []
    for entry in items(http.get("/api/tags"), "models")[:_MOST_MODELS]:
        name = str(entry.get("name"))
        details = http.post("/api/show", {"model": name})
        abilities = member(details, "capabilities")
        if isinstance(abilities, list) and "completion" not in abilities:
            continue
        tools = "tools" in abilities if isinstance(abilities, list) else None
        context = running.get(name) or _num_ctx(member(details, "parameters"))
        found.append(ServedModel(name, context, tools, loaded=name in running))
    return tuple(found)


def _num_ctx(parameters: object) -> int | None:
    """The context that the model's own parameters set, which takes precedence over the server's default."""
    match = _NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    return int(match[1]) if match else None


def _look_at_llama_cpp(http: ServerHttp) -> tuple[ServedModel, ...] | None:
    properties = http.get("/props")
    if not isinstance(member(properties, "default_generation_settings"), dict):
        return None
    names = [str(entry.get("id")) for entry in items(http.get("/v1/models"), "data")]
    if len(names) == 1:
        return (_llama_cpp_model(names[0], properties),)
    # With several models, asking about one would load it.
    return tuple(
        _llama_cpp_model(name, http.get(f"/props?model={quote(name)}&autoload=false"))
        for name in names[:_MOST_MODELS]
    )


def _llama_cpp_model(name: str, properties: Members | None) -> ServedModel:
    tools = member(member(properties, "chat_template_caps"), "supports_tools")
    context = number(member(properties, "default_generation_settings"), "n_ctx")
    return ServedModel(name, context, tools if isinstance(tools, bool) else None, loaded=context is not None)


def _look_at_lm_studio(http: ServerHttp) -> tuple[ServedModel, ...] | None:
    answer = http.get("/api/v0/models")
    if not isinstance(member(answer, "data"), list):
        return None
    return tuple(
        ServedModel(
            str(entry.get("id")),
            number(entry, "loaded_context_length"),
            "tool_use" in abilities if isinstance(abilities := entry.get("capabilities"), list) else None,
            loaded=entry.get("state") == "loaded",
        )
        for entry in items(answer, "data")
        if entry.get("type") != "embeddings"
    )


def _look_at_vllm(http: ServerHttp) -> tuple[ServedModel, ...] | None:
    entries = items(http.get("/v1/models"), "data")
    if not any(entry.get("owned_by") == "vllm" for entry in entries):
        return None
    return tuple(
        ServedModel(str(entry.get("id")), number(entry, "max_model_len"), loaded=True) for entry in entries
    )


def _look_at_any(http: ServerHttp) -> tuple[ServedModel, ...] | None:
    answer = http.get("/v1/models")
    if not isinstance(member(answer, "data"), list):
        return None
    return tuple(ServedModel(str(entry.get("id"))) for entry in items(answer, "data") if entry.get("id"))


OLLAMA = ServerKind(
    "ollama",
    "Ollama",
    11434,
    _look_at_ollama,
    "ollama serve",
    "ollama pull {model}",
    "start it with 'OLLAMA_CONTEXT_LENGTH=16384 ollama serve', "
    "or give the model 'PARAMETER num_ctx 16384' in a Modelfile ('FROM {model}') and 'ollama create' it",
    "pull a model that 'ollama show NAME' lists with the capability 'tools', such as qwen2.5:7b",
)
LLAMA_CPP = ServerKind(
    "llamacpp",
    "llama.cpp",
    8080,
    _look_at_llama_cpp,
    "llama-server --jinja -c 16384 -m MODEL.gguf",
    "start it with 'llama-server -m' and that model's file",
    "start it with 'llama-server -c 16384'; with several slots (-np N), N times as much",
    "start it with 'llama-server --jinja' and a model whose chat template knows tools",
)
LM_STUDIO = ServerKind(
    "lmstudio",
    "LM Studio",
    1234,
    _look_at_lm_studio,
    "lms server start",
    "lms get {model}",
    "'lms load {model} --context-length 16384', or the context length in the model's settings",
    "load a model that LM Studio marks with the hammer (tool use)",
)
VLLM = ServerKind(
    "vllm",
    "vLLM",
    8000,
    _look_at_vllm,
    "vllm serve MODEL",
    "vllm serve {model}",
    "start it with '--max-model-len 16384'",
    "start it with '--enable-auto-tool-choice --tool-call-parser PARSER', the parser of your model's family",
)
#: Any other server that speaks OpenAI's protocol.
OTHER = ServerKind(
    "server",
    "a server that speaks OpenAI's protocol",
    0,
    _look_at_any,
    "",
    "give it that model",
    "give the model 16,384 tokens of context in the server's settings",
    "choose a model that can call tools, and let the server pass them on",
)

#: In the order in which a server is recognised: a kind that imitates another comes before it.
KINDS: tuple[ServerKind, ...] = (LLAMA_CPP, OLLAMA, LM_STUDIO, VLLM, OTHER)


def usual_places() -> tuple[str, ...]:
    """The default addresses of the servers, the most common first."""
    return tuple(f"http://127.0.0.1:{kind.port}" for kind in (OLLAMA, LLAMA_CPP, LM_STUDIO, VLLM))


def look_at(address: str, key: str = "") -> Server | None:
    """The server at an address, with or without the ``/v1`` of a ``baseUrl``; None: not recognised."""
    root = re.sub(r"/v\d+/?$", "", address).rstrip("/")
    if not is_address(root) or not (http := ServerHttp(root, key)).is_open():
        return None
    for kind in KINDS:
        if (models := kind.look(http)) is not None:
            return Server(kind, root, tuple(model for model in models if can_converse(model.name)))
    return None


def can_converse(model: str) -> bool:
    """Whether a model holds conversations, as far as its name says."""
    return not re.search(_NO_CONVERSATION, model, re.IGNORECASE)


def find_servers(addresses: Iterable[str]) -> list[Server]:
    """The servers that run at these addresses, asked in parallel, in the order of the addresses."""
    from concurrent.futures import ThreadPoolExecutor

    places = list(addresses)
    with ThreadPoolExecutor(max_workers=max(1, len(places))) as pool:
        found = pool.map(look_at, places)
        return [server for server in found if server is not None]


def usual_kind(address: str) -> ServerKind:
    """The kind whose default port this is, for an address where no server answers."""
    port = urlsplit(address).port
    return next((kind for kind in KINDS if kind.port == port), OTHER)


def reach_question(address: str) -> str:
    """What to ask the person when nothing answers at an address."""
    return "is it running?" if is_own(address) else "are you online?"


def is_own(address: str) -> bool:
    """Whether an address is on this machine or in its local network, where a call costs no money."""
    host = urlsplit(address).hostname or "." if is_address(address) else "."
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith(".local")
