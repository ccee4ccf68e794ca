"""The conversation that the root agent is shown, and how a context that is too long is shortened."""

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sestet.core.agent import TRANSFER
from sestet.core.event import (
    DelegationFinished,
    DelegationStarted,
    Event,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    TurnSteered,
)
from sestet.core.label import CLEAN, PIPED, Label, others_words
from sestet.core.message import AssistantMessage, Found, Message, ToolCall, ToolMessage, UserMessage
from sestet.core.model import CHARACTERS_PER_TOKEN
from sestet.core.record import Record
from sestet.runtime.prompts import say
from sestet.runtime.turn import Turn
from sestet.storage.database import damaged
from sestet.storage.turn_log import TurnLog

_SHOWN = (
    TurnStarted,
    TurnSteered,
    DelegationStarted,
    DelegationFinished,
    TurnFinished,
    TurnFailed,
    TurnCancelled,
)
_ENDS = (TurnFinished, TurnFailed, TurnCancelled)
#: What a later turn can be shown of a turn.
SHOWN_KINDS = tuple(event.kind for event in _SHOWN)
_MOST_TURNS = 50
_MOST_SESSIONS = 256
#: How much of the budget and of the turns is kept when one of them is exceeded.
_SHARE_KEPT = 0.75
_TURNS_KEPT = 38
_STOPPED = "[The person stopped this turn before it was answered.]"


class PastTurn(Record):
    """One ended turn as messages for a prompt."""

    messages: tuple[Message, ...]
    label: Label
    size: int
    #: The message, if the person wrote it.
    user_words: str = ""
    #: Its place in the session.
    number: int = 0


class Conversation(Record):
    """The part of a session that the root agent is shown, with its label."""

    turns: tuple[PastTurn, ...] = ()
    messages: tuple[Message, ...] = ()
    label: Label = CLEAN
    #: The person's last message; empty if its turn has not ended.
    last_text: str = ""
    size: int = 0

    def then(self, turn: PastTurn) -> "Conversation":
        return Conversation(
            (*self.turns, turn),
            self.messages + turn.messages,
            self.label | turn.label,
            turn.user_words,
            self.size + turn.size,
        )


class _Kept(NamedTuple):
    """A cached conversation."""

    #: The number of its last turn.
    last: int
    past: Conversation
    #: The last forgetting when it was read: a later one, by any process, makes it worthless.
    forgetting: int


#: A turn number below the first one.
_NOTHING = _Kept(-1, Conversation(), 0)


class History:
    """Recent turns by session. The journal is the truth; busy sessions are cached in memory."""

    def __init__(self, log: TurnLog, tokens: int) -> None:
        self._log = log
        self._budget = tokens * CHARACTERS_PER_TOKEN
        #: By session.
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    async def before(self, session_id: str, number: int, forgetting: int) -> Conversation:
        """The latest whole turns before turn ``number`` that fit the budget, oldest first.

        ``forgetting``: the last one, read before.
        """
        kept = self._kept.get(session_id, _NOTHING)
        if kept.last == number - 1 and kept.forgetting == forgetting:
            return kept.past
        return await self._load(session_id, number, forgetting)

    def add(self, turn: Turn) -> None:
        """Cache a turn that has just ended, so that the next one need not read it."""
        last, past, forgetting = self._kept.pop(turn.session_id, _NOTHING)
        # A turn that was resumed, broke off or is out of order is read from the journal instead.
        ended = turn.error is None and isinstance(turn.log[-1], _ENDS)
        if turn.resumed or not ended or last != turn.number - 1:
            return
        now = self._fitting(past.then(past_turn(turn.log, turn.number)))
        self._kept[turn.session_id] = _Kept(turn.number, now, forgetting)
        if len(self._kept) > _MOST_SESSIONS:
            self._kept.popitem(last=False)

    async def _load(self, session_id: str, before: int, forgetting: int) -> Conversation:
        by_turn = turns_of(await self._log.events_before(session_id, SHOWN_KINDS, _MOST_TURNS, before))
        past = self._fitting(_conversation(numbered_turns(by_turn, before)))
        # An open turn may end in another process, so a session with one is not cached.
        if all(isinstance(events[-1], _ENDS) for events in by_turn.values()):
            self._kept[session_id] = _Kept(before - 1, past, forgetting)
        return past

    def _fitting(self, past: Conversation) -> Conversation:
        """The whole conversation, or its latest turns once it is too long.

        The cut makes room for several turns, so that the prompt begins with the same words for a while:
        vendors charge less for a beginning that they have seen.
        """
        if past.size <= self._budget and len(past.turns) <= _MOST_TURNS:
            return past
        turns, size = deque(past.turns), past.size
        while len(turns) > 1 and (size > self._budget * _SHARE_KEPT or len(turns) > _TURNS_KEPT):
            size -= turns.popleft().size
        return _conversation(turns) if size <= self._budget else Conversation()


