"""Runs inside Sestet's virtual environment and writes the tree that every contestant builds.

``python -m bench.export <tree> <home>``
"""

import asyncio
import json
import sys

import sestet
from bench.script import SPECIALIST_PREFIX

TOOLS_EACH = 5


def main() -> None:
    path, home = sys.argv[1:]
    tree = asyncio.run(_read_tree(home))
    with open(path, "w", encoding="utf-8") as file:
        json.dump(tree, file, indent=1)


async def _read_tree(home: str) -> dict[str, object]:
    async with sestet.open({}, model=sestet.ScriptedModel(), home=home) as app:
        spare = _spare_tools(app)
    tools = [sestet.Tool(name, description) for name, description in spare]
    async with sestet.open({}, model=sestet.ScriptedModel(), home=home, tools=tools) as app:
        # One tree for all, so that each contestant has instructions and names of the same length.
        return {
            "root": _sketch(app.root, []),
            "specialists": [_sketch(agent, _five_tools(agent)) for agent in app.root.sub_agents],
            "spare": spare,
        }


def _spare_tools(app: sestet.App) -> list[tuple[str, str]]:
    """Return the tools that fill each specialist up to five.

    A specialist without a prefix cannot own a tool. Its five go to the last one with a prefix, so that
    the sum is the same.
    """
    present = {agent.name: len(agent.tools or ()) for agent in app.root.sub_agents}
    specs = sestet.default_specs()
    last_owner = next(spec for spec in reversed(specs) if spec.prefixes)
    spare: list[tuple[str, str]] = []
    for spec in specs:
        prefix = next(each for each in (spec.prefixes or last_owner.prefixes) if each.endswith("_"))
        # The contestants call one spare tool of the operator, which has more than five of its own.
        fewest = 1 if prefix == SPECIALIST_PREFIX else 0
        missing = max(fewest, TOOLS_EACH - present.get(spec.name, 0))
        spare += [_spare_tool(prefix, len(spare) + n) for n in range(1, missing + 1)]
    return spare


def _spare_tool(prefix: str, number: int) -> tuple[str, str]:
    return f"{prefix}spare_{number}", f"Does thing number {number} with what is at a path."


def _five_tools(agent: sestet.Agent) -> list[tuple[str, str]]:
    """Return a specialist's tools for the peers: the first five of Sestet's, or five invented ones."""
    tools = [(tool.name, tool.description) for tool in agent.tools or ()][:TOOLS_EACH]
    return tools or [_spare_tool(f"{agent.name}_", n) for n in range(1, TOOLS_EACH + 1)]


def _sketch(agent: sestet.Agent, tools: list[tuple[str, str]]) -> dict[str, object]:
    return {
        "name": agent.name,
        "description": agent.description,
        "instruction": agent.instruction,
        "tools": tools,
    }


if __name__ == "__main__":
    main()
