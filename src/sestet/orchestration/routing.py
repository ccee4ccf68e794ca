"""Renders the orchestrator's instruction with its routing table."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from sestet.core.agent import Agent, AgentSpec
from sestet.core.offer import entries_of
from sestet.core.tool import Tool

DEFAULT_ROUNDS = 5

#: How long the prompts are: complete, or short enough for a small model.
PromptProfile: TypeAlias = Literal["full", "compact"]

_PROMPTS = Path(__file__).parent / "prompts"
#: The sections of a plaque's prompt that are never left out.
_KEPT = ("## Output Format", "## Constraints")
#: How many examples of each specialist a compact routing table has.
_EXAMPLES = 3


def render_instruction(
    agents: Sequence[Agent],
    specs: Mapping[str, AgentSpec],
    unmatched: Sequence[Tool],
    system_prompt: str,
    rounds: int,
    profile: PromptProfile = "full",
) -> str:
    """The orchestrator's instruction for exactly the agents that exist."""
    names = [agent.name for agent in agents]
    if profile == "compact":
        file, table = "orchestrator_compact.md", "\n".join(_line(a, specs.get(a.name)) for a in agents)
    else:
        file = "orchestrator.md"
        table = "\n\n".join(render_entry(agent, specs.get(agent.name), names) for agent in agents)
    return fill_prompt(
        file,
        system_prompt=system_prompt,
        routing_table=table,
        unavailable=_unavailable(unmatched),
        names=", ".join(f"`{name}`" for name in names),
        rounds=str(rounds),
    )


def fill_prompt(file: str, **values: str) -> str:
    """A prompt file with its ``{{slots}}`` filled; the values themselves are never searched for slots."""
    text = (_PROMPTS / file).read_text(encoding="utf-8")
    filled = re.sub(r"\{\{(\w+)\}\}", lambda slot: values[slot[1]].strip(), text)
    return re.sub(r"\n{3,}", "\n\n", filled).strip() + "\n"


def shorten(instruction: str) -> str:
    """A specialist's own prompt without the parts that a small model can do without."""
    head, *sections = re.split(r"(?m)^(?=## )", instruction.strip())
    kept = (section for section in sections if section.startswith(_KEPT))
    return "\n\n".join(part.strip() for part in (head, *kept))


def _line(agent: Agent, spec: AgentSpec | None) -> str:
    role = spec.description if spec else agent.description
    examples = "; ".join(f"“{example}”" for example in spec.examples[:_EXAMPLES]) if spec else ""
    return f"- {agent.name}: {role}" + (f". Such as {examples}" if examples else "")


def render_entry(agent: Agent, spec: AgentSpec | None, names: Sequence[str]) -> str:
    """The entry of one agent in the routing table; ``names`` are all agents that exist."""
    lines = [f"### {agent.name}", f"- Role: {agent.description}"]
    if agent.remote is not None:
        lines.append("- Remote: it is sent the request alone, so put everything it needs into it")
    if spec is not None:
        lines += (f"- {label}: {text}" for label, text in _plaque(spec, names) if text)
    return "\n".join(lines)


def _plaque(spec: AgentSpec, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield "Keywords", ", ".join(spec.keywords)
    yield "Accepts", "; ".join(entries_of(spec.accepts))
    yield "Returns", "; ".join(entries_of(spec.returns))
    yield "Cannot", "; ".join(spec.cannot)
    yield "Examples", "; ".join(f"“{example}”" for example in spec.examples)
    others = ((name, when) for name, when in spec.not_for.items() if name in names)
    yield "Not for", "; ".join(f"{when} (→ {name})" for name, when in others)


def _unavailable(unmatched: Sequence[Tool]) -> str:
    if not unmatched:
        return ""
    return fill_prompt("unavailable.md", tools=", ".join(f"`{tool.name}`" for tool in unmatched))
