"""The assistant's memory: observe, reflect, recall, correct, export."""

from functools import cache
from pathlib import Path

_PROMPTS = Path(__file__).parent / "prompts"


@cache
def read_prompt(name: str) -> str:
    """The text of a prompt file."""
    return (_PROMPTS / f"{name}.md").read_text(encoding="utf-8").strip()
