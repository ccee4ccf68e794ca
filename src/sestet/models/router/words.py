"""The model of the light variant: what each word, neighbour and pattern of a request says for each agent."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sestet.models.router.features import features
from sestet.models.router.weights import Weights


class Evidence(NamedTuple):
    """One feature of a request, and how much it speaks for the agent (or against it, below zero)."""

    feature: str
    weight: float


class WordModel:
    """Logistic regression over the features, in plain Python: a request has a few dozen of them."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._classes = len(weights.header["agents"])

    def scores(self, request: str) -> list[float]:
        """One number for each agent; their differences count."""
        header, table = self._weights.header, self._weights.word_weights
        scores = list(header["word_bias"])
        for row, value in self.rows(request):
            scale = value * header["unit"]
            start = row * self._classes
            for column in range(self._classes):
                scores[column] += scale * table[start + column]
        return scores

    def rows(self, request: str) -> list[tuple[int, float]]:
        """The rows of the features that are known, with values that have length 1 together."""
        return weigh(request, self._weights.vocabulary, self._weights.rarity)

    def evidence(self, request: str, column: int) -> list[Evidence]:
        """What spoke for an agent, against the mean of all, strongest first."""
        unit, table = self._weights.header["unit"], self._weights.word_weights
        names = [name for name in features(request) if name in self._weights.vocabulary]
        found: list[Evidence] = []
        for name, (row, value) in zip(names, self.rows(request), strict=True):
            row_weights = table[row * self._classes : (row + 1) * self._classes]
            found.append(
                Evidence(name, value * unit * (row_weights[column] - sum(row_weights) / self._classes))
            )
        return sorted(found, key=lambda one: -abs(one.weight))


def weigh(request: str, vocabulary: Mapping[str, int], rarity: Sequence[float]) -> list[tuple[int, float]]:
    """The known features of a request as rows and values."""
    known = [row for name in features(request) if (row := vocabulary.get(name)) is not None]
    length = math.sqrt(sum(rarity[row] ** 2 for row in known)) or 1.0
    return [(row, rarity[row] / length) for row in known]
