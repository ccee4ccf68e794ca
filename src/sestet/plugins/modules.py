"""Runs the Python files of one plug-in folder as modules of a private package.

The modules are compiled from the bytes that were read (and, in a workspace, accepted). Nothing is added to
``sys.path``, and no compiled file is read or written. Files of one folder import each other relatively.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from sestet.core.errors import told
from sestet.core.tool import Tool

if TYPE_CHECKING:
    from importlib.abc import Loader

_PRIVATE = "_sestet_plugins"

#: Content by the name of the file; a text says why the file cannot be used.
Sources: TypeAlias = Mapping[str, bytes | str]


class FileTool(NamedTuple):
    """A tool, and the path of the file that holds it."""

    tool: Tool
    where: str


class LoadedModule(NamedTuple):
    file: str
    tools: tuple[FileTool, ...] = ()
    problem: str = ""


def load_modules(folder: str, sources: Sources) -> list[LoadedModule]:
    """Import every file that may hold tools: all but helpers (``_name.py``) and tests."""
    files = [name for name in sources if name.endswith(".py") and not _is_left_out(name)]
    if not files:
        return []
    package = _FINDER.add(folder, sources)
    return [_load(package, folder, file, sources[file]) for file in files]


def each_once(tools: Iterable[FileTool]) -> tuple[FileTool, ...]:
    """Every tool once, though one file may import it from another."""
    found: dict[int, FileTool] = {}
    for each in tools:
        found.setdefault(id(each.tool), each)
    return tuple(found.values())


def _is_left_out(file: str) -> bool:
    return file.startswith(("_", "test_")) or file.endswith("_test.py") or file == "conftest.py"


def _load(package: str, folder: str, file: str, source: bytes | str) -> LoadedModule:
    if isinstance(source, str):
        return LoadedModule(file, problem=source)
    try:
        module = import_module(f"{package}.{file.removesuffix('.py')}")
        # By its type alone: a value of a foreign class may fail when it is asked for its class.
        values = (value for value in vars(module).values() if issubclass(type(value), Tool))
        return LoadedModule(file, tuple(FileTool(tool, f"{folder}/{file}") for tool in values))
    except KeyboardInterrupt:
        raise
    except SyntaxError as error:
        return LoadedModule(file, problem=f"line {error.lineno}: {error.msg}")
    except BaseException as error:  # whatever a plug-in raises, SystemExit too, only it is skipped
        return LoadedModule(file, problem=reason(error))


def reason(error: BaseException) -> str:
    """Why a plug-in failed. Its error may itself fail with anything when it is asked for its text."""
    try:
        return told(error)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return "it raised an error that cannot be shown"


class _Source(NamedTuple):
    path: str
    content: bytes | str
    is_package: bool = False


class _PluginFinder:
    """Finds the modules of plug-ins, and leaves every other name to Python."""

    def __init__(self) -> None:
        self._sources: dict[str, _Source] = {_PRIVATE: _Source("", b"", is_package=True)}

    def add(self, folder: str, sources: Sources) -> str:
        """The name of the package for these files; the same files again are the same package."""
        if self not in sys.meta_path:
            sys.meta_path.append(self)
        package = f"{_PRIVATE}.p{_digest(folder, sources)}"
        self._sources[package] = _Source(folder, sources.get("__init__.py", b""), is_package=True)
        for file, content in sources.items():
            if file.endswith(".py"):
                self._sources[f"{package}.{file.removesuffix('.py')}"] = _Source(f"{folder}/{file}", content)
        return package

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        if (source := self._sources.get(fullname)) is None:
            return None
        loader = cast("Loader", _SourceLoader(source))
        spec = ModuleSpec(fullname, loader, origin=source.path, is_package=source.is_package)
        spec.has_location = bool(source.path) and not source.is_package
        return spec


class _SourceLoader:
    def __init__(self, source: _Source) -> None:
        self._source = source

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python to make the module."""

    def exec_module(self, module: ModuleType) -> None:
        content = self._source.content
        if isinstance(content, str):
            raise ImportError(f"{self._source.path}: {content}")
        code = compile(content, self._source.path or module.__name__, "exec", dont_inherit=True)
        exec(code, vars(module))  # noqa: S102 - the person put this file there, or accepted it


_FINDER = _PluginFinder()


def _digest(folder: str, sources: Sources) -> str:
    from hashlib import sha256

    hashed = sha256(folder.encode("utf-8", "surrogateescape"))
    for name, content in sorted(sources.items()):
        for part in (
            name.encode("utf-8", "surrogateescape"),
            content.encode() if isinstance(content, str) else content,
        ):
            hashed.update(len(part).to_bytes(8, "big"))
            hashed.update(part)
    return hashed.hexdigest()[:16]
