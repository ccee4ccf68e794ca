"""Requests to stop a turn, for the process that runs it: any process may store one."""

from sestet.storage.database import Database


class StopRequests:
    """A request is stored until its turn has ended, so it survives the death of either process."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, turn_id: str) -> None:
        """Ask for the end of a turn. Requests whose turns have ended are removed."""
        with self._database.join_transaction():
            self._database.execute(
                """DELETE FROM stop_requests WHERE turn_id NOT IN
                   (SELECT id FROM turns WHERE state IN ('running', 'paused'))"""
            )
            self._database.execute(
                """INSERT OR IGNORE INTO stop_requests
                   SELECT id FROM turns WHERE id = ? AND state IN ('running', 'paused')""",
                (turn_id,),
            )

    def all(self) -> frozenset[str]:
        """The turns that shall stop. Usually there are none, and the table is empty."""
        return frozenset(
            turn_id for (turn_id,) in self._database.execute("SELECT turn_id FROM stop_requests")
        )
