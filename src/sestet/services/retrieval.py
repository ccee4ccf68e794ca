"""Finds passages that answer a question by words, by meaning and through the graph."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

from sestet.core.errors import EmbeddingError
from sestet.core.label import CLEAN, Label
from sestet.core.record import Record
from sestet.services.embedding.index import EmbeddingIndex
from sestet.storage.full_text import telling_words
from sestet.storage.graph import GraphStore, Link, node_key
from sestet.storage.passages import PassageRow, PassageStore, SearchScope

#: The searchable collections. Facts about the person have tools of their own.
Collection: TypeAlias = Literal["knowledge", "learnings", "observations", "reflections", "documents"]
COLLECTIONS: tuple[Collection, ...] = get_args(Collection)

# The usual constant of reciprocal rank fusion: two good ranks count more than one first rank.
_CONSTANT = 60
# Candidates of each method, as a multiple of the limit. Further down the two agree only by chance.
_DEPTH = 2
_LEAST_DEPTH = 10
# The weight of a match by words is the share of the query's words in the passage. A match by meaning counts
# like a passage with half of the words, and a neighbour in the graph counts half of that.
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
    """A found text with its source and the reason. Score 1: first by words and by meaning."""

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
    #: Why the search used words alone; empty if it did not.
    problem: str


class _Rank(Record):
    """The rank of a passage by one method, and the value that it was ranked by."""

    rank: int
    value: float


class _Neighbour(Record):
    rank: int
    why: str
    label: Label


class Retrieval:
    """Searches all collections. The answer does not depend on the order in which passages were stored."""

    def __init__(
        self,
        passages: PassageStore,
        graph: GraphStore | None = None,
        embedding: EmbeddingIndex | None = None,
    ) -> None:
        self._passages = passages
        self._graph = graph
        self._embedding = embedding

    async def retrieve(
        self, query: str, limit: int = 5, collections: Sequence[Collection] = (), session_id: str = ""
    ) -> Retrieved:
        """The best passages first, from these collections or from all."""
        scope = SearchScope(tuple(collections) or COLLECTIONS, session_id)
        depth = max(_DEPTH * limit, _LEAST_DEPTH)
        by_words = _ranked(self._passages.match(telling_words(query), scope, depth))
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

    async def _by_meaning(self, query: str, scope: SearchScope, limit: int) -> "tuple[dict[int, _Rank], str]":
        """The ranks by meaning, and the problem if there are no vectors."""
        if self._embedding is None:
            return {}, ""
        try:
            return _ranked(await self._embedding.nearest(query, limit, scope.holds)), ""
        except EmbeddingError as error:
            return {}, str(error)

    def _neighbours(
        self, query: str, seeds: Sequence[PassageRow], scope: SearchScope
    ) -> dict[int, _Neighbour]:
        """Passages about graph neighbours of the nodes that the question and the best passages name."""
        if self._graph is None or not seeds:
            return {}
        # Nodes named in the question come before nodes named in a passage.
        texts = (query, *(f"{row.title}\n{row.text}" for row in seeds))
        places = dict[str, int]()
        for place, text in enumerate(texts):
            for name in _names(text):
                places.setdefault(name, place)
        asked = [name for name, place in places.items() if place == 0]
        links = [
            *self._graph.links(asked, _MOST_LINKS),
            *self._graph.links(places.keys() - asked, _MOST_LINKS),
        ]
        links = [link for link in links if link.other_key not in places]
        links.sort(key=lambda link: (places[link.key], link.predicate, link.other_key))
        found: dict[int, _Neighbour] = {}
        for rank, link in enumerate(_first_of_each(links)[:_MOST_NEIGHBOURS], 1):
            why = f"graph: {link.predicate} links {link.key} with {link.other}"
            for match in self._passages.match((link.other,), scope, _PASSAGES_A_NEIGHBOUR):
                found.setdefault(match.passage_id, _Neighbour(rank, why, link.label))
        return found


def _ranked(found: Iterable[tuple[int, float]]) -> dict[int, _Rank]:
    """Ranks for values in falling order; equal values share a rank."""
    places: dict[int, _Rank] = {}
    last = _Rank(0, 0.0)
    for number, (passage_id, value) in enumerate(found, 1):
        last = _Rank(last.rank if places and value == last.value else number, value)
        places[passage_id] = last
    return places


def _ordered(rows: Mapping[int, PassageRow], scores: Mapping[int, float]) -> list[PassageRow]:
    """The best first; ties are ordered by content, not by the time of storing."""
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
    near: _Rank | None,
    neighbour: _Neighbour | None,
) -> Passage:
    reasons: list[str] = []
    if words:
        reasons.append(f"words: {', '.join(words[:_SHOWN_WORDS])}")
    if near:
        reasons.append(f"meaning {near.value:.2f}")
    if neighbour:
        reasons.append(neighbour.why)
    # The link to a passage is shown with it, so its label counts too.
    label = row.label | (neighbour.label if neighbour else CLEAN)
    share = min(score * (_CONSTANT + 1) / (1 + _MEANING_WEIGHT), 1.0)
    why = "; ".join(reasons)
    return Passage(row.text, row.title, row.collection, row.source, row.created_at, share, label, why)


def _names(text: str) -> Iterable[str]:
    """Everything in a text that could name a node: its words and short runs of words."""
    # SQLite ends a text at its first NUL and would find another name.
    parts = node_key(text.replace("\0", " ")).split()[:_WORDS_OF_A_PASSAGE]
    words = [word.strip(_PUNCTUATION) for word in parts]
    for start in range(len(words)):
        for length in range(1, _WORDS_OF_A_NODE + 1):
            name = " ".join(words[start : start + length]).strip()
            if len(name) > 2 and start + length <= len(words):
                yield name


def _first_of_each(links: Iterable[Link]) -> list[Link]:
    """The first link to each node."""
    return list({link.other_key: link for link in reversed(list(links))}.values())[::-1]
