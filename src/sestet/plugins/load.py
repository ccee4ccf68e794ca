"""Loads the code of plug-ins: the files of a folder, and the entry points of installed packages.

The files of one folder become modules of a private package, compiled from the bytes that were read (and, in a
workspace, accepted). Nothing is added to ``sys.path``, and no compiled file is read or written. Files of one
folder import each other relatively.
"""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from sestet.config.trust import replace_file
from sestet.core.agent import AgentSpec
from sestet.core.errors import DefinitionError, told
from sestet.core.record import Record
from sestet.core.tool import Tool

if TYPE_CHECKING:
    from importlib.abc import Loader

_PRIVATE = "_sestet_plugins"
GROUP = "sestet.plugins"
#: The list of packages with plug-ins, in the data directory, so that a start need not look through them all.
CACHE = "plugins.json"

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
    return [_load_module(package, folder, file, sources[file]) for file in files]


def each_once(tools: Iterable[FileTool]) -> tuple[FileTool, ...]:
    """Every tool once, though one file may import it from another."""
    found: dict[int, FileTool] = {}
    for each in tools:
        found.setdefault(id(each.tool), each)
    return tuple(found.values())


def _is_left_out(file: str) -> bool:
    return file.startswith(("_", "test_")) or file.endswith("_test.py") or file == "conftest.py"


def _load_module(package: str, folder: str, file: str, source: bytes | str) -> LoadedModule:
    if isinstance(source, str):
        return LoadedModule(file, problem=source)
    try:
        name = f"{package}.{file.removesuffix('.py')}"
        module = import_module(name)
        if not isinstance(cast("object", module), ModuleType):
            del sys.modules[name]
            return LoadedModule(file, problem="it replaced itself by a value that is not a module")
        # By its type alone: a value of a foreign class may fail when it is asked for its class.
        values = (value for value in vars(module).values() if issubclass(type(value), Tool))
        return LoadedModule(file, tuple(FileTool(tool, f"{folder}/{file}") for tool in values))
    except KeyboardInterrupt:
        raise
    except SyntaxError as error:
        return LoadedModule(file, problem=f"line {error.lineno}: {error.msg}")
    except BaseException as error:  # a plug-in may raise anything, even SystemExit; only it is skipped
        return LoadedModule(file, problem=reason(error))


def reason(error: BaseException) -> str:
    """Why a plug-in failed. Its error may itself fail with anything when it is asked for its text."""
    try:
        return told(error)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return "it raised an error that cannot be shown"


class _Source(Record):
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


Item: TypeAlias = Tool | AgentSpec


class EntryPoint(Record):
    package: str
    name: str
    value: str

    @property
    def where(self) -> str:
        return f"package {self.package} ({self.name} = {self.value})"


class LoadedPackage(NamedTuple):
    where: str
    items: tuple[Item, ...] = ()
    problem: str = ""


def load_packages(data: Path | None) -> Iterator[LoadedPackage]:
    """What each entry point gives, or why it cannot be used."""
    for entry in find_entry_points(data):
        try:
            loaded = LoadedPackage(entry.where, tuple(_items(_resolve(entry.value))))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a plug-in may raise anything, even SystemExit; only it is skipped
            loaded = LoadedPackage(entry.where, problem=reason(error))
        yield loaded


def _resolve(value: str) -> object:
    module, _, attributes = value.partition("[")[0].partition(":")
    found: object = import_module(module.strip())
    for name in filter(None, attributes.strip().split(".")):
        found = getattr(found, name)
    return found


def _items(found: object, *, called: bool = False) -> Iterator[Item]:
    """An entry point names a module, a tool, a spec, a list of them, or a function that returns these."""
    if isinstance(found, Tool | AgentSpec):
        yield found
    elif isinstance(found, ModuleType):
        yield from (value for value in vars(found).values() if issubclass(type(value), Tool | AgentSpec))
    elif isinstance(found, list | tuple):
        for item in cast("list[object]", found):
            yield from _items(item, called=True)
    elif callable(found) and not called:
        yield from _items(found(), called=True)
    else:
        raise DefinitionError(f"{found!r} is neither a tool nor an agent's spec")


def find_entry_points(data: Path | None) -> list[EntryPoint]:
    """The entry points of every package on ``sys.path``, except in the working directory.

    ``importlib.metadata`` reads every package and costs more than the rest of a start, so the packages that
    have plug-ins are kept in a list, which holds until a folder with packages changes.
    """
    places = _places()
    known = _read_cache(data, places)
    if known is None:
        known = [path for place in places for path in _with_plugins(place)]
        _write_cache(data, places, known)
    return [entry for path in known for entry in _entry_points(path)]


def _places() -> dict[str, int]:
    """The folders in which packages are installed, with the moment of their last change."""
    found: dict[str, int] = {}
    here = os.path.realpath(os.curdir)
    # Python skips entries that are no text, such as a Path that a program put there.
    for place in (entry for entry in cast("list[object]", sys.path) if isinstance(entry, str)):
        with suppress(OSError, ValueError):
            # A downloaded folder must not become code because Python was started in it.
            if not place or os.path.realpath(place) == here:
                continue
            found[place] = os.stat(place).st_mtime_ns
    return found


def _with_plugins(place: str) -> Iterator[str]:
    with suppress(OSError):
        for entry in sorted(os.listdir(place)):
            path = f"{place}/{entry}/entry_points.txt"
            if entry.endswith((".dist-info", ".egg-info")) and _has_group(path):
                yield path


def _has_group(path: str) -> bool:
    try:
        with open(path, "rb") as stream:
            return f"[{GROUP}]".encode() in stream.read()
    except OSError:
        return False


def _entry_points(path: str) -> Iterator[EntryPoint]:
    package = os.path.basename(os.path.dirname(path)).rpartition(".")[0].replace("-", " ", 1)
    is_ours = False
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as stream:
        for line in map(str.strip, stream):
            if line.startswith("["):
                is_ours = line == f"[{GROUP}]"
            elif is_ours and "=" in line and not line.startswith(("#", ";")):
                name, _, value = line.partition("=")
                yield EntryPoint(package, name.strip(), value.strip())


def _read_cache(data: Path | None, places: dict[str, int]) -> list[str] | None:
    if data is None:
        return None
    try:
        cached: dict[str, object] = json.loads((data / CACHE).read_bytes())
        if cached["places"] == places:
            return [str(path) for path in cast("list[object]", cached["found"])]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def _write_cache(data: Path | None, places: dict[str, int], found: list[str]) -> None:
    """Without a data directory yet, or on a full disk, the next start looks again."""
    if data is None or not data.is_dir():
        return
    with suppress(OSError):
        replace_file(data / CACHE, json.dumps({"places": places, "found": found}))
