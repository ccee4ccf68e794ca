"""Writers of observations and reflections: one uses rules, one uses a model."""

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from typing import Protocol

from sestet.core.errors import ModelError, SestetError
from sestet.core.message import UserMessage, whole
from sestet.core.model import Model, ModelReply, ModelRequest, Usage
from sestet.core.record import Record
from sestet.services.memory import read_prompt
from sestet.storage.full_text import telling_words
from sestet.storage.observation_progress import EndedTurn

_NO_USAGE = Usage()
_LINE = 240
_MOST_LINES = 10
_SUMMARY = 1_200
#: The most characters of a message that a model sees, half from its head and half from its tail.
_SHOWN = 4_000

# Compiled on first use: most processes end before they observe a turn.
_SENTENCE = r"(?<=[.!?])\s+|\n+"
#: The person speaks about themselves or about their wishes.
_STATES = r"(?i)\b(i|i'm|i've|i'd|my|mine|we|we're|our|call me|always|never|from now on|in future)\b"
_ASKS = r"(?i)^(can|could|would|will|do|does|did|is|are|what|who|when|where|why|how|which)\b"
_SMALL_TALK = (
    r"(?i)(hi|hello|hey|thanks|thank you|bye|goodbye|ok|okay|yes|no|help|good (morning|evening|night|day))\W*"
)
_CITED = r"(?i)^[\s*•-]*(?:\d+[.)]\s+)?(?:\[(?:turn\s*)?(\d+)\]\s*:?\s*)?(.*)$"


class Draft(Record):
    """An observation before it is stored. Without turn numbers it may be about any of the turns."""

    text: str
    turn_numbers: tuple[int, ...] = ()


class Drafts(Record):
    drafts: Sequence[Draft]
    usage: Usage = _NO_USAGE


class MemoryWriter(Protocol):
    """Writes observations and reflections. Each row stores the writer's ``name``."""

    @property
    def name(self) -> str: ...

    async def observe(self, turns: Sequence[EndedTurn]) -> Drafts: ...

    async def reflect(self, texts: Sequence[str]) -> Drafts:
        """Exactly one draft."""
        ...


class RuleWriter:
    """Copies sentences verbatim, so it invents nothing."""

    name = "rules"

    async def observe(self, turns: Sequence[EndedTurn]) -> Drafts:
        drafts = [Draft(text, (turn.number,)) for turn in turns for text in _notable(turn)]
        unique: dict[str, Draft] = {}
        for draft in drafts:
            unique.setdefault(draft.text.casefold(), draft)
        return Drafts(list(unique.values()))

    async def reflect(self, texts: Sequence[str]) -> Drafts:
        """The sentences with the most frequent words, in their original order."""
        frequent = Counter(word.casefold() for text in texts for word in telling_words(text))
        for said in ("person", "said", "asked"):
            del frequent[said]

        def weight(text: str) -> float:
            words = {word.casefold() for word in telling_words(text)}
            return sum(frequent[word] for word in words) / (len(words) or 1) ** 0.5

        chosen: set[int] = set()
        left = _SUMMARY
        for position in sorted(range(len(texts)), key=lambda at: (-weight(texts[at]), at)):
            if len(texts[position]) <= left:
                chosen.add(position)
                left -= len(texts[position]) + 1
        lines = [texts[position] for position in sorted(chosen)] or [texts[0][:_SUMMARY]]
        return Drafts([Draft(" ".join(dict.fromkeys(lines)))])


def _notable(turn: EndedTurn) -> list[str]:
    """The sentences of a message that state something, or else the question."""
    words, who = turn.words, "The person" if turn.mine else "A text that was piped in"
    if re.fullmatch(_SMALL_TALK, words.strip()):
        return []
    sentences = [tidy for part in re.split(_SENTENCE, words) if (tidy := " ".join(part.split()))]
    stated = [
        s for s in sentences if re.search(_STATES, s) and not s.endswith("?") and not re.match(_ASKS, s)
    ]
    if stated:
        return [f"{who} said: {_shortened(sentence)}" for sentence in stated[:_MOST_LINES]]
    return [f"{who} asked: {_shortened(' '.join(sentences))}"] if sentences else []


def _shortened(text: str) -> str:
    return text if len(text) <= _LINE else text[: _LINE - 1].rstrip() + "…"


class ModelWriter:
    """A model writes; its output is parsed leniently and never executed."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    async def observe(self, turns: Sequence[EndedTurn]) -> Drafts:
        told = "\n\n".join(
            f"[{turn.number}] {'Person' if turn.mine else 'Piped text'}: {_clipped(turn.words)}\n"
            f"[{turn.number}] Assistant: {_clipped(turn.reply) or '(no reply)'}"
            for turn in turns
        )
        reply = await self._ask("observe", told)
        return Drafts(read_observations(reply.text, {turn.number for turn in turns}), reply.usage)

    async def reflect(self, texts: Sequence[str]) -> Drafts:
        reply = await self._ask("reflect", "\n".join(f"- {text}" for text in texts))
        return Drafts([Draft(" ".join(reply.text.split())[: 2 * _SUMMARY])], reply.usage)

    async def _ask(self, task: str, text: str) -> ModelReply:
        request = ModelRequest(task, read_prompt(task), (UserMessage(text),), ())
        reply: ModelReply | None = None
        try:
            async with aclosing(self._model.stream(request)) as stream:
                async for item in stream:
                    reply = item if isinstance(item, ModelReply) else reply
        except SestetError:
            raise
        except Exception as error:  # the edge of one model call
            raise ModelError(f"'{self.name}': {type(error).__name__}: {error}") from error
        if reply is None or not reply.text.strip():
            raise ModelError(f"'{self.name}' wrote nothing")
        return reply._replace(text=whole(reply.text))


def read_observations(text: str, numbers: set[int]) -> list[Draft]:
    """One draft for each line with any kind of bullet; NONE and headings are skipped."""
    drafts: list[Draft] = []
    for line in text.splitlines():
        found = re.match(_CITED, line)
        said = " ".join(found[2].split()).strip("*` ") if found else ""
        if (
            not found
            or not said
            or said.upper().rstrip(".") == "NONE"
            or said.endswith(":")
            or said[0] == "#"
        ):
            continue
        number = int(found[1]) if found[1] and len(found[1]) < 10 else 0
        drafts.append(Draft(said[: 2 * _LINE], (number,) if number in numbers else ()))
    return drafts[: 2 * _MOST_LINES]


def _clipped(text: str) -> str:
    half = _SHOWN // 2
    return text if len(text) <= _SHOWN else f"{text[:half]} […] {text[-half:]}"
