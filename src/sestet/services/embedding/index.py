"""Embeds passages in the background, and finds the passages nearest in meaning."""

import asyncio
import math
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import NamedTuple, TypeAlias

from sestet.config.settings import BackgroundSettings, EmbeddingSettings
from sestet.core.errors import SestetError
from sestet.core.model import Usage
from sestet.services.background_budget import BackgroundBudget
from sestet.services.embedding.embedder import Embedder, choose_embedders
from sestet.services.embedding.noise import RELATED, Noise, Related, measure_noise
from sestet.services.embedding.queue import EmbeddingQueue, in_thread
from sestet.services.embedding.vector_search import VectorSearch, Wanted
from sestet.services.worker import Worker, WorkLimits
from sestet.storage.database import Database
from sestet.storage.locks import SessionLocks
from sestet.storage.spending import SpendingStore
from sestet.storage.vectors import VectorStore

#: How many seconds a search waits for another process that embeds.
_MOMENT = 1.0
#: The better vectors wait until nothing was stored or asked for so many seconds.
_REST = 2.0
#: The vectors that an unknown space is measured by.
_SAMPLE = 200

#: Called with the number of done passages and the total.
EmbeddingProgress: TypeAlias = Callable[[int, int], None]


class _Space(NamedTuple):
    """The vectors of one embedder, and the passages that wait for one."""

    queue: EmbeddingQueue
    search: VectorSearch


class _Question(NamedTuple):
    """A question as a vector of one space."""

    vector: bytes
    noise: Noise


