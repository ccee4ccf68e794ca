"""Reads the tables of words and patterns in ``data``."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

_DATA = Path(__file__).with_name("data")
_NAME = re.compile(r"\{([a-z_]+)\}")


@cache
def read_table(name: str) -> Mapping[str, Any]:  # a file may hold any TOML
    return tomllib.loads((_DATA / f"{name}.toml").read_text(encoding="utf-8"))


def compiled(pattern: str, parts: Mapping[str, str] | None = None) -> re.Pattern[str]:
    """A pattern for texts in any case. It may go on in the next line, and ``{name}`` stands for a part."""
    return re.compile(_filled(pattern, parts or {}), re.IGNORECASE | re.DOTALL)


@cache
def patterns_of(name: str) -> Mapping[str, re.Pattern[str]]:
    """The patterns of a file by their names; each may have earlier ones as its parts."""
    parts: dict[str, str] = {}
    for key, pattern in read_table(name)["patterns"].items():
        parts[key] = _filled(pattern, parts)
    return {key: compiled(pattern) for key, pattern in parts.items()}


def _filled(pattern: str, parts: Mapping[str, str]) -> str:
    pattern = "".join(pattern.splitlines())
    return _NAME.sub(lambda found: f"(?:{parts[found[1]]})" if found[1] in parts else found[0], pattern)
