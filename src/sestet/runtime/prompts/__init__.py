"""What the runtime says to a model, as files. A second paragraph says the same to the person.

For a call that was not made, that is a clause: a progress line shows it behind the call.
"""

import re
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
_CLAUSE_END = re.compile(r"(?<=[.;])\s+")


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


def without_instructions(text: str) -> str:
    """A model's answer without the instructions of a refusal, which small models repeat word for word."""
    kept = _instructions().sub("", text)
    return text if kept == text else kept.strip()


@cache
def _instructions() -> re.Pattern[str]:
    """The clauses that only the model is told, where the person is told something else."""
    texts = [_read(file.stem) for file in sorted(_HERE.glob("*.md"))]
    clauses = {
        clause
        for to_model, to_person in texts
        if to_person
        for clause in _CLAUSE_END.split(to_model)
        if "{" not in clause and clause not in to_person
    }
    # A longer one first: one clause may be the beginning of another.
    return re.compile(
        "|".join(rf"\s*{re.escape(each)}" for each in sorted(clauses, key=len)[::-1]), re.IGNORECASE
    )
