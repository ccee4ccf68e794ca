"""Every setting with its default and its meaning; camelCase in the file, snake_case in code."""

from collections.abc import Mapping
from typing import Annotated, Literal, cast

from sestet.config.a2a_settings import A2AServerSettings
from sestet.config.browser_settings import BrowserSettings
from sestet.config.mcp_settings import McpServerSettings
from sestet.config.payment_settings import BudgetSettings, PaymentSettings
from sestet.config.secret import Secret
from sestet.config.section import Section as _Section
from sestet.config.vendors import ProviderType
from sestet.core.masking import mask_address, mask_addresses
from sestet.core.pages import page
from sestet.core.record import convert, field, fields, force_setattr
from sestet.core.schema import JsonObject, JsonValue, schema_of

_SECRET = {"writeOnly": True}
#: Settings that send words, keys or requests to a place, as the file spells them.
ADDRESSES = ("baseUrl", "otlpEndpoint", "rpcUrl", "url")
_KEY = "write ${VAR} to take it from the environment, or vault:NAME from the vault"
_PATIENCE = {"minimum": 0.1}


class AgentSettings(_Section):
    """How the assistant is built and which model it uses."""

    multi_agent: Annotated[
        bool, "Specialists under an orchestrator; false: one flat agent with every tool"
    ] = True
    system_prompt: Annotated[str, "Said to the model before anything else: who it is to you"] = (
        "You are Sestet, a helpful assistant that runs on the person's own machine."
    )
    max_delegation_rounds: Annotated[
        int, "Delegations in one turn before it has to answer", {"minimum": 1}
    ] = 5
    context_tokens: Annotated[int, "How much of the conversation the model is shown", {"minimum": 500}] = (
        16_000
    )
    provider: Annotated[
        str,
        "An id under providers; 'local': a model file of this machine; 'offline': the built-in model; "
        "'scripted': a file of rules, for trials",
    ] = "offline"
    model: Annotated[str, "The model's name at that provider"] = ""
    prompt_profile: Annotated[
        Literal["auto", "full", "compact"],
        "How much the agents are told about their work; auto: little for small local models, else all",
    ] = "auto"
    fast_route: Annotated[
        Literal["off", "on", "auto"],
        "Sending a message that is surely one specialist's work straight to it, without asking the model who "
        "should do it; auto: only with a router whose measured errors justify that",
    ] = "off"
    lead_small_models: Annotated[
        bool,
        "Whether rules choose agent and tool for a small local model, as far as they understand the request",
    ] = True
    fallback: Annotated[
        tuple[str, ...], "Models that are asked in this order when that one cannot answer: provider/model"
    ] = ()


class PriceSettings(_Section):
    """What a model costs, in dollars for a million tokens."""

    input: Annotated[float, "Dollars for a million tokens that it reads", {"minimum": 0}]
    output: Annotated[float, "Dollars for a million tokens that it writes", {"minimum": 0}]
    cached_input: Annotated[
        float, "The same for tokens that the vendor had cached; 0: as much as input", {"minimum": 0}
    ] = 0.0


class ProviderSettings(_Section):
    """Where models are reached."""

    type: Annotated[
        ProviderType,
        "The protocol it speaks; most servers speak OpenAI's",
    ] = "openai"
    base_url: Annotated[str, "Its address, such as http://127.0.0.1:11434/v1; empty: the vendor's own"] = ""
    api_key: Annotated[str, f"Its key; {_KEY}", _SECRET] = ""
    tool_calls: Annotated[
        Literal["native", "text"],
        "How its models make calls; text: in words, with a grammar and examples, for small local models",
    ] = "native"
    # A small machine reads a long prompt for minutes.
    first_token_seconds: Annotated[float, "Seconds until a reply begins", _PATIENCE] = 300.0
    idle_seconds: Annotated[float, "Seconds between two pieces of a reply", _PATIENCE] = 120.0
    call_seconds: Annotated[float, "Seconds until a reply is whole", _PATIENCE] = 600.0
    retries: Annotated[int, "How often a call is repeated after a passing failure", {"minimum": 0}] = 3
    prices: Annotated[
        Mapping[str, PriceSettings], "What its models cost, by their names; else a public price list says it"
    ] = field(default_factory=dict[str, PriceSettings])

    def __post_init__(self) -> None:
        force_setattr(self, "api_key", Secret.of(self.api_key))


