"""Prompts about memory, as markdown files."""

from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent


@cache
def read_prompt(name: str) -> str:
    return (_HERE / f"{name}.md").read_text(encoding="utf-8").strip()
