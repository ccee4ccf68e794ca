"""Changes single settings in the file of a person, and leaves every other character as it was written."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Protocol, TypeAlias, cast

from sestet.config.load import (
    data_directory,
    put_value,
    settings_to_use,
    usual_file,
)
from sestet.config.mistakes import member_schema
from sestet.config.settings import settings_schema
from sestet.config.settings_text import parse_yaml
from sestet.config.trust import SETTINGS_FILE, keeping_trust, replace_file
from sestet.core.errors import ConfigError
from sestet.core.schema import JsonObject, JsonValue, find_problems

#: New values by key: ``{("agent", "provider"): "local"}``.
Changes: TypeAlias = Mapping[tuple[str, ...], JsonValue]

#: Texts that YAML reads as themselves without quotes.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(:[A-Za-z0-9_./-]+)*|\$\{\w+\}")
#: A key that the environment holds; only its name is written.
_REFERENCE = re.compile(r"\$\{\w+\}|vault:[\w.-]+")
_NOT_PLAIN = frozenset(("true", "false", "yes", "no", "on", "off", "null", "y", "n"))


class _Mark(Protocol):
    index: int
    column: int


class _Node(Protocol):
    """The attributes that we use of ruamel's nodes, which are untyped."""

    id: str
    start_mark: _Mark
    end_mark: _Mark
    flow_style: bool
    value: object


def file_to_edit(
    named: Path | None = None, *, environ: Mapping[str, str] | None = None, directory: Path | None = None
) -> Path:
    """The file that settings are read from; if there is none yet, the one in the config directory."""
    environ = os.environ if environ is None else environ
    return named or settings_to_use(environ, directory or Path.cwd()) or usual_file(environ)


def own_file(environ: Mapping[str, str] | None = None) -> Path:
    """The person's own settings, the only file into which a key itself is written."""
    return usual_file(os.environ if environ is None else environ)


def edit_settings(file: Path, changes: Changes, *, environ: Mapping[str, str] | None = None) -> None:
    """Write new values into the file, which is made if it is not there: all of them, or none.

    A workspace's settings that were accepted before stay accepted. A key is written only into the person's
    own settings, and then nobody else can read that file.
    """
    schema = settings_schema()
    problems = [
        f"{file}: {'.'.join((*key, *problem.path))}: {problem.message}"
        for key, value in changes.items()
        for problem in find_problems(member_schema(schema, key), value)
    ]
    if problems:
        raise ConfigError(problems)
    # Edit the target of a symbolic link, and keep the link.
    file = file.resolve()
    has_key = any(_is_key(schema, key, value) for key, value in changes.items())
    if has_key and file != own_file(environ).resolve():
        why = f"a key is written only into your own settings, {own_file(environ)}"
        raise ConfigError([f"{file}: {why}; write 'apiKey: ${{NAME}}' here, and the key into that variable"])
    text = edited(_read(file), changes, str(file))
    with _keeping_trust(file, os.environ if environ is None else environ):
        _replace(file, text, 0o600 if has_key else 0o777)


def remove_setting(file: Path, key: tuple[str, ...], *, environ: Mapping[str, str] | None = None) -> None:
    """Take one setting with everything below it out of the file; an empty section goes with it."""
    file = file.resolve()
    text, name = _read(file), str(file)
    expected = parse_yaml(text, name)
    *above, last = key
    while above and len(_section_at(expected, above)) == 1:
        last = above.pop()
    del _section_at(expected, above)[last]
    key = (*above, last)
    changed = _without_member(text, key, name)
    if parse_yaml(changed, name) != expected:
        by_hand = f"is written in a way that cannot be edited here; remove {'.'.join(key)} by hand"
        raise ConfigError([f"{file}: {by_hand}"])
    with _keeping_trust(file, os.environ if environ is None else environ):
        _replace(file, changed, 0o777)


def _section_at(values: object, key: Sequence[str]) -> dict[str, object]:
    for name in key:
        values = cast("dict[str, object]", values)[name]
    return cast("dict[str, object]", values)


def _without_member(text: str, key: tuple[str, ...], file: str) -> str:
    """The text without the lines of one member of a section in block style."""
    section = _compose(text, file)
    assert section is not None  # the caller has found the key
    for name in key[:-1]:
        found = _member(section, name)
        assert found is not None
        section = found[1]
    member = _member(section, key[-1])
    assert member is not None
    start = text.rfind("\n", 0, member[0].start_mark.index) + 1
    end = text.find("\n", max(member[0].end_mark.index, _end(member[1]) - 1))
    return text[:start] + (text[end + 1 :] if end >= 0 else "")


def _is_key(schema: JsonObject, key: tuple[str, ...], value: JsonValue) -> bool:
    """Whether this writes a secret itself, and not the name of its variable or its place in the vault."""
    is_secret = member_schema(schema, key).get("writeOnly") is True
    return is_secret and bool(value) and not _REFERENCE.fullmatch(str(value))


