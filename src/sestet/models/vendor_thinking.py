"""Keeps what a model thinks aloud out of its answer, while the text arrives in pieces."""

from typing import Literal

_OPEN, _CLOSE = "<think>", "</think>"


class AnswerFilter:
    """Passes text on without the ``<think>…</think>`` that some models write before their answer.

    A tag may be cut anywhere between two pieces, so whatever could still become one is held back. Only the
    head of a reply is looked at: further down, the tag is something that the answer talks about.
    """

    def __init__(self) -> None:
        self._state: Literal["head", "thinking", "answer"] = "head"
        self._held = ""
        self._thought = False

    def feed(self, text: str) -> str:
        """The part of the answer that is certain with this piece; often all of it."""
        if self._state == "answer":
            return text
        self._held += text
        if self._state == "thinking" and not self._leave_thinking():
            return ""
        while (head := self._held.lstrip()).startswith(_OPEN):
            self._state, self._thought, self._held = "thinking", True, head.removeprefix(_OPEN)
            if not self._leave_thinking():
                return ""
        if _OPEN.startswith(head):
            return ""
        self._state = "answer"
        return self._release()

    def end(self) -> str:
        """What was held back although it belongs to the answer, once nothing more can arrive."""
        return "" if self._state == "thinking" else self._release()

    def _leave_thinking(self) -> bool:
        thought, tag, rest = self._held.partition(_CLOSE)
        if not tag:
            # Enough to recognise a tag that is cut in two; the thought itself may be long.
            self._held = thought[-len(_CLOSE) :]
            return False
        self._state, self._held = "head", rest
        return True

    def _release(self) -> str:
        # Empty lines after a thought set it apart; before an answer without one they are the model's own.
        released = self._held.lstrip() if self._thought else self._held
        self._held = ""
        return released
