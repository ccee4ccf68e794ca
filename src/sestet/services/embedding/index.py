"""Gives every passage its vector, behind the conversation."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import cached_property
from typing import TypeAlias, TypeVar

from sestet.config.settings import EmbeddingSettings
from sestet.core.errors import EmbeddingError, SestetError
from sestet.services.embedding.embedder import Embedder, choose_embedder
from sestet.services.embedding.vector_search import Near, VectorSearch, Wanted
from sestet.services.worker import Worker
from sestet.storage.database import Database
from sestet.storage.vectors import Unembedded, VectorStore

_BATCH = 64
# What a question waits for at most: so few that nobody notices.
_AT_ONCE = 64

#: Told how many passages are done, and how many there are to do.
EmbeddingProgress: TypeAlias = Callable[[int, int], None]
_Result = TypeVar("_Result")


class EmbeddingIndex:
    """The passages without a vector are the queue, so nothing is lost or doubled when a process ends.

    Another provider has another space: its queue holds every passage, and the old vectors make way.
    """

    def __init__(self, store: VectorStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._worker = Worker("embedding", self.step, grace=1.0)
        self._busy = asyncio.Lock()
        self._reached = 0
        self._is_loaded = False
        #: Passages that the server does not take, and what it says: tried again by the next process.
        self.refused: dict[int, str] = {}

    @property
    def space(self) -> str:
        return self._embedder.space

    @cached_property
    def _vectors(self) -> VectorSearch:
        return VectorSearch(self._store, self.space)

    def pending(self) -> int:
        """How many passages have no vector yet."""
        return self._store.count_missing(self.space) - self._store.count_there(self.refused)

    def wake(self) -> None:
        """Go on in the background, if there is anything to do. Never raises."""
        self._worker.wake()

    async def close(self) -> None:
        """End the work in the background. A little that is left is done first, if that is quick."""
        with suppress(SestetError):  # the next process tries again, and tells what is wrong
            if self._is_soon_done():
                await self.step()
        await self._worker.close()

    def _is_soon_done(self) -> bool:
        return self._embedder.is_instant and 0 < self.pending() <= _AT_ONCE

    async def nearest(self, query: str, limit: int, wanted: Wanted) -> list[Near]:
        """The nearest in meaning. What was saved a moment ago is embedded first, if that is quick."""
        if self._is_soon_done():
            await self.step()
        if self._is_loaded:  # from then on a thread would cost more than the work
            (vector,) = self._embedder.embed([query])
        else:
            (vector,) = await _in_thread(self._embedder.embed, [query])
            self._is_loaded = self._embedder.is_instant
        # Zeros are the vector of a text that says nothing.
        return self._vectors.find(vector, limit, self._embedder.floor, wanted) if any(vector) else []

    async def catch_up(self, progress: EmbeddingProgress | None = None) -> int:
        """Embed all that is missing; how many passages that were. Raises EmbeddingError."""
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

    async def step(self) -> bool:
        """Embed one batch; False when there was nothing to do."""
        async with self._busy:
            # Counting is far cheaper than looking for what is missing, and most often nothing is.
            batch = self._next_batch() if self.pending() > 0 else []
            if batch:
                self._store.add(self.space, await self._embed(batch))
            return bool(batch)

    def _next_batch(self) -> list[Unembedded]:
        """The next passages without a vector. The search goes on where it was, and looks back at the end."""
        for after in (self._reached, 0):
            while rows := self._store.missing(self.space, after, _BATCH):
                self._reached = after = rows[-1].passage_id
                if batch := [row for row in rows if row.passage_id not in self.refused]:
                    return batch
        return []

    async def _embed(self, batch: Sequence[Unembedded]) -> list[tuple[int, bytes]]:
        """Vectors for all of the batch, or all but those that the server refuses."""
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


def open_embedding(settings: EmbeddingSettings, database: Database) -> EmbeddingIndex | None:
    """None when retrieval goes by words alone."""
    embedder = choose_embedder(settings)
    return EmbeddingIndex(VectorStore(database), embedder) if embedder else None


async def _in_thread(work: Callable[[list[str]], _Result], texts: list[str]) -> _Result:
    """Like ``asyncio.to_thread``, but a server that hangs does not keep the process from ending."""
    outcome: Future[_Result] = Future()

    def run() -> None:
        try:
            outcome.set_result(work(texts))
        except BaseException as error:  # it belongs to whoever waits
            outcome.set_exception(error)

    outcome.set_running_or_notify_cancel()  # from here on only the thread decides about it
    waiting = asyncio.wrap_future(outcome)
    threading.Thread(target=run, daemon=True, name="embedding").start()
    return await waiting
