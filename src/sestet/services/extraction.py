"""Extracts facts from saved texts, with a model if there is a real one, else with rules."""

import asyncio
import json
import logging
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, cast

from sestet.core.errors import LimitError
from sestet.core.message import UserMessage
from sestet.core.model import Model, ModelReply, ModelRequest, read_stream
from sestet.services.extraction_rules import find_facts, find_lesson
from sestet.storage.extractions import ExtractionStore, Fact, Pending
from sestet.storage.graph import Predicates, node_key, predicate_name
from sestet.storage.lock_wait import when_free

_log = logging.getLogger(__name__)

#: ``review``: found facts wait for the person. ``on``: they go into the graph at once.
Mode: TypeAlias = Literal["off", "review", "on"]

AGENT = "librarian"
_MOST_FACTS = 20
_LONGEST_NAME = 200
_LONGEST_TEXT = 8_000
#: After this many failures of the model on one text, rules read the text.
_MOST_ATTEMPTS = 3
_MODEL_SECONDS = 120.0
# Longer than the model's time limit, so that a running process never loses its claim.
_CLAIM_SECONDS = 180.0


class Extraction:
    """Reads one text a step; the facts are stored and the text leaves the queue in one transaction."""

    def __init__(
        self, store: ExtractionStore, predicates: Predicates, mode: Mode, model: Model | None = None
    ) -> None:
        self.store = store
        self.predicates = predicates
        self._mode: Mode = mode
        self._model = model

    @property
    def asks_model(self) -> bool:
        """Whether there is a text to read and a model to read it."""
        return self._model is not None and self._mode != "off" and not self.store.is_empty()

    async def step(self) -> bool:
        """Read the next text; False if there is none."""
        if self._mode == "off" or self.store.is_empty():
            return False
        if self._model is None:
            return await when_free(self._read_next_by_rules)
        pending = await when_free(lambda: self.store.claim(_CLAIM_SECONDS))
        if pending is None:
            return False
        if pending.attempts > _MOST_ATTEMPTS:
            _log.warning("the model failed to extract facts from %s %d; rules were used", *pending.source)
            await when_free(lambda: self._finish_by_rules(pending))
            return True
        try:
            async with asyncio.timeout(_MODEL_SECONDS):
                facts = [*_checked(await self._ask(self._model, pending), self.predicates)]
        except (asyncio.CancelledError, LimitError):
            # The model was not asked to the end, so this is no failure of it.
            self.store.release(pending, pending.attempts - 1)
            raise
        except BaseException:
            self.store.release(pending, pending.attempts)
            raise
        await when_free(lambda: self._finish_by_model(pending, facts[:_MOST_FACTS]))
        return True

    async def read_all(self) -> None:
        """Read all waiting texts now."""
        while await self.step():
            pass

    @property
    def _auto_accepted(self) -> tuple[str, ...]:
        """Predicates whose facts go into the graph without review: the declared ones in mode ``on``."""
        return self.predicates.names if self._mode == "on" else ()

    def _finish_by_model(self, pending: Pending, facts: list[Fact]) -> None:
        with self.store.transaction():
            self.store.finish(pending, facts, "model", self._auto_accepted)

    def _read_next_by_rules(self) -> bool:
        # Claim and result in one transaction: a crash in between leaves no claim.
        with self.store.transaction():
            pending = self.store.claim(_CLAIM_SECONDS)
            if pending is not None:
                self._store_by_rules(pending)
        return pending is not None

    def _finish_by_rules(self, pending: Pending) -> None:
        with self.store.transaction():
            self._store_by_rules(pending)

    def _store_by_rules(self, pending: Pending) -> None:
        text = pending.text[:_LONGEST_TEXT]
        found = [*find_facts(text)]
        if pending.source.collection == "learnings":
            found += find_lesson(pending.title, text)
        self.store.finish(pending, found[:_MOST_FACTS], "rules", self._auto_accepted)

    async def _ask(self, model: Model, pending: Pending) -> str:
        instruction = _prompt().format(predicates=", ".join(self.predicates.names), most=_MOST_FACTS)
        text = f"{pending.title}\n\n{pending.text}".strip()[:_LONGEST_TEXT]
        request = ModelRequest(AGENT, instruction, (UserMessage(text),), ())
        reply = ModelReply()
        async for item in read_stream(model, request):
            if isinstance(item, ModelReply):
                reply = item
        return reply.text


def _checked(answer: str, predicates: Predicates) -> Iterator[Fact]:
    """The well-formed facts in a model's answer; everything else is ignored."""
    start, end = answer.find("["), answer.rfind("]")
    try:
        items: object = json.loads(answer[start : end + 1]) if start >= 0 else []
    except (ValueError, RecursionError):
        items = []
    for item in cast("list[object]", items) if isinstance(items, list) else ():
        parts = cast("list[object]", item) if isinstance(item, list) else []
        texts = [part.strip() for part in parts if isinstance(part, str) and _is_name(part)]
        if len(texts) == len(parts) == 3 and predicate_name(texts[1]) in predicates.names:
            yield Fact(*texts)


def _is_name(text: str) -> bool:
    return 0 < len(text.strip()) <= _LONGEST_NAME and bool(node_key(text)) and text.isprintable()


@cache
def _prompt() -> str:
    return Path(__file__).with_suffix(".md").read_text(encoding="utf-8").strip()