class EmbeddingIndex:
    """The vectors of all passages.

    Another provider has another space: all passages are queued again, and replace their old vectors.
    ``first`` embeds new passages at once; ``embedder`` replaces these vectors by better ones in quiet times.
    """

    def __init__(
        self,
        store: VectorStore,
        embedder: Embedder,
        locks: SessionLocks | None = None,
        note: Callable[[int], None] = lambda tokens: None,
        first: Embedder | None = None,
        limits: WorkLimits = WorkLimits(),  # noqa: B008 - immutable
    ) -> None:
        """``note`` records the tokens that a server has counted; ``limits`` hold for the background work."""
        self._store = store
        best = EmbeddingQueue(store, embedder, locks, note)
        self._best = _Space(best, VectorSearch(store, embedder.space))
        self._first = self._best
        if first is not None:
            queue = EmbeddingQueue(store, first, locks, note, better=(embedder.space,))
            self._first = _Space(queue, VectorSearch(store, first.space))
        self._has_room = limits.has_room
        self._worker = Worker("embedding", self._step_within_limits, grace=1.0, cpu_share=limits.cpu_share)
        # No grace: its work is long, and the next process does it again.
        self._upgrade = (
            Worker("better vectors", self._upgrade_when_quiet, grace=0.0, cpu_share=limits.cpu_share)
            if first
            else None
        )
        self._woken_at = 0.0
        self._loaded: set[str] = set()
        self._asked: tuple[str, dict[str, _Question]] = ("", {})

    @property
    def space(self) -> str:
        return self._best.queue.embedder.space

    @property
    def refused(self) -> dict[int, str]:
        """Passages that the server rejects, with its error."""
        return self._best.queue.refused

    def pending(self) -> int:
        """The number of passages without a vector of the embedder, except rejected ones."""
        return self._best.queue.pending()

    def wake(self) -> None:
        """Continue in the background if there is work. Never raises."""
        self._worker.wake()
        if self._upgrade:
            self._woken_at = time.monotonic()
            self._upgrade.wake()

    async def close(self) -> None:
        """Stop the background work. A few remaining passages are embedded first if that is quick."""
        if self._upgrade:
            await self._upgrade.close()
        with suppress(SestetError):  # the next process tries again and reports the error
            if self._first.queue.embedder.is_instant and self._first.queue.is_soon_done():
                await self._first.queue.step(_MOMENT)
        await self._worker.close()

    async def nearest(self, query: str, limit: int, wanted: Wanted) -> list[Related]:
        """The passages that are related in meaning, the nearest first, and all that tie with the last one.

        A few new passages are embedded first if that is quick.
        """
        await self._embed_few()
        found: list[Related] = []
        for queue, search in self._in_use():
            vector, noise = await self._ask(queue, query)
            # The vector of a text without tokens is all zeros.
            if any(vector):
                # In a space that was only measured, the nearest have to do.
                floor = noise.similarity(RELATED) if queue.embedder.noise else 0.0
                near = search.find(vector, limit, floor, wanted)
                found += (Related(id, nearness, noise.deviations(nearness), True) for id, nearness in near)
        found.sort(key=lambda one: (-one.deviations, one.passage_id))
        least = found[limit - 1].deviations if len(found) > limit else -math.inf
        return [one for one in found if one.deviations >= least]

    async def compare(self, query: str, passage_ids: Collection[int]) -> dict[int, Related]:
        """How near these passages are, related or not; without those that have no vector yet."""
        import numpy

        found: dict[int, Related] = {}
        for queue, _ in self._in_use() if passage_ids else ():
            vector, noise = await self._ask(queue, query)
            asked = numpy.frombuffer(vector, "<f4").astype(numpy.float64)
            for passage_id, other in self._store.of_passages(queue.embedder.space, passage_ids):
                if len(other) == len(vector) and any(vector):
                    similarity = float((numpy.frombuffer(other, "<f4") * asked).sum())
                    deviations = noise.deviations(similarity)
                    found[passage_id] = Related(passage_id, similarity, deviations, deviations >= RELATED)
        return found

    async def catch_up(self, progress: EmbeddingProgress | None = None, *, quickly: bool = False) -> int:
        """Embed all waiting passages and return their number. Raises EmbeddingError.

        ``quickly``: only so that all can be found; better vectors follow in the background.
        """
        queue = self._first.queue if quickly else self._best.queue
        done, left = 0, queue.pending()
        while left > 0:
            if progress:
                progress(done, done + left)
            before = queue.missing()
            if not await queue.step():
                break
            done += max(before - queue.missing(), 0)
            left = queue.pending()
        if progress:
            progress(done, done + left)
        return done

    async def step(self, patience: float | None = None) -> bool:
        """Embed one batch; False if there was no work, or another process embeds for longer than that."""
        return await self._first.queue.step(patience) or await self._best.queue.step(patience)

    async def _step_within_limits(self) -> bool:
        """One batch in the background, unless a server would have to count tokens beyond the budget."""
        queue = self._first.queue
        if queue.pending() > 0 and not self._has_room():
            return False
        return await queue.step()

    async def _embed_few(self) -> None:
        """Embed new passages now if they are few, and otherwise in the background."""
        for queue in dict.fromkeys((self._first.queue, self._best.queue)):
            if queue.is_soon_done():
                await queue.step(_MOMENT)
        if self.pending() > 0:
            self.wake()  # another process may have stored many passages

    def _in_use(self) -> list[_Space]:
        """The spaces that have vectors. Each has vectors of other passages."""
        if self._best is self._first:
            return [self._best]
        return [space for space in (self._best, self._first) if self._store.count(space.queue.embedder.space)]

    async def _ask(self, queue: EmbeddingQueue, query: str) -> _Question:
        """The question in the space of a queue. The last question is kept, for ``compare``."""
        if self._asked[0] != query:
            self._asked = (query, {})
        asked, embedder = self._asked[1], queue.embedder
        if embedder.space not in asked:
            if embedder.is_instant and embedder.space in self._loaded:
                (vector,) = embedder.embed([query])  # a thread would cost more than the work
            else:
                (vector,) = await in_thread(embedder.embed, [query])
                self._loaded.add(embedder.space)
                await queue.note_usage()
            noise = embedder.noise or measure_noise(vector, self._store.oldest(embedder.space, _SAMPLE))
            asked[embedder.space] = _Question(vector, noise)
        return asked[embedder.space]

    async def _upgrade_when_quiet(self) -> bool:
        """Replace a batch of first vectors by better ones, once the person has been quiet for a while."""
        if self.pending() <= 0:
            return False
        if (wait := self._woken_at + _REST - time.monotonic()) > 0:
            await asyncio.sleep(wait)
            return True
        if await self._first.queue.step():
            return True
        return await self._best.queue.step(gently=True)


def open_embedding(
    settings: EmbeddingSettings,
    database: Database,
    locks: SessionLocks | None = None,
    background: BackgroundSettings | None = None,
) -> EmbeddingIndex | None:
    """The index of the settings; None if retrieval uses words alone."""
    embedders = choose_embedders(settings)
    if embedders is None:
        return None
    spending = SpendingStore(database)

    def note(tokens: int) -> None:
        spending.add_work("embed", settings.model, Usage(tokens), time.time())

    limits = WorkLimits(cpu_share=background.cpu_share) if background else WorkLimits()
    if background and settings.provider == "openai":
        limits = limits._replace(has_room=BackgroundBudget(spending, background).has_room)
    return EmbeddingIndex(VectorStore(database), embedders.best, locks, note, embedders.first, limits)
