"""Leaves on a plaque only what the specialist can do with the tools that are there."""

from collections.abc import Iterable

from sestet.core.agent import AgentSpec
from sestet.core.record import replace

_FIELDS = ("keywords", "accepts", "returns", "cannot", "examples")


def entries_of(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """The entries of a field that is one text or several."""
    return (value,) if isinstance(value, str) else value


def named_tools(spec: AgentSpec) -> tuple[str, ...]:
    """The tools that entries of a plaque depend on. With all of them, the specialist offers everything."""
    return (*spec.needs.values(), *spec.lacks.values())


def fit_to_tools(spec: AgentSpec, tool_names: Iterable[str]) -> AgentSpec:
    """The spec with the entries, and the lines of its prompt, that apply with these tools."""
    if not named_tools(spec):
        return spec
    names = tuple(tool_names)

    def has(beginning: str) -> bool:
        return any(name.startswith(beginning) for name in names)

    def applies(entry: str) -> bool:
        if entry in spec.needs:
            return has(spec.needs[entry])
        return entry not in spec.lacks or not has(spec.lacks[entry])

    kept = {name: tuple(filter(applies, entries_of(getattr(spec, name)))) for name in _FIELDS}
    instruction = "\n".join(filter(applies, spec.instruction.splitlines()))
    return replace(spec, **kept, instruction=instruction, needs={}, lacks={})