def _keeping_trust(file: Path, environ: Mapping[str, str]) -> AbstractContextManager[None]:
    try:
        own, data = usual_file(environ).resolve(), data_directory(environ)
    except ConfigError:  # without a home directory there is no list of accepted workspaces
        return nullcontext()
    if file == own or file.name != SETTINGS_FILE:
        return nullcontext()
    return keeping_trust(file.parent, data, (SETTINGS_FILE,))


def edited(text: str, changes: Changes, file: str) -> str:
    """The text of a settings file with new values in it."""
    expected = parse_yaml(text, file)
    # A section that contains itself ends in a RecursionError.
    with suppress(RecursionError):
        for key, value in changes.items():
            text = _with_value(text, key, value, file)
            put_value(expected, key, value)
        with suppress(ConfigError):
            if parse_yaml(text, file) == expected:
                return text
    # The edited text would have another meaning, for example because of anchors or tags.
    schema = settings_schema()
    listed = ", ".join(
        f"{'.'.join(key)}: {'(the key)' if _is_key(schema, key, value) else json.dumps(value)}"
        for key, value in changes.items()
    )
    raise ConfigError([f"{file}: is written in a way that cannot be edited here; write by hand: {listed}"])


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([f"{file}: cannot be read: {error}"]) from error


def _replace(file: Path, text: str, most: int) -> None:
    """Only its owner can read a new file; an old one keeps its mode, as far as ``most`` allows."""
    try:
        replace_file(file, text, file.stat().st_mode & most if file.exists() else 0o600)
    except OSError as error:
        raise ConfigError([f"{file}: cannot be written: {error}"]) from error


def _with_value(text: str, key: tuple[str, ...], value: JsonValue, file: str) -> str:
    """The text with one value written over the old one, or as a new line of the innermost section."""
    section, depth = _compose(text, file), 0
    if section is None or section.id != "mapping":
        return _with_lines(text, len(text), _lines(key, value, 0))
    while (member := _member(section, key[depth])) is not None:
        name, inner = member
        depth += 1
        # ruamel places an empty value where the next one starts; the new value goes after the colon.
        empty = inner.start_mark.index == inner.end_mark.index
        place = text.index(":", name.end_mark.index) + 1 if empty else inner.start_mark.index
        if depth == len(key):
            return f"{text[:place]}{' ' * empty}{_flow(value)}{text[place if empty else _end(inner) :]}"
        if empty:
            return _with_lines(text, place, _lines(key[depth:], value, name.start_mark.column + 2))
        if inner.id != "mapping":
            raise ConfigError([f"{file}: {'.'.join(key[:depth])}: must be a mapping of settings"])
        section = inner
    if section.flow_style:
        place = section.end_mark.index - 1
        joint = ", " if section.value else ""
        return f"{text[:place].rstrip()}{joint}{_flow_member(key[depth:], value)}{text[place:]}"
    return _with_lines(text, _end(section), _lines(key[depth:], value, section.start_mark.column))


def _compose(text: str, file: str) -> _Node | None:
    from ruamel.yaml import YAML

    parse_yaml(text, file)
    return cast("_Node | None", YAML(typ="safe", pure=True).compose(text))  # pyright: ignore[reportUnknownMemberType] - ruamel is untyped


def _member(section: _Node, name: str) -> tuple[_Node, _Node] | None:
    pairs = cast("list[tuple[_Node, _Node]]", section.value)
    return next((pair for pair in pairs if pair[0].value == name), None)


def _end(node: _Node) -> int:
    """Where the last value of a section ends; the section itself ends only after the comments below it."""
    if node.id in ("mapping", "sequence") and not node.flow_style and node.value:
        last = cast("list[_Node | tuple[_Node, _Node]]", node.value)[-1]
        key, value = last if isinstance(last, tuple) else (last, last)
        return max(key.end_mark.index, _end(value)) if value.value else key.end_mark.index
    return node.end_mark.index


def _with_lines(text: str, place: int, lines: list[str]) -> str:
    """The text with new lines below the line at this position."""
    newline = "\r\n" if "\r\n" in text else "\n"
    # A block of text ends at the start of the next line.
    at_line_start = place > 0 and text[place - 1] == "\n"
    end = place if at_line_start else text.find("\n", place) + 1 or len(text)
    head, tail = text[:end], text[end:]
    if head and not head.endswith("\n"):
        head += newline
    return head + "".join(line + newline for line in lines) + tail


def _lines(key: tuple[str, ...], value: JsonValue, indent: int) -> list[str]:
    sections = [f"{' ' * (indent + 2 * depth)}{_flow(name)}:" for depth, name in enumerate(key)]
    return [*sections[:-1], f"{sections[-1]} {_flow(value)}"]


def _flow_member(key: tuple[str, ...], value: JsonValue) -> str:
    first, *rest = key
    return f"{_flow(first)}: " + (f"{{{_flow_member(tuple(rest), value)}}}" if rest else _flow(value))


def _flow(value: JsonValue) -> str:
    """A value as one line of YAML."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _NOT_PLAIN:
        return value
    return json.dumps(value, ensure_ascii=False)
