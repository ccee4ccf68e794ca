"""Finds plug-ins: folders of the config directory, of an accepted workspace, and installed packages.

A plug-in that cannot be used is named with its file and the reason, and the others go on.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TypeAlias, cast

from sestet.agents import default_specs, room_names, room_tools
from sestet.agents._shared.plaque import parse_plaque
from sestet.config import Loaded, Workspace, config_directory, data_directory, find_workspace
from sestet.config.trust import PLUGIN_FOLDER, why_foreign
from sestet.core.agent import (
    ASSISTANT,
    DIRECT,
    NAME_RULE,
    REJECT_TASK,
    SHOW_RESULTS,
    TRANSFER,
    AgentSpec,
    is_valid_name,
    normalise_name,
)
from sestet.core.errors import ConfigError, DefinitionError
from sestet.core.record import Record, as_dict, convert, to_json
from sestet.core.tool import Tool
from sestet.orchestration.partition import require_agent_names
from sestet.plugins import Plugins
from sestet.plugins.load import FileTool, Sources, each_once, load_modules, load_packages, reason

PLAQUE = "AGENT.md"
_MOST_BYTES = 1_000_000
#: Names that stand for something else in settings, events and routes, or for a call that every tree offers.
_OTHER_MEANINGS = frozenset(
    map(normalise_name, (ASSISTANT, DIRECT, "user", TRANSFER, REJECT_TASK, SHOW_RESULTS))
)


class Found(NamedTuple):
    """One plug-in as it was found: an agent with its tools, or tools alone."""

    where: str
    spec: AgentSpec | None = None
    tools: tuple[FileTool, ...] = ()
    problem: str = ""
    #: The agent's name, or the name of its folder if the plaque cannot be read.
    name: str = ""


def find_plugins(
    loaded: Loaded | None = None, specs: Sequence[AgentSpec] = (), tools: Sequence[Tool] = ()
) -> Plugins:
    """Every plug-in of this person, of this workspace if it is accepted, and of installed packages.

    ``specs`` and ``tools`` exist already, beside the built-in ones: a plug-in must not take their names.
    """
    workspace = loaded.workspace if loaded else None
    notice = workspace.notice if workspace else ""
    if workspace is None and (workspace := find_workspace()) and (workspace.has_plugins or workspace.problem):
        # The settings were named or given: of the workspace, only the plug-ins matter.
        notice = workspace.notice
    found = [*_in_config_directory(), *_in_workspace(workspace), *_in_packages()]
    return _joined(found, specs, tools)._replace(notice=notice)


def read_folder(folder: Path, specs: Sequence[AgentSpec] = (), tools: Sequence[Tool] = ()) -> Plugins:
    """The plug-in in one folder that the caller names: an agent's folder, or one with files of tools."""
    folder = folder.expanduser().absolute()
    try:
        sources = {folder.name: _own_files(folder)}
    except OSError as error:
        raise DefinitionError(f"plugins: {folder} cannot be read: {error}") from error
    kind = _agents if PLAQUE in sources[folder.name] else _tool_files
    return _joined(kind(sources, str(folder.parent)), specs, tools)


#: The files of several folders, by the name of the folder and of the file.
_Folders: TypeAlias = Mapping[str, Sources]


def _in_config_directory() -> Iterator[Found]:
    try:
        directory = config_directory()
    except ConfigError:  # without a home directory there is no config directory
        return
    agents, tools = directory / "agents", directory / "tools"
    try:
        if agents.is_dir():
            for name in sorted(entry.name for entry in os.scandir(agents) if _is_plugin_folder(entry)):
                yield from _agent_in(agents / name)
        if tools.is_dir():
            yield from _tool_files({"tools": _own_files(tools)}, str(directory))
    except OSError as error:
        yield Found(str(directory), problem=f"cannot be read: {error}")


def _agent_in(folder: Path) -> Iterator[Found]:
    try:
        sources = _own_files(folder)
    except OSError as error:
        sources: Sources = {PLAQUE: f"cannot be read: {error}"}
    yield from _agents({folder.name: sources}, str(folder.parent))


