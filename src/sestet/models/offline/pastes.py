"""Tells a paste of several requests, one on a line, from a text of several lines."""

import re
from collections.abc import Callable, Sequence

from sestet.models.offline.command_work import is_command_work
from sestet.models.offline.statements import KEEPS, begins_with_request, is_request, is_statement
from sestet.models.offline.tasks import Task
from sestet.models.offline.words import is_question, trim_request

_MOST_LINES = 20
_LONGEST_LINE = 200
#: A request whose text may go on in the next lines.
_TAKES_TEXT = re.compile(
    r"(?:write|add|append|put|create|make|save|translate|summari[sz]e|explain|fix|correct|rewrite|proofread|reply"
    r"|send|encrypt|what (?:does|do) (?:this|it|that))\b",
    re.IGNORECASE,
)
#: A request that goes on in the next line.
_IS_A_VERB = re.compile(
    r"(?:please )?(?:read|open|show|list|search|find|delete|remember|run|write)", re.IGNORECASE
)
_THAT = re.compile(r"\w+ that\s+(?P<fact>.+)", re.IGNORECASE)


def lines_of(text: str) -> list[str]:
    return [line.strip(" \t-*•") for line in text.splitlines() if line.strip(" \t-*•")]


def are_requests(lines: Sequence[str]) -> bool:
    """Whether each line is for itself: all are requests, or those that are none cannot belong to them."""
    if any(_IS_A_VERB.fullmatch(line) for line in lines[:-1]):
        # "Read", and on the next line the file.
        return False
    if not 1 < len(lines) <= _MOST_LINES or lines[0].endswith(":"):
        return False
    if all(map(is_request, lines)):
        return True
    first = trim_request(lines[0])
    asking = [line for line in lines if is_question(line) or begins_with_request(trim_request(line))]
    if not asking or any(len(line) > _LONGEST_LINE for line in lines) or _TAKES_TEXT.match(first):
        return False
    if KEEPS.match(first):
        # "Remember my list", and below it the list; but "remember that I like tea" says all of it.
        told = _THAT.match(first)
        return len(asking) > 1 and told is not None and is_statement(told["fact"])
    # A letter tells something before it asks.
    return lines[0] in asking or not any(map(is_statement, lines))


def tasks_of_lines(
    lines: Sequence[str], tasks: Callable[[str], Sequence[Task]], direct_answer: Callable[[str], str]
) -> Sequence[Task]:
    """The tasks of each line. The lines that are not understood are named at the end."""
    asking = (line for line in lines if is_request(line) or is_command_work(line) or direct_answer(line))
    understood: dict[str, Sequence[Task]] = {
        **dict.fromkeys(lines, ()),
        **{line: tasks(line) for line in asking},
    }
    unclear = [line for line in lines if not any(task.is_clear for task in understood[line])]
    clear = [task for line in lines if line not in unclear for task in understood[line]]
    named = ", ".join(f"“{line}”" for line in unclear)
    told = f"I did not understand {named}, so I did nothing with {'it' if len(unclear) == 1 else 'them'}."
    return [*clear, Task(named, answer=told)] if unclear else clear
