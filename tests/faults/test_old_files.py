"""A file that an earlier version has written is used as before, with all that is open in it."""

import json
import sqlite3
from pathlib import Path

from sestet.core.event import ToolFinished, TurnFinished, TurnPaused
from sestet.storage.damage import find_damage
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.migrations import MIGRATIONS
from tests.faults.opened import Home, read_all
from tests.faults.test_in_doubt import outcomes

OLD = 12
#: What that version did not write.
NEWER_FIELDS = {
    "turn_started": ("label", "mine"),
    "tool_called": ("effect", "targets", "recovery"),
    "tool_finished": ("mistake",),
    "model_called": ("calls_left_out", "estimated_tokens"),
    "delegation_finished": ("ended_with_turn",),
    "turn_paused": ("effects",),
    "turn_finished": ("effects", "unsupported", "cut_short"),
}


def make_old(new: Path, old: Path) -> None:
    """Copy a file into one of the old version, without what that version did not know."""
    old.parent.mkdir()
    connection = sqlite3.connect(old, isolation_level=None)
    for script in MIGRATIONS[:OLD]:
        connection.executescript(script)
    connection.execute(f"PRAGMA user_version = {OLD}")
    connection.execute("ATTACH ? AS new", (str(new),))
    for table in ("sessions", "turns", "events", "approvals", "grants", "forgotten_turns"):
        columns = connection.execute("SELECT name FROM pragma_table_info(?, 'main')", (table,)).fetchall()
        names = ", ".join(name for (name,) in columns)
        connection.execute(f"INSERT INTO main.{table} ({names}) SELECT {names} FROM new.{table}")  # noqa: S608 - names of the schema
    for kind, fields in NEWER_FIELDS.items():
        for turn_id, seq, data in connection.execute(
            "SELECT turn_id, seq, data FROM events WHERE kind = ?", (kind,)
        ).fetchall():
            kept = {name: value for name, value in json.loads(data).items() if name not in fields}
            connection.execute(
                "UPDATE events SET data = ? WHERE turn_id = ? AND seq = ?", (json.dumps(kept), turn_id, seq)
            )
    connection.close()


async def test_questions_answers_and_open_turns_of_an_old_file_are_as_they_were(tmp_path: Path) -> None:
    new, old = Home(tmp_path / "new"), Home(tmp_path / "old")
    async with new.open() as app:
        await read_all(app.run_turn("s1", "operator: fs_keyed a"))
        await read_all(app.run_turn("s0", "vault: crypto_guarded b"))
        (question,) = app.approvals.pending()
        app.decide(question.id, "approve", "always")
        paused = await read_all(app.run_turn("s1", "operator: fs_keyed x | vault: crypto_guarded c"))
        assert isinstance(paused[-1], TurnPaused)
        (asked,) = app.approvals.pending()
    database = Database(tmp_path / "new" / FILE_NAME)
    turn_id = paused[0].stamp.turn_id
    database.execute("INSERT INTO forgotten_turns (turn_id) VALUES (?)", (turn_id,))
    database.close()

    make_old(tmp_path / "new" / FILE_NAME, tmp_path / "old" / FILE_NAME)

    async with old.open() as app:
        (grant,) = app.approvals.grants()
        assert (grant.tool, grant.why, grant.untrusted, grant.private) == ("crypto_guarded", "risk", 0, 0)
        assert [question.id for question in app.approvals.pending()] == [asked.id]
        assert turn_id in {row.id for row in app.unfinished_turns()}
        app.decide(asked.id, "approve", "session")
        seen = await read_all(app.resume_turn(turn_id))
        assert isinstance(seen[-1], TurnFinished)
        assert seen[-1].effects is None, "an earlier version wrote a part of the turn"
        assert seen[-1].label.untrusted, "it is not known what the turn had read"
        assert outcomes(seen) == [("crypto_guarded", "ok")]
        results = [e for e in app.journal.events_of(turn_id) if isinstance(e, ToolFinished)]
        assert len(results) == 2
        again = await read_all(app.run_turn("new", "vault: crypto_guarded b"))
        assert outcomes(again) == [("crypto_guarded", "ok")], "the standing answer still holds"
    database = Database(tmp_path / "old" / FILE_NAME)
    assert find_damage(database) == ""
    database.close()
