"""Plays a month of one person's life in a new home, and counts what memory kept, replaced and answered."""

import contextlib
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import datetime, time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from sestet import app
from sestet.config import Settings
from sestet.core.event import Event, MemoryRecalled, ToolFinished, TurnFinished, TurnPaused
from sestet.core.label import CLEAN
from sestet.core.record import Record
from sestet.core.tool import CallInfo, Tool
from sestet.core.words import local_now
from sestet.evals.month import Asks, Line
from sestet.services.memory.recall import Recall
from sestet.storage.memories import MemoryRow, MemoryStore

#: A reply that says that nothing is known.
_NOTHING = re.compile(
    r"\bnothing\b|\b(?:do not|don't) (?:know|remember)|\bnot (?:told|remember|know)|\bno record|\bnichts\b|"
    r"\bweiß (?:ich )?nicht",
    re.IGNORECASE,
)
_MOST_ROWS = 5
#: A question about a time has several answers; this many of them are enough.
_ENOUGH_OF_TIME = 2
_MORNING = time(9)
#: Questions whose other rows are unrelated: those about a time or a history may show more.
_NARROW: tuple[Asks, ...] = ("direct", "paraphrase", "yesno")


class Asked(NamedTuple):
    """A question and what became of it."""

    line: Line
    #: The ids of the rows that were recalled, beside the message and by the tool.
    rows: tuple[int, ...]
    #: Whether a right row was recalled; for a question without an answer: whether none was.
    recalled: bool
    #: The reply; empty if only rows were asked for.
    reply: str = ""
    answered: bool = False
    stale: bool = False
    leaked: bool = False
    unrelated: int = 0


class Told(NamedTuple):
    """A fact that was told and what became of it."""

    line: Line
    stored: bool
    #: Whether the facts that it changes were replaced.
    replaced: bool = False
    #: How many other facts it replaced.
    wrongly: int = 0
    #: How many rows were shown beside it.
    beside: int = 0
    reply: str = ""


class Played(Record):
    """A month that was played."""

    told: tuple[Told, ...]
    asked: tuple[Asked, ...]


class _Turn(NamedTuple):
    turn_id: str
    reply: str
    rows: tuple[int, ...]


Watch = Callable[[int], object]


async def play(settings: Settings, month: Sequence[Line], watch: Watch = lambda done: None) -> Played:
    """Say each line to the assistant on its day. Each question of the assistant is answered with yes."""
    clock = _Clock()
    async with _opened(settings, clock) as assistant:
        month_so_far = _Month(month, assistant)
        for done, line in enumerate(month):
            clock.go_to(line)
            if line.kind == "ask" and assistant.embedding:
                # Days pass between messages; the work in the background is done by then.
                await assistant.embedding.catch_up()
            turn = await _say(assistant, f"day-{line.day}", line.say)
            month_so_far.add(line, turn)
            watch(done + 1)
        return month_so_far.played()


async def play_rows(settings: Settings, month: Sequence[Line]) -> Played:
    """Store each fact as it is told, without a model, and look up the rows for each question."""
    clock = _Clock()
    async with _opened(settings, clock) as assistant:
        tools = {tool.name: tool for tool in assistant.tools}
        recall = Recall(assistant.database, embedding=assistant.embedding, clock=clock)
        month_so_far = _Month(month, assistant)
        for number, line in enumerate(month):
            clock.go_to(line)
            turn_id = f"turn-{number}"
            rows: tuple[int, ...] = ()
            if line.kind in ("tell", "update"):
                await _call(tools["memory_remember"], turn_id, fact=line.say)
            elif line.kind == "forget":
                for row in month_so_far.rows_of(line.forgets):
                    await _call(tools["memory_forget"], turn_id, words=row.text, memory=f"m{row.id}")
            elif line.kind == "ask":
                if assistant.embedding:
                    await assistant.embedding.catch_up()
                rows = tuple(row.id for row in await recall.facts(line.say, _MOST_ROWS))
            month_so_far.add(line, _Turn(turn_id, "", rows))
        return month_so_far.played()