def _is_plugin_folder(entry: "os.DirEntry[str]") -> bool:
    return entry.is_dir() and not entry.name.startswith((".", "_"))


def _own_files(folder: Path) -> Sources:
    """The plaque and the Python files of a folder; a text in place of bytes says why a file is not used."""
    names = sorted(os.listdir(folder))
    used = (name for name in names if name == PLAQUE or (name.endswith(".py") and name[0] != "."))
    return {name: _read_own(folder / name) for name in used}


def _read_own(path: Path) -> bytes | str:
    try:
        if not path.is_file():
            return "is not a regular file"
        with path.open("rb") as stream:
            if why := why_foreign(os.fstat(stream.fileno())):
                return f"{why}, so it is not used"
            content = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        return f"cannot be read: {error}"
    return content if len(content) <= _MOST_BYTES else f"is larger than {_MOST_BYTES // 1_000_000} MB"


def _in_workspace(workspace: Workspace | None) -> Iterator[Found]:
    """The plug-ins of an accepted workspace, loaded from the bytes that were hashed."""
    if workspace is None or not workspace.is_accepted:
        return
    folders: dict[str, dict[str, bytes | str]] = {}
    tools: dict[str, bytes | str] = {}
    for path, content in workspace.files.items():
        match PurePosixPath(path).parts:
            case (_, "agents", folder, name) if name == PLAQUE or name.endswith(".py"):
                if not folder.startswith((".", "_")):
                    folders.setdefault(folder, {})[name] = content
            case (_, "tools", name) if name.endswith(".py"):
                tools[name] = content
            case _:
                pass
    root = workspace.directory / PLUGIN_FOLDER
    yield from _agents(folders, str(root / "agents"))
    if tools:
        yield from _tool_files({"tools": tools}, str(root))


def _in_packages() -> Iterator[Found]:
    try:
        data = data_directory()
    except ConfigError:  # without a home directory there is no place for the list of packages
        data = None
    for where, items, problem in load_packages(data):
        specs = [item for item in items if isinstance(item, AgentSpec)]
        tools = tuple(FileTool(item, where) for item in items if isinstance(item, Tool))
        yield from (Found(where, spec, name=spec.name) for spec in specs)
        if tools or problem:
            yield Found(where, tools=tools, problem=problem)


def _agents(folders: _Folders, parent: str) -> Iterator[Found]:
    for folder, sources in folders.items():
        where = f"{parent}/{folder}"
        if PLAQUE not in sources:
            yield Found(where, problem=f"has no {PLAQUE}", name=folder)
            continue
        plaque = sources[PLAQUE]
        if isinstance(plaque, str):
            yield Found(f"{where}/{PLAQUE}", problem=plaque, name=folder)
            continue
        try:
            spec = parse_plaque(plaque)
        except DefinitionError as error:
            yield Found(f"{where}/{PLAQUE}", problem=str(error), name=folder)
            continue
        loaded = load_modules(f"{parent}/{folder}", sources)
        broken = next((each for each in loaded if each.problem), None)
        if broken:
            # Half of its tools would not do what its plaque promises.
            why = f"{broken.problem}; without this file there is no agent '{spec.name}'"
            yield Found(f"{where}/{broken.file}", problem=why, name=spec.name)
            continue
        tools = each_once(tool for each in loaded for tool in each.tools)
        yield Found(f"{where}/{PLAQUE}", spec, tools, name=spec.name)


def _tool_files(folders: _Folders, parent: str) -> Iterator[Found]:
    for folder, sources in folders.items():
        seen: set[int] = set()
        for file, held, problem in load_modules(f"{parent}/{folder}", sources):
            tools = tuple(each for each in each_once(held) if id(each.tool) not in seen)
            seen.update(id(each.tool) for each in tools)
            yield Found(f"{parent}/{folder}/{file}", tools=tools, problem=problem)


