"""Everything that is remembered as one list that a person can read, trace and correct."""

from typing import Literal, TypeAlias

from sestet.core.errors import PersonError
from sestet.core.label import Label
from sestet.core.record import Record
from sestet.services.memory.recall import LETTERS
from sestet.storage.database import Database
from sestet.storage.journal import Journal
from sestet.storage.memories import MemoryRow, MemoryStore
from sestet.storage.observations import ObservationRow, ObservationStore, ReflectionRow
from sestet.storage.remembered import Kind, RememberedIndex

Sort: TypeAlias = Literal["fact", "observation", "reflection"]

_SORTS: dict[str, Sort] = {"m": "fact", "o": "observation", "r": "reflection"}
#: What a person writes about themselves is theirs, and private.
YOURS = Label(private=True)
YOU = "you"
_LONGEST = 2_000


class Item(Record):
    """One row of memory, with where it came from and what became of it."""

    #: ``m3``, ``o7`` or ``r2``.
    id: str
    sort: Sort
    text: str
    at: float
    session_id: str
    turn_id: str
    #: Its place in the session; 0 when that is not known.
    turn_number: int
    made_by: str
    label: Label
    #: Of a reflection; else 0.
    level: int = 0
    #: The ids of what it replaced, or rests on.
    rests_on: tuple[str, ...] = ()
    #: The id of the fact that counts in its place, or those of what rests on it.
    used_by: tuple[str, ...] = ()

    @property
    def counts(self) -> bool:
        """False for a fact that a later one has replaced."""
        return self.sort != "fact" or not self.used_by


class Ledger:
    """Lists, finds and corrects rows of all three kinds by their ids."""

    def __init__(self, database: Database) -> None:
        self.memories = MemoryStore(database)
        self.observations = ObservationStore(database)
        self._index = RememberedIndex(database)
        self._journal = Journal(database)

    def items(self, limit: int, sort: Sort | None = None, session_id: str = "") -> list[Item]:
        """The latest first; facts that were replaced are among them."""
        found: list[Item] = []
        if sort in (None, "fact"):
            rows = self.memories.latest(limit, superseded=True, session_id=session_id)
            found += [self._fact(row) for row in rows]
        if sort in (None, "observation"):
            found += [self._observation(row) for row in self.observations.observations(limit, session_id)]
        if sort in (None, "reflection"):
            found += [self._reflection(row) for row in self.observations.reflections(limit, session_id)]
        return sorted(found, key=lambda item: (-item.at, item.id))[:limit]

    def find(self, query: str, limit: int) -> list[Item]:
        """The best matches of full text; facts that were replaced are left out."""
        matches = self._index.find(query, limit)
        found = (self.get(item_id(match.kind, match.id)) for match in matches)
        return [item for item in found if item is not None]

    def get(self, wanted: str) -> Item | None:
        sort, number = split_id(wanted)
        if sort == "fact":
            fact = self.memories.get(number)
            return self._fact(fact) if fact else None
        if sort == "observation":
            observation = self.observations.observation(number)
            return self._observation(observation) if observation else None
        reflection = self.observations.reflection(number)
        return self._reflection(reflection) if reflection else None

    def require(self, wanted: str) -> Item:
        item = self.get(wanted)
        if item is None:
            raise PersonError(f"nothing is remembered as '{wanted}'; 'sestet memory list' shows the ids")
        return item

    def quoting(self, text: str) -> list[str]:
        """The ids of observations and reflections that hold a text word for word."""
        return [item_id(kind, number) for kind, number in self._index.quoting(text)]

    def edit(self, wanted: str, text: str) -> Item:
        """Put the person's own words in the place of a row's; its id, its day and its links stay."""
        item = self.require(wanted)
        text = " ".join(text.split())
        if not text:
            raise PersonError(f"the new text is empty; 'sestet memory forget {item.id}' removes it")
        if len(text) > _LONGEST:
            raise PersonError(f"the new text has {len(text):,} characters, and the most is {_LONGEST:,}")
        if not is_storable(text):
            raise PersonError("the new text holds characters that are not text")
        _, number = split_id(wanted)
        rewrite = {
            "fact": self.memories.rewrite,
            "observation": self.observations.rewrite_observation,
            "reflection": self.observations.rewrite_reflection,
        }[item.sort]
        rewrite(number, text, YOURS, YOU)
        return self.require(wanted)

    def restore(self, wanted: str) -> Item:
        """Let a fact count again that a later one has replaced."""
        item = self.require(wanted)
        if item.counts:
            raise PersonError(f"'{item.id}' was not replaced, so there is nothing to restore")
        self.memories.restore(split_id(wanted)[1])
        return self.require(wanted)

    def _fact(self, row: MemoryRow) -> Item:
        older = tuple(f"m{other.id}" for other in self.memories.replaced_by(row.id))
        later = (f"m{row.superseded_by}",) if row.superseded_by is not None else ()
        return self._item(row, "m", 0, older, later)

    def _observation(self, row: ObservationRow) -> Item:
        return self._item(row, "o", 0, (), tuple(f"r{n}" for n in self.observations.covering(row.id)))

    def _reflection(self, row: ReflectionRow) -> Item:
        rests_on = (*(f"o{number}" for number in row.covers), *(f"r{number}" for number in row.gathers))
        used_by = tuple(f"r{number}" for number in self.observations.gathering(row.id))
        return self._item(row, "r", row.level, rests_on, used_by)

    def _item(
        self,
        row: MemoryRow | ObservationRow | ReflectionRow,
        letter: str,
        level: int,
        rests_on: tuple[str, ...],
        used_by: tuple[str, ...],
    ) -> Item:
        turn = self._journal.turn(row.turn_id)
        return Item(
            f"{letter}{row.id}",
            _SORTS[letter],
            row.text,
            row.created_at,
            row.session_id,
            row.turn_id,
            turn.number if turn else 0,
            row.made_by,
            row.label,
            level,
            rests_on,
            used_by,
        )


def item_id(kind: Kind, number: int) -> str:
    return f"{LETTERS[kind]}{number}"


def is_storable(text: str) -> bool:
    """Half characters can be stored by no database."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def split_id(wanted: str) -> tuple[Sort, int]:
    """What an id names; an error that shows how one looks."""
    letter, number = wanted[:1].casefold(), wanted[1:]
    if letter not in _SORTS or not number.isascii() or not number.isdecimal() or len(number) > 18:
        raise PersonError(f"'{wanted}' is no id: m3 is a fact, o3 an observation, r3 a reflection")
    return _SORTS[letter], int(number)
