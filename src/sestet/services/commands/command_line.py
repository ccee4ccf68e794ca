"""Reads a command line as a shell does: every command in a list, a pipe, a loop or a substitution."""

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from sestet.core.record import Record

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

#: A longer command line is not read, and so always asked about.
_MOST_CHARACTERS = 20_000
_GLOB = frozenset("*?[")
#: Nodes whose value is known only when the command runs.
_EXPANSIONS = frozenset(
    (
        "simple_expansion",
        "expansion",
        "command_substitution",
        "process_substitution",
        "arithmetic_expansion",
        "ansi_c_string",
        "brace_expression",
        "extglob_pattern",
    )
)
#: Statements that set a variable, or another part of the shell's own state.
_SETTINGS = frozenset(("variable_assignment", "declaration_command", "unset_command"))
_NOWHERE = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr"))


class Word(Record):
    """One argument: its value without quotes, if it can be known before the command runs."""

    text: str
    #: The shell replaces a part of it first: a variable, a substitution, a pattern of file names.
    expands: bool = False


class Part(Record):
    """One simple command of a command line."""

    #: As it is written.
    source: str
    #: The program; empty if it is known only when the command runs.
    name: str
    arguments: tuple[Word, ...] = ()
    #: Variables that are set for this command alone.
    assigns: bool = False
    #: The names of the commands whose output it reads, in the order of the pipe.
    reads_from: tuple[str, ...] = ()


class CommandLine(Record):
    parts: tuple[Part, ...]
    #: Files that the shell itself writes: ``> file``.
    written: tuple[Word, ...] = ()
    #: It sets variables, or defines functions.
    changes_shell: bool = False
    #: Functions that run themselves twice: each of them fills the computer with processes.
    bombs: tuple[str, ...] = ()
    #: The shell's grammar does not fit, so parts may be missing.
    unreadable: bool = False


def read_command_line(text: str) -> CommandLine:
    """The parts of a command line, in the order in which they are written."""
    if len(text) > _MOST_CHARACTERS or "\0" in text:
        return CommandLine((), unreadable=True)
    root = _parser().parse(text.encode("utf-8", "replace")).root_node
    nodes = list(_walk(root))
    commands = [node for node in nodes if node.type == "command"]
    return CommandLine(
        tuple(_part(node) for node in commands),
        tuple(word for node in nodes if node.type == "file_redirect" for word in _written(node)),
        any(node.type in _SETTINGS and not _is_prefix(node) for node in nodes)
        or any(node.type == "function_definition" for node in nodes),
        tuple(name for node in nodes if (name := _bomb(node))),
        root.has_error,
    )


@cache
def _parser() -> "Parser":
    # Loaded on use: most turns run no command.
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def _walk(node: "Node") -> "Iterator[Node]":
    ahead = [node]
    while ahead:
        node = ahead.pop()
        yield node
        ahead += reversed(node.children)


def _part(node: "Node") -> Part:
    name = next((child for child in node.children if child.type == "command_name"), None)
    word = _word(name.children[0]) if name and name.children else Word("", expands=True)
    arguments = [
        _word(child)
        for child in node.named_children
        if child.type not in ("command_name", "variable_assignment", "file_redirect", "herestring_redirect")
    ]
    return Part(
        _source(node),
        "" if word.expands else word.text,
        tuple(arguments),
        any(child.type == "variable_assignment" for child in node.children),
        tuple(_before_in_pipe(node)),
    )


def _before_in_pipe(node: "Node") -> Iterator[str]:
    """The commands before this one in its pipe, also if it stands inside of a loop or a subshell there."""
    child, parent = node, node.parent
    while parent is not None:
        if parent.type == "pipeline":
            for sibling in parent.named_children:
                if sibling.start_byte >= child.start_byte:
                    break
                names = (each for each in _walk(sibling) if each.type == "command_name" and each.children)
                yield from (_word(name.children[0]).text for name in names)
        child, parent = parent, parent.parent


def _word(node: "Node") -> Word:
    text = _source(node)
    match node.type:
        case "raw_string":
            return Word(text[1:-1])
        case "string":
            inner = [child for child in node.named_children if child.type != "string_content"]
            value = "".join(_source(child) for child in node.children[1:-1])
            return Word(_unescaped(value, '"\\$`'), any(child.type in _EXPANSIONS for child in inner))
        case "concatenation":
            words = [_word(child) for child in node.children]
            braces = any(child.type == "word" and _source(child) == "{" for child in node.children)
            return Word("".join(word.text for word in words), braces or any(word.expands for word in words))
        case "word" | "number":
            return Word(_unescaped(text), not _GLOB.isdisjoint(text) or text.startswith("~"))
        case _:
            return Word(text, expands=True)


def _unescaped(text: str, special: str = "") -> str:
    """The text without backslashes: in double quotes, only those before certain characters are taken away."""
    plain, characters = "", iter(text)
    for character in characters:
        if character == "\\":
            following = next(characters, "")
            plain += following if not special or following in special else f"\\{following}"
        else:
            plain += character
    return plain


def _written(redirect: "Node") -> Iterator[Word]:
    """The file that a redirect writes; none for input, for descriptors and for /dev/null."""
    if not any(">" in child.type for child in redirect.children):
        return
    target = redirect.named_children[-1] if redirect.named_children else None
    if target is None or target.type == "number":
        return
    word = _word(target)
    if word.expands or word.text not in _NOWHERE:
        yield word


def _is_prefix(node: "Node") -> bool:
    """Whether an assignment stands before a command, as in ``A=1 make``, and ends with it."""
    return node.parent is not None and node.parent.type == "command"


def _bomb(node: "Node") -> str:
    """The name of a function that runs itself twice, or runs itself without waiting."""
    if node.type != "function_definition" or not node.named_children:
        return ""
    name = _source(node.named_children[0])
    calls = [
        each
        for each in _walk(node)
        if each.type == "command_name" and _source(each) == name and each.start_byte > node.start_byte
    ]
    alone = any(child.type == "&" for each in _walk(node) for child in each.children)
    return name if len(calls) > 1 or (calls and alone) else ""


def _source(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "replace")
