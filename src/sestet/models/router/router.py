"""Decides who owns a request: by its words, and by a sentence encoder where one is installed."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from sestet.core.agent import DIRECT, AgentSpec
from sestet.encoder.sentence_encoder import EncoderMissingError
from sestet.models.router.classifiers import Evidence, PlaqueModel, SentenceModel, WordModel
from sestet.models.router.encoder import open_request_encoder
from sestet.models.router.splitting import Part, join_pieces, judge_pieces, where_to_look
from sestet.models.router.weights import Example, Tuning, Variant, Weights, read_weights

#: An explanation leaves out one word at a time, for at most this many words.
_MOST_WORDS = 40


class Route(NamedTuple):
    """The owner of a request, and how sure the router is."""

    #: A specialist's name, or ``direct`` when the orchestrator answers itself.
    agent: str
    #: The probability that the agent is right, calibrated on requests that were not learned from.
    confidence: float
    #: The probability is above the threshold, and the request has only one part.
    sure: bool
    #: The probability of each agent, highest first.
    scores: Mapping[str, float]
    #: The words and patterns that speak for or against the agent, strongest first.
    evidence: tuple[Evidence, ...]


class Explanation(NamedTuple):
    """A route with its reasons."""

    route: Route
    #: By how much each word raises the log-odds of the agent, measured by leaving the word out.
    evidence: tuple[Evidence, ...]
    parts: tuple[Part, ...]
    #: The requests of the bank that are most like this one, nearest first.
    nearest: tuple[Example, ...]


class Router:
    """Routes requests among the agents of one tree. It loads its weights on the first request."""

    def __init__(self, specs: Sequence[AgentSpec], with_encoder: bool = True) -> None:
        self._specs = tuple(specs)
        self._with_encoder = with_encoder

    @property
    def variant(self) -> Variant:
        return "words" if self._sentences is None else "words+encoder"

    @property
    def threshold(self) -> float:
        return self._tuning["threshold"]

    @property
    def missing(self) -> str:
        """Why the full variant could not be opened; empty when it was, or was not wanted."""
        return self._opened[1]

    def route(self, request: str) -> Route:
        scores = self._scores(request)
        agent = next(iter(scores))
        sure = scores[agent] >= self.threshold and self._is_one(request, agent)
        return Route(agent, scores[agent], sure, scores, self._evidence(request, agent))

    def split(self, request: str) -> tuple[Part, ...]:
        """The parts of a request in the order of the work; a simple request is one part."""
        parts = join_pieces(request, judge_pieces(request, self._scores))
        return parts or (Part(request, next(iter(self._scores(request)))),)

    def explain(self, request: str, most: int = 5) -> Explanation:
        """The route, its parts, and this many of the nearest examples."""
        route = self.route(request)
        evidence = self._leave_out(request, route.agent)
        return Explanation(route, evidence, self.split(request), self._nearest(request, most))

    def _is_one(self, request: str, agent: str) -> bool:
        """Whether no piece of the request looks like the work of another agent."""
        pieces = judge_pieces(request, self._scores)
        return all(piece.agent == agent or piece.chance < 0.5 for piece in pieces)

    def _scores(self, request: str) -> dict[str, float]:
        request = where_to_look(request) or request
        tuning, agents = self._tuning, self._weights.header["agents"]
        totals = [tuning["words"] * log for log in _log_softmax(self._words.scores(request))]
        vector = None
        if self._sentences is not None:
            vector = self._sentences.embed([request])[0]
            logs = _log_softmax(self._sentences.scores(vector))
            totals = [total + tuning["encoder"] * log for total, log in zip(totals, logs, strict=True)]
        there = {DIRECT, *(spec.name for spec in self._specs)}
        known = {name: total for name, total in zip(agents, totals, strict=True) if name in there}
        odds = dict(zip(known, map(math.exp, _log_softmax(list(known.values()))), strict=True))
        highest = max(odds.values())
        for other in self._unlearned:
            odds[other.name] = math.exp(other.compare(request, vector, highest).log_odds(tuning["guest"]))
        total = sum(odds.values())
        return {name: odds[name] / total for name in sorted(odds, key=lambda name: -odds[name])}

    def _leave_out(self, request: str, agent: str) -> tuple[Evidence, ...]:
        words = request.split()[:_MOST_WORDS]
        whole = _log_odds(self._scores(" ".join(words))[agent])
        found = [
            Evidence(word, whole - _log_odds(self._scores(" ".join(words[:at] + words[at + 1 :]))[agent]))
            for at, word in enumerate(words)
        ]
        return tuple(sorted(found, key=lambda one: -abs(one.weight)))

    def _evidence(self, request: str, agent: str) -> tuple[Evidence, ...]:
        agents = self._weights.header["agents"]
        return tuple(self._words.evidence(request, agents.index(agent))) if agent in agents else ()

    def _nearest(self, request: str, most: int) -> tuple[Example, ...]:
        """Compared by words; an example that shares no word with the request scores 0 unseen."""
        asked, words = self._words.lexicon.weigh(request), set(request.casefold().split())

        def likeness(example: Example) -> float:
            if words.isdisjoint(example.request.casefold().split()):
                return 0.0
            weighed = self._words.lexicon.weigh(example.request)
            return sum(value * asked.get(name, 0.0) for name, value in weighed.items())

        rated = sorted(((likeness(each), each) for each in self._weights.bank()), key=lambda pair: -pair[0])
        return tuple(example for rating, example in rated[:most] if rating)

    @cached_property
    def _weights(self) -> Weights:
        return read_weights()

    @cached_property
    def _tuning(self) -> Tuning:
        return self._weights.header["variants"][self.variant]

    @cached_property
    def _words(self) -> WordModel:
        return WordModel(self._weights)

    @property
    def _sentences(self) -> SentenceModel | None:
        return self._opened[0]

    @cached_property
    def _opened(self) -> tuple[SentenceModel | None, str]:
        if not self._with_encoder:
            return None, ""
        try:
            return SentenceModel(open_request_encoder(), self._weights), ""
        except EncoderMissingError as error:
            return None, str(error)

    @cached_property
    def _unlearned(self) -> tuple[PlaqueModel, ...]:
        """The specialists that the weights do not know."""
        learned = self._weights.header["agents"]
        embed = None if self._sentences is None else self._sentences.embed
        own = (spec for spec in self._specs if spec.name not in learned)
        return tuple(PlaqueModel(spec, self._words.lexicon, embed) for spec in own)


def open_router(specs: Sequence[AgentSpec], with_encoder: bool = True) -> Router:
    """The router for these specialists; without the encoder it is the light variant."""
    return Router(specs, with_encoder)


def _log_odds(chance: float) -> float:
    # 0 and 1 come from rounding, and have no logarithm.
    chance = min(max(chance, 1e-9), 1 - 1e-9)
    return math.log(chance / (1 - chance))


def _log_softmax(scores: Sequence[float]) -> list[float]:
    highest = max(scores)
    total = highest + math.log(sum(math.exp(score - highest) for score in scores))
    return [score - total for score in scores]
