"""The contestants: the floor, Sestet, and the agent frameworks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the table."""

    name: str
    module: str
    #: The distribution whose version is shown.
    package: str = ""
    #: Requirements for pip, in their newest versions. Sestet comes from this checkout and its lock file.
    requirements: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    kind: Literal["floor", "sestet", "peer"] = "peer"
    #: The name of another entry whose virtual environment this entry uses.
    venv: str = ""
    #: Another checkout of Sestet; empty: this one.
    checkout: str = ""


FLOOR = Entry("floor", "bench.own.floor", kind="floor")
SESTET = Entry("sestet", "bench.own.sestet", "sestet", kind="sestet")
#: Sestet with its own tool, which reads a real directory, in place of the function that the others call.
SESTET_FILES = Entry("sestet-files", "bench.own.sestet_files", "sestet", kind="sestet", venv="sestet")


def before(checkout: str) -> Entry:
    """An older Sestet, measured in the same run."""
    return Entry("sestet-before", "bench.own.sestet", "sestet", kind="sestet", checkout=checkout)


PEERS = (
    Entry(
        "agent-framework",
        "bench.peers.agent_framework",
        "agent-framework-core",
        ("agent-framework-core",),
        {"ENABLE_INSTRUMENTATION": "false", "AGENT_FRAMEWORK_USER_AGENT_DISABLED": "true"},
    ),
    Entry("agno", "bench.peers.agno", "agno", ("agno",), {"AGNO_TELEMETRY": "false"}),
    Entry(
        "openai-agents",
        "bench.peers.openai_agents",
        "openai-agents",
        ("openai-agents",),
        {"OPENAI_AGENTS_DISABLE_TRACING": "1"},
    ),
    Entry("pydantic-ai", "bench.peers.pydantic_ai", "pydantic-ai-slim", ("pydantic-ai-slim",)),
    Entry(
        "langgraph",
        "bench.peers.langgraph",
        "langgraph",
        ("langgraph",),
        {"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false"},
    ),
    Entry(
        "google-adk", "bench.peers.google_adk", "google-adk", ("google-adk",), {"OTEL_SDK_DISABLED": "true"}
    ),
)

ENTRIES = (FLOOR, SESTET, SESTET_FILES, *PEERS)
