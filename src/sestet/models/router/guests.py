"""The owner's own specialists: nothing was learned about them, so they are known by their plaques."""

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from sestet.core.agent import AgentSpec
from sestet.models.router.features import features
from sestet.models.router.words import Lexicon

if TYPE_CHECKING:
    from sestet.models.router.sentences import Vectors

    Embed: TypeAlias = Callable[[Sequence[str]], Vectors]


class Likeness(NamedTuple):
    """What the odds of a guest are reckoned from."""

    #: To the text of the plaque that shares most with the request, from 0 to 1.
    words: float
    #: To the text of the plaque that means most nearly the same, up to 1; 0 without an encoder.
    meaning: float
    #: How sure the request is another's, of those that were learned.
    other: float

    def log_odds(self, learned: Sequence[float]) -> float:
        base, *factors = learned
        return base + sum(factor * value for factor, value in zip(factors, self, strict=True))


class Guest:
    """A specialist that the weights do not know."""

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
            meaning = max(_nearness(vector, self._vectors), default=0.0)
        return Likeness(words, meaning, other)

    def _weigh(self, text: str) -> dict[str, float]:
        """Like ``Lexicon.weigh``, but words that were never seen count as well, as much as the rarest."""
        vocabulary, rarity = self._lexicon
        names = [name for name in features(text) if not name.startswith("~")]
        found = {name: rarity[vocabulary[name]] if name in vocabulary else self._rarest for name in names}
        length = math.sqrt(sum(value * value for value in found.values())) or 1.0
        return {name: value / length for name, value in found.items()}

    @cached_property
    def _weighed(self) -> list[dict[str, float]]:
        return [self._weigh(text) for text in self._texts]

    @cached_property
    def _vectors(self) -> "Vectors | None":
        return None if self._embed is None else self._embed(self._texts)


def plaque_texts(spec: AgentSpec) -> tuple[str, ...]:
    """What a person might say to it: its examples, its keywords, the phrases of its capabilities."""
    return tuple(
        text for text in (*spec.examples, *spec.keywords, *spec.capabilities.values()) if text.strip()
    )


def _nearness(vector: "Vectors", others: "Vectors") -> list[float]:
    """The cosine with each of the others."""
    import numpy

    lengths = numpy.linalg.norm(others, axis=1) * numpy.linalg.norm(vector) + 1e-9
    cosines: list[float] = (others @ vector / lengths).tolist()
    return cosines


def _cosine(one: dict[str, float], other: dict[str, float]) -> float:
    return sum(value * other.get(name, 0.0) for name, value in one.items())
