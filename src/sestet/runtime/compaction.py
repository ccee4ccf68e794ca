"""Makes a context shorter when a model says that it is too long."""

from collections.abc import Sequence

from sestet.core.message import Message, ToolMessage, UserMessage
from sestet.runtime.prompts import say


def shortened(messages: Sequence[Message], past: int) -> list[Message] | None:
    """The messages without the older half of the earlier turns, which are the first ``past`` messages.

    Without earlier turns, the older half of the tool results is left out instead. None means that nothing
    can be left out.
    """
    return _without_turns(messages, past) or _without_results(messages)


def _without_turns(messages: Sequence[Message], past: int) -> list[Message] | None:
    # Cut where a turn begins, so that no answer loses its question and no result its call.
    for start in range(max(1, past // 2), past + 1):
        if start == past or isinstance(messages[start], UserMessage):
            return list(messages[start:])
    return None


def _without_results(messages: Sequence[Message]) -> list[Message] | None:
    note = say("left_out")
    results = [index for index, message in enumerate(messages) if isinstance(message, ToolMessage)]
    long = [index for index in results if len(messages[index].text) > len(note)]
    older = set(long[: (len(long) + 1) // 2])
    if not older:
        return None
    return [
        message._replace(text=note) if index in older and isinstance(message, ToolMessage) else message
        for index, message in enumerate(messages)
    ]