def figures(played: Played, rows: Played) -> dict[str, object]:
    """The figures of a month played end to end, and of its rows alone."""
    facts, updates = played.told, [told for told in played.told if told.line.kind == "update"]
    with_answer = [asked for asked in played.asked if asked.line.asks != "none"]
    without = [asked for asked in played.asked if asked.line.asks == "none"]
    narrow = [asked for asked in with_answer if asked.line.asks in _NARROW]
    may_be_stale = [asked for asked in narrow if asked.line.asks != "yesno" and _is_changed(asked, updates)]
    forgotten = [asked for asked in played.asked if asked.line.forgotten]
    ideal = [asked for asked in rows.asked if asked.line.asks != "none"]
    ideal_updates = [told for told in rows.told if told.line.kind == "update"]
    return {
        "facts stored": _of(told.stored for told in facts),
        "updates that replaced": _of(told.replaced for told in updates),
        "facts replaced wrongly": sum(told.wrongly for told in played.told),
        "right row recalled": _of(asked.recalled for asked in with_answer),
        "answered": _of(asked.answered for asked in played.asked),
        "answered, by kind": {
            kind: _of(asked.answered for asked in played.asked if asked.line.asks == kind)
            for kind in dict.fromkeys(asked.line.asks for asked in played.asked)
        },
        "stale first or alone": _of(asked.stale for asked in may_be_stale),
        "forgotten shown": _of(asked.leaked for asked in forgotten),
        "unrelated rows, a question": _mean(asked.unrelated for asked in narrow),
        "rows, a question without an answer": _mean(len(asked.rows) for asked in without),
        "rows, a told fact": _mean(told.beside for told in facts),
        "rows alone": {
            "updates that replaced": _of(told.replaced for told in ideal_updates),
            "facts replaced wrongly": sum(told.wrongly for told in rows.told),
            "right row recalled": _of(asked.recalled for asked in ideal),
            "right row recalled, paraphrased": _of(
                asked.recalled for asked in ideal if asked.line.asks == "paraphrase"
            ),
            "unrelated rows, a question": _mean(
                asked.unrelated for asked in rows.asked if asked.line.asks in _NARROW
            ),
            "rows, a question without an answer": _mean(
                len(asked.rows) for asked in rows.asked if asked.line.asks == "none"
            ),
        },
    }


def misses(played: Played) -> dict[str, list[str]]:
    """The messages that went wrong, by what went wrong."""
    return {
        "not stored": [f"{told.line.say} -> {told.reply}" for told in played.told if not told.stored],
        "not replaced": [
            told.line.say for told in played.told if told.line.kind == "update" and not told.replaced
        ],
        "replaced wrongly": [told.line.say for told in played.told if told.wrongly],
        "not answered": [
            f"{asked.line.asks}: {asked.line.say} -> {asked.reply or asked.rows}"
            for asked in played.asked
            if not (asked.answered if asked.reply else asked.recalled)
        ],
        "stale": [asked.line.say for asked in played.asked if asked.stale],
        "unrelated rows": [
            f"{asked.line.say}: {asked.unrelated}"
            for asked in played.asked
            if asked.unrelated and asked.line.asks in (*_NARROW, "none")
        ],
    }


class _Month:
    """What has been told so far, and where it is stored."""

    def __init__(self, month: Sequence[Line], assistant: app.App) -> None:
        self._lines: Mapping[str, Line] = {line.id: line for line in month if line.id}
        self._store = MemoryStore(assistant.database)
        self._stored: dict[str, list[int]] = {}
        self._told: list[Told] = []
        self._asked: list[Asked] = []

    def played(self) -> Played:
        return Played(tuple(self._told), tuple(self._asked))

    def rows_of(self, names: Iterable[str]) -> list[MemoryRow]:
        numbers = [number for name in names for number in self._stored.get(name, ())]
        return [row for number in numbers if (row := self._store.get(number)) is not None]

    def add(self, line: Line, turn: _Turn) -> None:
        if line.kind in ("tell", "update"):
            self._add_told(line, turn)
        elif line.kind == "ask":
            self._asked.append(self._judged(line, turn))

    def _add_told(self, line: Line, turn: _Turn) -> None:
        rows = [row for row in self._store.latest(10_000, superseded=True) if row.turn_id == turn.turn_id]
        rows = [row for row in rows if re.search(line.holds, row.text)]
        self._stored[line.id] = [row.id for row in rows]
        was_stored = any(self._stored.get(name) for name in line.replaces)
        still = [row for row in self.rows_of(line.replaces) if row.superseded_by is None]
        meant = {row.id for row in self.rows_of(self._chain(line.replaces))}
        replaced = [old.id for row in rows for old in self._store.replaced_by(row.id)]
        self._told.append(
            Told(
                line,
                bool(rows),
                bool(rows) and was_stored and not still,
                sum(old not in meant for old in replaced),
                len(turn.rows),
                turn.reply,
            )
        )

    def _chain(self, names: Iterable[str]) -> list[str]:
        """These facts and those that they replaced in their time."""
        return [each for name in names for each in (name, *self._chain(self._lines[name].replaces))]

    def _judged(self, line: Line, turn: _Turn) -> Asked:
        right = {row.id for row in self.rows_of(line.answer)}
        related = right | {row.id for row in self.rows_of(self._chain(line.answer))}
        enough = min(_ENOUGH_OF_TIME if line.asks == "time" else 1, len(line.answer))
        names_found = [
            name for name in line.answer if set(self._stored.get(name, ())).intersection(turn.rows)
        ]
        recalled = len(names_found) >= enough if line.answer else not turn.rows
        old = [name for name in self._chain(line.answer) if name not in line.answer]
        # A fact that tells a change may name the old value: "I switched from ING to Triodos".
        stale, now = ([re.escape(row.text) for row in self.rows_of(names)] for names in (old, line.answer))
        is_stale = line.asks != "history" and _place(stale, turn.reply) < _place(now, turn.reply)
        leaked = _place([self._lines[name].holds for name in line.forgotten], turn.reply) < len(turn.reply)
        answered = (
            self._is_answered(line, turn.reply, enough) and not leaked and (not is_stale or bool(line.right))
        )
        return Asked(
            line,
            turn.rows,
            recalled,
            turn.reply,
            answered,
            is_stale,
            leaked,
            sum(row not in related for row in turn.rows),
        )

    def _is_answered(self, line: Line, reply: str, enough: int) -> bool:
        if line.asks == "none":
            return bool(_NOTHING.search(reply))
        if line.right:
            return bool(re.search(line.right, reply, re.IGNORECASE))
        found = [name for name in line.answer if re.search(self._lines[name].holds, reply)]
        return len(found) >= enough


