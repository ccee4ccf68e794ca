"""The scenarios of the five specification documents, as data.

A scenario stands, and then a test claims its id with ``@pytest.mark.scenario(id)``, or a later text replaced
it, and then ``superseded_by`` names the standing one. A text that a later document repeats word for word
still stands: one test claims both ids. The documents are ordered 003, 002, 001, then 000 with its design 004.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Document: TypeAlias = Literal["000", "001", "002", "003", "004"]

#: The heading of 004 that holds its decisions; each of them counts as a scenario.
DECISIONS = "Decisions"

#: SHA-256 over the sorted (document, requirement, title) triples, for clones without the documents.
DIGEST = "be49e7212373e82117587aca6a82d14eb158ffa35e855c5501e1356987b690fc"


class Heading(NamedTuple):
    """Where a scenario stands in its document."""

    document: str
    requirement: str
    title: str


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario, and whether it holds or was superseded."""

    id: str
    document: Document
    requirement: str
    title: str
    superseded_by: str | None = None
    note: str = ""

    @property
    def heading(self) -> Heading:
        return Heading(self.document, self.requirement, self.title)


_TREE = "Hierarchical agent tree with sub-agents"
_TREE_OF_FOUR = "Hierarchical agent tree with 4 sub-agents"
_PARTITION = "Tool partitioning by prefix"
_CREATION = "Conditional Sub-Agent Creation"
_CAPABILITY = "Capability-based sub-agent descriptions"
_INSTRUCTION = "Orchestrator instruction guides delegation-only execution"
_ROLES = "RoleToolSet has six roles plus Unmatched"
_DIRECT = "Orchestrator Short-Circuit for Simple Queries"
_ROUNDS = "Max Delegation Rounds"
_REPORTING = "Sub-Agent Result Reporting"
_SWITCHES = "Graph, RAG, and Memory agent tools"
_REMOTE = "Remote agents as sub-agents"

_OLD_NAMES = "written for the names executor, researcher and memory-manager"
_OLD_TREE = "a tree of executor, researcher, planner and memory-manager"

