"""How near unrelated texts are in a space, so that a similarity says how much it means."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: From so many standard deviations above unrelated texts on, a passage may have to do with a question.
RELATED = 2.0
#: From here on it surely does: among a hundred unrelated texts, one question in four finds one so near.
NEAR = 3.2
#: Beside a nearer text, one that is so much farther away is left out.
_BESIDE = 1.0
#: The least number of vectors to measure a space by.
_ENOUGH = 8
#: The median of absolute deviations times this is the standard deviation.
_MEDIAN_TO_STANDARD = 1.4826


class Noise(NamedTuple):
    """The similarity of unrelated texts in a space: its mean and its standard deviation."""

    mean: float
    deviation: float

    def deviations(self, similarity: float) -> float:
        """By how many standard deviations this similarity exceeds that of unrelated texts."""
        return (similarity - self.mean) / self.deviation

    def similarity(self, deviations: float) -> float:
        """The inverse of ``deviations``."""
        return self.mean + deviations * self.deviation


#: For a space that is not known, and has too few vectors to be measured.
UNKNOWN = Noise(0.5, 0.05)


class Related(NamedTuple):
    """A passage that may have to do with a question."""

    passage_id: int
    similarity: float
    #: By how many standard deviations it is nearer than unrelated texts. Comparable across spaces.
    deviations: float
    is_related: bool


def only_near(found: Sequence[Related]) -> list[Related]:
    """The passages that surely have to do with the question; none if nothing is near enough."""
    best = max((one.deviations for one in found), default=0.0)
    return [one for one in found if one.deviations >= max(NEAR, best - _BESIDE)]


def measure_noise(vector: bytes, others: Sequence[bytes]) -> Noise:
    """The similarity of a question to most of these vectors; medians, because a few are related."""
    import numpy

    if len(others) < _ENOUGH:
        return UNKNOWN
    query = numpy.frombuffer(vector, "<f4")
    matrix: NDArray[numpy.float32] = numpy.frombuffer(b"".join(others), "<f4").reshape(len(others), -1)
    if matrix.shape[1] != len(query):
        return UNKNOWN
    similarities = matrix @ query
    middle = float(numpy.median(similarities))
    spread = float(numpy.median(numpy.abs(similarities - middle))) * _MEDIAN_TO_STANDARD
    return Noise(middle, max(spread, UNKNOWN.deviation / 5))
