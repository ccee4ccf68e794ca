"""The passages that wait for a vector of one embedder. A process may end at any time."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

from sestet.core.errors import EmbeddingError
from sestet.services.embedding.embedder import Embedder
from sestet.storage.lock_wait import when_free
from sestet.storage.locks import SessionLocks
from sestet.storage.vectors import Unembedded, VectorStore

_LEAST_PRIORITY = 19
_Result = TypeVar("_Result")


class EmbeddingQueue:
    """The passages without a vector are the queue, so none can be lost.

    With ``locks``, one process at a time embeds, so that no text is embedded twice.
    """

    def __init__(
        self,
        store: VectorStore,
        embedder: Embedder,
        locks: SessionLocks | None,
        note: Callable[[int], None],
        better: Sequence[str] = (),
    ) -> None:
        """``note`` records the tokens that a server has counted. ``better``: spaces whose vectors suffice."""
        self.embedder = embedder
        self._store = store
        self._locks = locks
        self._note = note
        self._spaces = (embedder.space, *better)
        self._busy = asyncio.Lock()
        self._reached = 0
        #: Passages that the server rejects, with its error; the next process tries them again.
        self.refused: dict[int, str] = {}

    def pending(self) -> int:
        """The number of passages without a vector, except rejected ones."""
        return self.missing() - self._store.count_there(self.refused)

    def missing(self) -> int:
        """The number of passages without a vector."""
        return self._store.count_missing(*self._spaces)

    def is_soon_done(self) -> bool:
        """Whether there is work, so little of it that a question may wait for it."""
        return not self._busy.locked() and 0 < self.pending() <= self.embedder.at_once

    async def step(self, patience: float | None = None, *, gently: bool = False) -> bool:
        """Embed one batch; False if there was no work, or another process embeds for longer than that.

        ``gently``: with the least priority, so that everything else goes first.
        """
        async with self._busy:
            # Counting is far cheaper than searching or locking, and usually the count is 0.
            if self.pending() <= 0:
                return False
            if self._locks is None:
                return await self._embed_next(gently)
            # No session has this id, since it is not printable.
            claim = f"\0embedding {self.embedder.space}"
            try:
                async with asyncio.timeout(patience):
                    await self._locks.take(claim)
            except TimeoutError:
                return False
            try:
                return await self._embed_next(gently)
            finally:
                self._locks.give_back(claim)

    async def note_usage(self) -> None:
        if tokens := self.embedder.take_used_tokens():
            await when_free(lambda: self._note(tokens))

    async def _embed_next(self, gently: bool) -> bool:
        # Another process may have done it meanwhile.
        batch = self._next_batch() if self.pending() > 0 else []
        if batch:
            try:
                vectors = await self._embed(batch, gently)
            finally:
                await self.note_usage()
            await when_free(lambda: self._store.add(self.embedder.space, vectors))
        return bool(batch)

    def _next_batch(self) -> list[Unembedded]:
        """The next passages without a vector, from the last position and then from the start."""
        for after in (self._reached, 0):
            while rows := self._store.missing(self._spaces, after, self.embedder.batch):
                self._reached = after = rows[-1].passage_id
                if batch := [row for row in rows if row.passage_id not in self.refused]:
                    return batch
        return []

    async def _embed(self, batch: Sequence[Unembedded], gently: bool) -> list[tuple[int, bytes]]:
        """Vectors for the batch without the passages that the server rejects."""
        try:
            vectors = await in_thread(self.embedder.embed, [row.text for row in batch], gently=gently)
        except EmbeddingError as error:
            if error.kind != "text":
                raise
            if len(batch) == 1:
                self.refused[batch[0].passage_id] = str(error)
                return []
            middle = len(batch) // 2
            return [*await self._embed(batch[:middle], gently), *await self._embed(batch[middle:], gently)]
        return [(row.passage_id, vector) for row, vector in zip(batch, vectors, strict=True)]


async def in_thread(
    work: Callable[[list[str]], _Result], texts: list[str], *, gently: bool = False
) -> _Result:
    """Like ``asyncio.to_thread``, but a hanging server does not keep the process alive."""
    outcome: Future[_Result] = Future()

    def run() -> None:
        if gently:
            _give_way()
        try:
            outcome.set_result(work(texts))
        except BaseException as error:  # the waiting task raises it
            outcome.set_exception(error)

    outcome.set_running_or_notify_cancel()  # now only the thread sets the outcome
    waiting = asyncio.wrap_future(outcome)
    threading.Thread(target=run, daemon=True, name="embedding").start()
    return await waiting


def _give_way() -> None:
    """Lower the priority of this thread. Only Linux has one for each thread."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LEAST_PRIORITY)
