"""Results in the words for a person."""

import re

from sestet.core.message import ToolMessage


def told(result: ToolMessage) -> str:
    return result.for_person or result.text


def fenced(text: str) -> str:
    """A text of a program or a page, in which nothing counts as markdown."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"
