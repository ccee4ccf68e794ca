"""A file of about a gigabyte: a journal of years, and words that stand in thousands of its events."""

import time
from pathlib import Path

from bench.forgetting import FACT, Waits, fill
from bench.growth.figures import Raw
from sestet.services.forgetting import Forgetting
from sestet.storage.database import FILE_NAME, Database

#: Every this many turns, the words are said again: in 100,000 turns they stand in thousands of events.
_SAID_EVERY = 100


def fill_file(path: Path, events: int) -> None:
    database = Database(path)
    fill(database, events, _SAID_EVERY)
    database.close()


async def forget_words(home: Path) -> Raw:
    """Forget words everywhere while another process writes; its longest wait, and the time of it all."""
    path = home / FILE_NAME
    database = Database(path)
    (events,) = database.execute("SELECT count(*) FROM events WHERE data LIKE ?", (f"%{FACT}%",)).only()
    waits, since = Waits(path), time.perf_counter()
    Forgetting(database).forget("m1", everywhere=True)
    ended = time.perf_counter()
    longest = waits.longest_ms()
    database.close()
    return {"wait_ms": longest, "s": ended - since, "events": events}
