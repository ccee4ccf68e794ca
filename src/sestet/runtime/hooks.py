"""What an app adds to every turn."""

from collections.abc import Callable
from datetime import datetime

from sestet.core.event import Event
from sestet.core.record import Record
from sestet.core.words import local_now
from sestet.runtime.fast_route import FastRoute
from sestet.services.memory.recall import Recollection


class Hooks(Record):
    """Optional parts that an app adds to every turn."""

    #: Finds what is remembered about the person's message; None: nothing is.
    recall: Callable[[str], Recollection | None] = lambda text: None
    #: Chooses the first delegation without a model when it is sure; None: a model always chooses.
    fast_route: FastRoute | None = None
    #: The present moment in the person's time zone, which each agent is told.
    clock: Callable[[], datetime] = local_now
    #: Called with each event of every turn, after it is written; raises nothing.
    on_event: Callable[[Event], None] = lambda event: None
    #: Called after a turn's last event was delivered, with the session id and whether the turn may have
    #: stored something.
    after_turn: Callable[[str, bool], None] = lambda session_id, stored: None
