"""The size limits of the code base, as pure functions over source text."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

FUNCTION_LINES = 60
CONSTRUCTOR_PARAMETERS = 7


class Oversize(NamedTuple):
    """One place that is larger than its limit."""

    where: str
    size: int
    limit: int

    def __str__(self) -> str:
        return f"{self.where} is {self.size}, and the limit is {self.limit}"


def find_oversizes(path: str, source: str, file_lines: int) -> list[Oversize]:
    """Return every place in one Python file that is larger than its limit."""
    tree = ast.parse(source, filename=path)
    sizes = [
        Oversize(f"{path}: lines of the file", len(source.splitlines()), file_lines),
        *_function_sizes(path, tree),
        *_constructor_sizes(path, tree),
    ]
    return [found for found in sizes if found.size > found.limit]


def _function_sizes(path: str, tree: ast.Module) -> Iterator[Oversize]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            last = node.end_lineno or node.lineno
            where = f"{path}:{node.lineno}: lines of '{node.name}'"
            yield Oversize(where, last - node.lineno + 1, FUNCTION_LINES)


def _constructor_sizes(path: str, tree: ast.Module) -> Iterator[Oversize]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            where = f"{path}:{node.lineno}: constructor parameters of '{node.name}'"
            yield Oversize(where, _count_constructor_parameters(node), CONSTRUCTOR_PARAMETERS)


def _count_constructor_parameters(node: ast.ClassDef) -> int:
    """Count the parameters that a caller has to know to construct the class.

    Frozen dataclasses and named tuples are records: each field is a fact of the thing described, and not
    something that was wired in, so a wide one is no sign of too many duties. Their fields do not count.
    """
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            return _count_parameters(statement.args)
    if _is_mutable_dataclass(node):
        return sum(_is_constructor_field(statement) for statement in node.body)
    return 0


def _count_parameters(arguments: ast.arguments) -> int:
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    gathered = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return len(named) + len(gathered) - 1  # self


def _is_mutable_dataclass(node: ast.ClassDef) -> bool:
    for decorator in node.decorator_list:
        if _last_name(decorator) == "dataclass":
            return not (isinstance(decorator, ast.Call) and _has_keyword(decorator, "frozen", value=True))
    return False


def _is_constructor_field(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.AnnAssign):
        return False
    if _last_name(statement.annotation) in {"ClassVar", "KW_ONLY"}:
        return False
    value = statement.value
    return not (
        isinstance(value, ast.Call)
        and _last_name(value) == "field"
        and _has_keyword(value, "init", value=False)
    )


def _last_name(node: ast.expr) -> str:
    """Return `name` for `name`, `package.name`, `name(...)` and `name[...]`."""
    match node:
        case ast.Call(func=inner) | ast.Subscript(value=inner):
            return _last_name(inner)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def _has_keyword(call: ast.Call, name: str, *, value: bool) -> bool:
    return any(
        keyword.arg == name and isinstance(keyword.value, ast.Constant) and keyword.value.value is value
        for keyword in call.keywords
    )
