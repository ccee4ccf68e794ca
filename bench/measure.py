"""The figures that need turns, measured inside the process of one contestant."""

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Mapping
from statistics import median

from bench.process import read_rss_kb
from bench.script import MESSAGE, REPLY, Contestant, Script

Raw = dict[str, float]

TURNS_A_SESSION = 10
WARM_UP_TURNS = 30
SESSIONS_A_BLOCK = 5
LEAST_BLOCKS = 4
TURN_CPU_SECONDS = 2.0

EARLY, LATE = 10, 500
WINDOW = 5  # turns on both sides
#: Several parallel sessions give a steadier median; for slow contestants one session has to be enough.
SIDE_BY_SIDE = 2
DEAR_TURN_SECONDS = 0.004
#: Seconds of CPU. A contestant that uses more before turn 500 is measured at the turn that it has reached.
GROWTH_CPU_SECONDS = 20.0

LIVE_SESSIONS = 1_000
WARM_UP_SESSIONS = 200

CONCURRENT_SESSIONS = 200
TURNS_EACH = 5
MODEL_SECONDS = 0.05


async def measure_turn(contestant: Contestant, script: Script) -> Raw:
    """Return the CPU of a delegated turn, over sessions of ten turns: the median of blocks.

    A block is long enough to include garbage collections and checkpoints of the journal.
    """
    await _sessions(contestant, script, "warm", WARM_UP_TURNS // TURNS_A_SESSION)
    calls, blocks = script.model_calls, list[float]()
    while len(blocks) < LEAST_BLOCKS or sum(blocks) < TURN_CPU_SECONDS:
        began = time.process_time()
        await _sessions(contestant, script, f"block-{len(blocks)}", SESSIONS_A_BLOCK)
        blocks.append(time.process_time() - began)
    turns = SESSIONS_A_BLOCK * TURNS_A_SESSION
    return {
        "turn_ms": median(blocks) * 1000 / turns,
        "model_calls": (script.model_calls - calls) / turns / len(blocks),
    }


async def measure_growth(contestant: Contestant, script: Script) -> Raw:
    """Return the CPU of a turn early and late in a session; the two alternate, to see the same machine."""
    started = time.process_time()
    await _sessions(contestant, script, "warm", WARM_UP_TURNS // TURNS_A_SESSION)
    is_dear = (time.process_time() - started) / WARM_UP_TURNS > DEAR_TURN_SECONDS
    count = 1 if is_dear else SIDE_BY_SIDE
    old = [contestant.new_session(f"old-{n}") for n in range(count)]
    new = [contestant.new_session(f"new-{n}") for n in range(count)]
    reached = 0
    while reached < LATE - WINDOW - 1 and time.process_time() - started < GROWTH_CPU_SECONDS:
        for session in old:
            await _turn(contestant, script, session)
        reached += 1
    for session in new:
        await _turns(contestant, script, session, EARLY - WINDOW - 1)
    costs: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(2 * WINDOW + 1):
        for pair in zip(new, old, strict=True):
            for is_old, session in enumerate(pair):
                began = time.process_time()
                await _turn(contestant, script, session)
                costs[bool(is_old)].append(time.process_time() - began)
    early, late = median(costs[False]) * 1000, median(costs[True]) * 1000
    return {"early_ms": early, "late_ms": late, "late_turn": reached + WINDOW + 1, "growth": late / early}


async def measure_concurrency(contestant: Contestant, script: Script) -> Raw:
    """Run many sessions at once with a slow model; return the share of the ideal time."""
    await _sessions(contestant, script, "warm", WARM_UP_TURNS // TURNS_A_SESSION)
    sessions = [contestant.new_session(f"at-once-{n}") for n in range(CONCURRENT_SESSIONS)]
    script.delay = MODEL_SECONDS
    raw: Raw = {}
    for name, turns in (("burst", 1), ("sustained", TURNS_EACH)):
        calls, started = script.model_calls, time.perf_counter()
        await asyncio.gather(*(_turns(contestant, script, session, turns) for session in sessions))
        seconds = time.perf_counter() - started
        # The ideal: only the model calls of one session, one after the other, with all sessions in parallel.
        ideal = (script.model_calls - calls) / CONCURRENT_SESSIONS * MODEL_SECONDS
        raw[f"{name}_share"] = ideal / seconds
    return raw


async def measure_memory(contestant: Contestant, script: Script) -> Raw:
    """Return the growth of resident memory for each open session with one turn."""
    sessions = [await _opened(contestant, script, f"warm-{n}") for n in range(WARM_UP_SESSIONS)]
    gc.collect()
    before = read_rss_kb()
    sessions += [await _opened(contestant, script, f"live-{n}") for n in range(LIVE_SESSIONS)]
    gc.collect()
    assert len(sessions) == WARM_UP_SESSIONS + LIVE_SESSIONS  # all sessions are still open
    return {"session_kb": (read_rss_kb() - before) / LIVE_SESSIONS}


async def measure_prompt(contestant: Contestant, script: Script) -> Raw:
    """Return the characters of instructions and messages in the first turn and in the tenth."""
    session = contestant.new_session("prompt")
    script.counting = True
    sent: list[int] = []
    for _ in range(TURNS_A_SESSION):
        before = script.characters
        await _turn(contestant, script, session)
        sent.append(script.characters - before)
    return {"first_characters": sent[0], "tenth_characters": sent[-1], "prompt_growth": sent[-1] / sent[0]}


FIGURES: Mapping[str, Callable[[Contestant, Script], Awaitable[Raw]]] = {
    "turn": measure_turn,
    "growth": measure_growth,
    "concurrency": measure_concurrency,
    "memory": measure_memory,
    "prompt": measure_prompt,
}


async def _sessions(contestant: Contestant, script: Script, name: str, count: int) -> None:
    """Run sessions of ten turns each, one after the other, and keep none of them."""
    for number in range(count):
        await _turns(contestant, script, contestant.new_session(f"{name}-{number}"), TURNS_A_SESSION)


async def _turns(contestant: Contestant, script: Script, session: object, count: int) -> None:
    for _ in range(count):
        await _turn(contestant, script, session)


async def _opened(contestant: Contestant, script: Script, name: str) -> object:
    session = contestant.new_session(name)
    await _turn(contestant, script, session)
    return session


async def _turn(contestant: Contestant, script: Script, session: object) -> None:
    """Run one turn and check its result: a contestant that fails quickly must not look lean."""
    calls = script.tool_calls
    reply = await contestant.turn(session, MESSAGE)
    if reply != REPLY:
        raise RuntimeError(f"the turn ended with {reply!r}")
    if script.tool_calls == calls:
        raise RuntimeError("the turn ended without a call of the tool")