def _place(patterns: Iterable[str], text: str) -> int:
    """Where the first of the patterns stands in a text; its end if none does."""
    found = (re.search(pattern, text) for pattern in patterns)
    return min((match.start() for match in found if match), default=len(text))


def _is_changed(asked: Asked, updates: Sequence[Told]) -> bool:
    return any(name == told.line.id for name in asked.line.answer for told in updates)


def _of(verdicts: Iterable[bool]) -> dict[str, float]:
    counted = list(verdicts)
    return {"right": sum(counted), "of": len(counted), "share": round(_mean(counted), 3)}


def _mean(values: Iterable[float]) -> float:
    counted = list(values)
    return round(sum(counted) / len(counted), 3) if counted else 0.0


class _Clock:
    """The time of the month: each line is said a minute after the one before, from nine o'clock on."""

    def __init__(self) -> None:
        self._at = local_now()

    def __call__(self) -> datetime:
        return self._at

    def go_to(self, line: Line) -> None:
        later = datetime.combine(line.day, _MORNING).astimezone()
        same_day = self._at.date() == line.day
        self._at = self._at.replace(minute=(self._at.minute + 1) % 60) if same_day else later


@asynccontextmanager
async def _opened(settings: Settings, clock: _Clock) -> AsyncGenerator[app.App]:
    with TemporaryDirectory(prefix="sestet-month-") as directory:
        workspace = Path(directory) / "workspace"
        workspace.mkdir()
        with contextlib.chdir(workspace):
            opened = app.open(settings, home=Path(directory) / "data", clock=clock)
            async with opened as assistant:
                yield assistant


async def _say(assistant: app.App, session: str, text: str) -> _Turn:
    events = await _events(assistant.run_turn(session, text))
    while isinstance(events[-1], TurnPaused):
        turn_id = events[-1].stamp.turn_id
        for question in assistant.approvals.pending(turn_id):
            assistant.decide(question.id, "approve")
        events += await _events(assistant.resume_turn(turn_id))
    end = events[-1]
    reply = end.text if isinstance(end, TurnFinished) else f"({end.kind})"
    return _Turn(end.stamp.turn_id, reply, tuple(dict.fromkeys(_rows_in(events))))


async def _events(turn: AsyncGenerator[Event]) -> list[Event]:
    async with aclosing(turn) as events:
        return [event async for event in events]


def _rows_in(events: Iterable[Event]) -> Iterable[int]:
    for event in events:
        if isinstance(event, MemoryRecalled):
            yield from (int(name[1:]) if name[0] == "m" else -int(name[1:]) for name in event.ids)
        elif isinstance(event, ToolFinished) and event.call.name == "memory_recall":
            yield from (int(one.name[1:]) for one in event.found)


async def _call(tool: Tool, turn_id: str, **arguments: str) -> None:
    assert tool.function is not None
    info = CallInfo("month", turn_id, "chronicler", "call", CLEAN, arguments.get("fact", ""))
    await tool.function(info, **arguments)