SCENARIOS: tuple[Scenario, ...] = (
    # 000: the six agents
    Scenario("000-tree-multi-agent", "000", _TREE, "Multi-agent mode enabled"),
    Scenario("000-tree-root-without-tools", "000", _TREE, "Orchestrator has no direct tools"),
    Scenario("000-tree-single-agent", "000", _TREE, "Single-agent fallback"),
    Scenario("000-partition-operator", "000", _PARTITION, "Operator gets shell, file, and skill tools"),
    Scenario("000-partition-navigator", "000", _PARTITION, "Navigator gets browser tools"),
    Scenario("000-partition-vault", "000", _PARTITION, "Vault gets crypto, secrets, and payment tools"),
    Scenario(
        "000-partition-librarian",
        "000",
        _PARTITION,
        "Librarian gets search, RAG, graph, and skill management tools",
    ),
    Scenario("000-partition-chronicler", "000", _PARTITION, "Chronicler gets memory tools"),
    Scenario("000-partition-unmatched", "000", _PARTITION, "Unmatched tools tracked separately"),
    Scenario("000-partition-librarian-first", "000", _PARTITION, "Librarian prefix priority over operator"),
    Scenario("000-creation-all", "000", _CREATION, "All tool categories have tools"),
    Scenario("000-creation-partial", "000", _CREATION, "Partial tools — only operator and librarian"),
    Scenario("000-creation-no-tools", "000", _CREATION, "No tools at all"),
    Scenario("000-creation-unmatched-only", "000", _CREATION, "Unmatched-only tools"),
    Scenario("000-capability-operator", "000", _CAPABILITY, "Operator description uses capabilities"),
    Scenario("000-capability-vault", "000", _CAPABILITY, "Vault description uses capabilities"),
    Scenario("000-capability-once", "000", _CAPABILITY, "Duplicate capabilities are deduplicated"),
    Scenario("000-instruction-exact-name", "000", _INSTRUCTION, "Agent name exactness"),
    Scenario("000-instruction-never-invent", "000", _INSTRUCTION, "Invalid agent name prevention"),
    Scenario(
        "000-instruction-capabilities",
        "000",
        _INSTRUCTION,
        "Sub-agent descriptions use capabilities not tool names",
    ),
    Scenario("000-roles-seven-fields", "000", _ROLES, "RoleToolSet structure"),
    Scenario("000-roles-planner-empty", "000", _ROLES, "Planner tools always empty"),
    # 001: capability phrases
    Scenario(
        "001-capability-executor",
        "001",
        _CAPABILITY,
        "Executor description uses capabilities",
        superseded_by="000-capability-operator",
        note="the executor was split: web browsing went to the navigator",
    ),
    Scenario("001-capability-once", "001", _CAPABILITY, "Duplicate capabilities are deduplicated"),
    Scenario(
        "001-capability-unknown", "001", _CAPABILITY, "Unknown tool prefix falls back to general actions"
    ),
    Scenario("001-instruction-tool-task", "001", _INSTRUCTION, "Tool-requiring task"),
    Scenario(
        "001-instruction-exact-name",
        "001",
        _INSTRUCTION,
        "Agent name exactness",
        superseded_by="000-instruction-exact-name",
        note=_OLD_NAMES,
    ),
    Scenario(
        "001-instruction-roles",
        "001",
        _INSTRUCTION,
        "Delegation rules by sub-agent role",
        superseded_by="004-routing-table",
        note=_OLD_NAMES,
    ),
    Scenario("001-instruction-never-invent", "001", _INSTRUCTION, "Invalid agent name prevention"),
    Scenario(
        "001-instruction-capabilities",
        "001",
        _INSTRUCTION,
        "Sub-agent descriptions use capabilities not tool names",
    ),
    # 002: a root without tools
    Scenario(
        "002-tree-multi-agent",
        "002",
        _TREE,
        "Multi-agent mode enabled",
        superseded_by="000-tree-multi-agent",
        note=_OLD_TREE,
    ),
    Scenario("002-tree-root-without-tools", "002", _TREE, "Orchestrator has no direct tools"),
    Scenario("002-tree-single-agent", "002", _TREE, "Single-agent fallback"),
    Scenario("002-instruction-tool-task", "002", _INSTRUCTION, "Tool-requiring task"),
    Scenario(
        "002-instruction-roles",
        "002",
        _INSTRUCTION,
        "Delegation rules by sub-agent role",
        superseded_by="004-routing-table",
        note=_OLD_NAMES,
    ),
    Scenario(
        "002-instruction-never-invent",
        "002",
        _INSTRUCTION,
        "Invalid agent name prevention",
        superseded_by="001-instruction-never-invent",
        note="'NEVER invent agent names' is not part of the later 'NEVER invent or abbreviate agent names'",
    ),
    Scenario("002-direct-greeting", "002", _DIRECT, "Simple greeting"),
    Scenario("002-direct-not-for-tools", "002", _DIRECT, "Task requiring tools"),
    Scenario("002-rounds-default", "002", _ROUNDS, "Default max rounds"),
    Scenario(
        "002-reporting-operator", "002", _REPORTING, "Executor result reporting", note="now the operator"
    ),
    Scenario(
        "002-reporting-librarian", "002", _REPORTING, "Researcher result reporting", note="now the librarian"
    ),
    Scenario("002-reporting-planner", "002", _REPORTING, "Planner result reporting"),
    Scenario(
        "002-reporting-chronicler",
        "002",
        _REPORTING,
        "Memory Manager result reporting",
        note="now the chronicler",
    ),
    # 003: the first tree
    Scenario(
        "003-tree-multi-agent",
        "003",
        _TREE_OF_FOUR,
        "Multi-agent mode enabled",
        superseded_by="000-tree-multi-agent",
        note=_OLD_TREE,
    ),
    Scenario("003-tree-single-agent", "003", _TREE_OF_FOUR, "Single-agent fallback"),
    Scenario(
        "003-partition-graph",
        "003",
        _PARTITION,
        "Graph tools routed to Researcher",
        superseded_by="000-partition-librarian",
        note="the researcher became the librarian",
    ),
    Scenario(
        "003-partition-unmatched",
        "003",
        _PARTITION,
        "Unmatched tools default to Executor",
        superseded_by="000-partition-unmatched",
        note="unmatched tools belong to nobody",
    ),
    Scenario("003-switch-graph", "003", _SWITCHES, "Graph tools available when graph enabled"),
    Scenario("003-switch-rag", "003", _SWITCHES, "RAG tool available when embedding configured"),
    Scenario(
        "003-switch-memory", "003", _SWITCHES, "Memory tools available when observational memory enabled"
    ),
    Scenario("003-remote-loaded", "003", _REMOTE, "Remote agents loaded and wired"),
    Scenario("003-remote-unreachable", "003", _REMOTE, "Remote agent load failure"),
    # 004: the decisions behind 000
    Scenario("004-spec-registry", "004", DECISIONS, "Data-Driven Agent Creation via AgentSpec Registry"),
    Scenario(
        "004-six-agents",
        "004",
        DECISIONS,
        "Six-Agent Topology (operator/navigator/vault/librarian/planner/chronicler)",
    ),
    Scenario("004-match-order", "004", DECISIONS, "Prefix Matching Order: Librarian First"),
    Scenario("004-unmatched-bucket", "004", DECISIONS, "Unmatched Tools as Separate Bucket"),
    Scenario("004-routing-table", "004", DECISIONS, "Routing Table in Orchestrator Prompt"),
    Scenario("004-reject-protocol", "004", DECISIONS, "Reject Protocol"),
)
