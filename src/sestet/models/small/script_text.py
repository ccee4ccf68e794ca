"""Checks the text of a Python script that a small model wrote, and adds the imports that it forgot."""

import ast
import builtins
import sys
from collections.abc import Iterator


def why_unusable(text: str, *, has_arguments: bool) -> str:
    """Why a script cannot work; empty: it may. ``has_arguments``: it is started with some."""
    if why := why_broken(text):
        return why
    if _uses(text, ("sys", "stdin"), ("", "input")):
        return "nobody types anything for it"
    return "" if has_arguments or not reads_arguments(text) else "it is started without arguments"


def reads_arguments(text: str) -> bool:
    """Whether a script looks at the words behind its name on the command line."""
    return not why_broken(text) and _uses(text, ("sys", "argv"), ("argparse", "ArgumentParser"))


def _uses(text: str, *wanted: tuple[str, str]) -> bool:
    """Whether one of these is used: the attribute of a module, or a function that needs none."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Attribute(ast.Name(module), name) if (module, name) in wanted:
                return True
            case ast.Call(ast.Name(name)) if ("", name) in wanted:
                return True
            case _:
                pass
    return False


def why_broken(text: str) -> str:
    """What is wrong with the form of a script; empty: Python can read it."""
    try:
        ast.parse(text)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError):
        return "Python cannot read it"
    return ""


def with_imports(text: str) -> str:
    """The script, which Python can read, with imports of the standard modules that it uses."""
    tree = ast.parse(text)
    bound = set(_bound(tree)) | set(dir(builtins))
    used = {
        node.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    missing = sorted((used - bound) & sys.stdlib_module_names)
    if not missing:
        return text
    lines = text.splitlines(keepends=True)
    at = _first_line(tree) - 1
    return "".join((*lines[:at], *(f"import {name}\n" for name in missing), *lines[at:]))


def _bound(tree: ast.AST) -> Iterator[str]:
    """Every name that the script gives a meaning, anywhere in it."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names) | ast.ImportFrom(names=names):
                yield from ((each.asname or each.name).partition(".")[0] for each in names)
            case ast.Name(name, ctx=ast.Store()) | ast.arg(name):
                yield name
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name
            case _:
                pass


def _first_line(tree: ast.Module) -> int:
    """The line of the first statement that an import may stand before."""
    for statement in tree.body:
        match statement:
            case ast.Expr(ast.Constant(str())) | ast.ImportFrom("__future__"):
                continue
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if statement.decorator_list:
                return statement.decorator_list[0].lineno
            case _:
                return statement.lineno
    return 1