class LocalSettings(_Section):
    """The model in this process, which `agent.provider: local` names."""

    context_tokens: Annotated[int, "How much it can read at once, its reply included", {"minimum": 2048}] = (
        8_192
    )
    reply_tokens: Annotated[int, "The most that it writes in one reply", {"minimum": 64}] = 1_024
    threads: Annotated[int, "Cores that it uses; 0: all there are", {"minimum": 0}] = 0


class LimitSettings(_Section):
    """What one turn may use, and one day."""

    model_calls: Annotated[int, "Model calls in one turn, all agents together", {"minimum": 1}] = 40
    tool_calls: Annotated[int, "Tool calls in one turn, all agents together", {"minimum": 1}] = 200
    tokens: Annotated[int, "Tokens of all model calls in one turn; 0: no limit", {"minimum": 0}] = 0
    dollars: Annotated[float, "Price of all model calls in one turn; 0: no limit", {"minimum": 0}] = 0.0
    dollars_per_day: Annotated[
        float,
        "Price of all model calls in one day of this machine's clock, background work included; 0: no limit",
        {"minimum": 0},
    ] = 0.0
    seconds: Annotated[float, "Seconds that one turn may take", {"minimum": 1}] = 600.0
    delegation_seconds: Annotated[float, "Seconds that one delegation may take", {"minimum": 1}] = 300.0
    tool_output: Annotated[int, "Characters of a tool's result that a model is shown", {"minimum": 200}] = (
        16_000
    )


class BackgroundSettings(_Section):
    """What the work between turns may use: observing, reflecting, reading for facts, embedding."""

    tokens_per_day: Annotated[
        int, "Tokens of its model calls in one day of this machine's clock; 0: no limit", {"minimum": 0}
    ] = 300_000
    dollars_per_day: Annotated[float, "Price of its model calls in one day; 0: no limit", {"minimum": 0}] = (
        1.0
    )
    cpu_share: Annotated[
        float, "The part of one core that it uses at most, over some seconds", {"minimum": 0.05, "maximum": 1}
    ] = 0.5


class AllowedTarget(_Section):
    """A receiver that the owner allows."""

    tool: Annotated[str, "A tool's name, or a pattern such as payment_*"]
    target: Annotated[str, "A receiver that you know, exactly as it is written in a call, or * for every one"]
    private: Annotated[bool, "Whether it may also be sent private content"] = False


class PolicySettings(_Section):
    """The owner's rules for tool calls."""

    block: Annotated[
        tuple[str, ...], "Tools that never run, even with an approval; patterns such as exec*"
    ] = ()
    allow: Annotated[tuple[AllowedTarget, ...], "Receivers that untrusted text may choose as well"] = ()
    scratch: Annotated[
        tuple[str, ...], "Directories in which untrusted text may choose the files that are changed"
    ] = ()
    budgets: Annotated[
        tuple[BudgetSettings, ...], "Payees that may be paid without a question, up to an amount a day"
    ] = ()
    question_hours: Annotated[float, "How long a question to you stays open", {"minimum": 0.01}] = 24.0


class WorkspaceSettings(_Section):
    """Where agents work."""

    roots: Annotated[
        tuple[str, ...],
        "Directories whose files agents and their commands may read and change; a relative path starts at "
        "the first; empty: the working directory. Commands see no other place of yours",
    ] = ()


