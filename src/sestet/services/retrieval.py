"""Finds passages that answer a question by words, by meaning and through the graph."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Literal, NamedTuple, TypeAlias, get_args

from sestet.core.errors import EmbeddingError
from sestet.core.label import CLEAN, Label
from sestet.core.record import Record
from sestet.services.embedding.index import EmbeddingIndex
from sestet.services.embedding.noise import RELATED, Related
from sestet.storage.full_text import telling_words
from sestet.storage.graph import GraphStore, Link, node_key
from sestet.storage.passages import PassageMatch, PassageRow, PassageStore, SearchScope

#: The searchable collections. Facts about the person have tools of their own.
Collection: TypeAlias = Literal["knowledge", "learnings", "observations", "reflections", "documents"]
COLLECTIONS: tuple[Collection, ...] = get_args(Collection)

# Candidates of each method, as a multiple of the limit. Further down the two agree only by chance.
_DEPTH = 2
_LEAST_DEPTH = 10
# A passage gets one point for each standard deviation by which it is nearer in meaning than unrelated texts.
# All words of the query count this much, and the rank by words decides between passages with as many words.
_WORDS_WEIGHT = 6.0
_RANK_WEIGHT = 2.0
# A part of the words counts far less than all: one word of three is mostly in a text about another thing.
# A rare word is a larger part than a frequent one.
_WORDS_POWER = 4
# A passage with so large a part of the words belongs to the question, whatever it means.
_ENOUGH_WORDS = 0.4
_GRAPH_WEIGHT = 1.0
# As near in meaning as good answers are, with all of the words.
_BEST_SCORE = 12.0
_MOST_LINKS = 60
_MOST_NEIGHBOURS = 8
_PASSAGES_A_NEIGHBOUR = 3
_WORDS_OF_A_PASSAGE = 120
_WORDS_OF_A_NODE = 4
_SHOWN_WORDS = 6
_PUNCTUATION = ".,;:!?()[]{}'\"`*_"


class Passage(Record):
    """A found text with its source and the reason. Score 1: all of the words, and near in meaning."""

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
        by_words = _ranks(self._passages.match(telling_words(query), scope, depth))
        by_meaning, problem = await self._by_meaning(query, scope, depth, by_words.keys())
        words = telling_words(query)
        held = self._passages.holding(words, by_words.keys() | by_meaning.keys())
        scores: dict[int, float] = {}
        rarities = self._passages.rarities(words)
        for passage_id in by_words.keys() | by_meaning.keys():
            share = sum(rarities[word] for word in held.get(passage_id, ())) / (sum(rarities.values()) or 1)
            near = by_meaning.get(passage_id)
            # A passage without a vector may be related too, so its words decide.
            score = RELATED if near is None else near.deviations
            if near is None or near.is_related or share >= _ENOUGH_WORDS:
                scores[passage_id] = score + _of_words(share, by_words.get(passage_id))
        rows = self._passages.get(scores)
        neighbours = self._neighbours(query, _ordered(rows, scores)[:limit], scope)
        for passage_id, neighbour in neighbours.items():
            scores[passage_id] = scores.get(passage_id, 0.0) + _GRAPH_WEIGHT / neighbour.rank
        rows |= self._passages.get(neighbours.keys() - rows.keys())
        found = (
            _passage(row, scores[row.id], held.get(row.id), by_meaning.get(row.id), neighbours.get(row.id))
            for row in _ordered(rows, scores)[:limit]
        )
        return Retrieved(tuple(found), problem)

    async def _by_meaning(
        self, query: str, scope: SearchScope, limit: int, by_words: Set[int]
    ) -> tuple[dict[int, Related], str]:
        """The nearest passages and how near those found by words are; the problem if there are no vectors."""
        if self._embedding is None:
            return {}, ""
        try:
            near = {one.passage_id: one for one in await self._embedding.nearest(query, limit, scope.holds)}
            return near | await self._embedding.compare(query, by_words - near.keys()), ""
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


def _ranks(found: Iterable[PassageMatch]) -> dict[int, int]:
    """Ranks for scores in falling order; equal scores share a rank."""
    ranks: dict[int, int] = {}
    rank, last = 0, 0.0
    for number, (passage_id, score) in enumerate(found, 1):
        rank, last = (rank if ranks and score == last else number), score
        ranks[passage_id] = rank
    return ranks


def _of_words(share: float, rank: int | None) -> float:
    """The points of a passage for the share of the query's words that it contains."""
    return share**_WORDS_POWER * (_WORDS_WEIGHT + (_RANK_WEIGHT / rank if rank else 0.0))


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
    near: Related | None,
    neighbour: _Neighbour | None,
) -> Passage:
    reasons: list[str] = []
    if words:
        reasons.append(f"words: {', '.join(words[:_SHOWN_WORDS])}")
    if near:
        reasons.append(f"meaning {near.similarity:.2f}")
    if neighbour:
        reasons.append(neighbour.why)
    # The link to a passage is shown with it, so its label counts too.
    label = row.label | (neighbour.label if neighbour else CLEAN)
    share = min(score / _BEST_SCORE, 1.0)
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
