"""Writers of observations and reflections: one uses rules, one uses a model."""

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from typing import Protocol

from sestet.core.errors import ModelError, SestetError
from sestet.core.message import UserMessage, whole
from sestet.core.model import Model, ModelReply, ModelRequest, Usage, read_stream
from sestet.core.record import Record
from sestet.services.memory import read_prompt
from sestet.services.memory.relevance import starts_with_request
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
#: The person speaks about themselves.
_STATES = r"(?i)\b(i|i'm|i've|i'd|my|mine|we|we're|we've|our)\b"
#: A wish that lasts, or a decision.
_WISHES = (
    r"(?i)\b(always|never|from now on|in future|let'?s (go with|use|take))\b|^call me (?!back\b|at\b|on\b)\w"
)
_ASKS = (
    r"(?i)^(can|could|would|will|shall|should|may|do|does|did|is|are|was|were|has|have|am|what|what's|who|who's"
    r"|whose|when|where|where's|why|how|which)\b"
)
#: What may stand before a request or a statement.
_OPENING = (
    r"(?i)^((hey|hi|hello|ok|okay|so|and|then|now|well|please|kindly|sestet|just|also|first|next|great|thanks"
    r"|thank you)\b[\s,:!.]*)+"
)
#: The person wants something done now. What they told to remember is a statement.
_REQUESTS = (
    r"(?i)^(i|we)(('d| would) like| want| need)( you)? to (see|know|read|hear|look|list|show|find|open|get)\b"
    r"|^(i|we)(('d| would) like| want| need) you to\b|^let (me|us) (see|know)\b"
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
    """The sentences of a message that state something about the person; a question or a request does not."""
    who = "The person" if turn.mine else "A text that was piped in"
    sentences = (tidy for part in re.split(_SENTENCE, turn.words) if (tidy := " ".join(part.split())))
    stated = [sentence for sentence in sentences if _is_statement(sentence)]
    return [f"{who} said: {_shortened(sentence)}" for sentence in stated[:_MOST_LINES]]


def _is_statement(sentence: str) -> bool:
    text = re.sub(_OPENING, "", sentence.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    if text.endswith("?") or re.match(_ASKS, text) or re.search(_REQUESTS, text):
        return False
    if re.search(_WISHES, text):
        return True
    return not starts_with_request(text) and re.search(_STATES, text) is not None


def _shortened(text: str) -> str:
    return text if len(text) <= _LINE else text[: _LINE - 1].rstrip() + "…"


class EmptyReplyError(ModelError):
    """The model answered, and its answer has no text."""


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
            async with aclosing(read_stream(self._model, request)) as stream:
                async for item in stream:
                    reply = item if isinstance(item, ModelReply) else reply
        except SestetError:
            raise
        except Exception as error:  # the edge of one model call
            raise ModelError(f"'{self.name}': {type(error).__name__}: {error}") from error
        if reply is None or not reply.text.strip():
            raise EmptyReplyError(f"'{self.name}' wrote nothing")
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
