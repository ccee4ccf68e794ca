"""Limits of time that are far away have no timer; near ones end the work like any other."""

import asyncio

import pytest

from sestet.runtime import deadlines as module
from sestet.runtime.deadlines import Deadlines


@pytest.fixture(autouse=True)
def short_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOOK", 0.01)


@pytest.mark.parametrize("seconds", [-1.0, 0.0, 0.005, 0.05, 0.2], ids=str)
async def test_a_limit_ends_the_work_when_it_is_reached_and_not_before(seconds: float) -> None:
    clock = Deadlines().within(seconds)
    loop = asyncio.get_running_loop()
    started = loop.time()

    with pytest.raises(TimeoutError):
        async with clock:
            await asyncio.sleep(10)

    assert clock.expired()
    assert loop.time() >= started + seconds


async def test_of_two_limits_the_one_that_is_reached_ends_the_work() -> None:
    deadlines = Deadlines()
    outer, inner = deadlines.within(0.1), deadlines.within(5.0)

    with pytest.raises(TimeoutError):
        async with outer, inner:
            await asyncio.sleep(10)

    assert (outer.expired(), inner.expired()) == (True, False)


async def test_work_that_ends_in_time_is_not_disturbed_later() -> None:
    deadlines = Deadlines()

    for _ in range(3):
        clock = deadlines.within(0.05)
        async with clock:
            await asyncio.sleep(0)
        assert not clock.expired()

    await asyncio.sleep(0.15)


async def test_an_error_and_a_cancel_pass_as_they_are() -> None:
    deadlines = Deadlines()
    with pytest.raises(ValueError, match="mine"):
        async with deadlines.within(60):
            raise ValueError("mine")

    async def work() -> None:
        async with deadlines.within(60):
            await asyncio.sleep(10)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_many_limits_need_one_timer() -> None:
    deadlines = Deadlines()
    loop = asyncio.get_running_loop()
    timers = 0

    def counted(*_: object) -> None:
        nonlocal timers
        timers += 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "call_later", counted)
        patch.setattr(loop, "call_at", counted)
        for _ in range(100):
            async with deadlines.within(60):
                pass

    assert timers == 1
