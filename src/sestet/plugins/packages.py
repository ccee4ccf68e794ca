"""Plug-ins of installed packages: the entry points of the group ``sestet.plugins``."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, TypeAlias, cast

from sestet.config.trust import replace_file
from sestet.core.agent import AgentSpec
from sestet.core.errors import DefinitionError
from sestet.core.tool import Tool
from sestet.plugins.modules import reason

GROUP = "sestet.plugins"
#: The list of packages with plug-ins, in the data directory, so that a start need not look through them all.
CACHE = "plugins.json"

Item: TypeAlias = Tool | AgentSpec


class EntryPoint(NamedTuple):
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
            loaded = LoadedPackage(entry.where, tuple(_items(_load(entry.value))))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever a plug-in raises, SystemExit too, only it is skipped
            loaded = LoadedPackage(entry.where, problem=reason(error))
        yield loaded


def _load(value: str) -> object:
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
        # A folder that somebody fetched must not become code because Python was started in it.
        with suppress(OSError, ValueError):
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
