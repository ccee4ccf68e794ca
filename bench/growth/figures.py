"""The figures of one file, each measured in a process of its own."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from statistics import median

import sestet
from bench.growth.data import Words, questions
from sestet.core.event import ToolFinished, TurnFinished
from sestet.core.message import ToolMessage
from sestet.core.model import ModelItem, ModelReply, ModelRequest

Raw = dict[str, float]

BLOCKS, TURNS_A_BLOCK = 9, 20
WARM_UP = 20
#: Longer than the observer waits after a turn.
PAUSE = 0.25
#: Seconds of CPU in two pauses, below which nothing works.
_QUIET = 0.005
#: A message that rules make an observation of, and one that they do not.
_SAID = ("I decided to paint the {} of my house {}.", "Please look at the {} and the {} again.")
_WORDS_A_MESSAGE = 20


#: The agent that owns a tool, and the argument for the person's words.
_CALLS = {
    "rag_retrieve": ("librarian", "query"),
    "search_sessions": ("librarian", "query"),
    "memory_remember": ("chronicler", "fact"),
}


class Model:
    """Answers at once; with a tool, its agent calls it for the person's words."""

    name = "fake"

    def __init__(self, tool: str = "") -> None:
        self.tool = tool

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        last = request.messages[-1]
        if not self.tool or isinstance(last, ToolMessage):
            yield ModelReply("That is noted.")
        elif request.agent == "orchestrator":
            agent, _ = _CALLS[self.tool]
            arguments = {"agent_name": agent, "request": last.text, "reply": True}
            yield ModelReply(calls=(sestet.ToolCall("transfer_to_agent", arguments),))
        else:
            _, argument = _CALLS[self.tool]
            yield ModelReply(calls=(sestet.ToolCall(self.tool, {argument: last.text}),))

    async def close(self) -> None:
        pass


def _opened(home: Path, model: Model, *, vectors: bool = True) -> AbstractAsyncContextManager[sestet.App]:
    settings = {} if vectors else {"embedding": {"provider": "none"}}
    return sestet.open(settings, model=model, home=home)


async def _turn(app: sestet.App, session: str, text: str) -> None:
    """Run one turn and check its end: a turn that fails quickly must not look lean."""
    events = [event async for event in app.run_turn(session, text, can_ask=False)]
    failed = [event for event in events if isinstance(event, ToolFinished) and event.outcome != "ok"]
    if failed or not isinstance(events[-1], TurnFinished):
        raise RuntimeError(f"the turn ended with {failed or events[-1]}")


async def direct_turn(home: Path) -> Raw:
    """The CPU of a turn that only answers, and of the work after it."""
    words = Words(seed=2)
    async with _opened(home, Model()) as app:
        costs: list[float] = []
        for block in range(-WARM_UP // TURNS_A_BLOCK, BLOCKS):
            began = time.process_time()
            for _ in range(TURNS_A_BLOCK):
                await _turn(app, f"block{block}", words.question())
            # The work after these turns counts too.
            await asyncio.sleep(PAUSE)
            if block >= 0:
                costs.append((time.process_time() - began) / TURNS_A_BLOCK * 1000)
        return {"turn_ms": median(costs)}


async def storing_turn(home: Path) -> Raw:
    """The CPU of a turn that stores a fact, and of reading it for vectors and the graph."""
    words = Words(seed=4)
    async with _opened(home, Model("memory_remember")) as app:
        costs: list[float] = []
        for number in range(-5, 25):
            began = time.process_time()
            await _turn(app, f"store{number}", words.fact())
            await asyncio.sleep(PAUSE)
            if number >= 0:
                costs.append((time.process_time() - began) * 1000)
    return {"storing_ms": median(costs)}


async def retrieving(home: Path) -> Raw:
    """The CPU of a turn with ``rag_retrieve``."""
    costs: list[float] = []
    async with _opened(home, Model("rag_retrieve")) as app:
        for number, question in enumerate(questions(WARM_UP + 60)):
            began = time.process_time()
            await _turn(app, f"r{number}", question)
            if number >= WARM_UP:
                costs.append((time.process_time() - began) * 1000)
    return {"retrieve_ms": median(costs), "retrieve_worst_ms": max(costs)}


async def long_session(home: Path, at_turns: Sequence[int] = (100, 1_000, 5_000)) -> Raw:
    """The CPU of a turn early and late in one session, with the work of the observer after it."""
    words, raw = Words(seed=3), Raw()
    # The encoder takes more CPU for each new observation than the turn; it has a budget of its own.
    async with _opened(home, Model(), vectors=False) as app:
        reached = 0
        for wanted in at_turns:
            while reached < wanted - TURNS_A_BLOCK // 2:
                await _turn(app, "long", _message(words, reached))
                reached += 1
                if reached % TURNS_A_BLOCK == 0:
                    await asyncio.sleep(0)
            await _until_quiet()
            costs: list[float] = []
            for _ in range(TURNS_A_BLOCK):
                began = time.process_time()
                await _turn(app, "long", _message(words, reached))
                await asyncio.sleep(PAUSE)
                costs.append((time.process_time() - began) * 1000)
                reached += 1
            raw[f"at_{wanted}_ms"] = sum(costs) / len(costs)
    return raw


async def _until_quiet() -> None:
    """Wait until the background work has caught up."""
    spent = 1.0
    while spent > _QUIET:
        began = time.process_time()
        await asyncio.sleep(2 * PAUSE)
        spent = time.process_time() - began


def _message(words: Words, number: int) -> str:
    first = _SAID[number % 2].format(*words.take(2))
    return f"{first} {' '.join(words.take(_WORDS_A_MESSAGE))}."


async def open_and_first_turn(home: Path) -> Raw:
    """The CPU of opening an assistant, and of its first turn."""
    began = time.process_time()
    async with _opened(home, Model()) as app:
        opened = time.process_time()
        await _turn(app, "first", "What did I say about the garden?")
        answered = time.process_time()
    return {"open_ms": (opened - began) * 1000, "first_turn_ms": (answered - opened) * 1000}


async def first_search(home: Path) -> Raw:
    """How long the first search of past conversations takes, and how long the loop stood still."""
    async with _opened(home, Model("search_sessions")) as app:
        with _watched() as longest:
            began = time.perf_counter()
            await _turn(app, "searching", "lorem ipsum")
            seconds = time.perf_counter() - began
        return {"search_s": seconds, "loop_held_ms": longest()}


@contextmanager
def _watched() -> Generator[Callable[[], float]]:
    """Inside, a task looks at the clock all the time; the value is its longest gap in milliseconds."""
    gaps = [0.0]

    async def watch() -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.005)
            gaps.append(time.perf_counter() - last - 0.005)
            last = time.perf_counter()

    task = asyncio.create_task(watch())
    try:
        yield lambda: max(gaps) * 1000
    finally:
        task.cancel()
