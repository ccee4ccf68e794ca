"""Finds the passages that answer a question, by their words, their meaning and the graph."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

from sestet.core.errors import EmbeddingError
from sestet.core.label import CLEAN, Label
from sestet.core.record import Record
from sestet.services.embedding.work import Embedding
from sestet.storage.full_text import match_any, match_phrase, telling_words
from sestet.storage.graph import node_key
from sestet.storage.links import Link, LinkStore
from sestet.storage.passages import PassageRow, PassageStore, Scope

#: What can be asked for. What a person asked to be remembered has tools of its own.
Collection: TypeAlias = Literal["knowledge", "learnings", "observations", "reflections", "documents"]
COLLECTIONS: tuple[Collection, ...] = get_args(Collection)

# Reciprocal rank fusion: the usual constant, which keeps one first place from outweighing two good ones.
_CONSTANT = 60
# How deep into each half to look, in results. Further down the halves agree by chance alone.
_DEPTH = 2
_LEAST_DEPTH = 10
# A passage counts by words as far as it holds them: all of them 1, one of four a quarter. By meaning it
# counts as much as one that holds half of the words, and as a neighbour in the graph for half of that.
_MEANING_WEIGHT = 0.5
_GRAPH_WEIGHT = 0.25
_MOST_LINKS = 60
_MOST_NEIGHBOURS = 8
_PASSAGES_A_NEIGHBOUR = 3
_WORDS_OF_A_PASSAGE = 120
_WORDS_OF_A_NODE = 4
_SHOWN_WORDS = 6
_PUNCTUATION = ".,;:!?()[]{}'\"`*_"


class Passage(Record):
    """A text that was found, where it stands, why, and how well it fits: 1 is first by words and meaning."""

    text: str
    title: str
    collection: str
    source: str
    created_at: float
    score: float
    label: Label
    why: str


class Retrieved(NamedTuple):
    passages: tuple[Passage, ...]
    #: Why the search went by words alone, if it had to.
    problem: str


class _Place(Record):
    """Where one way of looking puts a passage, and the value that put it there."""

    rank: int
    value: float


class _Neighbour(Record):
    rank: int
    why: str
    label: Label


class Retrieval:
    """One question to all collections. The same passages give the same answer, whatever their order."""

    def __init__(
        self,
        passages: PassageStore,
        links: LinkStore | None = None,
        embedding: Embedding | None = None,
    ) -> None:
        self._passages = passages
        self._links = links
        self._embedding = embedding

    async def retrieve(
        self, query: str, limit: int = 5, collections: Sequence[Collection] = (), session_id: str = ""
    ) -> Retrieved:
        """The best passages first; of these collections, or of all."""
        scope = Scope(tuple(collections) or COLLECTIONS, session_id)
        depth = max(_DEPTH * limit, _LEAST_DEPTH)
        by_words = _ranked(self._passages.match(match_any(query), scope, depth))
        by_meaning, problem = await self._by_meaning(query, scope, depth)
        words = telling_words(query)
        held = self._passages.holding(words, by_words.keys() | by_meaning.keys())
        scores = dict.fromkeys(by_words.keys() | by_meaning.keys(), 0.0)
        for passage_id, place in by_words.items():
            scores[passage_id] += len(held.get(passage_id, ())) / len(words) / (_CONSTANT + place.rank)
        for passage_id, place in by_meaning.items():
            scores[passage_id] += _MEANING_WEIGHT / (_CONSTANT + place.rank)
        rows = self._passages.get(scores)
        neighbours = self._neighbours(query, _ordered(rows, scores)[:limit], scope)
        for passage_id, neighbour in neighbours.items():
            extra = _GRAPH_WEIGHT / (_CONSTANT + neighbour.rank)
            scores[passage_id] = scores.get(passage_id, 0.0) + extra
        rows |= self._passages.get(neighbours.keys() - rows.keys())
        found = (
            _passage(row, scores[row.id], held.get(row.id), by_meaning.get(row.id), neighbours.get(row.id))
            for row in _ordered(rows, scores)[:limit]
        )
        return Retrieved(tuple(found), problem)

    async def _by_meaning(self, query: str, scope: Scope, limit: int) -> "tuple[dict[int, _Place], str]":
        """The places of the nearest; without vectors none, and why there are none."""
        if self._embedding is None:
            return {}, ""
        try:
            return _ranked(await self._embedding.nearest(query, limit, scope.holds)), ""
        except EmbeddingError as error:
            return {}, str(error)

    def _neighbours(self, query: str, seeds: Sequence[PassageRow], scope: Scope) -> dict[int, _Neighbour]:
        """Passages about nodes that the graph links to those that the question and the best passages name."""
        if self._links is None or not seeds:
            return {}
        # Earlier texts first: what the question itself names comes before what a passage names.
        texts = (query, *(f"{row.title}\n{row.text}" for row in seeds))
        places = dict[str, int]()
        for place, text in enumerate(texts):
            for name in _names(text):
                places.setdefault(name, place)
        asked = [name for name, place in places.items() if place == 0]
        links = [*self._links.of(asked, _MOST_LINKS), *self._links.of(places.keys() - asked, _MOST_LINKS)]
        links = [link for link in links if link.other_key not in places]
        links.sort(key=lambda link: (places[link.key], link.predicate, link.other_key))
        found: dict[int, _Neighbour] = {}
        for rank, link in enumerate(_first_of_each(links)[:_MOST_NEIGHBOURS], 1):
            why = f"graph: {link.predicate} links {link.key} with {link.other}"
            for match in self._passages.match(match_phrase(link.other), scope, _PASSAGES_A_NEIGHBOUR):
                found.setdefault(match.passage_id, _Neighbour(rank, why, link.label))
        return found


def _ranked(found: Iterable[tuple[int, float]]) -> dict[int, _Place]:
    """Places from values that come in falling order; equals share one."""
    places: dict[int, _Place] = {}
    last = _Place(0, 0.0)
    for number, (passage_id, value) in enumerate(found, 1):
        last = _Place(last.rank if places and value == last.value else number, value)
        places[passage_id] = last
    return places


def _ordered(rows: Mapping[int, PassageRow], scores: Mapping[int, float]) -> list[PassageRow]:
    """The best first; equals by what they say, never by when they were stored."""
    return sorted(
        rows.values(),
        key=lambda row: (
            -round(scores[row.id], 12),
            row.collection,
            row.title,
            row.text,
            row.source,
            row.created_at,
            row.id,
        ),
    )


def _passage(
    row: PassageRow,
    score: float,
    words: Sequence[str] | None,
    near: _Place | None,
    neighbour: _Neighbour | None,
) -> Passage:
    reasons: list[str] = []
    if words:
        reasons.append(f"words: {', '.join(words[:_SHOWN_WORDS])}")
    if near:
        reasons.append(f"meaning {near.value:.2f}")
    if neighbour:
        reasons.append(neighbour.why)
    # What leads to a passage is shown with it, so it counts as read.
    label = row.label | (neighbour.label if neighbour else CLEAN)
    share = min(score * (_CONSTANT + 1) / (1 + _MEANING_WEIGHT), 1.0)
    why = "; ".join(reasons)
    return Passage(row.text, row.title, row.collection, row.source, row.created_at, share, label, why)


def _names(text: str) -> Iterable[str]:
    """Everything in a text that could be the name of a node: its words, and runs of them."""
    # SQLite takes a name to end at its first zero: another one would be found.
    parts = node_key(text.replace("\0", " ")).split()[:_WORDS_OF_A_PASSAGE]
    words = [word.strip(_PUNCTUATION) for word in parts]
    for start in range(len(words)):
        for length in range(1, _WORDS_OF_A_NODE + 1):
            name = " ".join(words[start : start + length]).strip()
            if len(name) > 2 and start + length <= len(words):
                yield name


def _first_of_each(links: Iterable[Link]) -> list[Link]:
    """One link to each node: the first."""
    return list({link.other_key: link for link in reversed(list(links))}.values())[::-1]
