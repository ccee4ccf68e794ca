"""Model servers on one's own machine: which kind runs at an address, and what it offers."""

import re
from collections.abc import Callable, Iterable
from ipaddress import ip_address
from typing import NamedTuple, TypeAlias
from urllib.parse import quote, urlsplit

from sestet.models.endpoint import is_address
from sestet.models.server_http import Members, ServerHttp, items, member, number

#: A specialist's prompt, its tools and a few results need about this many tokens.
ENOUGH_CONTEXT = 16_384
_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d+)", re.MULTILINE)
#: Whoever keeps more models than that can name theirs.
_MOST_MODELS = 50


class ServedModel(NamedTuple):
    """A model that a server offers, as far as the server tells."""

    name: str
    #: Tokens that it reads as it is served now; None: the server does not say.
    context: int | None = None
    #: Whether it can call tools; None: the server does not say.
    tools: bool | None = None
    loaded: bool = False


_Look: TypeAlias = Callable[[ServerHttp], "tuple[ServedModel, ...] | None"]


class ServerKind(NamedTuple):
    """A kind of server: how it is recognised, and its ways out."""

    id: str
    name: str
    port: int
    #: Its models; None where another kind of server answers.
    look: _Look
    start: str
    #: How it gets a model. ``{model}`` is the model's name here and below.
    fetch: str
    #: How it is made to read 16k tokens.
    more_context: str
    #: How it is made to take tool calls.
    tool_calls: str


class Server(NamedTuple):
    kind: ServerKind
    #: ``http://127.0.0.1:11434``
    root: str
    models: tuple[ServedModel, ...]

    @property
    def base_url(self) -> str:
        """As a provider's ``baseUrl`` has it."""
        return f"{self.root}/v1"

    def find(self, name: str) -> ServedModel | None:
        """The model of this name; Ollama's ``:latest`` may be left out."""
        if self.kind is LLAMA_CPP and len(self.models) == 1:
            # It has one model and does not look at the name.
            return self.models[0]
        return next((model for model in self.models if model.name in (name, f"{name}:latest")), None)

    def context_of(self, name: str) -> int | None:
        """Tokens that the model reads as it is served now, where the server says so."""
        model = self.find(name)
        return model.context if model else None

    def lacks_context(self, name: str) -> bool:
        """Whether it is known to read less than work with tools takes."""
        return (self.context_of(name) or ENOUGH_CONTEXT) < ENOUGH_CONTEXT

    def more_context(self, name: str) -> str:
        """What to do about that."""
        return self.kind.more_context.format(model=name)


def _look_at_ollama(http: ServerHttp) -> tuple[ServedModel, ...] | None:
    # llama.cpp answers some of Ollama's paths too, but not this one.
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
    """What the model's own parameters set, which the server's default does not overrule."""
    match = _NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    return int(match[1]) if match else None


def _look_at_llama_cpp(http: ServerHttp) -> tuple[ServedModel, ...] | None:
    properties = http.get("/props")
    if not isinstance(member(properties, "default_generation_settings"), dict):
        return None
    names = [str(entry.get("id")) for entry in items(http.get("/v1/models"), "data")]
    if len(names) == 1:
        return (_llama_cpp_model(names[0], properties),)
    # It serves several, and would load one merely because it is asked about.
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
#: Whatever else speaks OpenAI's protocol.
OTHER = ServerKind(
    "server",
    "a server that speaks OpenAI's protocol",
    0,
    _look_at_any,
    "start it",
    "give it that model",
    "give the model 16,384 tokens of context in the server's settings",
    "choose a model that can call tools, and let the server pass them on",
)

#: In the order in which a server is recognised: who imitates another comes before it.
KINDS: tuple[ServerKind, ...] = (LLAMA_CPP, OLLAMA, LM_STUDIO, VLLM, OTHER)


def usual_places() -> tuple[str, ...]:
    """Where the servers listen unless they are told otherwise, those that most people have first."""
    return tuple(f"http://127.0.0.1:{kind.port}" for kind in (OLLAMA, LLAMA_CPP, LM_STUDIO, VLLM))


def look_at(address: str, key: str = "") -> Server | None:
    """The server at an address, with or without the ``/v1`` of a ``baseUrl``; None: none that is known."""
    root = re.sub(r"/v\d+/?$", "", address).rstrip("/")
    if not is_address(root) or not (http := ServerHttp(root, key)).is_open():
        return None
    for kind in KINDS:
        if (models := kind.look(http)) is not None:
            return Server(kind, root, models)
    return None


def find_servers(addresses: Iterable[str]) -> list[Server]:
    """Those that run at these addresses, looked for at the same time, in the order of the addresses."""
    from concurrent.futures import ThreadPoolExecutor

    places = list(addresses)
    with ThreadPoolExecutor(max_workers=max(1, len(places))) as pool:
        found = pool.map(look_at, places)
        return [server for server in found if server is not None]


def usual_kind(address: str) -> ServerKind:
    """The kind that listens at this port when it runs; for addresses where nobody answers."""
    port = urlsplit(address).port
    return next((kind for kind in KINDS if kind.port == port), OTHER)


def is_own(address: str) -> bool:
    """Whether an address is on this machine or in its own network, where a call costs nothing but time."""
    host = urlsplit(address).hostname or "." if is_address(address) else "."
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith(".local")