class SandboxSettings(_Section):
    """What commands can reach."""

    isolation: Annotated[
        Literal["auto", "namespaces", "bubblewrap", "landlock", "seatbelt", "none"],
        "How commands are kept apart from everything else; auto: the first of the next three that works; "
        "seatbelt: for macOS, untested; none: no sandbox at all, so a command can do what you can",
    ] = "auto"
    readable: Annotated[
        tuple[str, ...],
        "Places beside the workspace that commands may read, such as ~/.pyenv; programs in its bin are found",
    ] = ()
    allowed: Annotated[
        tuple[str, ...],
        "Commands that need no question though they may change files, as patterns such as 'pytest *'; "
        "a skill is written as 'skill_run NAME'",
    ] = ()
    network: Annotated[
        tuple[str, ...],
        "Commands that may use the network, as patterns such as 'pip install *' or 'skill_run weather'",
    ] = ()
    memory_mb: Annotated[
        int, "Megabytes of memory that one command may use with all it starts", {"minimum": 50}
    ] = 2_000
    processes: Annotated[int, "Processes that one command may have at once", {"minimum": 1}] = 256


class StorageSettings(_Section):
    """The database file."""

    durability: Annotated[
        Literal["process", "power"], "What every commit survives: a killed process, or a power cut as well"
    ] = "process"


class TelemetrySettings(_Section):
    """Spans of turns for a collector of OpenTelemetry."""

    otlp_endpoint: Annotated[
        str,
        "The collector's address, such as http://127.0.0.1:4318; empty: nothing is sent. "
        "It needs the extra 'otel'",
    ] = ""
    content: Annotated[
        bool,
        "Sending messages, answers, and arguments and results of tools too; false: only names and figures",
    ] = False


class SpecialistSettings(_Section):
    """The settings of one agent."""

    provider: Annotated[str, "Another provider than agent.provider"] = ""
    model: Annotated[str, "Another model than agent.model"] = ""


class GraphSettings(_Section):
    """Linked facts."""

    enabled: Annotated[bool, "The knowledge graph and its tools"] = True
    predicates: Annotated[
        tuple[str, ...], f"Links of your own beside the built-in ones, such as mentors; see {page('graph')}"
    ] = ()
    extraction: Annotated[
        Literal["off", "review", "on"],
        "Reading saved texts for facts: not at all, for you to decide on, or straight into the graph",
    ] = "review"


class EmbeddingSettings(_Section):
    """Retrieval by meaning."""

    provider: Annotated[
        Literal["local", "openai", "none"],
        "What turns texts into vectors: the embedded model, or a server; none: full text, no retrieval tool",
    ] = "local"
    model: Annotated[str, "The model's name at the server"] = ""
    base_url: Annotated[str, "The server, such as http://127.0.0.1:11434/v1; empty: OpenAI's own"] = ""
    api_key: Annotated[str, f"Its key; {_KEY}", _SECRET] = ""

    def __post_init__(self) -> None:
        force_setattr(self, "api_key", Secret.of(self.api_key))


class SearchSettings(_Section):
    """Searching the web."""

    url: Annotated[
        str,
        "A SearXNG-compatible endpoint, such as http://127.0.0.1:8888; empty: no web search",
        {"examples": ["http://127.0.0.1:8888"]},
    ] = ""
    page: Annotated[
        str,
        "A search page for the browser, used without an endpoint; {query} stands for the words, as in "
        "https://search.example/html?q={query}",
    ] = ""
    api_key: Annotated[str, f"A key that the endpoint wants as a bearer token; {_KEY}", _SECRET] = ""

    def __post_init__(self) -> None:
        force_setattr(self, "api_key", Secret.of(self.api_key))


class ObservationalMemorySettings(_Section):
    """What is noticed in conversations."""

    enabled: Annotated[
        bool, "Observing and reflecting after a turn, their tools, and memory beside your message"
    ] = True
    observe_tokens: Annotated[
        int, "Tokens of messages in a session that become observations", {"minimum": 50}
    ] = 1_000
    reflect_tokens: Annotated[int, "Tokens of observations that become a reflection", {"minimum": 50}] = 2_000
    reflections_per_level: Annotated[
        int, "Reflections of one level that become a higher one", {"minimum": 2}
    ] = 5
    prompt_tokens: Annotated[
        int, "Most that the root agent is shown of memory beside a message; 0: nothing", {"minimum": 0}
    ] = 800


