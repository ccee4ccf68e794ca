"""Finds the stored vectors nearest to a query with one matrix product over a copy in memory."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from sestet.core.record import Record
from sestet.storage.vectors import StoredVector, VectorStore

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

#: Whether a search wants the passages of a collection and session.
Wanted = Callable[[str, str], bool]

_PAGE = 2_000
#: The largest copy in memory; a larger space is read page by page for each query.
MOST_BYTES = 512 * 1024 * 1024
# The possible error of a float32 product.
_SLACK = 1e-5


class Near(NamedTuple):
    passage_id: int
    similarity: float


class _Block(Record):
    """Some vectors with the ids of their passages."""

    ids: "NDArray[numpy.int64]"
    #: For each passage, the index of its collection and session in the groups.
    groups: "NDArray[numpy.int32]"
    matrix: "NDArray[numpy.float32]"


class VectorSearch:
    """Searches the vectors of one space. The copy is checked against the table before each use."""

    def __init__(self, store: VectorStore, space: str, most_bytes: int = MOST_BYTES) -> None:
        self._store = store
        self._space = space
        self._most_bytes = most_bytes
        self._state: tuple[int, int] | None = None
        self._outdated_at = 0
        self._block: _Block | None = None
        self._groups: dict[tuple[str, str], int] = {}

    def find(self, vector: bytes, limit: int, floor: float, wanted: Wanted) -> list[Near]:
        """The nearest first. All vectors that tie with the last one are returned."""
        import numpy

        query = numpy.frombuffer(vector, "<f4")
        found: list[Near] = []
        for block in self._blocks(query.shape[0]):
            mask = numpy.fromiter((wanted(*group) for group in self._groups), bool, len(self._groups))
            found += _best(block, query, limit, floor, mask)
        # A large space comes in several blocks, each with its own best.
        found.sort(key=lambda near: (-near.similarity, near.passage_id))
        last = found[limit - 1].similarity if len(found) > limit else floor
        return [near for near in found if near.similarity >= last]

    def _blocks(self, dimension: int) -> Iterator[_Block]:
        """The copy as one block, or the pages of a space that is too large for a copy."""
        state = (self._store.changes(self._space), self._store.outdated_at())
        if self._state != state or self._block is None:
            with self._store.snapshot():
                state = (self._store.changes(self._space), self._store.outdated_at())
                if self._outdated_at != state[1]:
                    # After a restore, a known number may be that of another passage.
                    self._block, self._outdated_at = None, state[1]
                ids = self._store.ids(self._space)
                count = ids.count(",") + 1 if ids else 0
                if count * dimension * 4 > self._most_bytes:
                    self._block = None
                    yield from (self._as_block(rows, dimension) for rows in self._pages())
                    return
                self._block = self._refresh(ids, count, dimension)
            self._state = state
        if self._block.matrix.shape[1] == dimension:
            yield self._block

    def _refresh(self, joined: str, count: int, dimension: int) -> _Block:
        """Update the copy; only new vectors are read if possible."""
        import numpy

        old, self._block = self._block, None
        if old is None or not len(old.ids) or old.matrix.shape[1] != dimension:
            return self._load(count, dimension)
        ids = numpy.fromstring(joined, numpy.int64, sep=",") if joined else numpy.empty(0, numpy.int64)
        if numpy.array_equal(old.ids, ids):
            return old
        kept = numpy.isin(old.ids, ids, assume_unique=True)
        last = int(old.ids[-1])
        # Ids only grow, so new vectors usually come after the known ones.
        if not numpy.array_equal(old.ids[kept], ids[ids <= last]):
            del old
            return self._load(count, dimension)
        head = old if kept.all() else _Block(old.ids[kept], old.groups[kept], old.matrix[kept])
        return self._load(count, dimension, head, last)

    def _load(self, count: int, dimension: int, head: _Block | None = None, after: int = 0) -> _Block:
        """A block for ``count`` vectors: those of the head, then those stored after it."""
        import numpy

        ids, groups = numpy.empty(count, numpy.int64), numpy.empty(count, numpy.int32)
        matrix = numpy.empty((count, dimension), numpy.float32)
        filled = 0
        pages = (self._as_block(rows, dimension) for rows in self._pages(after))
        for part in chain((head,) if head else (), pages):
            end = filled + len(part.ids)
            ids[filled:end], groups[filled:end], matrix[filled:end] = part.ids, part.groups, part.matrix
            filled = end
        return _Block(ids[:filled], groups[:filled], matrix[:filled])

    def _pages(self, after: int = 0) -> Iterator[list[StoredVector]]:
        while rows := self._store.page(self._space, after, _PAGE):
            yield rows
            after = rows[-1].passage_id

    def _as_block(self, rows: list[StoredVector], dimension: int) -> _Block:
        import numpy

        rows = [row for row in rows if len(row.vector) == 4 * dimension]
        groups = (
            self._groups.setdefault((row.collection, row.session_id), len(self._groups)) for row in rows
        )
        return _Block(
            numpy.fromiter((row.passage_id for row in rows), numpy.int64, len(rows)),
            numpy.fromiter(groups, numpy.int32, len(rows)),
            numpy.frombuffer(b"".join(row.vector for row in rows), "<f4").reshape(len(rows), dimension),
        )


def _best(
    block: _Block,
    query: "NDArray[numpy.float32]",
    limit: int,
    floor: float,
    mask: "NDArray[numpy.bool_]",
) -> list[Near]:
    import numpy

    if not len(block.ids):
        return []
    # einsum uses one thread; BLAS would wake every core for two milliseconds of work.
    scores = numpy.einsum("ij,j->i", block.matrix, query)
    scores[~mask[block.groups]] = -2
    least = max(floor, float(numpy.partition(scores, -limit)[-limit])) if len(scores) > limit else floor
    (chosen,) = numpy.nonzero(scores >= least - _SLACK)
    # The last digits of the fast product depend on a row's position. This product does not, so that the
    # answer does not depend on the order in which passages were stored.
    exact = numpy.multiply(block.matrix[chosen], query, dtype=numpy.float64).sum(axis=1)
    return [
        Near(int(block.ids[index]), float(score))
        for index, score in zip(chosen, exact, strict=True)
        if score >= floor
    ]
