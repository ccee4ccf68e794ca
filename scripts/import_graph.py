"""Counts files, lines and imports of the package: ``python -m scripts.import_graph [SRC]``."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
_PACKAGE = "sestet"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Shape(NamedTuple):
    """The size of a package and of the graph of its imports."""

    files: int
    lines: int
    #: Imports of our own modules at the top of a module.
    edges: int
    #: Modules in the longest chain of such imports.
    longest_chain: int
    #: Imports of our own modules inside a function.
    in_functions: int
    #: Modules that exactly one other module imports.
    one_importer: int


def measure(source: Path = ROOT / "src") -> Shape:
    """Measure the package below a source folder."""
    paths = sorted((source / _PACKAGE).rglob("*.py"))
    modules = {_module_name(source, path): path for path in paths}
    top: dict[str, set[str]] = {}
    in_functions = 0
    for name, path in modules.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inner = {id(node) for node in _inside_functions(tree)}
        imports = [(node, set(_imported(node, modules)) - {name}) for node in ast.walk(tree)]
        top[name] = set().union(*(found for node, found in imports if id(node) not in inner))
        in_functions += sum(bool(found) for node, found in imports if id(node) in inner)
    importers = [sum(name in found for found in top.values()) for name in modules]
    return Shape(
        len(paths),
        sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths),
        sum(map(len, top.values())),
        _longest_chain(top),
        in_functions,
        importers.count(1),
    )


def _module_name(source: Path, path: Path) -> str:
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _inside_functions(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            yield from (inner for inner in ast.walk(node) if inner is not node)


def _imported(node: ast.AST, modules: dict[str, Path]) -> Iterator[str]:
    """Our own modules that one import statement names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in modules)
    elif isinstance(node, ast.ImportFrom) and node.module in modules:
        below = [f"{node.module}.{alias.name}" for alias in node.names]
        inner = [name for name in below if name in modules]
        yield from inner or [node.module]


def _longest_chain(top: dict[str, set[str]]) -> int:
    @cache
    def depth(name: str) -> int:
        return 1 + max(map(depth, top[name]), default=0)

    return max(map(depth, top))


if __name__ == "__main__":
    for name, value in measure(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "src")._asdict().items():
        print(f"{name.replace('_', ' '):16} {value:>7,}")