def _conversation(turns: Iterable[PastTurn]) -> Conversation:
    past = Conversation()
    for turn in turns:
        past = past.then(turn)
    return past


def turns_of(events: Iterable[Event]) -> dict[str, list[Event]]:
    """The events of several turns, by turn."""
    by_turn: dict[str, list[Event]] = {}
    for event in events:
        by_turn.setdefault(event.stamp.turn_id, []).append(event)
    return by_turn


def numbered_turns(by_turn: dict[str, list[Event]], before: int) -> Iterator[PastTurn]:
    """The turns as messages. The numbers of a session have no gaps, and no turn goes without its session."""
    for number, events in enumerate(by_turn.values(), before - len(by_turn)):
        yield past_turn(events, number)


def past_turn(events: list[Event], number: int) -> PastTurn:
    """One turn as messages; none for a turn that has not ended."""
    shown = [event for event in events if isinstance(event, _SHOWN)]
    end = shown[-1]
    if not isinstance(end, _ENDS):
        return PastTurn((), CLEAN, 0, number=number)
    messages: list[Message] = []
    user_words, found = "", tuple[Found, ...]()
    label = CLEAN if isinstance(end, TurnCancelled) else end.label
    requests: dict[str, DelegationStarted] = {}
    for event in shown:
        if isinstance(event, TurnStarted):
            messages.append(UserMessage(event.text, event.said_at))
            user_words, label = (
                (event.text, label) if event.mine else ("", label | others_words(event.caller))
            )
        elif isinstance(event, TurnSteered):
            # One message of the person begins each turn: the context is cut there.
            asked = next((message for message in messages if isinstance(message, UserMessage)), None)
            if asked is None:
                raise damaged(f"the turn {event.stamp.turn_id} has words without a message before them")
            added = f"{asked.text}\n\n{say('steered', text=event.text)}"
            messages[messages.index(asked)] = asked._replace(text=added)
            user_words = f"{user_words}\n\n{event.text}".strip() if event.mine else ""
            label = label if event.mine else label | PIPED
        elif isinstance(event, DelegationStarted):
            requests[event.delegation_id] = event
        elif isinstance(event, DelegationFinished) and event.outcome != "paused":
            # The turn's reply repeats this text, so it is not shown twice.
            if isinstance(end, TurnFinished) and (end.author, end.text) == (event.agent, event.text):
                found = event.found
                continue
            label |= event.label
            if (started := requests.get(event.delegation_id)) is None:
                raise damaged(f"a delegation of the turn {event.stamp.turn_id} ends without a beginning")
            messages += _delegation(started, event)
    messages.append(AssistantMessage(_STOPPED if isinstance(end, TurnCancelled) else end.text, found=found))
    size = sum(
        len(message.dated if isinstance(message, UserMessage) else message.text) for message in messages
    )
    return PastTurn(tuple(messages), label, size, user_words, number)


def _delegation(started: DelegationStarted, finished: DelegationFinished) -> list[Message]:
    call_id = f"{finished.stamp.turn_id}-{finished.delegation_id}"
    arguments = {"agent_name": started.agent, "request": started.request}
    text = finished.text or f"{finished.outcome}: {finished.cause}"
    return [
        AssistantMessage("", (ToolCall(TRANSFER, arguments, call_id),)),
        ToolMessage(call_id, TRANSFER, text, failed=finished.outcome != "ok", found=finished.found),
    ]


def shortened(messages: Sequence[Message], past: int) -> list[Message] | None:
    """The messages without the older half of the earlier turns, which are the first ``past`` messages.

    Without earlier turns, the older half of the tool results is left out instead. None means that nothing
    can be left out.
    """
    return _without_turns(messages, past) or _without_results(messages)


def _without_turns(messages: Sequence[Message], past: int) -> list[Message] | None:
    # Cut where a turn begins, so that no answer loses its question and no result its call.
    for start in range(max(1, past // 2), past + 1):
        if start == past or isinstance(messages[start], UserMessage):
            return list(messages[start:])
    return None


def _without_results(messages: Sequence[Message]) -> list[Message] | None:
    note = say("left_out")
    results = [index for index, message in enumerate(messages) if isinstance(message, ToolMessage)]
    long = [index for index in results if len(messages[index].text) > len(note)]
    older = set(long[: (len(long) + 1) // 2])
    if not older:
        return None
    return [
        message._replace(text=note) if index in older and isinstance(message, ToolMessage) else message
        for index, message in enumerate(messages)
    ]
