"""The events of OpenAI's chat completions protocol."""

from collections.abc import Mapping


def text(content: str) -> Mapping[str, object]:
    return _chunk({"content": content})


def reasoning(content: str) -> Mapping[str, object]:
    return _chunk({"reasoning_content": content})


def refusal(content: str) -> Mapping[str, object]:
    return _chunk({"refusal": content})


def call(
    index: int, arguments: str = "", *, id: str | None = None, name: str | None = None
) -> Mapping[str, object]:
    """A fragment of a call: the first one has id and name, the others only more of the arguments."""
    function = {"arguments": arguments} | ({"name": name} if name else {})
    head = {"id": id, "type": "function"} if id else {}
    return _chunk({"tool_calls": [{"index": index, "function": function} | head]})


def finish(reason: str = "stop") -> Mapping[str, object]:
    return _chunk({}, reason)


def usage(prompt: int, completion: int) -> Mapping[str, object]:
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return {**_chunk({}), "choices": [], "usage": counts}


def _chunk(delta: Mapping[str, object], finish_reason: str | None = None) -> dict[str, object]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
