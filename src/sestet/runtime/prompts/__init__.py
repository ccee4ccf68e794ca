"""What the runtime says to a model, as files."""

from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent


@cache
def _read(name: str) -> str:
    return (_HERE / f"{name}.md").read_text(encoding="utf-8").strip()


def say(file: str, /, **values: str) -> str:
    """The text of a file, with its ``{slots}`` filled."""
    return _read(file).format_map(values)
