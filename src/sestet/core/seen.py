"""What a model was shown, as a record that names rows of the journal instead of copying them."""

from typing import Literal, TypeAlias

from sestet.core.message import ToolCall
from sestet.core.record import Record

SeenRole: TypeAlias = Literal["", "memory", "user", "assistant", "tool"]


class SeenPart(Record, omit_defaults=True):
    """One part of a request: the place of its text in the journal, or the text itself if ``role`` is set."""

    #: Earlier turns of the session by number: the first and the last of each unbroken run.
    turns: tuple[int, ...] = ()
    #: What was recalled for the turn.
    memory: bool = False
    #: The person's message, or the request of the delegation.
    request: bool = False
    #: The agent's own reply of this number in the turn; the first is 1.
    reply: int = 0
    #: The answer to the call with this id.
    id: str = ""
    #: The limit to which that answer was clipped; 0: it was shown whole.
    clip: int = 0
    #: Whose text follows; empty: the text is in the journal.
    role: SeenRole = ""
    #: The tool that gave the text.
    name: str = ""
    text: str = ""
    said_at: str = ""
    calls: tuple[ToolCall, ...] = ()
    failed: bool = False


class Seen(Record, omit_defaults=True):
    """Everything that a model was shown in one call."""

    #: The digest of the instruction and the tools, which are stored once; empty: an earlier version.
    prompt: str = ""
    #: The parts come after those of the agent's previous call in the turn.
    follows: bool = False
    parts: tuple[SeenPart, ...] = ()


NOTHING_SEEN = Seen()
