"""Tools and specialists that a person adds without changing the package; ``find.py`` finds them."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from sestet.core.agent import AgentSpec
from sestet.core.tool import Tool


class Plugins(NamedTuple):
    """What the plug-ins add, where each part came from, and which plug-ins were skipped."""

    tools: tuple[Tool, ...] = ()
    specs: tuple[AgentSpec, ...] = ()
    #: The file or package behind each added agent and tool, by name.
    origins: Mapping[str, str] = {}
    #: One sentence for each plug-in that was skipped: its file and the reason.
    problems: tuple[str, ...] = ()
    #: The names of agents that were skipped, so that settings for them are no mistake.
    skipped: frozenset[str] = frozenset()
    #: One line about a workspace whose settings or plug-ins are ignored.
    notice: str = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*self.problems, self.notice) if self.notice else self.problems


def without_tools(plugins: Plugins, available: Collection[str]) -> Plugins:
    """The plug-ins without tools that could not be bound; each of these becomes a problem."""
    missing = [tool for tool in plugins.tools if tool.name not in available]
    if not missing:
        return plugins
    problems = [
        f"{plugins.origins[tool.name]}: the tool '{tool.name}' is skipped: it needs "
        f"{' and '.join(need.__name__ for need in tool.needs)}, and not all of that is there"
        for tool in missing
    ]
    return plugins._replace(
        tools=tuple(tool for tool in plugins.tools if tool.name in available),
        problems=(*plugins.problems, *problems),
    )
