"""Writes the first files of a new agent or tool: a skeleton with comments, and a test that passes at once."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from sestet.agents import default_specs, match_order, room_names, room_tools
from sestet.config import config_directory, data_directory
from sestet.config.trust import PLUGIN_FOLDER, keeping_trust
from sestet.core.agent import AgentSpec
from sestet.core.errors import PersonError
from sestet.core.schema import suggest
from sestet.orchestration.partition import in_match_order
from sestet.plugins import Plugins
from sestet.plugins.find import PLAQUE, spec_problem, tool_problem

_TEMPLATES = Path(__file__).parent / "skeletons"
#: Folders, files and functions are named after it.
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_NAME_RULE = "use small letters, digits and '_', beginning with a letter, 40 at most"
_PREFIX = re.compile(r"[a-z][a-z0-9_]{0,38}_")


def new_agent(name: str, prefix: str, known: Plugins, *, workspace: bool) -> list[Path]:
    """Write the folder of a new agent; ``prefix`` is the one that it owns, empty for its name and '_'."""
    _require_name(name)
    prefix = prefix or f"{name}_"
    if not _PREFIX.fullmatch(prefix):
        raise PersonError(f"'{prefix}' cannot be a prefix: {_NAME_RULE}, and end it with '_'")
    spec = AgentSpec(name, capabilities={prefix: name})
    if problem := spec_problem(spec, (*default_specs(), *known.specs)):
        raise PersonError(f"'{name}' cannot be added: {problem}")
    values = {"name": name, "prefix": prefix, "identifier": name}
    folder = _root(workspace) / "agents" / name
    files = {
        folder / PLAQUE: _filled("agent.md", values),
        folder / "tools.py": _filled("agent_tools.txt", values),
        folder / f"test_{name}.py": _filled("agent_test.txt", values),
    }
    return _write(files, workspace=workspace)


def new_tool(name: str, agent: str, known: Plugins, *, workspace: bool) -> list[Path]:
    """Write the file of a new tool. With ``agent``, its name gets that agent's prefix if it lacks one."""
    _require_name(name)
    specs = in_match_order((*default_specs(), *known.specs), match_order())
    owner = _named(agent, specs) if agent else next((spec for spec in specs if spec.owns(name)), None)
    if owner is None:
        raise PersonError(
            f"no agent owns a tool called '{name}': begin it with a prefix, or name the agent with --agent; "
            "'sestet agents' lists them"
        )
    if not owner.owns(name):
        name = f"{_usual_prefix(owner)}{name}"
    taken = {tool.name for room in room_names() for tool in room_tools(room)}
    if problem := tool_problem(name, owner, taken | {tool.name for tool in known.tools}):
        raise PersonError(f"'{name}' cannot be added: {problem}")
    if name.endswith("_test"):
        raise PersonError(f"'{name}' cannot be a name: files that end with '_test.py' are tests")
    values = {"tool": name, "agent": owner.name, "identifier": name}
    folder = _root(workspace) / "tools"
    files = {
        folder / f"{name}.py": _filled("tool.txt", values),
        folder / f"test_{name}.py": _filled("tool_test.txt", values),
    }
    return _write(files, workspace=workspace)


def _require_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise PersonError(f"'{name}' cannot be a name: {_NAME_RULE}")
    if name.startswith("test_"):
        raise PersonError(f"'{name}' cannot be a name: files that begin with 'test_' are tests")


def _named(name: str, specs: Sequence[AgentSpec]) -> AgentSpec:
    found = next((spec for spec in specs if spec.name == name), None)
    if found is None:
        raise PersonError(f"there is no agent '{name}'{suggest(name, [spec.name for spec in specs])}")
    if not found.prefixes:
        raise PersonError(f"the agent '{name}' owns no prefix, so it can have no tools")
    return found


def _usual_prefix(spec: AgentSpec) -> str:
    return next((prefix for prefix in spec.prefixes if prefix.endswith("_")), f"{spec.prefixes[0]}_")


def _root(workspace: bool) -> Path:
    return Path.cwd() / PLUGIN_FOLDER if workspace else config_directory()


def _filled(template: str, values: Mapping[str, str]) -> str:
    text = (_TEMPLATES / template).read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda slot: values[slot[1]], text)


def _write(files: Mapping[Path, str], *, workspace: bool) -> list[Path]:
    """Write new files only: what is there already stays as it is."""
    for file in files:
        if os.path.lexists(file):
            raise PersonError(f"{file} exists already; choose another name, or remove it first")
    if not workspace:
        _write_all(files)
        return list(files)
    here = Path.cwd()
    # The person had these files written, so a workspace that was accepted stays accepted.
    with keeping_trust(here, data_directory(), [str(file.relative_to(here)) for file in files]):
        _write_all(files)
    return list(files)


def _write_all(files: Mapping[Path, str]) -> None:
    for file, text in files.items():
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
        except OSError as error:
            raise PersonError(f"{file} cannot be written: {error}") from error
