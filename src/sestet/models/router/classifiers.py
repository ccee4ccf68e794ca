"""The models that judge the owner of a request: by its words, by its meaning, by a specialist's plaque."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from sestet.core.agent import AgentSpec
from sestet.models.router.encoder import RequestEncoder
from sestet.models.router.features import features
from sestet.models.router.weights import Weights

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[numpy.float32]
    Embed: TypeAlias = Callable[[Sequence[str]], Vectors]


class Evidence(NamedTuple):
    """A word or pattern of a request, and how much it speaks for the agent (against it, below zero)."""

    feature: str
    weight: float


class Lexicon(NamedTuple):
    """Every known feature with its weight: rare features count more, parts of words less."""

    vocabulary: Mapping[str, int]
    rarity: Sequence[float]

    def weigh(self, request: str) -> dict[str, float]:
        """The known features of a request as a vector of length 1."""
        vocabulary, rarity = self
        known = {name: rarity[vocabulary[name]] for name in features(request) if name in vocabulary}
        return _to_length_one(known)


class WordModel:
    """The light variant: logistic regression over the features, in plain Python.

    A request has a few dozen features, so numpy would not be faster.
    """

    def __init__(self, weights: Weights) -> None:
        words = weights.lines("vocabulary")
        self.lexicon = Lexicon(
            {word: row for row, word in enumerate(words)}, weights.numbers("word_rarity", "f")
        )
        self._bias = weights.numbers("word_bias", "f")
        #: A row for each feature, a column for each agent; each column has its own unit.
        self._table = weights.numbers("word_weights", "b")
        self._units = weights.numbers("word_units", "f")

    def scores(self, request: str) -> list[float]:
        """One number for each agent; only their differences matter."""
        count = len(self._bias)
        sums = [0.0] * count
        for name, value in self.lexicon.weigh(request).items():
            start = self.lexicon.vocabulary[name] * count
            for column in range(count):
                sums[column] += value * self._table[start + column]
        return [bias + unit * total for bias, unit, total in zip(self._bias, self._units, sums, strict=True)]

    def evidence(self, request: str, column: int) -> list[Evidence]:
        """What speaks for an agent, compared with the mean of all agents, strongest first."""
        count = len(self._bias)
        found: list[Evidence] = []
        for name, value in self.lexicon.weigh(request).items():
            start = self.lexicon.vocabulary[name] * count
            row = [self._table[start + other] * self._units[other] for other in range(count)]
            found.append(Evidence(name, value * (row[column] - sum(row) / count)))
        return sorted(found, key=lambda one: -abs(one.weight))


class SentenceModel:
    """The full variant: a small network over the encoder's vectors."""

    def __init__(self, encoder: RequestEncoder, weights: Weights) -> None:
        import numpy

        def read(name: str) -> "Vectors":
            return numpy.array(weights.numbers(name, "f"), numpy.float32)

        self._encoder = encoder
        self._centre, self._spread = read("centre"), read("spread")
        self._inner_bias, self._outer_bias = read("inner_bias"), read("outer_bias")
        inner = numpy.array(weights.numbers("inner_weights", "b"), numpy.float32)
        self._inner = inner.reshape(-1, len(self._inner_bias)) * read("inner_units")
        self._outer = read("outer_weights").reshape(-1, len(self._outer_bias))

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """The vectors as the network takes them: measured from the mean of the bank."""
        return (self._encoder.embed(texts) - self._centre) / self._spread

    def scores(self, vector: "Vectors") -> list[float]:
        """One number for each agent; only their differences matter."""
        import numpy

        hidden = numpy.maximum(vector @ self._inner + self._inner_bias, 0)
        scores: list[float] = (hidden @ self._outer + self._outer_bias).tolist()
        return scores


class Likeness(NamedTuple):
    """How like a specialist's plaque a request is: the three numbers that its odds are computed from."""

    #: Shared words with the nearest text of the plaque, from 0 to 1.
    words: float
    #: Shared meaning with the nearest text of the plaque, up to 1; 0 without an encoder.
    meaning: float
    #: The probability of the likeliest learned agent.
    other: float

    def log_odds(self, learned: Sequence[float]) -> float:
        base, *factors = learned
        return base + sum(factor * value for factor, value in zip(factors, self, strict=True))


class PlaqueModel:
    """Judges for one specialist that the weights do not know, such as one that the owner added."""

    def __init__(self, spec: AgentSpec, lexicon: Lexicon, embed: "Embed | None") -> None:
        self.name = spec.name
        self._texts = plaque_texts(spec)
        self._lexicon = lexicon
        self._rarest = max(lexicon.rarity, default=1.0)
        self._embed = embed

    def compare(self, request: str, vector: "Vectors | None", other: float) -> Likeness:
        asked = self._weigh(request)
        words = max((_cosine(asked, known) for known in self._weighed), default=0.0)
        meaning = 0.0
        if vector is not None and self._vectors is not None:
            meaning = max(_cosines(vector, self._vectors), default=0.0)
        return Likeness(words, meaning, other)

    def _weigh(self, text: str) -> dict[str, float]:
        """Like ``Lexicon.weigh``, but an unknown word counts as much as the rarest known one."""
        vocabulary, rarity = self._lexicon
        names = [name for name in features(text) if not name.startswith("~")]
        return _to_length_one(
            {name: rarity[vocabulary[name]] if name in vocabulary else self._rarest for name in names}
        )

    @cached_property
    def _weighed(self) -> list[dict[str, float]]:
        return [self._weigh(text) for text in self._texts]

    @cached_property
    def _vectors(self) -> "Vectors | None":
        return None if self._embed is None else self._embed(self._texts)


def plaque_texts(spec: AgentSpec) -> tuple[str, ...]:
    """What a person might say to a specialist: its examples, keywords and capability phrases."""
    return tuple(
        text for text in (*spec.examples, *spec.keywords, *spec.capabilities.values()) if text.strip()
    )


def _to_length_one(values: dict[str, float]) -> dict[str, float]:
    length = math.sqrt(sum(value * value for value in values.values())) or 1.0
    return {name: value / length for name, value in values.items()}


def _cosines(vector: "Vectors", others: "Vectors") -> list[float]:
    import numpy

    lengths = numpy.linalg.norm(others, axis=1) * numpy.linalg.norm(vector) + 1e-9
    cosines: list[float] = (others @ vector / lengths).tolist()
    return cosines


def _cosine(one: dict[str, float], other: dict[str, float]) -> float:
    """The cosine of two vectors of length 1."""
    return sum(value * other.get(name, 0.0) for name, value in one.items())