def _joined(found: Iterable[Found], beside: Sequence[AgentSpec], others: Sequence[Tool]) -> Plugins:
    """The plug-ins that fit beside the built-in agents and tools; of two that collide, the first."""
    found = list(found)
    if not found:
        return Plugins()
    specs: list[AgentSpec] = []
    tools: list[Tool] = []
    origins: dict[str, str] = {}
    problems: list[str] = []
    skipped: set[str] = set()
    tool_names = {tool.name for name in room_names() for tool in room_tools(name)}
    tool_names.update(tool.name for tool in others)
    for plugin in found:
        problem = plugin.problem
        if not problem and plugin.spec is not None:
            problem = type_problem(plugin.spec)
            problem = problem or spec_problem(plugin.spec, (*default_specs(), *beside, *specs))
        if problem:
            problems.append(f"{plugin.where}: skipped: {problem}")
            skipped.add(str(plugin.name))
            continue
        if plugin.spec is not None:
            specs.append(plugin.spec)
            origins[plugin.spec.name] = plugin.where
        for tool, where in plugin.tools:
            if problem := type_problem(tool) or tool_problem(tool.name, plugin.spec, tool_names):
                problems.append(f"{where}: the tool '{tool.name}' is skipped: {problem}")
                continue
            tool_names.add(tool.name)
            tools.append(tool)
            origins[tool.name] = where
    return Plugins(tuple(tools), tuple(specs), origins, tuple(problems), frozenset(skipped - {""}))


class _ToolFields(Record):
    """The fields of a tool that other code takes for what their types say."""

    name: str
    description: str
    parameters: dict[str, object]
    examples: tuple[str, ...]
    targets: tuple[str, ...]
    calls_per_turn: int | None
    fixed_result: dict[str, object] | None


def type_problem(item: Tool | AgentSpec) -> str:
    """The field of a tool or spec that has a wrong type: a plug-in may be written without a type checker."""
    try:
        values = as_dict(item)
        for name, value in values.items():
            if isinstance(value, list):
                return f"its {name} must be a tuple"
        if isinstance(item, AgentSpec):
            convert(values, AgentSpec)
            return ""
        convert({name: values[name] for name in _ToolFields.__struct_fields__}, _ToolFields)
        to_json((item.parameters, item.fixed_result))
        if not all(isinstance(need, type) for need in cast("tuple[object, ...]", item.needs)):
            return "its needs must be a tuple of types"
        if not all(function is None or callable(function) for function in (item.function, item.probe)):
            return "its function cannot be called"
    except Exception as error:
        return reason(error)
    return ""


def spec_problem(spec: AgentSpec, others: Sequence[AgentSpec]) -> str:
    """Why an agent cannot stand beside these others; empty when it can."""
    if not is_valid_name(spec.name):
        return f"the agent's name '{spec.name}' {NAME_RULE}"
    try:
        require_agent_names([spec.name])
    except DefinitionError as error:
        return str(error)
    if normalise_name(spec.name) in _OTHER_MEANINGS:
        return f"the name '{spec.name}' has another meaning, choose another"
    names = {normalise_name(other.name): other.name for other in others}
    if (same := names.get(normalise_name(spec.name))) is not None:
        return f"there is an agent '{same}' already"
    for prefix in spec.prefixes:
        if not is_valid_name(prefix):
            return f"its prefix '{prefix}' cannot begin the name of a tool"
        for other in others:
            for known in other.prefixes:
                if prefix.startswith(known) or known.startswith(prefix):
                    return f"its prefix '{prefix}' collides with '{known}' of the agent '{other.name}'"
    return ""


def tool_problem(name: str, spec: AgentSpec | None, names: set[str]) -> str:
    """Why a tool cannot have this name beside the others; ``spec``: the agent in whose folder it lies."""
    if not is_valid_name(name):
        return f"its name {NAME_RULE}"
    if name in (TRANSFER, REJECT_TASK, SHOW_RESULTS):
        return "this name is reserved"
    if name in names:
        return "there is a tool of this name already"
    if spec is not None and not spec.owns(name):
        if not spec.prefixes:
            return f"the agent '{spec.name}' owns no prefix; add one to the capabilities in {PLAQUE}"
        owned = " or ".join(f"'{prefix}'" for prefix in spec.prefixes)
        return f"its name must begin with {owned}, as {PLAQUE} says"
    return ""
