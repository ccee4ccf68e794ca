"""Calls a tool as the runtime does: arguments checked against its schema, services bound by type."""

import re

from sestet.core.label import CLEAN, Findings, Labelled
from sestet.core.record import replace
from sestet.core.schema import JsonValue, find_problems
from sestet.core.tool import CallInfo, Tool

CALL = CallInfo("session-1", "turn-1", "agent", "call-1", CLEAN)
LATER = replace(CALL, session_id="session-2", turn_id="turn-2")


#: Replaces every date in an answer, so that no test depends on the day.
DAY = "<day>"
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


async def run(tool: Tool, *services: object, call: CallInfo = CALL, **arguments: JsonValue) -> str:
    """The text that the model gets, with its dates replaced."""
    assert problems(tool, **arguments) == []
    bound = tool.bind({type(service): service for service in services})
    assert bound is not None
    assert bound.function is not None
    answer = await bound.function(*((call,) if bound.needs else ()), **arguments)
    text = answer.value if isinstance(answer, Labelled | Findings) else answer
    assert isinstance(text, str)
    return _DATE.sub(DAY, text)


def problems(tool: Tool, **arguments: JsonValue) -> list[str]:
    """The problems of the arguments by the schema."""
    return [f"{problem.where}: {problem.message}" for problem in find_problems(tool.parameters, arguments)]
