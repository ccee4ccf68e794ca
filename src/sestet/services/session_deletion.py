"""Deletes a conversation for good: its journal, what was noticed in it, and copies of both."""

from collections.abc import Iterator
from functools import partial

from sestet.core.effects import can_be_in_doubt, open_calls, tool_name
from sestet.core.errors import PersonError
from sestet.core.record import Record
from sestet.services.forgetting import Forgetting
from sestet.services.sessions import SessionRow, cited
from sestet.storage.approvals import ApprovalStore
from sestet.storage.database import Database
from sestet.storage.event_redaction import EventRedaction
from sestet.storage.file_changes import FileChangeStore
from sestet.storage.forgetting_scan import ForgettingScan, Watch
from sestet.storage.forgettings import Forgettings, Wipe
from sestet.storage.forgotten_turns import ForgottenTurns
from sestet.storage.journal import Journal, TurnRow
from sestet.storage.lock_wait import when_free
from sestet.storage.locks import SessionLocks
from sestet.storage.saved_in_turn import SavedInTurn
from sestet.storage.session_rows import Saved, SessionRows

__all__ = ["DeletedSession", "Saved", "SessionDeletion", "SessionPreview"]


class SessionPreview(Record):
    """What would be deleted with a session."""

    #: Turns that wait for a decision or were cut off.
    open_turns: int
    #: Questions that wait for a decision.
    questions: int
    saved: Saved
    #: Calls that were cut off: they may have taken effect, and the journal is the only record of them.
    in_doubt: tuple[str, ...]
    #: Turns and undos whose changes of files can then no longer be undone.
    undoable: int = 0


class DeletedSession(Record):
    """What became of a session."""

    session_id: str
    turns: int
    #: Ids of memories and names of saved things that went with it.
    with_it: tuple[str, ...]
    #: Open turns of other sessions that had read its words.
    ended: tuple[str, ...]


class SessionDeletion:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._journal = Journal(database)
        self._redaction = EventRedaction(database)
        self._changes = FileChangeStore(database)

    def preview(self, session: SessionRow) -> SessionPreview:
        turns = [turn for turn in self._journal.open_turns() if turn.session_id == session.id]
        pending = ApprovalStore(self._database, self._journal).pending()
        questions = [question for question in pending if question.session_id == session.id]
        doubts = tuple(name for turn in turns for name in self._in_doubt(turn))
        saved = SessionRows(self._database, session.id).saved()
        changes = len(self._changes.ids_of_session(session.id))
        return SessionPreview(len(turns), len(questions), saved, doubts, changes)

    async def delete(
        self, session: SessionRow, *, with_memories: bool, watch: Watch | None = None
    ) -> DeletedSession:
        """Delete a session in which no turn is running; ``with_memories``: also what it has saved.

        Events that show its words are looked for without a lock; then it goes in one short transaction.
        """
        locks = SessionLocks.beside(self._database.path)
        try:
            if not locks.is_free(session.id):
                busy = f"a turn is running in the session '{session.id}'"
                raise PersonError(f"{busy}; wait for its end or stop it, then delete the session")
            # Held, so that no turn begins in it meanwhile.
            async with locks.hold(session.id):
                done = None
                while done is None:
                    scan = ForgettingScan(citing=cited(session.id))
                    scan.read(self._database, watch)
                    done = await when_free(partial(self._delete, session.id, scan, with_memories))
        finally:
            locks.close()
        with_it, ended = done
        return DeletedSession(session.id, session.turns, tuple(with_it), tuple(ended))

    def _delete(
        self, session_id: str, scan: ForgettingScan, with_memories: bool
    ) -> tuple[list[str], list[str]] | None:
        """What went with it, and the turns that were ended; None: look again for events with its words."""
        rows, forgetting = SessionRows(self._database, session_id), Forgetting(self._database)
        turns = ForgottenTurns(self._database, self._journal)
        with self._database.transaction(sync=True):
            if not scan.catch_up(self._database):
                return None
            # A process that has read the conversation compares this number before it writes or shows it.
            Forgettings(self._database).add()
            own = rows.turn_ids()
            saved: list[str] = []
            if with_memories:
                for turn_id in own:
                    saved += SavedInTurn(self._database, turn_id).remove(lambda text: True)
            gone = forgetting.with_derived(_memories(rows, with_memories=with_memories))
            for name in gone:
                forgetting.remove(name)
            shown = self._redaction.blank_recalled(frozenset(gone), scan)
            shown |= self._redaction.blank_citing(scan)
            others = shown - set(own)
            turns.never_observe(others)
            ended = turns.end_open(others, later=False)
            kept = self._changes.delete_rows(self._changes.ids_of_session(session_id))
            rows.delete()
        self._changes.kept.remove(kept)
        return [*gone, *saved], [f"turn {turn.number} of session '{turn.session_id}'" for turn in ended]

    def _in_doubt(self, turn: TurnRow) -> Iterator[str]:
        for intent in filter(can_be_in_doubt, open_calls(self._journal.events_of(turn.id)).values()):
            yield tool_name(intent)


def _memories(rows: SessionRows, *, with_memories: bool) -> Iterator[str]:
    """What was noticed in the conversation, and with ``with_memories`` what the person asked to remember."""
    yield from (f"o{number}" for number in rows.observation_ids())
    yield from (f"r{number}" for number in rows.reflection_ids())
    if with_memories:
        yield from (f"m{number}" for number in rows.fact_ids())


def describe_deleted(done: DeletedSession, preview: SessionPreview, wipe: Wipe) -> dict[str, object]:
    """What was deleted, as JSON."""
    return {
        "deleted": done.session_id,
        "turns": done.turns,
        "with_it": done.with_it,
        "saved": preview.saved._asdict(),
        "open_turns": preview.open_turns,
        "questions": preview.questions,
        "in_doubt": preview.in_doubt,
        "ended": done.ended,
        "scrubbed": wipe == "wiped",
        "wipe": wipe,
    }
