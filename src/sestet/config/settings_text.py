"""Reads the text of a settings file: a small YAML document, or an error that says why it is not one."""

import json
import warnings
from collections.abc import Iterable
from typing import cast

from sestet.core.errors import ConfigError
from sestet.core.schema import JsonValue

#: The bytes of a settings file; more are not read.
MOST_BYTES = 1_000_000
_SHORT = 500
_MOST_DEPTH = 50
#: Counted with every alias written out.
_MOST_CHARACTERS = 200_000
_MOST_VALUES = 5_000
#: Each value counts as this many characters beside its own, so that one number bounds both.
_PER_VALUE = _MOST_CHARACTERS // _MOST_VALUES


def parse_yaml(text: str, file: str) -> dict[str, JsonValue]:
    """The content of a settings file, not checked yet."""
    content = load_yaml(text, file)
    if content is None:
        return {}
    if not isinstance(content, dict):
        form = "write it as agent: {provider: offline}"
        raise ConfigError([f"{file}: must be a mapping of settings, got {type(content).__name__}; {form}"])
    return cast("dict[str, JsonValue]", content)


def load_yaml(text: str, file: str) -> object:
    """The value of a small YAML document."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import ReusedAnchorWarning, YAMLError

    if len(text) > MOST_BYTES:
        raise ConfigError([f"{file}: is larger than {MOST_BYTES // 1_000_000} MB"])
    try:
        # A short text without aliases cannot hold much.
        if len(text) > _SHORT or "*" in text:
            _require_small(text, file)
        with warnings.catch_warnings():
            # An anchor that stands twice is valid YAML.
            warnings.simplefilter("ignore", ReusedAnchorWarning)
            content: object = YAML(typ="safe").load(text)  # pyright: ignore[reportUnknownMemberType] - ruamel is untyped
        # Raises for an alias that contains itself: later code could not walk through it.
        json.dumps(content, skipkeys=True, default=str)
    except RecursionError as error:
        raise ConfigError([f"{file}: is nested too deeply"]) from error
    # An impossible date, number, character or "!!omap" is no YAMLError.
    except (YAMLError, ValueError, OverflowError, TypeError, AssertionError) as error:
        raise ConfigError([f"{file}: is not valid YAML: {_one_line(error)}"]) from error
    return content


def _require_small(text: str, file: str) -> None:
    """Raise for settings that are deep, or large once their aliases are written out.

    A few lines of aliases, merged sections or brackets can keep the reader busy for hours, and ``sestet
    chat`` reads the settings of a folder before the person accepted them.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, ScalarEvent

    sizes: dict[str | None, int] = {}
    anchors: list[str | None] = []
    #: First the size of all closed sections together, then the size of each open one.
    open_sizes = [0]
    for event in cast("Iterable[object]", YAML(typ="safe").parse(text)):  # pyright: ignore[reportUnknownMemberType] - ruamel is untyped
        anchor = cast("str | None", getattr(event, "anchor", None))
        if isinstance(event, CollectionStartEvent):
            anchors.append(anchor)
            open_sizes.append(_PER_VALUE)
        elif isinstance(event, CollectionEndEvent):
            size = sizes[anchors.pop()] = open_sizes.pop()
            open_sizes[-1] += size
        elif isinstance(event, AliasEvent):
            open_sizes[-1] += sizes.get(anchor, _PER_VALUE)
        elif isinstance(event, ScalarEvent):
            sizes[anchor] = _PER_VALUE + len(str(getattr(event, "value", "")))
            open_sizes[-1] += sizes[anchor]
        if len(anchors) > _MOST_DEPTH:
            raise ConfigError([f"{file}: is nested too deeply"])
        if sum(open_sizes) > _MOST_CHARACTERS:
            most = f"{_MOST_VALUES:,} values or {_MOST_CHARACTERS:,} characters"
            raise ConfigError(
                [f"{file}: is too large: with its aliases written out, it has more than {most}"]
            )


def _one_line(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or (str(error) or type(error).__name__).splitlines()[0]
    return f"line {mark.line + 1}: {problem}" if mark else str(problem)
