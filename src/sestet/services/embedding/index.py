"""Embeds passages in the background, and finds the passages nearest in meaning."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import cached_property
from typing import TypeAlias, TypeVar

from sestet.config.settings import EmbeddingSettings
from sestet.core.errors import EmbeddingError, SestetError
from sestet.core.model import Usage
from sestet.services.embedding.embedder import Embedder, choose_embedder
from sestet.services.embedding.vector_search import Near, VectorSearch, Wanted
from sestet.services.worker import Worker
from sestet.storage.database import Database
from sestet.storage.lock_wait import when_free
from sestet.storage.locks import SessionLocks
from sestet.storage.spending import SpendingStore
from sestet.storage.vectors import Unembedded, VectorStore

_BATCH = 64
# The most passages that a query embeds first: few enough to be unnoticeable.
_AT_ONCE = 64
#: How many seconds a search waits for another process that embeds.
_MOMENT = 1.0

#: Called with the number of done passages and the total.
EmbeddingProgress: TypeAlias = Callable[[int, int], None]
_Result = TypeVar("_Result")


class EmbeddingIndex:
    """The passages without a vector are the queue, so a process may end at any time.

    Another provider has another space: all passages are queued again, and replace their old vectors.
    With ``locks``, one process at a time embeds, so that no text is embedded twice.
    """

    def __init__(
        self,
        store: VectorStore,
        embedder: Embedder,
        locks: SessionLocks | None = None,
        note: Callable[[int], None] = lambda tokens: None,
    ) -> None:
        """``note`` records the tokens that a server has counted."""
        self._store = store
        self._embedder = embedder
        self._locks = locks
        self._note = note
        self._worker = Worker("embedding", self.step, grace=1.0)
        self._busy = asyncio.Lock()
        self._reached = 0
        self._is_loaded = False
        #: Passages that the server rejects, with its error; the next process tries them again.
        self.refused: dict[int, str] = {}

    @property
    def space(self) -> str:
        return self._embedder.space

    @property
    def floor(self) -> float:
        """The similarity below which two texts are unrelated; 0: unknown for this model."""
        return self._embedder.floor

    @cached_property
    def _vectors(self) -> VectorSearch:
        return VectorSearch(self._store, self.space)

    def pending(self) -> int:
        """The number of passages without a vector, except rejected ones."""
        return self._store.count_missing(self.space) - self._store.count_there(self.refused)

    def wake(self) -> None:
        """Continue in the background if there is work. Never raises."""
        self._worker.wake()

    async def close(self) -> None:
        """Stop the background work. A few remaining passages are embedded first if that is quick."""
        with suppress(SestetError):  # the next process tries again and reports the error
            if self._is_soon_done():
                await self.step(_MOMENT)
        await self._worker.close()

    def _is_soon_done(self) -> bool:
        return self._embedder.is_instant and 0 < self.pending() <= _AT_ONCE

    async def nearest(self, query: str, limit: int, wanted: Wanted) -> list[Near]:
        """The passages nearest in meaning. A few new passages are embedded first if that is quick."""
        if self._is_soon_done():
            await self.step(_MOMENT)
        else:
            self.wake()  # another process may have stored many passages
        if self._is_loaded:  # a thread would cost more than the work
            (vector,) = self._embedder.embed([query])
        else:
            (vector,) = await _in_thread(self._embedder.embed, [query])
            self._is_loaded = self._embedder.is_instant
            await self._note_usage()
        # The vector of a text without tokens is all zeros.
        return self._vectors.find(vector, limit, self.floor, wanted) if any(vector) else []

    async def catch_up(self, progress: EmbeddingProgress | None = None) -> int:
        """Embed all waiting passages and return their number. Raises EmbeddingError."""
        done, left = 0, self.pending()
        while left > 0:
            if progress:
                progress(done, done + left)
            before = self._store.count_missing(self.space)
            if not await self.step():
                break
            done += max(before - self._store.count_missing(self.space), 0)
            left = self.pending()
        if progress:
            progress(done, done + left)
        return done

    async def step(self, patience: float | None = None) -> bool:
        """Embed one batch; False if there was no work, or another process embeds for longer than that."""
        async with self._busy:
            # Counting is far cheaper than searching or locking, and usually the count is 0.
            if self.pending() <= 0:
                return False
            if self._locks is None:
                return await self._embed_next()
            # No session has this id, since it is not printable.
            claim = f"\0embedding {self.space}"
            try:
                async with asyncio.timeout(patience):
                    await self._locks.take(claim)
            except TimeoutError:
                return False
            try:
                return await self._embed_next()
            finally:
                self._locks.give_back(claim)

    async def _embed_next(self) -> bool:
        # Another process may have done it meanwhile.
        batch = self._next_batch() if self.pending() > 0 else []
        if batch:
            try:
                vectors = await self._embed(batch)
            finally:
                await self._note_usage()
            await when_free(lambda: self._store.add(self.space, vectors))
        return bool(batch)

    async def _note_usage(self) -> None:
        if tokens := self._embedder.take_used_tokens():
            await when_free(lambda: self._note(tokens))

    def _next_batch(self) -> list[Unembedded]:
        """The next passages without a vector, from the last position and then from the start."""
        for after in (self._reached, 0):
            while rows := self._store.missing(self.space, after, _BATCH):
                self._reached = after = rows[-1].passage_id
                if batch := [row for row in rows if row.passage_id not in self.refused]:
                    return batch
        return []

    async def _embed(self, batch: Sequence[Unembedded]) -> list[tuple[int, bytes]]:
        """Vectors for the batch without the passages that the server rejects."""
        try:
            vectors = await _in_thread(self._embedder.embed, [row.text for row in batch])
        except EmbeddingError as error:
            if error.kind != "text":
                raise
            if len(batch) == 1:
                self.refused[batch[0].passage_id] = str(error)
                return []
            middle = len(batch) // 2
            return [*await self._embed(batch[:middle]), *await self._embed(batch[middle:])]
        return [(row.passage_id, vector) for row, vector in zip(batch, vectors, strict=True)]


def open_embedding(
    settings: EmbeddingSettings, database: Database, locks: SessionLocks | None = None
) -> EmbeddingIndex | None:
    """The index of the settings; None if retrieval uses words alone."""
    embedder = choose_embedder(settings)
    if embedder is None:
        return None
    spending = SpendingStore(database)

    def note(tokens: int) -> None:
        spending.add_work("embed", settings.model, Usage(tokens), time.time())

    return EmbeddingIndex(VectorStore(database), embedder, locks, note)


async def _in_thread(work: Callable[[list[str]], _Result], texts: list[str]) -> _Result:
    """Like ``asyncio.to_thread``, but a hanging server does not keep the process alive."""
    outcome: Future[_Result] = Future()

    def run() -> None:
        try:
            outcome.set_result(work(texts))
        except BaseException as error:  # the waiting task raises it
            outcome.set_exception(error)

    outcome.set_running_or_notify_cancel()  # now only the thread sets the outcome
    waiting = asyncio.wrap_future(outcome)
    threading.Thread(target=run, daemon=True, name="embedding").start()
    return await waiting