class RemoteAgentSettings(_Section):
    """An agent elsewhere."""

    name: Annotated[str, "What the orchestrator calls it"]
    url: Annotated[str, "Its base address; the card is read from /.well-known/agent-card.json below it"]
    api_key: Annotated[str, f"A key that it wants as a bearer token; {_KEY}", _SECRET] = ""
    private_network: Annotated[
        bool, "Whether the name in its url may lead to this machine or your own network"
    ] = False

    def __post_init__(self) -> None:
        force_setattr(self, "api_key", Secret.of(self.api_key))


class A2ASettings(_Section):
    """Agents that join over A2A, and agents that ask this one."""

    enabled: Annotated[bool, "Whether remote agents are loaded"] = False
    remote_agents: Annotated[
        tuple[RemoteAgentSettings, ...], "Agents elsewhere that join as specialists"
    ] = ()
    server: A2AServerSettings = A2AServerSettings()


class Settings(_Section):
    """The whole of ``sestet.yaml``."""

    agent: AgentSettings = AgentSettings()
    providers: Annotated[
        Mapping[str, ProviderSettings], "Where models are reached, by an id of your choice"
    ] = field(default_factory=dict[str, ProviderSettings])
    agents: Annotated[Mapping[str, SpecialistSettings], "What one agent has of its own, by its name"] = field(
        default_factory=dict[str, SpecialistSettings]
    )
    local: LocalSettings = LocalSettings()
    limits: LimitSettings = LimitSettings()
    background: BackgroundSettings = BackgroundSettings()
    policy: PolicySettings = PolicySettings()
    workspace: WorkspaceSettings = WorkspaceSettings()
    sandbox: SandboxSettings = SandboxSettings()
    storage: StorageSettings = StorageSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    graph: GraphSettings = GraphSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    search: SearchSettings = SearchSettings()
    browser: BrowserSettings = BrowserSettings()
    observational_memory: ObservationalMemorySettings = ObservationalMemorySettings()
    a2a: A2ASettings = A2ASettings()
    mcp_servers: Annotated[
        Mapping[str, McpServerSettings],
        "MCP servers by a name of your choice, which begins the names of their tools",
    ] = field(default_factory=dict[str, McpServerSettings])
    payments: PaymentSettings = PaymentSettings()


def settings_schema() -> dict[str, JsonValue]:
    """The JSON Schema of the file: the same one that every file is checked against."""
    return schema_of(Settings)


def build_settings(values: JsonObject) -> Settings:
    """Settings from a mapping in the file's form, already checked against the schema."""
    return convert(values, Settings)


def as_mapping(settings: Settings) -> dict[str, JsonValue]:
    """Settings in the file's form, with secrets masked."""
    return _section_as_mapping(settings)


def _section_as_mapping(section: _Section) -> dict[str, JsonValue]:
    values = {each.encode_name: _as_json(getattr(section, each.name)) for each in fields(section)}
    # An address is masked as a whole, even one that lacks its "https://".
    return {name: mask_address(str(value)) if name in ADDRESSES else value for name, value in values.items()}


def _as_json(value: object) -> JsonValue:
    if isinstance(value, _Section):
        return _section_as_mapping(value)
    if isinstance(value, Mapping):
        return {name: _as_json(item) for name, item in cast("Mapping[str, object]", value).items()}
    if isinstance(value, tuple):
        return [_as_json(item) for item in cast("tuple[object, ...]", value)]
    if isinstance(value, Secret):
        return "***" if value else ""
    return mask_addresses(value) if isinstance(value, str) else cast("JsonValue", value)
