"""The model of the light variant: what each word, neighbour and pattern of a request says for each agent."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sestet.models.router.features import features
from sestet.models.router.weights import Weights


class Evidence(NamedTuple):
    """A word or pattern of a request, and how much it speaks for the agent (against it, below zero)."""

    feature: str
    weight: float


class Lexicon(NamedTuple):
    """Every feature that is known, and how much it counts: rare ones more, parts of words less."""

    vocabulary: Mapping[str, int]
    rarity: Sequence[float]

    def weigh(self, request: str) -> dict[str, float]:
        """The known features of a request, with values that have length 1 together."""
        vocabulary, rarity = self
        known = {name: rarity[vocabulary[name]] for name in features(request) if name in vocabulary}
        length = math.sqrt(sum(value * value for value in known.values())) or 1.0
        return {name: value / length for name, value in known.items()}


class WordModel:
    """Logistic regression over the features, in plain Python: a request has a few dozen of them."""

    def __init__(self, weights: Weights) -> None:
        words = weights.lines("vocabulary")
        self.lexicon = Lexicon(
            {word: row for row, word in enumerate(words)}, weights.numbers("word_rarity", "f")
        )
        self._bias = weights.numbers("word_bias", "f")
        #: A row for each feature, a column for each agent; each column has a unit of its own.
        self._table = weights.numbers("word_weights", "b")
        self._units = weights.numbers("word_units", "f")

    def scores(self, request: str) -> list[float]:
        """One number for each agent; their differences count."""
        count = len(self._bias)
        sums = [0.0] * count
        for name, value in self.lexicon.weigh(request).items():
            start = self.lexicon.vocabulary[name] * count
            for column in range(count):
                sums[column] += value * self._table[start + column]
        return [bias + unit * total for bias, unit, total in zip(self._bias, self._units, sums, strict=True)]

    def evidence(self, request: str, column: int) -> list[Evidence]:
        """What spoke for an agent, against the mean of all, strongest first."""
        count = len(self._bias)
        found: list[Evidence] = []
        for name, value in self.lexicon.weigh(request).items():
            start = self.lexicon.vocabulary[name] * count
            row = [self._table[start + other] * self._units[other] for other in range(count)]
            found.append(Evidence(name, value * (row[column] - sum(row) / count)))
        return sorted(found, key=lambda one: -abs(one.weight))
