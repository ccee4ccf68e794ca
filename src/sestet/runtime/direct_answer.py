"""Answers that no model writes: results and specialists' answers that go to the person as they are."""

from collections.abc import Sequence

from sestet.core.agent import SHOW_RESULTS
from sestet.core.message import Message, ToolMessage
from sestet.core.schema import object_schema
from sestet.core.tool import Tool
from sestet.runtime.turn import Outcome

SHOW_TOOL = Tool(
    SHOW_RESULTS,
    "Finish: the results of your tool calls go to the person as they are. Call it beside calls whose results "
    "answer the request.",
    object_schema({}, []),
)


def join_answers(root: str, outcomes: Sequence[Outcome]) -> Outcome:
    """The answers of one or several specialists as the answer of the turn, in the order of the calls."""
    if len(outcomes) == 1:
        return outcomes[0]
    found = tuple(dict.fromkeys(found for outcome in outcomes for found in outcome.found))
    return Outcome("ok", root, "\n\n".join(outcome.text.strip() for outcome in outcomes), found=found)


def shown_results(messages: Sequence[Message]) -> str:
    """The results at the end of an agent's context as one text; empty if there is none or one failed."""
    results: list[ToolMessage] = []
    for message in reversed(messages):
        if not isinstance(message, ToolMessage):
            break
        results.insert(0, message)
    if any(result.failed for result in results):
        return ""
    texts = (result.for_person or result.text for result in results)
    return "\n\n".join(text.strip() for text in texts if text.strip())
