"""What of a small model's reply can be shown while it is being written."""

import json
import re

# An answer, perhaps in a fence and behind its source, up to the first character of its text.
_ANSWER = re.compile(
    r'\s*(```(json)?\s*)?\{\s*("source"\s*:\s*(null|"([^"\\]|\\.)*")\s*,\s*)?"answer"\s*:\s*"', re.DOTALL
)
# From here on it may be a call.
_CALL = re.compile(r"[{\[]|`{1,3}|</?t|</?f|<$")


class AnswerStream:
    """Shows prose as it comes and the text of an answer without the JSON around it; calls are held back."""

    def __init__(self) -> None:
        self._text = ""
        self.shown = ""

    def feed(self, piece: str) -> str:
        """What may be shown now and was not shown before."""
        self._text += piece
        visible = self._visible()
        new = visible[len(self.shown) :] if visible.startswith(self.shown) else ""
        self.shown += new
        return new

    def rest(self, whole: str) -> str:
        """What is left to be shown of the reply, now that it has been read."""
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
    """The JSON string that begins here, as far as it has arrived."""
    end = start
    while end < len(text) and text[end] != '"':
        step = 1 if text[end] != "\\" else 6 if text[end + 1 : end + 2] == "u" else 2
        if end + step > len(text):
            break
        end += step
    try:
        # Half of a character is not shown before the other half is there.
        return re.sub("[\ud800-\udbff]$", "", str(json.loads(f'"{text[start:end]}"', strict=False)).rstrip())
    except ValueError:
        return ""
