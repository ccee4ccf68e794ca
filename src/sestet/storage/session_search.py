"""Full-text search over past turns: the person's message and the reply.

No turn is indexed while it runs. A search first indexes the turns that ended since the last search.
"""

import json

from sestet.core.label import CLEAN, PIPED, Label
from sestet.core.record import Record
from sestet.core.words import stem
from sestet.storage.apart import read_apart
from sestet.storage.database import Database, Rows, damaged, from_json, label_from
from sestet.storage.full_text import match_any, telling_words

_INDEXED_AT_ONCE = 100
#: With no more turns than these, a search takes less time than a thread.
_SEARCHED_AT_ONCE = 1000
#: The last one is 0 if the person did not write the message; older journals do not say.
_COLUMNS = """exchanges.turn_id, exchanges.session_id, exchanges.at, asked, answered, label,
    (SELECT json_extract(data, '$.mine') FROM events
     WHERE events.turn_id = exchanges.turn_id AND kind = 'turn_started')"""


class Exchange(Record):
    """One turn; ``answered`` is empty if the turn ended without a reply."""

    turn_id: str
    session_id: str
    at: float
    asked: str
    answered: str
    label: Label


class SessionSearch:
    """Reads the journal and writes only the index."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def search(self, query: str, limit: int) -> list[Exchange]:
        """The best matches first. A query of only common words finds the latest turns."""
        self._index_ended_turns()
        if not (expression := match_any(query)):
            latest = f"SELECT {_COLUMNS} FROM exchanges ORDER BY id DESC LIMIT ?"  # noqa: S608 - from above
            return _rows(self._database.execute(latest, (limit,)))
        # The view reads the journal for each row, so it is joined with the best matches only.
        rows = self._database.execute(
            f"""SELECT {_COLUMNS} FROM
                   (SELECT rowid AS id, rank AS score FROM exchanges_index
                    WHERE exchanges_index MATCH ? ORDER BY rank, rowid DESC LIMIT ?) AS best
               JOIN exchanges ON exchanges.id = best.id ORDER BY score, exchanges.id DESC""",  # noqa: S608 - from above
            (expression, limit),
        )
        return _rows(rows)

    async def search_soon(self, query: str, limit: int) -> list[Exchange]:
        """The same, without holding the event loop: many turns are indexed and searched in a thread."""
        (turns,) = self._database.execute("SELECT coalesce(max(rowid), 0) FROM turns").only()
        if turns <= _SEARCHED_AT_ONCE:
            return self.search(query, limit)
        return await read_apart(self._database, lambda own: SessionSearch(own).search(query, limit))

    def titled(self, query: str, limit: int) -> list[Exchange]:
        """The last turn of each session whose own title has some of the words, the latest first."""
        wanted = set(map(stem, telling_words(query)))
        titles = self._database.execute("SELECT session_id, title FROM session_titles")
        found = [session for session, title in titles if wanted & set(map(stem, telling_words(title)))]
        # The view reads the journal for each row, so the last turns are chosen without it.
        rows = self._database.execute(
            f"""SELECT {_COLUMNS} FROM exchanges WHERE exchanges.id IN
                   (SELECT max(searchable_turns.id) FROM searchable_turns JOIN turns ON turns.id = turn_id
                    WHERE session_id IN (SELECT value FROM json_each(?)) GROUP BY session_id)
               ORDER BY exchanges.id DESC LIMIT ?""",  # noqa: S608 - from above
            (json.dumps(found), limit),
        )
        return _rows(rows)

    def _index_ended_turns(self) -> None:
        """Index the ended turns in batches, so that turns of other processes can write in between."""
        taken = _INDEXED_AT_ONCE
        while taken == _INDEXED_AT_ONCE:
            found = self._database.execute(
                """SELECT id FROM turns WHERE state IN ('finished', 'failed', 'cancelled')
                   AND id NOT IN (SELECT turn_id FROM searchable_turns) LIMIT ?""",
                (_INDEXED_AT_ONCE,),
            )
            taken = len(found)
            if taken:
                with self._database.transaction():
                    self._database.execute(
                        "INSERT OR IGNORE INTO searchable_turns (turn_id) SELECT value FROM json_each(?)",
                        (json.dumps([turn_id for (turn_id,) in found]),),
                    )


def _rows(rows: Rows) -> list[Exchange]:
    return [
        Exchange(turn_id, session_id, at, asked, answered or "", _label(label, mine is None or mine))
        for turn_id, session_id, at, asked, answered, label, mine in rows
    ]


def _label(stored: str | None, mine: bool) -> Label:
    """The label of the reply; without a reply, that of the message."""
    if stored is None:
        return CLEAN if mine else PIPED
    label = from_json(stored, "the label of a past turn")
    try:
        return label_from(label["untrusted"], label["private"], json.dumps(label["sources"]))
    except (KeyError, TypeError) as error:
        raise damaged("the label of a past turn cannot be read") from error
