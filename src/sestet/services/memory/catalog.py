"""The catalog of all memories: facts, observations and reflections to list, trace and correct."""

from typing import Literal, TypeAlias

from sestet.core.errors import PersonError
from sestet.core.label import Label
from sestet.core.record import Record
from sestet.services.memory.recall import LETTERS
from sestet.storage.database import Database, stored_time
from sestet.storage.journal import Journal
from sestet.storage.memories import MemoryIndex, MemoryKind, MemoryRow, MemoryStore
from sestet.storage.observations import ObservationRow, ObservationStore, ReflectionRow

Sort: TypeAlias = Literal["fact", "observation", "reflection"]

_SORTS: dict[str, Sort] = {"m": "fact", "o": "observation", "r": "reflection"}
_TABLES: dict[Sort, MemoryKind] = {
    "fact": "memories",
    "observation": "observations",
    "reflection": "reflections",
}
#: The label of text that the person wrote: trusted and private.
YOURS = Label(private=True)
YOU = "you"
_LONGEST = 2_000


class MemoryItem(Record):
    """A fact, observation or reflection with its origin and its links to others."""

    #: ``m3``, ``o7`` or ``r2``.
    id: str
    sort: Sort
    text: str
    at: float
    session_id: str
    turn_id: str
    #: The number of the turn in its session; 0 if it is not known.
    turn_number: int
    made_by: str
    label: Label
    #: The level of a reflection; else 0.
    level: int = 0
    #: Ids of the facts it replaced, or of the rows it sums up.
    rests_on: tuple[str, ...] = ()
    #: The id of the fact that replaced it, or ids of the reflections that sum it up.
    used_by: tuple[str, ...] = ()

    @property
    def counts(self) -> bool:
        """False for a fact that a later fact replaced."""
        return self.sort != "fact" or not self.used_by


class MemoryCatalog:
    """Lists, finds and corrects memories of all three sorts by their ids."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.memories = MemoryStore(database)
        self.observations = ObservationStore(database)
        self._index = MemoryIndex(database)
        self._journal = Journal(database)

    def items(self, limit: int, sort: Sort | None = None, session_id: str = "") -> list[MemoryItem]:
        """The latest first, replaced facts included."""
        found: list[MemoryItem] = []
        if sort in (None, "fact"):
            rows = self.memories.latest(limit, superseded=True, session_id=session_id)
            found += [self._fact(row) for row in rows]
        if sort in (None, "observation"):
            found += [self._observation(row) for row in self.observations.observations(limit, session_id)]
        if sort in (None, "reflection"):
            found += [self._reflection(row) for row in self.observations.reflections(limit, session_id)]
        return sorted(found, key=lambda item: (-item.at, item.id))[:limit]

    def find(self, query: str, limit: int) -> list[MemoryItem]:
        """The best full-text matches, without replaced facts."""
        matches = self._index.find(query, limit)
        found = (self.get(item_id(match.kind, match.id)) for match in matches)
        return [item for item in found if item is not None]

    def get(self, wanted: str) -> MemoryItem | None:
        sort, number = split_id(wanted)
        if sort == "fact":
            fact = self.memories.get(number)
            return self._fact(fact) if fact else None
        if sort == "observation":
            observation = self.observations.observation(number)
            return self._observation(observation) if observation else None
        reflection = self.observations.reflection(number)
        return self._reflection(reflection) if reflection else None

    def require(self, wanted: str) -> MemoryItem:
        item = self.get(wanted)
        if item is None:
            raise PersonError(f"there is no memory '{wanted}'; 'sestet memory list' shows the ids")
        return item

    def was_given(self, wanted: str) -> bool:
        """Whether a memory has or had this id. No id is given twice."""
        sort, number = split_id(wanted)
        rows = self._database.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (_TABLES[sort],))
        return bool(rows) and 0 < number <= rows.only()[0]

    def quoting(self, text: str) -> list[str]:
        """The ids of observations and reflections that contain a text, and of facts that are this text."""
        return [item_id(kind, number) for kind, number in self._index.quoting(text)]

    def edit(self, wanted: str, text: str) -> MemoryItem:
        """Replace the text of a memory by the person's own words; its id, date and links stay."""
        item = self.require(wanted)
        text = " ".join(text.split())
        if not text:
            raise PersonError(f"the new text is empty; 'sestet memory forget {item.id}' removes it")
        if len(text) > _LONGEST:
            raise PersonError(f"the new text has {len(text):,} characters, and the most is {_LONGEST:,}")
        if not is_storable(text):
            raise PersonError("the new text has characters that cannot be stored")
        self._rewrite(item, text, YOURS, YOU)
        return self.require(wanted)

    def trust_again(self, wanted: str, label: Label, made_by: str) -> None:
        """Give an untrusted row this label if the label is trusted; any other row stays as it is."""
        item = self.require(wanted)
        if item.label.untrusted and not label.untrusted:
            self._rewrite(item, item.text, label, made_by)

    def _rewrite(self, item: MemoryItem, text: str, label: Label, made_by: str) -> None:
        rewrite = {
            "fact": self.memories.rewrite,
            "observation": self.observations.rewrite_observation,
            "reflection": self.observations.rewrite_reflection,
        }[item.sort]
        rewrite(split_id(item.id)[1], text, label, made_by)

    def restore(self, wanted: str) -> MemoryItem:
        """Make a replaced fact current again."""
        item = self.require(wanted)
        if item.counts:
            raise PersonError(f"'{item.id}' was not replaced, so there is nothing to restore")
        self.memories.restore(split_id(wanted)[1])
        return self.require(wanted)

    def _fact(self, row: MemoryRow) -> MemoryItem:
        older = tuple(f"m{other.id}" for other in self.memories.replaced_by(row.id))
        later = (f"m{row.superseded_by}",) if row.superseded_by is not None else ()
        return self._item(row, "m", 0, older, later)

    def _observation(self, row: ObservationRow) -> MemoryItem:
        return self._item(row, "o", 0, (), tuple(f"r{n}" for n in self.observations.covering(row.id)))

    def _reflection(self, row: ReflectionRow) -> MemoryItem:
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
    ) -> MemoryItem:
        turn = self._journal.turn(row.turn_id)
        return MemoryItem(
            f"{letter}{row.id}",
            _SORTS[letter],
            row.text,
            stored_time(row.created_at),
            row.session_id,
            row.turn_id,
            turn.number if turn else 0,
            row.made_by,
            row.label,
            level,
            rests_on,
            used_by,
        )


def item_id(kind: MemoryKind, number: int) -> str:
    return f"{LETTERS[kind]}{number}"


def is_storable(text: str) -> bool:
    """Whether a database can store the text; it cannot store lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_id(wanted: str) -> bool:
    """Whether a text has the form of an id, such as ``m3``."""
    letter, number = wanted[:1].casefold(), wanted[1:]
    return letter in _SORTS and number.isascii() and number.isdecimal() and len(number) <= 18


def split_id(wanted: str) -> tuple[Sort, int]:
    """The sort and number of an id; raise PersonError with an example if it is not one."""
    if not is_id(wanted):
        raise PersonError(f"'{wanted}' is not an id: m3 is a fact, o3 an observation, r3 a reflection")
    return _SORTS[wanted[0].casefold()], int(wanted[1:])
