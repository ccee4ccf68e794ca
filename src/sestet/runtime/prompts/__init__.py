"""What the runtime says to a model, as files. A second paragraph says the same to the person.

For a call that was not made, that is a clause: a progress line shows it behind the call.
"""

from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent


@cache
def _read(name: str) -> tuple[str, str]:
    to_model, _, to_person = (_HERE / f"{name}.md").read_text(encoding="utf-8").strip().partition("\n\n")
    return to_model, to_person


def say(file: str, /, **values: str) -> str:
    """The text for the model, with its ``{slots}`` filled."""
    return _read(file)[0].format_map(values)


def tell(file: str, /, **values: str) -> str:
    """The text for the person, without instructions for a model; empty where the file has none."""
    return _read(file)[1].format_map(values)
