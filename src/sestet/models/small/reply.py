"""Reads the reply of a small model: the calls in it, or its answer."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from sestet.core.agent import normalise_name
from sestet.core.message import ToolCall
from sestet.core.schema import JsonObject, JsonValue, find_problems
from sestet.core.tool import Tool
from sestet.models.small.loose_json import Found, find_json
from sestet.models.small.repair import WRAPPERS, repair_arguments

_NAMES = ("tool", "name", "function", "tool_name", "action", "tool_call", "call")
_ANSWERS = ("answer", "response", "reply", "final_answer", "text")
_SOURCE = "source"
#: Means "no source".
NO_SOURCE = "none"
_FENCE = re.compile(r"```\w*|</?tools?(_calls?)?>|</?function_calls?>", re.IGNORECASE)


class Reply(NamedTuple):
    """The text and the calls of a reply."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()


def read_reply(text: str, tools: Sequence[Tool], read: Sequence[str] = ()) -> Reply:
    """The calls in the text, else its answer; never raises.

    JSON that occurs word for word in one of the texts that the model ``read`` is a quotation and no call.
    """
    by_name = {normalise_name(tool.name): tool for tool in tools}
    found = list(find_json(text))
    if found and read:
        known = [_without_spaces(each) for each in read]
        found = [
            each
            for each in found
            if not any(_without_spaces(text[each.start : each.end]) in other for other in known)
        ]
    alone = len(found) == 1 and not _prose(text, found)
    calls = [call for each in found for call in _calls(each.value, by_name, alone)]
    if calls:
        # Text before the first call may have been shown already; text after it is dropped.
        return Reply(_tidy(text[: found[0].start]), tuple(calls))
    if alone and (answer := _answer(found[0].value)) is not None:
        return Reply(answer)
    return Reply(text)


def _calls(value: JsonValue, tools: Mapping[str, Tool], alone: bool) -> Iterator[ToolCall]:
    if isinstance(value, list):
        for item in value:
            yield from _calls(item, tools, alone)
    elif isinstance(value, dict):
        for key in ("tool_calls", "calls"):
            if isinstance(inner := value.get(key), list):
                yield from _calls(inner, tools, alone)
                return
        if (call := _call(value, tools, alone)) is not None:
            yield call


def _call(value: dict[str, JsonValue], tools: Mapping[str, Tool], alone: bool) -> ToolCall | None:
    for key in _NAMES:
        inner = value.get(key)
        if isinstance(inner, dict):
            # {"function": {"name": …, "arguments": …}}
            return _call(inner, tools, alone)
        if isinstance(inner, str) and inner.strip():
            return _named(inner.strip(), value, key, tools, alone)
    if len(value) == 1:
        # {"fs_read": {"path": …}}
        ((name, inner),) = value.items()
        if (tool := tools.get(normalise_name(name))) is not None:
            return _made(tool, inner)
    return _bare(value, tools) if alone else None


def _named(
    name: str, value: dict[str, JsonValue], key: str, tools: Mapping[str, Tool], alone: bool
) -> ToolCall | None:
    tool = tools.get(normalise_name(name))
    wrapper = next((each for each in WRAPPERS if each in value), None)
    if tool is None:
        if fitting := _bare(value, tools) if alone else None:
            return fitting
        # Clearly meant as a call, so the tool call can answer with the right names. Else it is just JSON.
        arguments = value.get(wrapper) if wrapper else None
        meant = alone and isinstance(arguments, dict)
        return ToolCall(name, cast("JsonObject", arguments)) if meant else None
    if wrapper is not None:
        return _made(tool, value[wrapper])
    return _made(tool, {other: item for other, item in value.items() if other != key})


def _bare(value: JsonObject, tools: Mapping[str, Tool]) -> ToolCall | None:
    """Arguments without a tool name, if they fit exactly one tool."""
    fitting: list[ToolCall] = []
    for tool in tools.values():
        arguments = repair_arguments(tool.parameters, value) if value else None
        if arguments and not find_problems(tool.parameters, arguments):
            fitting.append(ToolCall(tool.name, arguments))
    return fitting[0] if len(fitting) == 1 else None


def _made(tool: Tool, given: object) -> ToolCall:
    arguments = repair_arguments(tool.parameters, given)
    if arguments is None:
        return ToolCall(tool.name, malformed=str(given))
    return ToolCall(tool.name, arguments)


def _answer(value: JsonValue) -> str | None:
    if not isinstance(value, dict):
        return None
    answer = next((value[key] for key in _ANSWERS if isinstance(value.get(key), str)), None)
    if not isinstance(answer, str):
        return None
    source = value.get(_SOURCE)
    if not isinstance(source, str) or source.strip().lower() in ("", NO_SOURCE) or source in answer:
        return answer
    return f"{answer}\n\nSource: {source}"


def _prose(text: str, found: Sequence[Found]) -> str:
    """The text around the JSON."""
    edges = [0, *(edge for each in found for edge in (each.start, each.end)), len(text)]
    between = (text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    return "".join(_tidy(piece) for piece in between)


def _without_spaces(text: str) -> str:
    return "".join(text.split())


def _tidy(text: str) -> str:
    return _FENCE.sub("", text).strip()


# An answer, perhaps in a code fence and after its source, up to the first character of its text.
_ANSWER = re.compile(
    r'\s*(```(json)?\s*)?\{\s*("source"\s*:\s*(null|"([^"\\]|\\.)*")\s*,\s*)?"answer"\s*:\s*"', re.DOTALL
)
# The beginning of what may be a call.
_CALL = re.compile(r"[{\[]|`{1,3}|</?t|</?f|<$")


class AnswerStream:
    """Streams prose as it arrives, and the text of an answer without its JSON; holds calls back."""

    def __init__(self) -> None:
        self._text = ""
        self.shown = ""

    def feed(self, piece: str) -> str:
        """The new text that may be shown after this piece."""
        self._text += piece
        visible = self._visible()
        new = visible[len(self.shown) :] if visible.startswith(self.shown) else ""
        self.shown += new
        return new

    def rest(self, whole: str) -> str:
        """The rest of the text, once the whole reply has been read."""
        return whole[len(self.shown) :] if whole.startswith(self.shown) else ""

    def _visible(self) -> str:
        if opening := _ANSWER.match(self._text):
            return _string_so_far(self._text, opening.end())
        head = self._text.lstrip()
        if not head or head[0] in "{[`<":
            return ""
        call = _CALL.search(self._text)
        return self._text[: call.start()].rstrip() if call else self._text.rstrip()


def _string_so_far(text: str, start: int) -> str:
    """The part of a JSON string that has arrived."""
    end = start
    while end < len(text) and text[end] != '"':
        step = 1 if text[end] != "\\" else 6 if text[end + 1 : end + 2] == "u" else 2
        if end + step > len(text):
            break
        end += step
    try:
        # Hold back the first half of a surrogate pair.
        return re.sub("[\ud800-\udbff]$", "", str(json.loads(f'"{text[start:end]}"', strict=False)).rstrip())
    except ValueError:
        return ""
