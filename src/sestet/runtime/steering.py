"""Words that the person adds while a turn runs: written first, then read by the root agent at its next step.

Each reply of the root's model records how many of these texts it had read, so that a resumed turn shows each
of them at the same place again.
"""

from sestet.core.errors import PersonError
from sestet.core.event import END_OF_TURN, TurnSteered
from sestet.core.label import PIPED
from sestet.core.message import UserMessage, whole
from sestet.runtime.prompts import say
from sestet.runtime.turn import AgentRun, Turn
from sestet.services.sessions import is_others

_MOST_TEXTS = 20
_LONGEST_KEY = 200


class NotSteerableError(PersonError):
    """A turn that reads no more words of the person."""


async def steer(turn: Turn, text: str, key: str = "", *, mine: bool = True) -> None:
    """Add words to a running turn. When this returns they are written, and count."""
    text = whole(text)
    if not text.strip():
        raise PersonError("the text is empty")
    if len(key) > _LONGEST_KEY:
        raise PersonError(f"the key has {len(key)} characters, and the most is {_LONGEST_KEY}")

    async def write(event: TurnSteered) -> bool:
        # No task runs between these checks and the writing.
        if _known(turn, key) is not None:
            return False
        _require_room(turn)
        return await turn.add_words(event)

    await turn.record_with(lambda: TurnSteered(turn.stamp("user"), text, mine, key), write)


def _known(turn: Turn, key: str) -> TurnSteered | None:
    return next((event for event in turn.steered if key and event.key == key), None)


def _require_room(turn: Turn) -> None:
    if is_others(turn.session_id):
        raise NotSteerableError("this turn answers somebody else, who would read the words")
    if turn.agent:
        raise NotSteerableError(f"'{turn.agent}' answers this turn alone, and reads nothing but its request")
    if turn.log and isinstance(turn.log[-1], END_OF_TURN):
        raise NotSteerableError("the turn has just ended or paused")
    if len(turn.steered) >= _MOST_TEXTS:
        raise NotSteerableError(f"{_MOST_TEXTS} texts were already added to this turn")


def has_unread_words(run: AgentRun) -> bool:
    """Whether words wait that the root agent has not read."""
    return not run.delegation_id and run.steered < len(run.turn.steered)


def read_words(run: AgentRun, upto: int) -> None:
    """Show the root agent the words up to this number."""
    for event in run.turn.steered[run.steered : upto]:
        run.messages.append(UserMessage(say("steered", text=event.text)))
        if not event.mine:
            run.label |= PIPED
    run.steered = max(run.steered, upto)
