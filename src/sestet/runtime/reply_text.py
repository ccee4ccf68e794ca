"""Reads the text of a model's reply: a rejection, or a hand-over that it announces but did not make."""

import re

REJECT = "[REJECT]"

# Characters that models put around the marker.
_DECORATION = " \t\r\n*_`>\"'#"
# A promise, a verb of handing over, and the rest of that sentence.
_ANNOUNCED = (
    r"\b(?:i'll|i will|i'm|i am|i've|i have|let me)\b[^.!?\n]{0,30}?"
    r"\b(?:hand|pass|transfer|delegat|forward|rout|send|sent|ask|consult)\w*\b(?P<rest>[^.!?\n]*)"
)


def rejection(text: str) -> str | None:
    """The reason of a rejection, or None when the text is not one."""
    head = text.lstrip(_DECORATION)
    if head[: len(REJECT)].upper() != REJECT:
        return None
    return head[len(REJECT) :].strip(_DECORATION + ":") or "it gave no reason"


def announces_transfer(text: str, agent_names: tuple[str, ...]) -> bool:
    """Whether the text claims a hand-over to an agent or a specialist."""
    known = {*(name.casefold() for name in agent_names), "specialist", "agent", "colleague"}
    plain = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    sentences = re.finditer(_ANNOUNCED, plain, re.IGNORECASE)
    return any(known.intersection(re.findall(r"[\w-]+", match["rest"].casefold())) for match in sentences)


class RejectFilter:
    """Holds streamed text back until it cannot be a rejection any more."""

    def __init__(self) -> None:
        self._held = ""
        self._open = False

    def feed(self, piece: str) -> str:
        """The part of the text so far that may be shown now."""
        if self._open:
            return piece
        self._held += piece
        head = self._held.lstrip(_DECORATION)[: len(REJECT)].upper()
        if REJECT.startswith(head):
            return ""
        self._open = True
        return self._held

    def rest(self) -> str:
        """The text still held back when the reply ends; nothing of a rejection."""
        return "" if self._open or rejection(self._held) is not None else self._held
