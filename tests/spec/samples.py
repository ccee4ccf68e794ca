"""Tools by name, the tree that they make, and the parts of its instruction, for the scenarios to share."""

import sestet

SIX = ("operator", "navigator", "vault", "librarian", "planner", "chronicler")

#: One tool for each prefix of the specifications, under its owner.
OWNED = {
    "operator": ("exec_shell", "fs_read", "skill_deploy"),
    "navigator": ("browser_navigate",),
    "vault": ("crypto_sign", "secrets_get", "payment_send"),
    "librarian": (
        "search_web",
        "rag_query",
        "graph_traverse",
        "save_knowledge_item",
        "save_learning_item",
        "create_skill_x",
        "list_skills",
    ),
    "planner": (),
    "chronicler": ("memory_store", "observe_event", "reflect_summary"),
}
ALL_OWNED = tuple(name for names in OWNED.values() for name in names)


def tools(*names: str) -> tuple[sestet.Tool, ...]:
    return tuple(sestet.Tool(name=name) for name in names)


def names(found: tuple[sestet.Tool, ...] | None) -> tuple[str, ...]:
    return tuple(tool.name for tool in found or ())


def tree(*tool_names: str) -> sestet.Agent:
    return sestet.build_agent_tree(sestet.OrchestrationConfig(tools=tools(*tool_names)))


def sub_agent(root: sestet.Agent, name: str) -> sestet.Agent:
    return next(agent for agent in root.sub_agents if agent.name == name)


def sub_agent_names(root: sestet.Agent) -> tuple[str, ...]:
    return tuple(agent.name for agent in root.sub_agents)


def routing_entries(instruction: str) -> dict[str, str]:
    """Each ``### name`` of the instruction with the lines below it, up to the next heading."""
    entries: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in instruction.splitlines():
        if line.startswith("### "):
            lines = entries.setdefault(line.removeprefix("### "), [])
        elif line.startswith("#"):
            lines = []
        else:
            lines.append(line)
    return {name: "\n".join(found).strip() for name, found in entries.items()}
