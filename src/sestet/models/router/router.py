"""Who owns a request, judged without any language model: words, a sentence encoder where it is installed."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from sestet.core.agent import AgentSpec
from sestet.models.router.bank import DIRECT, Example
from sestet.models.router.encoder import Encoder, EncoderMissingError, open_encoder
from sestet.models.router.parts import Part, split_request
from sestet.models.router.weights import Variant, Weights, read_weights
from sestet.models.router.words import Evidence, WordModel


class Route(NamedTuple):
    """Where a request belongs, and how sure that is."""

    #: A specialist's name, or ``direct``: the orchestrator answers it itself.
    agent: str
    #: The probability that this is right, as measured on requests that were not learned from.
    confidence: float
    #: Above the threshold, and one request alone.
    sure: bool
    scores: Mapping[str, float]
    #: The words and patterns that spoke for the agent or against it, strongest first.
    evidence: tuple[Evidence, ...]


class Explanation(NamedTuple):
    route: Route
    parts: tuple[Part, ...]
    #: The requests of the bank that are most like this one, nearest first.
    nearest: tuple[Example, ...]


class Router:
    """Made for the agents of one tree; nothing is loaded before the first question."""

    def __init__(self, specs: Sequence[AgentSpec], with_encoder: bool = True) -> None:
        self._specs = tuple(specs)
        self._with_encoder = with_encoder

    @property
    def variant(self) -> Variant:
        return "words" if self._encoder is None else "words+encoder"

    @property
    def threshold(self) -> float:
        return self._weights.header["variants"][self.variant]["threshold"]

    def route(self, request: str) -> Route:
        scores = self._scores(request)
        agent = max(scores, key=lambda name: scores[name])
        confidence = scores[agent]
        sure = confidence >= self.threshold and not self._split(request)
        evidence = self._words.evidence(request, self._weights.header["agents"].index(agent))
        return Route(agent, confidence, sure, scores, tuple(evidence))

    def split(self, request: str) -> tuple[Part, ...]:
        """The parts of a request in the order of the work; one part when it is one request."""
        parts = self._split(request)
        return parts if len(parts) > 1 else (Part(request, self.route(request).agent),)

    def explain(self, request: str, most: int = 5) -> Explanation:
        return Explanation(self.route(request), self.split(request), self._nearest(request, most))

    def _split(self, request: str) -> tuple[Part, ...]:
        return split_request(request, self._scores)

    def _scores(self, request: str) -> dict[str, float]:
        """The probability of each agent that is there, highest first."""
        tuning = self._weights.header["variants"][self.variant]
        totals = [tuning["words"] * score for score in _logs(self._words.scores(request))]
        if self._encoder is not None:
            logs = _logs(self._encoder_scores(self._encoder, request))
            totals = [total + tuning["encoder"] * score for total, score in zip(totals, logs, strict=True)]
        there = {DIRECT, *(spec.name for spec in self._specs)}
        agents = self._weights.header["agents"]
        found = {name: total for name, total in zip(agents, totals, strict=True) if name in there}
        logs = _logs(list(found.values()))
        scores = {name: math.exp(log) for name, log in zip(found, logs, strict=True)}
        return dict(sorted(scores.items(), key=lambda item: -item[1]))

    def _encoder_scores(self, encoder: Encoder, request: str) -> list[float]:
        import numpy

        table = numpy.array(self._weights.encoder_weights).reshape(-1, len(self._weights.header["agents"]))
        scores: list[float] = (encoder.embed([request])[0] @ table).tolist()
        return [
            score + bias for score, bias in zip(scores, self._weights.header["encoder_bias"], strict=True)
        ]

    def _nearest(self, request: str, most: int) -> tuple[Example, ...]:
        wanted = dict(self._words.rows(request))

        def likeness(example: Example) -> float:
            return sum(value * wanted.get(row, 0.0) for row, value in self._words.rows(example.request))

        return tuple(sorted(self._weights.bank(), key=likeness, reverse=True)[:most])

    @cached_property
    def _weights(self) -> Weights:
        return read_weights()

    @cached_property
    def _words(self) -> WordModel:
        return WordModel(self._weights)

    @cached_property
    def _encoder(self) -> Encoder | None:
        if not self._with_encoder:
            return None
        try:
            return open_encoder()
        except EncoderMissingError:
            return None


def open_router(specs: Sequence[AgentSpec], with_encoder: bool = True) -> Router:
    """The router for these specialists; ``with_encoder`` False asks for the light variant."""
    return Router(specs, with_encoder)


def _logs(scores: Sequence[float]) -> list[float]:
    highest = max(scores)
    total = highest + math.log(sum(math.exp(score - highest) for score in scores))
    return [score - total for score in scores]
