"""Sestet: a self-hosted assistant run by specialists.

Names are loaded when they are first used, so that ``import sestet`` costs next to nothing.
"""

TYPE_CHECKING = False  # what typing.TYPE_CHECKING is, without importing typing
if TYPE_CHECKING:
    from sestet.api import OrchestrationConfig as OrchestrationConfig
    from sestet.api import RoleToolSet as RoleToolSet
    from sestet.api import build_agent_tree as build_agent_tree
    from sestet.api import build_single_agent as build_single_agent
    from sestet.api import capability_description as capability_description
    from sestet.api import default_specs as default_specs
    from sestet.api import partition_tools as partition_tools
    from sestet.api import tool_capability as tool_capability
    from sestet.app import App as App
    from sestet.app import open as open
    from sestet.config import Settings as Settings
    from sestet.core.agent import Agent as Agent
    from sestet.core.agent import AgentSpec as AgentSpec
    from sestet.core.message import ToolCall as ToolCall
    from sestet.core.model import ModelReply as ModelReply
    from sestet.core.tool import Tool as Tool
    from sestet.core.tool import tool as tool
    from sestet.models.scripted import ScriptedModel as ScriptedModel
    from sestet.runtime.answer import Answer as Answer

__version__ = "0.1.0"

_HOME_OF = {
    "Agent": "sestet.core.agent",
    "AgentSpec": "sestet.core.agent",
    "Answer": "sestet.runtime.answer",
    "App": "sestet.app",
    "ModelReply": "sestet.core.model",
    "OrchestrationConfig": "sestet.api",
    "RoleToolSet": "sestet.api",
    "ScriptedModel": "sestet.models.scripted",
    "Settings": "sestet.config",
    "Tool": "sestet.core.tool",
    "ToolCall": "sestet.core.message",
    "build_agent_tree": "sestet.api",
    "build_single_agent": "sestet.api",
    "capability_description": "sestet.api",
    "default_specs": "sestet.api",
    "open": "sestet.app",
    "partition_tools": "sestet.api",
    "tool": "sestet.core.tool",
    "tool_capability": "sestet.api",
}
__all__ = sorted(_HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll] - one table, one place


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOME_OF:
        raise AttributeError(f"module 'sestet' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *_HOME_OF]
